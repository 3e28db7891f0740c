package calltree

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// Code is what a node of a tree stands for: a method, a function, a thread, or a mark for frames that are missing.
type Code struct {
	// Kind is Compiled for all Java methods and Thread for a thread.
	Kind   callstack.Kind
	Module string // base name of a native function's library
	Name   string
}

// Thread is the Kind of a Code that is a thread.
const Thread callstack.Kind = 0

// Java reports whether the code is a Java method.
func (c *Code) Java() bool { return c.Kind == callstack.Compiled }

// Mark reports whether the code stands in place of frames that are missing.
func (c *Code) Mark() bool { return c.Kind.Mark() }

// Label returns the name of the code. If it has none, the label says in brackets what is known about it: "[libc.so.6]".
func (c *Code) Label() string {
	switch {
	case c.Kind == callstack.Unwalked:
		return cmp.Or(c.Name, "[not walked]")
	case c.Mark():
		return "[" + c.Kind.String() + "]"
	case c.Name != "":
		return c.Name
	case c.Kind == Thread:
		return "[no name]"
	case c.Module != "":
		return "[" + strings.Trim(c.Module, "[]") + "]"
	}
	return "[" + c.Kind.String() + "]"
}

// compare compares codes by their names.
func (c *Code) compare(other *Code) int {
	return cmp.Or(cmp.Compare(c.Name, other.Name), cmp.Compare(c.Kind, other.Kind), cmp.Compare(c.Module, other.Module))
}

// foldedCode stands for the callers of samples whose stack is Folded.
var foldedCode = Code{Kind: callstack.Unwalked, Name: "[stacks not counted]"}

// CodeOf returns the code of a frame. A frame of a Java method whose name is unknown does not become a Java method: its
// code has only the kind of the frame.
func CodeOf(f *callstack.Frame) Code {
	if f.Kind.Java() && f.Name != "" {
		return Code{Kind: callstack.Compiled, Name: f.Name}
	}
	return Code{f.Kind, f.Module, f.Name}
}

// A LeafFrame is a frame of the sampled code itself, and not of its callers.
type LeafFrame struct {
	callstack.Frame
	Guessed bool // the method is a guess
}

// A step is what a tree needs to know about a frame.
type step struct {
	code    int32 // index in Set.codes
	line    int32
	kind    callstack.Kind
	guessed bool
}

// A leaf is the code in which samples were taken. It has several frames if methods are inlined there. The frames of its
// callers are on the stack, and not in the leaf.
type leaf struct {
	steps  []step
	frames []*callstack.Frame
	java   bool // one of the frames is a Java method
}

// A sample stands for all samples that have the same thread, leaf and stack, and are in the same part of the profile.
// Their counts are in Set.counts.
type sample struct {
	thread     int32 // index in Set.codes
	leaf, part int32
	stack      callstack.ID
}

// A Set has samples with all of their frames.
type Set struct {
	stacks   *Stacks
	counters int
	codes    []Code
	index    map[Code]int32            // in codes
	steps    map[*callstack.Frame]step // the steps of the frames of stacks
	leaves   []leaf
	numbers  map[sample]int32 // index in samples
	samples  []sample
	counts   tally.Counts // those of samples[i] begin at i*counters
	total    tally.Counts
	parts    int        // 1 + the highest number of a part
	merged   [2]*merged // see merge
}

// NewSet returns a Set without samples.
func NewSet(stacks *Stacks, counters int) *Set {
	return &Set{stacks: stacks, counters: counters, index: map[Code]int32{}, steps: map[*callstack.Frame]step{},
		numbers: map[sample]int32{}, total: make(tally.Counts, counters)}
}

// Total returns the number of all samples.
func (s *Set) Total() tally.Counts { return s.total }

// Leaf adds code in which samples were taken, and returns the number by which calls of Add refer to this code. frames
// are the code's frames, innermost first. There must be at least one.
func (s *Set) Leaf(frames []LeafFrame) int32 {
	var l leaf
	for i := range frames {
		f := &frames[i]
		at := s.stepOf(&f.Frame)
		at.guessed = f.Guessed
		l.steps, l.frames = append(l.steps, at), append(l.frames, &f.Frame)
		l.java = l.java || f.Kind.Java()
	}
	s.leaves = append(s.leaves, l)
	return int32(len(s.leaves) - 1)
}

// Add adds samples of a thread. leaf is the sampled code, and stack has its callers.
func (s *Set) Add(thread string, leaf int32, stack callstack.ID, c tally.Counts) {
	s.AddPart(thread, leaf, stack, 0, c)
}

// AddPart adds samples that are in one part of a profile, for profiles that are cut into parts. Parts have numbers from
// 0.
func (s *Set) AddPart(thread string, leaf int32, stack callstack.ID, part int, c tally.Counts) {
	key := sample{s.code(Code{Kind: Thread, Name: thread}), leaf, int32(part), stack}
	s.parts = max(s.parts, part+1)
	i, ok := s.numbers[key]
	if !ok {
		i = int32(len(s.samples))
		s.numbers[key] = i
		s.samples = append(s.samples, key)
		s.counts = append(s.counts, make(tally.Counts, s.counters)...)
	}
	s.of(i).Add(c)
	s.total.Add(c)
	s.merged = [2]*merged{}
}

// of returns the counts of s.samples[i].
func (s *Set) of(i int32) tally.Counts { return s.counts[int(i)*s.counters : int(i+1)*s.counters] }

// code returns the number of a code.
func (s *Set) code(c Code) int32 {
	i, ok := s.index[c]
	if !ok {
		i = int32(len(s.codes))
		s.index[c] = i
		s.codes = append(s.codes, c)
	}
	return i
}

// stepOf returns the step of a frame. It does not set the step's field guessed.
func (s *Set) stepOf(f *callstack.Frame) step {
	return step{code: s.code(CodeOf(f)), line: int32(max(f.Line, 0)), kind: f.Kind}
}

// step returns the innermost frame of a stack, and the stack of its caller. If there is no stack with this ID, the
// frame is a mark that says so.
func (s *Set) step(id callstack.ID) (at step, caller callstack.ID) {
	f, caller := s.stacks.Frame(id)
	switch {
	case id == Folded:
		return step{code: s.code(foldedCode), kind: callstack.Unwalked}, 0
	case f == nil:
		return step{code: s.code(Code{Kind: callstack.Unwalked}), kind: callstack.Unwalked}, 0
	}
	at, ok := s.steps[f]
	if !ok {
		at = s.stepOf(f)
		s.steps[f] = at
	}
	return at, caller
}

// share returns the share of total that c makes up, from 0 to 1. If there are several counters, it returns the largest
// of their shares.
func share(c, total tally.Counts) float64 {
	most := 0.0
	for e, n := range c {
		if total[e] > 0 {
			most = max(most, float64(n)/float64(total[e]))
		}
	}
	return most
}

// Split divides all samples between methods. A sample is attributed to the first of these methods on the way from the
// sampled code to its outermost caller. The last element of the result has the samples with none of the methods.
func (s *Set) Split(methods []Pattern) []tally.Counts {
	split := tally.Zeros(len(methods)+1, s.counters)
	found := make([]int, len(s.codes)) // by code: 1 + index of the first of methods that matches, or -1
	match := func(code int32) int {
		for len(found) <= int(code) {
			found = append(found, 0)
		}
		if found[code] == 0 {
			found[code] = -1
			if i := slices.IndexFunc(methods, func(p Pattern) bool { return p.Matches(&s.codes[code]) }); i >= 0 {
				found[code] = i + 1
			}
		}
		return found[code]
	}
	callers := map[callstack.ID]int{} // by stack
	var path []callstack.ID
	for i, k := range s.samples {
		to := -1
		for _, at := range s.leaves[k.leaf].steps {
			if to = match(at.code); to > 0 {
				break
			}
		}
		path = path[:0]
		for id := k.stack; to < 0 && id != 0 && id != NoCaller; {
			if known, ok := callers[id]; ok {
				to = known
				break
			}
			path = append(path, id)
			var at step
			at, id = s.step(id)
			to = match(at.code)
		}
		for _, id := range path {
			callers[id] = to
		}
		if to < 0 {
			to = len(methods) + 1
		}
		split[to-1].Add(s.of(int32(i)))
	}
	return split
}
