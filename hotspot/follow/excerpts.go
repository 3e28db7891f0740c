package follow

import (
	"time"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
)

// A JVM that starts compiles thousands of methods, and half of its samples in compiled code
// are in methods that have no other sample. To copy all of these with all of their debug info
// takes a processor a third of the time that the JVM has for its own work. So there is a
// budget. Beyond it a method is copied as an excerpt, with the debug info of the sampled
// instructions, which is all that sums of samples need. The methods with the most samples are
// the first to be copied as a whole.

// An excerpt is a method that was copied in part.
type excerpt struct {
	*nmethod.Excerpt
	samples int
}

// A budget is the time that may be spent on copies.
type budget struct {
	has, most time.Duration // that is saved up, and that may be
	since     time.Time     // when it was last added to
}

const (
	// budgetShare is which part of a processor copies may take in the long run, 1 of so many.
	budgetShare = 25
	// budgetStart is what there is at first, and the most that is saved up: enough for all
	// methods of a program that has warmed up, at a millisecond for each.
	budgetStart = 200 * time.Millisecond
	// budgetEnd is for what is still to be copied when the following ends before the JVM.
	budgetEnd = 100 * time.Millisecond
)

func newBudget(most time.Duration) budget { return budget{most, most, time.Now()} }

// left is what may be spent now.
func (b *budget) left() time.Duration {
	now := time.Now()
	b.has = min(b.has+now.Sub(b.since)/budgetShare, b.most)
	b.since = now
	return b.has
}

func (b *budget) spend(d time.Duration) { b.has -= d }

// takeExcerpt copies a method without all of its debug info.
func (f *Follower) takeExcerpt(b *codecache.Blob, pc uint64) copyState {
	waiting := &excerpt{samples: 1}
	if err := f.addTo(waiting, b, pc); waiting.Excerpt == nil {
		return f.count(b, err)
	}
	f.excerpts[b] = waiting
	return excerpted
}

// addTo adds the debug info of an instruction to the excerpt of a method.
func (f *Follower) addTo(e *excerpt, b *codecache.Blob, pc uint64) error {
	f.forgetNames()
	code, err := f.copier.Copy(b.Method)
	if err != nil {
		return err
	}
	if e.Excerpt == nil {
		e.Excerpt = code.Excerpt()
	}
	return e.Add(code, pc)
}

// completeSome copies methods of which there are excerpts, as long as the budget lasts.
func (f *Follower) completeSome() {
	for len(f.excerpts) > 0 && f.budget.left() > 0 {
		f.complete(f.hottestExcerpt())
	}
}

// completeLast copies what it can of the rest, and writes down the excerpts of all others.
func (f *Follower) completeLast() {
	for end := time.Now().Add(budgetEnd); len(f.excerpts) > 0 && !f.gone && f.budget.most > 0 && time.Now().Before(end); {
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

// complete copies a method of which there is an excerpt.
func (f *Follower) complete(b *codecache.Blob) {
	start := len(f.log.text)
	began := time.Now()
	err := f.copyMethod(b.Method)
	f.budget.spend(time.Since(began))
	if err != nil {
		f.log.text = f.log.text[:start]
		f.writeExcerpt(b)
		return
	}
	delete(f.excerpts, b)
	f.state[b] = f.count(b, nil)
}

// writeExcerpt writes down the excerpt of a method, if there is one.
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
