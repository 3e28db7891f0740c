package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// WriteCollapsed writes the profiles as collapsed stacks, which flame graph tools (flamegraph.pl, inferno) and speedscope
// read: a line for each stack, its frames from the outermost to the innermost with semicolons between them, a blank, and how
// many samples are there. The profiles must have their Locations.
//
//	main;org.gasm.bench.MapWalk::walk;java.util.HashMap$HashIterator::nextNode 1019
//	C2 CompilerThread;libjvm.so;PhaseIdealLoop::build_loop_late 12
//
// Samplers take program counters and no stacks, so a stack is the thread, then the compiled method and what was inlined into
// it. Native functions stand in their library, stubs and codelets of the interpreter in their kind of code. With several
// profiles, each has a frame of its own outside of all others. The format has one number a line: it is that of the first
// event. A thread without a name has no frame.
func WriteCollapsed(w io.Writer, ps *profile.Profiles, _ Options) error {
	stacks := map[string]int64{}
	for i := range ps.Trials {
		p := &ps.Trials[i]
		root := ""
		if len(ps.Trials) > 1 {
			root = ps.Name(p)
		}
		for k := range p.Locations {
			l := &p.Locations[k]
			if n := l.Counts[0]; n > 0 {
				stacks[collapsedStack(root, l)] += n
			}
		}
	}
	out := bufio.NewWriter(w)
	for _, stack := range slices.Sorted(maps.Keys(stacks)) {
		fmt.Fprintf(out, "%s %d\n", stack, stacks[stack])
	}
	return out.Flush()
}

// collapsedStack is the stack of a location, outermost frame first.
func collapsedStack(root string, l *profile.Location) string {
	frames := make([]string, 0, len(l.Frames)+3)
	for _, name := range []string{root, l.Thread} {
		if name != "" {
			frames = append(frames, collapsedFrame(name))
		}
	}
	for _, f := range slices.Backward(l.Frames) {
		frames = append(frames, collapsedFrame(f.Method))
	}
	if len(l.Frames) == 0 {
		frames = append(frames, collapsedFrame(l.Source))
		if l.Name != "" && l.Name != l.Source {
			frames = append(frames, collapsedFrame(l.Name))
		}
	}
	return strings.Join(frames, ";")
}

// collapsedFrame is a name without the semicolon, which parts frames, and without what a line can't have.
func collapsedFrame(name string) string {
	return strings.ReplaceAll(layout.Escape(name), ";", ":")
}
