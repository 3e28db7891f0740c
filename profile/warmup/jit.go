package warmup

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/event"
)

// A JIT says what the JIT compilers of some JVMs did. Lists are cut to their first [Most] elements.
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
	// Deopts are the places at which execution went from compiled code to the interpreter, the most frequent first.
	Deopts []Deopt
	// AllMethods, AllAgain and AllDeopts are the lengths of the lists before they were cut.
	AllMethods, AllAgain, AllDeopts int
	// MethodsAgain is the number of methods in Again before it was cut. A method may have several elements: one for
	// each level and each JVM.
	MethodsAgain int
	// Deoptimizations is the number of all deoptimizations. DeoptimizationsInside is the number of deoptimizations in
	// the windows.
	Deoptimizations, DeoptimizationsInside int
}

// Most is the maximum length of each list of a JIT.
const Most = 100

// A Level sums up the compilations of one level. Level is 0 for wrappers of native methods, 1 to 3 for C1, 4 for C2 or
// another compiler in its place, and UnknownLevel if it is not known.
type Level struct {
	Level  int
	Count  int // number of compilations, including those that failed
	OSR    int // number of compilations that replace a method while it runs in a loop
	Inside int // compilations that began within a window
	Failed int // compilations that the compiler gave up
	// Discarded is the number of compilations that HotSpot stopped using, as far as its log says so.
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

// LevelName returns the name of a level: "C2", "C1, level 3, osr". top is the name of the compiler of level 4. If the
// level is unknown, LevelName returns the name of the compiler, or "unknown".
func LevelName(level int, compiler, top string, osr bool) string {
	name := cmp.Or(compiler, "unknown")
	switch {
	case level == 0:
		name = "wrapper"
	case level == 4:
		name = top
	case level > 0:
		name = "C1, level " + strconv.Itoa(level)
	}
	if osr {
		name += ", osr"
	}
	return name
}

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
	Size      int   // size of the code in bytes; 0 if it is unknown
	Inlined   int   // bytes of bytecode that were inlined; 0 if there were none, or if it is unknown
	Failed    bool  // the compiler gave up
	Inside    bool  // the compilation began within a window
	in        int   // number of the trial in whose window it began, from 1; 0 for none
	End       *End  // nil if HotSpot uses the code to the end, or if nothing is known about its end
}

// An End says when HotSpot stopped using the code of a compilation, and why.
type End struct {
	MonoNanos int64
	Reason    string // HotSpot's reason: "uncommon trap"; "" if the log does not have it
	// Trap and Action are the reason and the action of the deoptimization that caused it; "" if there was none, or if
	// it is unknown.
	Trap, Action string
}

// A Method sums up the compilations of a method, by all compilers.
type Method struct {
	Name           string
	C1, C2, Other  int // numbers of compilations by C1, by C2 and by unknown compilers
	Timed          int // how many of the compilations have a known time
	Nanos          int64
	C1Nanos        int64 // C1Nanos and C2Nanos are the parts of Nanos that C1 and C2 took
	C2Nanos        int64
	LongestNanos   int64
	FailedAttempts int
}

// Count returns the number of the method's compilations.
func (m *Method) Count() int { return m.C1 + m.C2 + m.Other }

// WholeRun reports whether all compilations and all deoptimizations were within a window.
func (j *JIT) WholeRun() bool {
	return j.DeoptimizationsInside == j.Deoptimizations &&
		!slices.ContainsFunc(j.Levels, func(l Level) bool { return l.Inside < l.Count })
}

func compilationOf(e *event.Event) Compilation {
	n := Compilation{PID: e.PID, Method: e.Name, Overload: cmp.Or(e.Arg(event.BytecodeSize), e.Arg(event.Descriptor)),
		Level: UnknownLevel, MonoNanos: e.MonoNanos, Nanos: e.Nanos, Compiler: e.Arg("compiler"),
		OSR: e.Arg("osr") == "true", Failed: e.Arg("failed") == "true" || e.Arg("success") == "false",
		ID: number(e, "id"), Size: number(e, "size"), Inlined: number(e, "inlined")}
	if level, err := strconv.Atoi(e.Arg("level")); err == nil && 0 <= level && level <= 4 {
		n.Level, n.Compiler = level, ""
	}
	return n
}

// number returns the value of the event's argument with the given name if it is a positive number, and otherwise 0.
func number(e *event.Event, name string) int {
	n, err := strconv.ParseInt(e.Arg(name), 10, 32)
	if err != nil {
		return 0
	}
	return int(max(n, 0))
}

// C1 reports whether the compilation was made by C1.
func (c *Compilation) C1() bool { return 1 <= c.Level && c.Level <= 3 || c.Compiler == "C1" }

// C2 reports whether the compilation was made by C2, or by another compiler in its place.
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

// count increments n if its second argument is true.
func count(n *int, is bool) {
	if is {
		*n++
	}
}

// longest returns the longest compilations of those whose times are known.
func longest(all []Compilation) []Compilation {
	timed := slices.DeleteFunc(slices.Clone(all), func(c Compilation) bool { return c.Nanos == 0 })
	slices.SortStableFunc(timed, func(a, b Compilation) int { return cmp.Compare(b.Nanos, a.Nanos) })
	return slices.Clone(timed[:min(len(timed), Most)])
}

// methods sums up compilations by method. It returns the first [Most] methods, and the number of all methods.
func methods(all []Compilation) (first []Method, number int) {
	byName := map[string]*Method{}
	for i := range all {
		c := &all[i]
		if c.Level == 0 { // it is a wrapper, which no compiler has made
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
	return slices.Clone(first[:min(len(first), Most)]), len(first)
}
