package follow

import (
	"time"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
)

// A JVM compiles thousands of methods while it starts. Half of its samples in compiled code are in methods that have no
// other sample. Copying all these methods with all of their debug info would take a third as much CPU time as the JVM
// has for its own work. So copies have a budget. When it is used up, a method is copied as an excerpt, which has only
// the debug info of its sampled instructions. This is all that is needed to sum up samples by line and by inlined
// method. When the budget allows, the methods with the most samples are the first to be copied completely.

// An excerpt is a copy of a method that has the debug info of only some instructions so far.
type excerpt struct {
	*nmethod.Excerpt
	samples int
}

// A budget is CPU time that may be spent on copies. It grows with time, and copies use it up.
type budget struct {
	has, most time.Duration // has is the CPU time that may be spent now, and most is its maximum
	since     time.Time     // when the field has was last increased
}

const (
	// budgetShare limits copies in the long run: they may take 1/budgetShare of a CPU.
	budgetShare = 25
	// budgetStart is the budget at the start, which is also its maximum. If copying a method takes a millisecond, it is
	// enough for all methods of a program that has warmed up.
	budgetStart = 200 * time.Millisecond
	// budgetEnd limits the time for the remaining copies if the Follower is stopped before the JVM ends.
	budgetEnd = 100 * time.Millisecond
)

func newBudget(most time.Duration) budget { return budget{most, most, time.Now()} }

// left returns how much CPU time may be spent on copies now. It is negative after a copy that took longer than the
// budget allowed.
func (b *budget) left() time.Duration {
	now := time.Now()
	b.has = min(b.has+now.Sub(b.since)/budgetShare, b.most)
	b.since = now
	return b.has
}

func (b *budget) spend(d time.Duration) { b.has -= d }

// takeExcerpt begins the excerpt of a method, with the debug info of one sampled instruction. It returns the method's
// new state.
func (f *Follower) takeExcerpt(b *codecache.Blob, pc uint64) copyState {
	waiting := &excerpt{samples: 1}
	if err := f.addTo(waiting, b, pc); waiting.Excerpt == nil {
		return f.count(b, err)
	}
	f.excerpts[b] = waiting
	return excerpted
}

// addTo adds the debug info of an instruction to the excerpt of a method.
func (f *Follower) addTo(e *excerpt, b *codecache.Blob, pc uint64) (err error) {
	f.jvm.Copy(func(c *nmethod.Copier) {
		var code *nmethod.Code
		if code, err = c.Copy(b.Method); err != nil {
			return
		}
		if e.Excerpt == nil {
			e.Excerpt = code.Excerpt()
		}
		if err = e.Add(code, pc); err == nil {
			f.log.text = code.AppendProfiles(f.log.text)
		}
	})
	return err
}

// completeSome completes the copies of methods that have excerpts, as long as the budget lasts.
func (f *Follower) completeSome() {
	for len(f.excerpts) > 0 && f.budget.left() > 0 {
		f.complete(f.hottestExcerpt())
	}
}

// completeLast completes as many copies as budgetEnd allows, and writes the excerpts of all other methods.
func (f *Follower) completeLast() {
	for end := time.Now().Add(budgetEnd); len(f.excerpts) > 0 && !f.gone && f.budget.most > 0 &&
		time.Now().Before(end); {
		f.complete(f.hottestExcerpt())
	}
	for b := range f.excerpts {
		f.writeExcerpt(b)
	}
}

func (f *Follower) hottestExcerpt() (hottest *codecache.Blob) {
	for b, e := range f.excerpts {
		if hottest == nil || e.samples > f.excerpts[hottest].samples {
			hottest = b
		}
	}
	return hottest
}

// complete copies all of a method that has only an excerpt so far. If that fails, it writes the excerpt to the log.
func (f *Follower) complete(b *codecache.Blob) {
	start := len(f.log.text)
	if err := f.copyMethod(b.Method); err != nil {
		f.log.text = f.log.text[:start]
		f.writeExcerpt(b)
		return
	}
	delete(f.excerpts, b)
	f.state[b] = f.count(b, nil)
}

// writeExcerpt writes the excerpt of a method to the log, if the method has one.
func (f *Follower) writeExcerpt(b *codecache.Blob) {
	e := f.excerpts[b]
	if e == nil {
		return
	}
	f.log.text = e.AppendTo(f.log.text)
	f.result.Excerpts++
	delete(f.excerpts, b)
	f.state[b] = f.count(b, nil)
}
