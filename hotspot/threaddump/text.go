package threaddump

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// TextOptions say how a Dump is written as text.
type TextOptions struct {
	Look  layout.Look
	Group bool // write threads with the same stack and state together, the largest groups first
	// All is true if each frame is written. Otherwise, stubs and the native frames below Java methods are left out.
	All bool
}

// WriteText writes a Dump as text, in the form of jstack.
func WriteText(w io.Writer, d *Dump, o TextOptions) error {
	p := &textPage{Page: layout.NewPage(w, o.Look), dump: d, options: o}
	p.head()
	if o.Group {
		p.groups()
	} else {
		for i := range d.Threads {
			p.thread(&d.Threads[i])
		}
	}
	for _, deadlock := range d.Deadlocks {
		p.deadlock(deadlock)
	}
	return p.Flush()
}

type textPage struct {
	*layout.Page
	dump    *Dump
	options TextOptions
}

func (p *textPage) head() {
	d := p.dump
	parts := []string{layout.Plural(len(d.Threads), "thread")}
	if d.Moved > 0 {
		parts = append(parts, fmt.Sprintf("%d moved while they were read", d.Moved))
	}
	if n := len(d.Deadlocks); n > 0 {
		parts = append(parts, layout.Plural(n, "deadlock"))
	}
	p.Line("JVM %d, JDK %s, %s: %s, read in %s without a stop", d.PID, d.version(), d.Time.Format("2006-01-02 15:04:05"),
		strings.Join(parts, ", "), d.Took.Round(time.Millisecond))
	if d.Unsampled != nil {
		which := "Threads"
		if slices.ContainsFunc(d.Threads, func(t Thread) bool { return t.Stack == Sampled }) {
			which = "Some threads"
		}
		p.Line("%s that run have no stack, because they could not be sampled: %v", which, d.Unsampled)
	}
	if d.More {
		p.Line("Only the first %d threads were read.", MaxThreads)
	}
}

func (d *Dump) version() string {
	switch {
	case d.Version == "":
		return strconv.Itoa(d.Release)
	case d.Release == 8: // HotSpot of JDK 8 calls itself version 25
		return "8 (HotSpot " + d.Version + ")"
	}
	return d.Version
}

func (p *textPage) thread(t *Thread) {
	p.Line("")
	p.Line("%s", t.heading())
	p.body(t)
}

// heading returns the line of a thread: its name, and what jstack prints after the name.
func (t *Thread) heading() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", t.Name)
	if j := t.Java; j != nil {
		if j.ID != 0 {
			fmt.Fprintf(&b, " #%d", j.ID)
		}
		if j.Daemon {
			b.WriteString(" daemon")
		}
		if j.Priority != 0 {
			fmt.Fprintf(&b, " prio=%d", j.Priority)
		}
	}
	fmt.Fprintf(&b, " cpu=%.2fms", float64(t.CPU)/1e6)
	if t.Java != nil {
		fmt.Fprintf(&b, " tid=0x%016x", t.Java.Address)
	}
	fmt.Fprintf(&b, " nid=%d %s", t.NID, t.Kernel.text())
	return b.String()
}

// text returns what the kernel knows about a thread: "in futex for a limited time".
func (k *Kernel) text() string {
	text := string(k.State)
	if k.Call != "" {
		text += " in " + k.Call
	}
	switch {
	case strings.HasPrefix(k.On, "for "):
		text += " " + k.On
	case k.On != "":
		text += " on " + k.On
	}
	return text
}

// body writes a thread's state and its stack.
func (p *textPage) body(t *Thread) {
	if t.Java != nil && t.Java.State != "" {
		p.Line("   java.lang.Thread.State: %s", t.Java.State)
	}
	if v := t.Virtual; v != nil {
		p.Line("   Carrying virtual thread %q #%d", v.Name, v.ID)
	}
	if t.Compiling != "" {
		p.Line("   Compiling: %s", t.Compiling)
	}
	switch t.Stack {
	case Running:
		p.note("(runs; its stack was not sampled)")
	case Moved:
		p.note("(ran each time it was read)")
	case Unread:
		p.note("(could not be read)")
	case Sampled:
		p.note("(ran; its stack is that of a moment)")
	}
	hasJava := slices.ContainsFunc(t.Frames, func(f Frame) bool { return f.Kind.Java() })
	inJava := false
	for i := range t.Frames {
		f := &t.Frames[i]
		inJava = inJava || f.Kind.Java()
		switch {
		case f.Kind == callstack.Unwalked && i < len(t.Frames)-1:
			p.note("... (native frames may be missing here)")
		case p.options.All || p.shown(t, i, hasJava, inJava):
			p.frame(f)
		}
	}
}

// note writes a line about a thread's stack.
func (p *textPage) note(text string) { p.Line("\t%s", text) }

// shown reports whether a frame is written if not all frames are.
func (p *textPage) shown(t *Thread, i int, hasJava, inJava bool) bool {
	f := &t.Frames[i]
	switch {
	case f.Kind.Java() || f.Kind == callstack.Frozen:
		return true
	case f.Kind.Mark():
		return true
	case f.Kind == callstack.Stub:
		return !hasJava
	}
	return !inJava || !hasJava
}

// frame writes a frame with its locks.
func (p *textPage) frame(f *Frame) {
	p.Line("\t%s", f.text())
	for i := range f.Locks {
		p.Line("\t- %s", p.lock(&f.Locks[i]))
	}
}

// text returns the line of a frame: "at pkg.Class.method(Class.java:12)".
func (f *Frame) text() string {
	switch f.Kind {
	case callstack.Compiled, callstack.Inlined, callstack.Interpreted:
		return "at " + f.java()
	case callstack.Native, callstack.Kernel:
		name := f.Name
		if name == "" {
			name = fmt.Sprintf("0x%016x", f.PC)
		}
		if f.Module != "" {
			name += " (" + f.Module + ")"
		}
		return "in " + name
	case callstack.Stub:
		return "in " + f.Name
	case callstack.Frozen:
		return "... (frames of a virtual thread that are in the heap)"
	case callstack.Cut:
		return "... (the stack is deeper)"
	}
	return "... (outer frames could not be found)"
}

// java returns a Java method as jstack writes it.
func (f *Frame) java() string {
	class, method, ok := strings.Cut(f.Name, "::")
	name := class + "." + method
	if !ok {
		name = f.Name
	}
	if f.Name == "" {
		name = "(a method whose name can't be read)"
	}
	switch {
	case f.Native:
		return name + "(Native Method)"
	case f.Source == "" && f.Line > 0:
		return fmt.Sprintf("%s(line %d)", name, f.Line)
	case f.Source == "":
		return name + "(Unknown Source)"
	case f.Line > 0:
		return fmt.Sprintf("%s(%s:%d)", name, f.Source, f.Line)
	}
	return name + "(" + f.Source + ")"
}

func (p *textPage) lock(l *Lock) string {
	what := l.Class
	if l.Of != "" {
		what += " for " + l.Of
	}
	kind := string(l.Kind)
	if l.Kind == ParkingFor {
		kind += " " // jstack has two blanks there
	}
	text := fmt.Sprintf("%s <0x%016x> (a %s)", kind, l.Address, what)
	if l.Owner >= 0 && l.Owner < len(p.dump.Threads) {
		text += fmt.Sprintf(" owned by %q", p.dump.Threads[l.Owner].Name)
	}
	return text
}

// deadlock writes the threads of a deadlock.
func (p *textPage) deadlock(d Deadlock) {
	p.Line("")
	p.Line("Deadlock of %s:", layout.Plural(len(d), "thread"))
	for _, i := range d {
		t := &p.dump.Threads[i]
		p.Line("  %q is %s", t.Name, p.lock(t.waits()))
	}
}

// groups writes the threads in groups. All threads of a group do the same thing, for example wait at the same place.
func (p *textPage) groups() {
	byKey, keys := map[string][]int{}, []string{}
	for i := range p.dump.Threads {
		key := p.dump.Threads[i].groupKey()
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], i)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return len(byKey[b]) - len(byKey[a]) })
	for _, key := range keys {
		members := byKey[key]
		first := &p.dump.Threads[members[0]]
		if len(members) == 1 {
			p.thread(first)
			continue
		}
		var names []string
		for _, i := range members {
			names = append(names, strconv.Quote(p.dump.Threads[i].Name))
		}
		p.Line("")
		p.Line("%d threads: %s", len(members), layout.And(names, mostNames))
		p.body(first)
	}
}

// mostNames is how many names of a group are written.
const mostNames = 5

// groupKey returns the same text for two threads if their states, their stacks and the classes of their locks are
// equal. The addresses of locks may differ. A thread without frames, or with a virtual thread, has a key of its own.
func (t *Thread) groupKey() string {
	var b strings.Builder
	if t.Java != nil {
		b.WriteString(t.Java.State)
	}
	fmt.Fprintf(&b, "|%s|%s|%s|%s\n", t.Kernel.State, t.Kernel.Call, t.Stack, t.Compiling)
	if len(t.Frames) == 0 || t.Virtual != nil {
		fmt.Fprintf(&b, "%s %d\n", t.Name, t.TID)
	}
	for i := range t.Frames {
		f := &t.Frames[i]
		b.WriteString(f.text())
		for _, l := range f.Locks {
			fmt.Fprintf(&b, "|%s %s %d", l.Kind, l.Class, l.Owner)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
