package doctor

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
)

const (
	// knownThread is the name of the thread of KnownStack.java whose stacks are judged.
	knownThread = "known"
	// The check ignores the first earlyStacks samples of the known thread, and judges those after them, at least
	// wantedStacks. The first samples are from the time in which the program is compiled; on a busy machine, code then
	// changes faster than gasm reads it.
	wantedStacks, earlyStacks = 100, 100
	// usefulStack is how many bytes of a stack each sample must have room for, so that nearly all stacks of a usual
	// program are whole.
	usefulStack = 16 << 10
	// fewestWhole is the smallest share of whole stacks with which the check says that gasm can walk the stacks of this
	// JVM. It is less than 1, because stacks from the JVM's first and last moments may not be whole.
	fewestWhole = 0.95
)

// expectedStack matches the Java methods of each possible stack of the known thread, the outermost first. deepStack
// matches only the deepest of these stacks. Most samples have such a stack, because the program spends nearly all of
// its time in its method work.
var (
	expectedStack = regexp.MustCompile(`^(KnownStack::run( KnownStack::recurse){0,31}|KnownStack::run( KnownStack::recurse){31} KnownStack::work)?$`)
	deepStack     = regexp.MustCompile(`^KnownStack::run( KnownStack::recurse){31}( KnownStack::work)?$`)
)

// A stackTrial is the result of walking the stacks of a known program.
type stackTrial struct {
	err     error // why there are no samples with stacks
	size    int   // how many bytes of a stack a sample has room for
	samples int
	whole   int
	cut     int
	deep    int    // whole, and with all of the program's calls
	wrong   int    // whole, but with other calls than the program has
	example string // the Java methods of a wrong stack
	// noFrameInfo is true if libjvm has no .eh_frame, in which gasm looks up the callers of its functions.
	noFrameInfo bool
}

// add judges one stack of the known program. frames are its frames, the innermost first.
func (t *stackTrial) add(frames func(yield func(*callstack.Frame) bool)) {
	t.samples++
	var methods []string
	var outermost callstack.Kind
	for f := range frames {
		outermost = f.Kind
		if f.Kind.Java() {
			methods = append([]string{f.Name}, methods...)
		}
	}
	switch text := strings.Join(methods, " "); {
	case outermost == callstack.Cut:
		t.cut++
	case outermost == 0 || outermost.Mark():
	case !expectedStack.MatchString(text):
		t.whole++
		t.wrong++
		t.example = text
	default:
		t.whole++
		if deepStack.MatchString(text) {
			t.deep++
		}
	}
}

// judge returns the finding about call stacks.
func (t *stackTrial) judge(area string) Finding {
	c := Finding{area, "stacks", OK, fmt.Sprintf("%d of %d whole", t.whole, t.samples), ""}
	note := func(text, fix string) Finding {
		c.Status, c.Text, c.Fix = Note, text, fix
		return c
	}
	const without = "gasm profile --stacks off ..."
	switch {
	case t.err != nil:
		cause, todo := explain(t.err)
		return note("no call stacks: "+cause, todo)
	case t.samples == 0:
		return note("not tried: a busy program gave no samples", "")
	case t.wrong > 0:
		c.Status, c.Fix = Problem, without
		c.Text += fmt.Sprintf(", but %d not as the program's source says: %s; please report this", t.wrong,
			shortened(t.example))
	case t.noFrameInfo && !t.enoughWhole():
		return note(c.Text+": libjvm has no .eh_frame, by which gasm finds the callers of its functions",
			installJDK(osRelease()))
	case t.cut > 0 && t.size < usefulStack:
		return note(fmt.Sprintf("%s, %d cut: there is room for only %d KiB of a stack in the kernel's buffers", c.Text, t.cut,
			t.size>>10), moreLocked())
	case !t.enoughWhole():
		return note(c.Text+": the callers of the others were not found, as in a JVM of a version that this gasm does not know", without)
	case 2*t.deep < t.whole:
		c.Status, c.Fix = Problem, without
		c.Text += fmt.Sprintf(", but only %d with all calls of the program; please report this", t.deep)
	case t.size < usefulStack:
		return note(fmt.Sprintf("%s, all as expected; but there is room for only %d KiB of a stack in the kernel's buffers: deeper ones are cut, and --stacks auto records none",
			c.Text, t.size>>10), moreLocked())
	default:
		c.Text += ", all as expected"
	}
	return c
}

// enoughWhole reports whether so many stacks are whole that gasm can walk the stacks of this JVM.
func (t *stackTrial) enoughWhole() bool { return float64(t.whole) >= fewestWhole*float64(t.samples) }

// moreLocked returns a command that lets the user lock more memory, so that whole stacks fit into the kernel's buffers.
func moreLocked() string {
	const forStacks = 4100 // KiB for each CPU: a buffer of 4 MiB and its first page
	return fmt.Sprintf("sudo sysctl kernel.perf_event_mlock_kb=%d (or ulimit -l %d)", forStacks,
		forStacks*runtime.NumCPU())
}

// shortened returns the beginning of a list of methods, at most 200 bytes.
func shortened(methods string) string {
	const most = 200
	if len(methods) > most {
		return methods[:most] + "..."
	}
	return methods
}
