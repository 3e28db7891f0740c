package threaddump

import (
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/stack"
)

// complete walks a stack by calling the function walk, and repeats that until all libraries on the stack have been
// read. All stacks together wait no longer than readingTime, because a library's file system may not answer.
func (l *looker) complete(walk func() ([]stack.Place, callstack.Kind)) (places []stack.Place, mark callstack.Kind) {
	places, mark = walk()
	for mark != 0 && l.waited < readingTime && l.walker.Reading() {
		began := time.Now()
		time.Sleep(readingPause)
		places, mark = walk()
		l.waited += time.Since(began)
	}
	return places, mark
}

const (
	// readingPause is the time between two walks while a library is being read.
	readingPause = 2 * time.Millisecond
	readingTime  = walkTime / 2
)

// walkState walks a stack, beginning at the state s.
func (l *looker) walkState(s *stack.State) ([]stack.Place, callstack.Kind) {
	return l.complete(func() ([]stack.Place, callstack.Kind) { return l.walker.WalkState(l.pid, s, l.mappings) })
}

// walk walks the stack of a thread that does not run: first the native frames from the system call outwards, then the
// frames from the anchor (the last Java frame, as HotSpot stores it) outwards. If frames are missing after the last
// one, the last place is a mark, and cut is true.
func (l *looker) walk(c *capture) (places []stack.Place, cut bool) {
	state := &stack.State{PC: c.call.pc, SP: c.call.sp, Exact: true, Stack: c.stack, MonoNanos: c.now()}
	var mark callstack.Kind
	places, mark = l.walkState(state)
	pc, sp, fp, ok := l.anchor(c)
	if ok && le32(c.fields, l.capturer.layout.state.At) != uint32(l.capturer.layout.inJava) {
		// All frames between the system call and the anchor are native ones.
		upTo := slices.IndexFunc(places, func(p stack.Place) bool { return p.Kind != callstack.Native || p.SP >= sp })
		reached := upTo >= 0
		if reached {
			places = places[:upTo]
		}
		if !reached {
			places = append(places, stack.Place{Frame: callstack.At(callstack.Unwalked, 0)})
		}
		state := &stack.State{PC: pc, SP: sp, FP: fp, Stack: c.stack[sp-c.call.sp:], MonoNanos: c.now()}
		var below []stack.Place
		below, mark = l.walkState(state)
		places = append(places, below...)
	}
	if mark != 0 {
		places = append(places, stack.Place{Frame: callstack.At(mark, 0)})
	}
	return places, mark != 0
}

// setFrames sets the frames of a thread. cut is true if frames are missing after the last one.
func (t *Thread) setFrames(places []stack.Place, cut bool) {
	t.Stack = Whole
	if len(places) > MaxFrames {
		places, cut = places[:MaxFrames], true
	}
	for i := range places {
		p := &places[i]
		f := Frame{Frame: p.Frame, Source: clip(p.Method.Source), Native: p.Method.Native}
		f.Name, f.Module = clip(f.Name), clip(f.Module)
		t.Frames = append(t.Frames, f)
	}
	if cut {
		t.Stack = Partly
	}
}

// longestName is the maximum length of a name in a frame, in bytes. Symbols of a library and names of source files may
// have any length.
const longestName = 4 << 10

func clip(name string) string {
	if len(name) > longestName {
		return name[:longestName] + "…"
	}
	return name
}
