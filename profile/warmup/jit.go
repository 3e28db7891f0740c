package warmup

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/event"
)

// A JIT is what the JIT compilers of some JVMs did. Lists are cut to their first [Most] elements.
type JIT struct {
	Levels []Level // by level, the lowest first
	// Longest are the compilations whose times are known, the longest first.
	Longest []Compilation
	// Methods are the compiled methods that took most of the compilers' time, the longest first. If no times are known,
	// those that were compiled most often come first.
	Methods []Method
	// Again are the methods that were compiled several times in the same way, see [Repetition]. Those that took longest
	// come first.
	Again []Repetition
	// Deopts are the places at which compiled code was left for the interpreter, the most frequent first.
	Deopts []Deopt
	ends   map[codeKey]*End
	// AllMethods, AllAgain and AllDeopts are the lengths of the lists before they were cut.
	AllMethods, AllAgain, AllDeopts int
	// MethodsAgain is the number of methods in Again before it was cut. A method may have several elements: one for each
	// level and each JVM.
	MethodsAgain int
	// Deoptimizations is the number of all deoptimizations, and DeoptimizationsInside that of
	// those in the windows.
	Deoptimizations, DeoptimizationsInside int
}

// Most is the maximum length of each list of a JIT.
const Most = 100

// A Level sums up the compilations of one level. Level is 0 for wrappers of native methods, 1 to 3 for C1, 4 for C2 or
// another compiler in its place, and UnknownLevel.
type Level struct {
	Level  int
	Count  int // compilations, also those that failed
	OSR    int // those of them that replace a method while it runs in a loop
	Inside int // those that began within a window
	Failed int // those that the compiler gave up
	// Discarded is how many of them HotSpot stopped using, as far as its log says so.
	Discarded int
	// Timed is how many compilations have a known time. Nanos is the sum of their times.
	Timed int
	Nanos int64
	// Bytes is the size of the code; 0 if no source has it.
	Bytes int64
}

// Add adds the compilations of another level to those of l.
func (l *Level) Add(other *Level) {
	l.Count += other.Count
	l.OSR += other.OSR
	l.Inside += other.Inside
	l.Failed += other.Failed
	l.Discarded += other.Discarded
	l.Timed += other.Timed
	l.Nanos += other.Nanos
	l.Bytes += other.Bytes
}

// UnknownLevel is the Level of compilations whose level is not known.
const UnknownLevel = -1

// A Compilation is one run of a JIT compiler, on one method.
type Compilation struct {
	PID    int
	Method string
	// Overload tells methods of the same name apart: the size of the method's bytecode or, if that is unknown, its
	// descriptor; "" if both are unknown. Two methods with the same name and size are taken for one.
	Overload string
	ID       int // 0 if it is unknown
	Level    int
	OSR      bool
	// Compiler is the compiler's name, if the level is unknown but the compiler is not: "C2".
	Compiler  string
	MonoNanos int64 // when it began
	Nanos     int64 // 0 if it is unknown
	Size      int   // of the code, in bytes; 0 if it is unknown
	Inlined   int   // bytes of bytecode that were inlined; 0 if there were none, or if it is unknown
	Failed    bool  // the compiler gave up
	Inside    bool  // it began within a window
	End       *End  // nil if HotSpot uses the code to the end, or if nothing is known about its end
}

// An End says when HotSpot stopped using the code of a compilation, and why.
type End struct {
	MonoNanos int64
	Reason    string // HotSpot's: "uncommon trap"; "" if the log does not have it
	// Trap and Action are the reason and the action of the deoptimization that caused it; "" if there was none, or if it
	// is unknown.
	Trap, Action string
}

// A Method sums up the compilations of a method, by all compilers.
type Method struct {
	Name           string
	C1, C2, Other  int // numbers of compilations; Other are those of unknown compilers
	Timed          int // how many have a known time
	Nanos          int64
	C1Nanos        int64 // those parts of Nanos that C1 and C2 took
	C2Nanos        int64
	LongestNanos   int64
	FailedAttempts int
}

// Count returns the number of the method's compilations.
func (m *Method) Count() int { return m.C1 + m.C2 + m.Other }

// Events are the events that are about the JIT compilers, by the JVM's process id.
type Events map[int][]*event.Event

// Collect returns those of all events that are about the JIT compilers.
func Collect(events []event.Event) Events {
	all := Events{}
	for i := range events {
		switch e := &events[i]; e.Kind {
		case event.Compilation, event.Discard, event.Deopt:
			all[e.PID] = append(all[e.PID], e)
		}
	}
	return all
}

// Of returns what the JIT compilers of the JVMs with the given pids did. inside says whether an event began within a window.
// Of returns nil if there are neither compilations nor deoptimizations.
func (all Events) Of(pids []int, inside func(*event.Event) bool) *JIT {
	c := collector{found: map[codeKey]int{}, deopts: map[place]*Deopt{}}
	for _, pid := range pids {
		for _, e := range all[pid] {
			c.add(e, inside)
		}
	}
	if len(c.compilations) == 0 && len(c.deoptimizations) == 0 {
		return nil
	}
	j := &JIT{Deoptimizations: len(c.deoptimizations)}
	j.ends = c.joinedEnds()
	j.Levels = levels(c.compilations)
	j.Longest = longest(c.compilations)
	j.Methods, j.AllMethods = methods(c.compilations)
	j.Again, j.AllAgain, j.MethodsAgain = repetitions(c.compilations)
	j.Deopts, j.AllDeopts = c.places()
	for _, d := range c.deoptimizations {
		if d.inside {
			j.DeoptimizationsInside++
		}
	}
	return j
}

// WholeRun reports whether all compilations and all deoptimizations were within a window.
func (j *JIT) WholeRun() bool {
	return j.DeoptimizationsInside == j.Deoptimizations && !slices.ContainsFunc(j.Levels, func(l Level) bool { return l.Inside < l.Count })
}

// A codeKey identifies a compilation of a JVM. JDK 8 numbers on-stack replacements separately.
type codeKey struct {
	pid, id int
	osr     bool
}

// A collector collects the events that are about the JIT compilers.
type collector struct {
	compilations    []Compilation
	found           map[codeKey]int // in compilations
	discards        []*event.Event
	deoptimizations []deoptimization
	deopts          map[place]*Deopt
}

// A deoptimization is one event.
type deoptimization struct {
	*event.Event
	inside bool
}

func (c *collector) add(e *event.Event, inside func(*event.Event) bool) {
	switch e.Kind {
	case event.Compilation:
		n := compilationOf(e)
		n.Inside = inside(e)
		if n.ID > 0 {
			c.found[codeKey{n.PID, n.ID, n.OSR}] = len(c.compilations)
		}
		c.compilations = append(c.compilations, n)
	case event.Discard:
		c.discards = append(c.discards, e)
	case event.Deopt:
		c.deoptimizations = append(c.deoptimizations, deoptimization{e, inside(e)})
	}
}

func compilationOf(e *event.Event) Compilation {
	n := Compilation{PID: e.PID, Method: e.Name, Overload: cmp.Or(e.Arg(event.BytecodeSize), e.Arg(event.Descriptor)), Level: UnknownLevel, MonoNanos: e.MonoNanos, Nanos: e.Nanos, Compiler: e.Arg("compiler"),
		OSR: e.Arg("osr") == "true", Failed: e.Arg("failed") == "true" || e.Arg("success") == "false",
		ID: number(e, "id"), Size: number(e, "size"), Inlined: number(e, "inlined")}
	if level, err := strconv.Atoi(e.Arg("level")); err == nil && 0 <= level && level <= 4 {
		n.Level, n.Compiler = level, ""
	}
	return n
}

// number returns the value of an event's argument that is a positive number, or 0.
func number(e *event.Event, name string) int {
	n, err := strconv.ParseInt(e.Arg(name), 10, 32)
	if err != nil {
		return 0
	}
	return int(max(n, 0))
}

// EndOf returns when and why HotSpot stopped using the code of a compilation; nil if nothing is known about that.
func (j *JIT) EndOf(pid, id int, osr bool) *End {
	if j == nil {
		return nil
	}
	return j.ends[codeKey{pid, id, osr}]
}

// joinedEnds finds the compilations whose code HotSpot stopped using. The deoptimization that caused it is one of the same
// code at about the same time.
func (c *collector) joinedEnds() map[codeKey]*End {
	ends := map[codeKey]*End{}
	const together = 20e6 // ns; the log's line follows the trap within some ms even on a busy machine
	traps := map[codeKey][]*event.Event{}
	for _, d := range c.deoptimizations {
		key := codeKey{pid: d.PID, id: number(d.Event, "compileId")}
		traps[key] = append(traps[key], d.Event)
	}
	for _, e := range c.discards {
		key := codeKey{e.PID, number(e, "id"), e.Arg("osr") == "true"}
		if ends[key] != nil || key.id == 0 {
			continue
		}
		end := &End{MonoNanos: e.MonoNanos, Reason: e.Arg("reason")}
		for _, trap := range traps[codeKey{pid: e.PID, id: key.id}] {
			if away := e.MonoNanos - trap.MonoNanos; -together <= away && away <= together && discards(trap.Arg("action")) {
				end.Trap, end.Action = trap.Arg("reason"), trap.Arg("action")
			}
		}
		ends[key] = end
		if i, ok := c.found[key]; ok {
			c.compilations[i].End = end
		}
	}
	return ends
}

// discards reports whether an action of HotSpot after a trap may end the use of the code. After the others, the code
// stays.
func discards(action string) bool { return action != "none" }

// C1 reports whether the compilation is one of C1's.
func (c *Compilation) C1() bool { return 1 <= c.Level && c.Level <= 3 || c.Compiler == "C1" }

// C2 reports whether the compilation is one of C2's, or of another compiler in its place.
func (c *Compilation) C2() bool {
	return c.Level == 4 || c.Level == UnknownLevel && c.Compiler != "" && c.Compiler != "C1"
}

// levels sums up compilations by level.
func levels(all []Compilation) []Level {
	byLevel := map[int]*Level{}
	for i := range all {
		c := &all[i]
		l := byLevel[c.Level]
		if l == nil {
			l = &Level{Level: c.Level}
			byLevel[c.Level] = l
		}
		l.Count++
		l.Bytes += int64(c.Size)
		count(&l.OSR, c.OSR)
		count(&l.Inside, c.Inside)
		count(&l.Failed, c.Failed)
		count(&l.Discarded, c.End != nil)
		if count(&l.Timed, c.Nanos > 0); c.Nanos > 0 {
			l.Nanos += c.Nanos
		}
	}
	list := make([]Level, 0, len(byLevel))
	for _, l := range byLevel {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Level) int { return cmp.Compare(a.Level, b.Level) })
	return list
}

// count increments n if is is true.
func count(n *int, is bool) {
	if is {
		*n++
	}
}

// longest returns the longest compilations of those whose times are known.
func longest(all []Compilation) []Compilation {
	timed := slices.DeleteFunc(slices.Clone(all), func(c Compilation) bool { return c.Nanos == 0 })
	slices.SortStableFunc(timed, func(a, b Compilation) int { return cmp.Compare(b.Nanos, a.Nanos) })
	return slices.Clip(timed[:min(len(timed), Most)])
}

// methods sums up compilations by method. It returns the first ones, and how many there are.
func methods(all []Compilation) (first []Method, number int) {
	byName := map[string]*Method{}
	for i := range all {
		c := &all[i]
		if c.Level == 0 { // a wrapper, which no compiler has made
			continue
		}
		m := byName[c.Method]
		if m == nil {
			m = &Method{Name: c.Method}
			byName[c.Method] = m
		}
		switch {
		case c.C1():
			m.C1++
			m.C1Nanos += c.Nanos
		case c.C2():
			m.C2++
			m.C2Nanos += c.Nanos
		default:
			m.Other++
		}
		count(&m.Timed, c.Nanos > 0)
		count(&m.FailedAttempts, c.Failed)
		m.Nanos += c.Nanos
		m.LongestNanos = max(m.LongestNanos, c.Nanos)
	}
	for _, m := range byName {
		first = append(first, *m)
	}
	slices.SortFunc(first, func(a, b Method) int {
		return cmp.Or(cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Count(), a.Count()), cmp.Compare(a.Name, b.Name))
	})
	return slices.Clip(first[:min(len(first), Most)]), len(first)
}
