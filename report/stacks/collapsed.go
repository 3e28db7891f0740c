package stacks

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
)

// WriteCollapsed writes the profiles as collapsed stacks, which flame graph tools (flamegraph.pl, inferno) and
// speedscope read. Each line is a stack and its number of samples: the frames from the outermost to the innermost,
// separated by semicolons, then a blank and the number. The profiles must have their Locations.
//
//	main;org.gasm.bench.MapWalk::walk;java.util.HashMap$HashIterator::nextNode 1019
//	C2 CompilerThread;libjvm.so;PhaseIdealLoop::build_loop_late 12
//
// If the capture has call stacks, a stack is the thread and then all frames. If frames are missing, a mark is in their
// place: "[cut]", "[frozen]" or "[not walked]".
//
//	http-;[cut];org.acme.Server::handle;org.acme.Users::find;java.util.HashMap::get;java.util.HashMap::getNode 7
//
// Otherwise a stack is the thread, the compiled method, and the methods inlined into it. The frame around a native
// function names its library. The frame around a stub or a codelet of the interpreter says which kind of code it is.
//
// If there are several profiles, the outermost frame names the profile. The format has only one number in a line, which
// is the number of samples of the first event. A thread without a name has no frame.
func WriteCollapsed(w io.Writer, ps *profile.Profiles) error {
	return writeCollapsed(w, ps, func(stacks map[string]int64, root string, p *profile.Profile) {
		for k := range p.Locations {
			l := &p.Locations[k]
			if n := l.Counts[0]; n > 0 {
				stacks[collapsedStack(root, l, ps.Stacks)] += n
			}
		}
	})
}

// WriteCollapsedWaits writes how threads spent wall-clock time in the same format, with ns as counts. The innermost
// frame of a stack is the state of the threads, in brackets. Idle threads are left out, unless idle is true.
//
//	http-nio-8080-exec-*;java.lang.Thread::run;acme.Server::handle;acme.Pool::take;[monitor] 61000000
func WriteCollapsedWaits(w io.Writer, ps *profile.Profiles, idle bool) error {
	if !hasWaits(ps) {
		return errNoWaits
	}
	room := waitRoom(maxWaitFrames)
	return writeCollapsed(w, ps, func(stacks map[string]int64, root string, p *profile.Profile) {
		if p.Waits != nil {
			addWaits(stacks, &room, root, p.Waits, idle)
		}
	})
}

// writeCollapsed calls the function add for each profile, which adds the stacks of that profile to a map. Then it
// writes all stacks.
func writeCollapsed(w io.Writer, ps *profile.Profiles, add func(stacks map[string]int64, root string,
	p *profile.Profile)) error {
	stacks := map[string]int64{}
	for i := range ps.Trials {
		p := &ps.Trials[i]
		root := ""
		if len(ps.Trials) > 1 {
			root = ps.Name(p)
		}
		add(stacks, root, p)
	}
	out := bufio.NewWriter(w)
	for _, stack := range slices.Sorted(maps.Keys(stacks)) {
		fmt.Fprintf(out, "%s %d\n", stack, stacks[stack])
	}
	return out.Flush()
}

// collapsedStack returns the stack of a location, the outermost frame first. calls is nil if there are no call stacks.
func collapsedStack(root string, l *profile.Location, calls *calltree.Stacks) string {
	frames := make([]string, 0, len(l.Frames)+3)
	for _, name := range []string{root, l.Thread} {
		if name != "" {
			frames = append(frames, collapsedFrame(name))
		}
	}
	if calls != nil {
		var callers []string
		for c := range calls.Callers(l.Stack) {
			callers = append(callers, collapsedFrame(c.Label()))
		}
		slices.Reverse(callers)
		frames = append(frames, callers...)
		if len(l.Frames) == 0 { // the callers already lead to the code, so no frame for its library is needed
			return strings.Join(append(frames, collapsedFrame(leafLabel(l))), ";")
		}
	}
	for _, f := range slices.Backward(l.Frames) {
		frames = append(frames, collapsedFrame(f.Name()))
	}
	if len(l.Frames) == 0 {
		frames = append(frames, collapsedFrame(l.Source))
		if l.Name != "" && l.Name != l.Source {
			frames = append(frames, collapsedFrame(l.Name))
		}
	}
	return strings.Join(frames, ";")
}

// leafLabel returns the label of code without Java frames: its name or, if it has none, its source in brackets, such as
// "[kernel]".
func leafLabel(l *profile.Location) string {
	return cmp.Or(l.Name, "["+strings.Trim(l.Source, "[]")+"]")
}

// collapsedFrame escapes a name for a frame. A colon replaces each semicolon, because semicolons separate frames.
func collapsedFrame(name string) string {
	return strings.ReplaceAll(layout.Escape(name), ";", ":")
}
