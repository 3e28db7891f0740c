package record

import (
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record/command"
)

// A WindowChange says that a window has opened or closed.
type WindowChange struct {
	Open bool
	// After is how long after the start of the command, or after the attaching, it opened, or how
	// long it was open.
	After time.Duration
	// More tells that there are so many that further ones are not told of.
	More bool
}

// A windowKeeper has samples taken, and code followed, while a window is open or may open
// for the first time. When the last one has closed, both end, and the program runs as it
// does without gasm. Where another one may open, both pause.
type windowKeeper struct {
	r       *Recording
	changes int // of windows by lines that were seen: each one opens, and then closes
	said    int // changes that were told of
	tell    chan WindowChange
	told    chan struct{} // closed when all is told
	stop    chan struct{}
	done    chan struct{} // closed when nothing is done any more
}

const (
	// pauseAfter is how long a window must be closed before the sampling pauses. To switch the
	// events of a JVM off and on interrupts all processors, so it is not done for windows that
	// follow one another at once.
	pauseAfter = 50 * time.Millisecond
	// mostTold is how many changes are told of: the windows may be as many as requests.
	mostTold = 20
	// lineWait is how long a message waits for the end of a line that the command prints.
	lineWait = 250 * time.Millisecond
)

// keepWindows begins to follow the windows of a command that has just started.
func (r *Recording) keepWindows(held *command.Held) *windowKeeper {
	k := &windowKeeper{r: r, tell: make(chan WindowChange, mostTold+1), told: make(chan struct{}),
		stop: make(chan struct{}), done: make(chan struct{})}
	go k.run()
	go func() {
		defer close(k.told)
		for change := range k.tell {
			held.AwaitLineEnd(lineWait)
			if r.o.Window != nil {
				r.o.Window(change)
			}
		}
	}()
	return k
}

// end is called when the command has ended. All messages have been told then.
func (k *windowKeeper) end() {
	close(k.stop)
	<-k.done
	<-k.told
}

func (k *windowKeeper) run() {
	defer close(k.done)
	defer close(k.tell)
	if k.r.o.byLines() {
		k.followLines()
	} else {
		k.followClock()
	}
}

// followClock is for windows by --delay and --length.
func (k *windowKeeper) followClock() {
	o := &k.r.o
	if o.Delay > 0 {
		if !k.waitUntil(o.Delay) {
			return
		}
		k.say(WindowChange{Open: true, After: o.Delay})
	}
	if o.Length > 0 && k.waitUntil(o.Delay+o.Length) {
		k.say(WindowChange{After: o.Length})
		k.r.windowsOver()
	}
}

// waitUntil waits until some time after the command's start. It is false when the command
// has ended before.
func (k *windowKeeper) waitUntil(after time.Duration) bool {
	select {
	case <-k.stop:
		return false
	case <-time.After(after - time.Duration(monotonic.Nanos()-k.r.startedMonoNanos)):
		return true
	}
}

// followLines is for windows by lines of the output.
func (k *windowKeeper) followLines() {
	var pause <-chan time.Time
	paused := false
	for {
		select {
		case <-k.stop:
			return
		case <-pause:
			pause, paused = nil, true
			k.r.pause()
		case <-k.r.output.changed:
			switch open, seen := k.sayLines(); {
			case open && paused:
				k.r.resume()
				paused = false
			case open:
				pause = nil
			case seen && !k.r.o.reopens():
				k.r.windowsOver()
				return
			case seen && !paused && pause == nil:
				pause = time.After(pauseAfter)
			}
		}
	}
}

// sayLines tells of the changes since the last call. It says whether a window is open, and
// whether there was any.
func (k *windowKeeper) sayLines() (open, seen bool) {
	for _, span := range k.r.output.spansFrom(k.changes / 2) {
		from := max(span.FromMonoNanos, k.r.startedMonoNanos)
		if k.changes%2 == 0 {
			k.changes++
			if k.r.o.WindowStart != nil {
				k.say(WindowChange{Open: true, After: time.Duration(from - k.r.startedMonoNanos)})
			}
		}
		if span.ToMonoNanos != 0 {
			k.changes++
			k.say(WindowChange{After: time.Duration(max(span.ToMonoNanos-from, 0))})
		}
	}
	return k.changes%2 == 1, k.changes > 0
}

// say tells of a change.
func (k *windowKeeper) say(change WindowChange) {
	switch k.said++; {
	case k.said <= mostTold:
		k.tell <- change
	case k.said == mostTold+1:
		k.tell <- WindowChange{More: true}
	}
}
