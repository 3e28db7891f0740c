package wallclock

import (
	"time"

	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/wall"
)

const (
	// tick is an upper bound for how much of a running thread's time the kernel may not have counted yet (CONFIG_HZ is
	// at least 100).
	tick = int64(10 * time.Millisecond)
	// longestPending is the maximum length of an interval in which the thread was blocked for some time but ran at each
	// look. A longer interval is ended, although it is not known where the thread was blocked.
	longestPending = int64(time.Second)
	// longestRun is the maximum length of a spell on a processor. Longer ones are split, so that little is lost if gasm
	// is killed.
	longestRun = int64(time.Second)
)

// A life keeps account of a thread's time so far. Its intervals follow each other without gaps, and all spells that
// have ended were passed to write.
type life struct {
	thread int
	write  func(*wall.Spell)
	at     int64           // the time up to which everything is accounted for
	runs   threaddump.Runs // the kernel's counts at the time at
	phase  phase           // what the thread did at the time at
	last   wall.Spell      // the place where the thread was blocked last; State is 0 if that is not known
	spell  wall.Spell      // the current spell, which ends at the time at so far; State is 0 if there is none
	// The fields ran and runnable are the parts of the kernel's counts that are not in the spells yet. They may be
	// negative.
	ran, runnable int64
}

// A phase is what a thread did when it was looked at.
type phase uint8

const (
	unknown phase = iota
	running
	blocked
)

// still ends an interval during which the thread was blocked and did not run.
func (l *life) still(now int64) { l.add(l.last, 0, 0, now-l.at) }

// blockedAt ends an interval at whose end the thread is blocked.
func (l *life) blockedAt(place wall.Spell, runs threaddump.Runs, now int64) {
	ran, runnable, rest := l.times(runs, now)
	if l.phase == running {
		l.addRun(ran, runnable)
		ran, runnable = 0, 0
	}
	l.add(place, ran, runnable, rest)
	l.phase, l.last, l.runs = blocked, place, runs
}

// runningAt ends an interval at whose end the thread runs, or waits for a processor. If it is not known where the
// thread was blocked in between, the interval goes on.
func (l *life) runningAt(runs threaddump.Runs, now int64) {
	length := now - l.at
	was := l.phase
	counts := *l
	ran, runnable, rest := l.times(runs, now)
	unmoved := was == running && runs.Count == counts.runs.Count
	switch {
	case unmoved && runs.Ran == counts.runs.Ran && length > 2*tick: // it has waited for a processor all the time
		l.ran, l.runnable = l.ran+ran, l.runnable+runnable-length
		ran, runnable, rest = 0, length, 0
	case unmoved, was == running && rest <= tick+l.ran:
		// It was not blocked. The kernel has not counted yet for how long it has run since the last tick, or for how
		// long it has waited.
		more := min(rest, max(tick+l.ran, 0))
		waited := rest - more
		l.ran, l.runnable = l.ran-more, l.runnable-waited
		ran, runnable, rest = ran+more, runnable+waited, 0
	case was == running && length < longestPending:
		*l = counts
		return
	}
	if rest > 0 {
		place := l.last
		if place.State == 0 || was == unknown {
			place = wall.Spell{State: wall.Unseen}
		}
		l.add(place, 0, 0, rest)
	}
	l.addRun(ran, runnable)
	l.phase, l.runs = running, runs
}

// unseen ends an interval at whose end it is not known what the thread does. The string why becomes the detail of the
// spell.
func (l *life) unseen(runs threaddump.Runs, now int64, why string) {
	var ran, runnable int64
	rest := now - l.at
	if runs.Known {
		ran, runnable, rest = l.times(runs, now)
		l.runs = runs
	}
	l.add(wall.Spell{State: wall.Unseen, Detail: why}, ran, runnable, rest)
	l.phase = unknown
}

// times splits the interval from l.at to now into the times that the thread ran, was runnable, and was blocked.
func (l *life) times(runs threaddump.Runs, now int64) (ran, runnable, rest int64) {
	length := now - l.at
	l.ran += int64(runs.Ran - l.runs.Ran)
	l.runnable += int64(runs.Delay - l.runs.Delay)
	ran = min(max(l.ran, 0), length)
	runnable = min(max(l.runnable, 0), length-ran)
	l.ran -= ran
	l.runnable -= runnable
	return ran, runnable, length - ran - runnable
}

// addRun adds time in which the thread was not blocked.
func (l *life) addRun(ran, runnable int64) {
	state := wall.OnProcessor
	if ran == 0 {
		state = wall.Runnable
	}
	l.add(wall.Spell{State: state}, ran, runnable, 0)
}

// clamped returns by how much the kernel's counts and the times in the spells differ, in ns. If the thread ran or
// waited for a processor at the end, counts that are too small are not included, because the kernel has not counted
// that time yet.
func (l *life) clamped() int64 {
	n := max(l.ran, 0) + max(l.runnable, 0)
	if l.phase == blocked {
		n += max(-l.ran, 0) + max(-l.runnable, 0)
	}
	return n
}

// add adds the interval that begins at l.at and has the given times. It extends the current spell if both are at the
// same place, and the thread was blocked in all of it or in none of it.
func (l *life) add(place wall.Spell, ran, runnable, rest int64) {
	length := ran + runnable + rest
	if length <= 0 {
		return
	}
	s := &l.spell
	same := s.State == place.State && s.Stack == place.Stack && s.Lock == place.Lock && s.Detail == place.Detail &&
		s.Virtual == place.Virtual
	pure := s.Ran+s.Runnable == 0 && ran+runnable == 0 || s.Blocked == 0 && rest == 0 && l.at-s.FromMonoNanos < longestRun
	if !same || !pure {
		l.end()
		*s = place
		s.Thread, s.FromMonoNanos = l.thread, l.at
	}
	l.at += length
	s.ToMonoNanos = l.at
	s.Ran, s.Runnable, s.Blocked = s.Ran+ran, s.Runnable+runnable, s.Blocked+rest
}

// end writes the current spell.
func (l *life) end() {
	if l.spell.State != 0 {
		l.write(&l.spell)
	}
	l.spell = wall.Spell{}
}
