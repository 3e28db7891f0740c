package calltree

import (
	"math"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// An End says whether a stack is complete, and if it is not, why its outer frames are missing.
type End uint8

// The ends of stacks.
const (
	Unwalked End = iota // the caller of a frame could not be found, or the sample has no stack at all
	Whole               // the stack has all frames
	Cut                 // the outer frames were beyond the part of the stack that was copied
	Frozen              // frames of a virtual thread are missing, because they were in the heap
	ends
)

// Stacks has all call stacks of a capture, and what is known about each of them.
type Stacks struct {
	*callstack.Tree
	about []uint8 // what is known about each stack, by ID: an End, and hasJava if there is a Java method on it
	keys  int     // number of keys in all Counters
}

const hasJava = 1 << 7

// NewStacks returns the Stacks of a tree of call stacks. Stacks that are added to the tree later are included.
func NewStacks(tree *callstack.Tree) *Stacks {
	s := &Stacks{Tree: tree, about: make([]uint8, 1, tree.Len()+1)}
	s.learn()
	return s
}

// learn examines the stacks that were added to the tree since its last call.
func (s *Stacks) learn() {
	for id := len(s.about); id <= s.Len(); id++ {
		f, caller := s.Frame(callstack.ID(id))
		about := s.about[caller]
		if caller == 0 {
			switch f.Kind {
			case callstack.Cut:
				about = uint8(Cut)
			case callstack.Frozen:
				about = uint8(Frozen)
			case callstack.Unwalked, callstack.Chain:
				about = uint8(Unwalked)
			default:
				about = uint8(Whole)
			}
		}
		switch {
		case f.Kind.Java():
			about |= hasJava
		case f.Kind == callstack.Frozen: // even if the frames of the carrier thread follow
			about = about&hasJava | uint8(Frozen)
		}
		s.about = append(s.about, about)
	}
}

// End returns what is at the outer end of a stack. It returns Unwalked for an ID that no stack has.
func (s *Stacks) End(id callstack.ID) End {
	s.learn()
	if int64(id) >= int64(len(s.about)) {
		return Unwalked
	}
	return End(s.about[id] &^ hasJava)
}

// java reports whether there is a Java method on a stack.
func (s *Stacks) java(id callstack.ID) bool {
	s.learn()
	return int64(id) < int64(len(s.about)) && s.about[id]&hasJava != 0
}

// MaxFrames is the maximum number of frames that Callers yields. A HotSpot stack of 1 MB has room for 10,000 frames.
const MaxFrames = 10_000

// Callers calls yield for the code of each frame of a stack, from the innermost to the outermost. If outer frames are
// missing, or if there are more than MaxFrames, the last code is a mark such as "[cut]".
func (s *Stacks) Callers(id callstack.ID) func(yield func(Code) bool) {
	return func(yield func(Code) bool) {
		switch id {
		case Folded:
			yield(foldedCode)
			return
		case NoCaller:
			return
		}
		f, caller := s.Frame(id)
		if f == nil {
			yield(Code{Kind: callstack.Unwalked})
			return
		}
		for n := 0; f != nil && yield(CodeOf(f)); n++ {
			if n == MaxFrames {
				yield(Code{Kind: callstack.Cut})
				return
			}
			f, caller = s.Frame(caller)
		}
	}
}

// Folded is the ID of the stack of samples that are counted without their stacks, because there are too many different
// stacks.
const Folded = callstack.ID(math.MaxUint32)

// NoCaller is the ID of the stack of a sample whose sampled code is the outermost frame, and so has no caller. The ID
// 0, in contrast, means that the callers are not known.
const NoCaller = callstack.ID(math.MaxUint32 - 1)

// A Key says where samples were taken: in which code, process and context (the thread and its events), and with which
// callers. S is the type that identifies a place in the code.
type Key[S comparable] struct {
	Spot         S
	JVM, Context int32
	Stack        callstack.ID
}

// A Counter counts samples by their Keys.
type Counter[S comparable] struct {
	stacks *Stacks
	index  map[Key[S]]int32 // in keys
	keys   []Key[S]
	values [][]int64 // values[counter][i] counts the samples with keys[i]; missing values are 0
	ends   [ends]tally.Counts
	folded int64
}

// NewCounter returns a Counter without samples.
func NewCounter[S comparable](stacks *Stacks) *Counter[S] {
	return &Counter[S]{stacks: stacks, index: map[Key[S]]int32{}}
}

// maxKeys limits the number of Keys of all Counters together, which then take about 100 MB. A program has more Keys
// than stacks, because the samples with one stack are at different instructions.
const maxKeys = 1 << 20

// Add counts a sample. It returns the index of the sample's Key, in the order in which Each visits the Keys.
func (c *Counter[S]) Add(k Key[S], counter int) int32 {
	c.ends[c.stacks.End(k.Stack)].Bump(counter, 1)
	if int(k.Stack) > c.stacks.Len() {
		k.Stack = 0
	}
	i, ok := c.index[k]
	if !ok && c.stacks.keys >= maxKeys {
		c.folded++
		k.Stack = Folded
		i, ok = c.index[k]
	}
	if !ok {
		c.stacks.keys++
		i = int32(len(c.keys))
		c.index[k] = i
		c.keys = append(c.keys, k)
	}
	for len(c.values) <= counter {
		c.values = append(c.values, nil)
	}
	for len(c.values[counter]) <= int(i) {
		c.values[counter] = append(c.values[counter], 0)
	}
	c.values[counter][i]++
	return i
}

// Folded returns how many samples are counted without their stacks; see the constant Folded. It returns 0 if c is nil.
func (c *Counter[S]) Folded() int64 {
	if c == nil {
		return 0
	}
	return c.folded
}

// Len returns the number of Keys.
func (c *Counter[S]) Len() int { return len(c.keys) }

// Ends returns how many samples have a stack with a given end. The Counts may lack elements for the last counters, if
// these have no such samples.
func (c *Counter[S]) Ends(e End) tally.Counts { return c.ends[e] }

// Each calls the function see for each Key, in the order of their first samples. The Counts have an element for each
// counter. They are valid only during the call.
func (c *Counter[S]) Each(counters int, see func(Key[S], tally.Counts)) {
	counts := make(tally.Counts, counters)
	for i, k := range c.keys {
		clear(counts)
		for e, values := range c.values {
			if i < len(values) {
				counts[e] = values[i]
			}
		}
		see(k, counts)
	}
}
