package watch

import (
	"fmt"
	"time"
)

// A budget adapts the frequency of sampling, and then the share of the JVMs that is watched, so that gasm does not use
// more CPU time than it may.
//
// Lower frequencies make a profile less precise, but not wrong, because each profile has the period of its samples. So
// the frequency is lowered first, down to a tenth, and only then are JVMs left out.
type budget struct {
	limit float64 // CPU time that gasm may use, as a fraction of one processor's time; 0 for no limit
	most  int     // the frequency that the user has asked for
	whole float64 // the share of the JVMs that the user has asked for
	hertz int     // the current frequency
	share float64 // the current share of the JVMs

	begun         bool
	cpu, mono     int64 // gasm's CPU time and CLOCK_MONOTONIC at the beginning of the current period, in ns
	above, below  int   // periods in a row in which gasm used more, or much less, than it may
	beforeRestart bool  // a recording began in the current period
}

const (
	// judgeEvery is the time over which gasm's own CPU time is measured.
	judgeEvery = time.Minute
	// tolerated is the factor by which the limit may be exceeded. Without it, gasm would begin a new recording for
	// differences that are due to chance.
	tolerated = 1.1
	// mostlyUnused is the fraction of the limit below which gasm takes more samples again. It is so low that the higher
	// frequency fits.
	mostlyUnused = 0.6
	// gasm takes fewer samples after periodsAbove periods in a row above the limit, and more after periodsBelow periods
	// in a row below mostlyUnused. Both numbers are larger than 1, because each change begins a new recording, which
	// copies the hot code again.
	periodsAbove, periodsBelow = 2, 5
	// leastShare is the smallest part of the share that the user has asked for.
	leastShare = 1.0 / 64
)

func newBudget(o *Options) budget {
	return budget{limit: o.Budget, most: o.Frequency, whole: o.Share, hertz: o.Frequency, share: o.Share}
}

// change adopts new options when a new recording is about to begin. If the limit stays the same, a frequency or a share
// that the budget has lowered stays low.
func (b *budget) change(o *Options) {
	old := *b
	*b = newBudget(o)
	if o.Budget != old.limit {
		return
	}
	b.begun, b.cpu, b.mono, b.beforeRestart = old.begun, old.cpu, old.mono, true
	if old.hertz < old.most {
		b.hertz = min(max(old.hertz, b.least()), b.most)
	}
	b.share = b.whole * (old.share / old.whole)
}

// least returns the lowest frequency: a tenth of the one that the user has asked for.
func (b *budget) least() int { return max(b.most/10, 1) }

// judge decides whether gasm should sample more or less. Its arguments are the CPU time that gasm has used so far, and
// the time on CLOCK_MONOTONIC, both in ns. If it has changed the frequency or the share, it returns a message for the
// user, and the caller must begin another recording. Otherwise it returns "".
func (b *budget) judge(cpu, mono int64) string {
	if !b.begun {
		b.begun, b.beforeRestart, b.cpu, b.mono = true, true, cpu, mono
		return ""
	}
	elapsed := mono - b.mono
	if b.limit == 0 || elapsed < int64(judgeEvery) {
		return ""
	}
	used := float64(cpu-b.cpu) / float64(elapsed)
	b.cpu, b.mono = cpu, mono
	if b.beforeRestart { // beginning a recording costs more than continuing it
		b.beforeRestart = false
		return ""
	}
	switch {
	case used > b.limit*tolerated:
		b.above, b.below = b.above+1, 0
	case used < b.limit*mostlyUnused:
		b.above, b.below = 0, b.below+1
	default:
		b.above, b.below = 0, 0
	}
	hertz, share := b.hertz, b.share
	switch {
	case b.above >= periodsAbove && b.hertz > b.least():
		b.hertz = max(int(float64(b.hertz)*b.limit/used*0.95), b.least())
	case b.above >= periodsAbove:
		b.share = max(b.share/2, b.whole*leastShare)
	case b.below >= periodsBelow && b.share < b.whole:
		b.share = min(b.share*2, b.whole)
	case b.below >= periodsBelow && b.hertz < b.most:
		b.hertz = min(b.hertz*3/2+1, b.most)
	}
	if b.hertz == hertz && b.share == share {
		return ""
	}
	b.above, b.below, b.beforeRestart = 0, 0, true
	return b.text(used, hertz)
}

// text returns a message about the change. used is the share of a processor that gasm used, and hertz is the frequency
// before the change.
func (b *budget) text(used float64, hertz int) string {
	text := fmt.Sprintf("gasm used %.2f %% of a processor in the last minute, and its budget is %.2f %%: ", used*100,
		b.limit*100)
	if b.hertz != hertz {
		return text + fmt.Sprintf("it now takes about %d samples per second and CPU instead of %d", b.hertz, hertz)
	}
	return text + fmt.Sprintf("it now watches %.3g %% of the JVMs, and leaves out the others", b.share*100)
}
