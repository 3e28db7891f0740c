package windows

import (
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A Change says that a window has opened or closed.
type Change struct {
	Open bool
	// After is the time from the start of the command, or of the attaching, to the opening of the window. For a window
	// that has closed, After is how long it was open.
	After time.Duration
	// More is true if this Change only says that further windows will open and close without a report, because there
	// are so many. It is then the last Change, and its other fields are not set.
	More bool
}

// A Kept is the input of a Keeper: what it must know about the windows, and the functions that it calls when they open
// and close.
type Kept struct {
	Rules
	Output           *Output
	StartedMonoNanos int64
	// Pause is called when a window has closed and another one may open later. Resume is called when that next window
	// opens.
	Pause, Resume func()
	// Over is called when no further window will open.
	Over func()
	// Changed is called with each change, from a goroutine of its own.
	Changed func(Change)
}

// A Keeper makes gasm work only while there is something to measure. When a window closes, the Keeper pauses the
// sampling and the copying of code. When another window opens, it resumes both. Before the first window, both run.
// After the last window, the Keeper ends both, so that the program then runs as it does without gasm.
type Keeper struct {
	kept    Kept
	changes int // openings and closings of windows that were seen so far
	said    int // changes that were reported
	report  chan Change
	told    chan struct{} // closed when all changes are reported
	stop    chan struct{}
	done    chan struct{} // closed when the Keeper no longer pauses or resumes anything
}

const (
	// pauseAfter is how long a window must be closed before the sampling pauses. Switching events off and on again
	// interrupts all CPUs, so the Keeper does not pause between windows that follow each other at once.
	pauseAfter = 50 * time.Millisecond
	// maxReported is the maximum number of changes that are reported. A program may open a window for each request that
	// it serves.
	maxReported = 20
)

// Keep begins to follow windows. It is called when the command has just started.
func Keep(kept Kept) *Keeper {
	k := &Keeper{kept: kept, report: make(chan Change, maxReported+1), told: make(chan struct{}),
		stop: make(chan struct{}), done: make(chan struct{})}
	go k.run()
	go func() {
		defer close(k.told)
		for change := range k.report {
			kept.Changed(change)
		}
	}()
	return k
}

// End is called when the command has ended. When it returns, all changes have been reported.
func (k *Keeper) End() {
	close(k.stop)
	<-k.done
	<-k.told
}

func (k *Keeper) run() {
	defer close(k.done)
	defer close(k.report)
	if k.kept.ByLines() {
		k.followLines()
	} else {
		k.followClock()
	}
}

// followClock follows the window that --delay and --length define.
func (k *Keeper) followClock() {
	delay, length := k.kept.Delay, k.kept.Length
	if delay > 0 {
		if !k.waitUntil(delay) {
			return
		}
		k.say(Change{Open: true, After: delay})
	}
	if length > 0 && k.waitUntil(delay+length) {
		k.say(Change{After: length})
		k.kept.Over()
	}
}

// waitUntil waits until the command has been running for the given time. It returns false if the command ends earlier.
func (k *Keeper) waitUntil(after time.Duration) bool {
	select {
	case <-k.stop:
		return false
	case <-time.After(after - time.Duration(monotonic.Nanos()-k.kept.StartedMonoNanos)):
		return true
	}
}

// followLines follows the windows that lines of the output open and close.
func (k *Keeper) followLines() {
	var pause <-chan time.Time
	paused := false
	for {
		select {
		case <-k.stop:
			return
		case <-pause:
			pause, paused = nil, true
			k.kept.Pause()
		case <-k.kept.Output.changed:
			switch open, seen := k.sayLines(); {
			case open && paused:
				k.kept.Resume()
				paused = false
			case open:
				pause = nil
			case seen && !k.kept.Reopen():
				k.kept.Over()
				return
			case seen && !paused && pause == nil:
				pause = time.After(pauseAfter)
			}
		}
	}
}

// sayLines reports the changes since its last call. The result open is true if a window is open now, and seen is true
// if any window has opened or closed so far.
func (k *Keeper) sayLines() (open, seen bool) {
	started := k.kept.StartedMonoNanos
	for _, span := range k.kept.Output.spansFrom(k.changes / 2) {
		from := max(span.FromMonoNanos, started)
		if k.changes%2 == 0 {
			k.changes++
			if k.kept.Start != nil {
				k.say(Change{Open: true, After: time.Duration(from - started)})
			}
		}
		if span.ToMonoNanos != 0 {
			k.changes++
			k.say(Change{After: time.Duration(max(span.ToMonoNanos-from, 0))})
		}
	}
	return k.changes%2 == 1, k.changes > 0
}

// say reports a change, unless too many changes have been reported.
func (k *Keeper) say(change Change) {
	switch k.said++; {
	case k.said <= maxReported:
		k.report <- change
	case k.said == maxReported+1:
		k.report <- Change{More: true}
	}
}
