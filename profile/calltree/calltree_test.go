package calltree

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// stacksOf returns the stacks that the function push writes.
func stacksOf(t testing.TB, push func(w *callstack.Writer)) *Stacks {
	t.Helper()
	var text strings.Builder
	w := callstack.NewWriter(&text)
	push(w)
	require.NoError(t, w.Flush())
	tree, err := callstack.Read(strings.NewReader(text.String()), "stacks.txt")
	require.NoError(t, err)
	return NewStacks(tree)
}

func frame(kind callstack.Kind, name string, line int) callstack.Frame {
	return callstack.Frame{Kind: kind, BCI: callstack.Unknown, Line: line, Name: name}
}

func TestPattern(t *testing.T) {
	java := func(name string) *Code { return &Code{Kind: callstack.Compiled, Name: name} }
	native := func(name string) *Code { return &Code{Kind: callstack.Native, Name: name} }
	check := func(want bool, pattern string, c *Code) {
		t.Helper()
		p, err := ParsePattern(pattern)
		require.NoError(t, err)
		assert.Equal(t, want, p.Matches(c), "%s and %s", pattern, c.Name)
	}
	check(true, "org.acme.Users::find", java("org.acme.Users::find"))
	check(true, "Users::find", java("org.acme.Users::find"))
	check(true, " acme.Users::find ", java("org.acme.Users::find"))
	check(false, "sers::find", java("org.acme.Users::find"))
	check(false, "Users::fin", java("org.acme.Users::find"))
	check(false, "Users::find", java("org.acme.Users::findAll"))
	check(true, "Users::*", java("org.acme.Users::findAll"))
	check(false, "Users::*", java("org.acme.Users$1::findAll"))
	check(false, "Users::*", java("Users"))
	check(true, "memcpy", native("memcpy"))
	check(false, "memcpy", native("libc.memcpy"))
	check(true, "PhaseIdealLoop::*", native("PhaseIdealLoop::build_loop_late"))
	check(false, "main", &Code{Kind: Thread, Name: "main"})
	check(false, "x", &Code{Kind: callstack.Cut, Name: "x"})
	for _, bad := range []string{"", "  ", "*::a", "A::a*", "A::*::*"} {
		_, err := ParsePattern(bad)
		assert.Error(t, err, bad)
	}
	list, err := ParsePatterns("A::x, B::y")
	require.NoError(t, err)
	assert.Equal(t, []Pattern{"A::x", "B::y"}, list)
	_, err = ParsePatterns("A::x,")
	assert.Error(t, err)
	_, err = ParsePatterns(strings.Repeat("A::x,", maxPatterns) + "A::x")
	assert.Error(t, err)
}

// The patterns of --window-method match by the same rules as in gasm's agent, see package probe.
func TestWindowPattern(t *testing.T) {
	check := func(want bool, pattern, name string) {
		t.Helper()
		p, err := ParseWindowPattern(pattern)
		require.NoError(t, err)
		assert.Equal(t, want, p.Matches(&Code{Kind: callstack.Compiled, Name: name}), "%s and %s", pattern, name)
		assert.False(t, p.Matches(&Code{Kind: callstack.Native, Name: name}), name)
	}
	check(true, "Svc::tiny", "Svc::tiny")
	check(false, "Svc::tiny", "org.acme.Svc::tiny")
	check(true, "*Svc::tiny", "org.acme.Svc::tiny")
	check(true, "org.*.S*c::t*y", "org.acme.deep.Svc::tiny")
	check(false, "org.*.S*c::t*y", "org.Svc::tiny")
	check(true, "Svc::*", "Svc::<init>")
	check(false, "Svc::*", "Svc::<clinit>")
	check(true, "Svc::<clinit>", "Svc::<clinit>")
	check(false, "a*a::m", "a::m")
	check(true, "a*a::m", "aa::m")
	check(false, "Svc::tiny", "Svc")
	for _, bad := range []string{"", "Svc", "Svc::", "::m", "*::m", "**::m", "Svc::tiny(int)"} {
		_, err := ParseWindowPattern(bad)
		assert.Error(t, err, bad)
	}
}

// If the frames that are merged into a node have different lines or kinds, the node has no line or kind.
func TestMergedFrames(t *testing.T) {
	var a, b, c callstack.ID
	stacks := stacksOf(t, func(w *callstack.Writer) {
		a = w.Push(0, frame(callstack.Interpreted, "A::a", 7))
		b = w.Push(0, frame(callstack.Compiled, "A::a", 8))
		c = w.Push(b, frame(callstack.Inlined, "B::b", 9))
	})
	s := NewSet(stacks, 2)
	leaf := s.Leaf([]LeafFrame{{Frame: frame(callstack.Native, "memcpy", callstack.Unknown)}})
	guess := s.Leaf([]LeafFrame{{Frame: frame(callstack.Compiled, "C::c", 3), Guessed: true}})
	s.Add("t", leaf, a, tally.Counts{1, 5})
	s.Add("t", leaf, b, tally.Counts{2, 0})
	s.Add("t", leaf, c, tally.Counts{4, 0})
	s.Add("t", guess, c, tally.Counts{0, 8})
	s.Add("t", guess, NoCaller, tally.Counts{16, 0})
	assert.Equal(t, tally.Counts{23, 13}, s.Total())

	var lines []string
	tree := s.TopDown(Limits{})
	for _, n := range tree.Nodes {
		lines = append(lines, fmt.Sprintf("%d %s line %d kinds %b %v %v guessed %v", n.Parent, n.Label(), n.Line, n.Kinds,
			n.Counts, n.Self, n.Guessed))
	}
	assert.Equal(t, []string{
		"-1 [no name] line 0 kinds 0 [23 13] [0 0] guessed false",
		"0 t line 0 kinds 1 [23 13] [0 0] guessed false",
		"1 A::a line -1 kinds 1010 [7 13] [0 0] guessed false",
		"2 memcpy line 0 kinds 100000 [3 5] [3 5] guessed false",
		"2 B::b line 9 kinds 100 [4 8] [0 0] guessed false",
		"4 memcpy line 0 kinds 100000 [4 0] [4 0] guessed false",
		"4 C::c line 3 kinds 10 [0 8] [0 8] guessed true",
		"1 C::c line 3 kinds 10 [16 0] [16 0] guessed true",
	}, lines)

	// A caller that is hot by only one of the counters is shown too.
	trees := s.Callers(2, Limits{Least: 0.5})
	require.Len(t, trees, 2)
	assert.Equal(t, "C::c", trees[0].Nodes[0].Label(), "the first counter decides")
	require.Len(t, trees[0].Nodes, 3)
	assert.Equal(t, "B::b", trees[0].Nodes[1].Label())
	assert.Equal(t, tally.Counts{16, 0}, trees[0].Nodes[0].Self)

	assert.Equal(t, []tally.Counts{{4, 8}, {3, 5}, {16, 0}}, s.Split([]Pattern{"B::b", "A::a"}))
}

// A tree of callees that begins with a method merges all paths at the outermost frame of the method on each stack.
// Below it is everything that this frame called.
func TestTreeFrom(t *testing.T) {
	var a, b, c callstack.ID
	stacks := stacksOf(t, func(w *callstack.Writer) {
		run := w.Push(0, frame(callstack.Compiled, "T::run", 1))
		a = w.Push(run, frame(callstack.Compiled, "X::x", 2))
		b = w.Push(w.Push(w.Push(run, frame(callstack.Compiled, "Pool::go", 3)), frame(callstack.Compiled, "X::x", 2)),
			frame(callstack.Compiled, "Y::y", 4))
		c = w.Push(b, frame(callstack.Compiled, "X::x", 2))
	})
	s := NewSet(stacks, 1)
	leaf := s.Leaf([]LeafFrame{{Frame: frame(callstack.Native, "memcpy", callstack.Unknown)}})
	itself := s.Leaf([]LeafFrame{{Frame: frame(callstack.Inlined, "Y::y", 5)},
		{Frame: frame(callstack.Compiled, "X::x", 6)}})
	s.Add("t", leaf, a, tally.Counts{1})
	s.Add("u", leaf, b, tally.Counts{2})
	s.Add("u", leaf, c, tally.Counts{4})
	s.Add("u", itself, NoCaller, tally.Counts{8})
	s.Add("u", leaf, NoCaller, tally.Counts{16})
	for range 2 { // the second round runs after the tree of all methods has been built
		var lines []string
		for _, n := range s.TopDown(Limits{From: "X::x"}).Nodes {
			lines = append(lines, fmt.Sprintf("%d %s %v %v", n.Parent, n.Label(), n.Counts, n.Self))
		}
		assert.Equal(t, []string{"-1 [no name] [31] [16]", "0 X::x [15] [0]", "1 memcpy [1] [1]", "1 Y::y [14] [8]",
			"3 memcpy [2] [2]",
			"3 X::x [4] [0]", "5 memcpy [4] [4]"}, lines)
		assert.Equal(t, tally.Counts{15}, s.Totals()[Code{Kind: callstack.Compiled, Name: "X::x"}])
	}
}

// A method is marked as a guess if a large enough share of its samples are guesses.
func TestOften(t *testing.T) {
	assert.False(t, often(0, tally.Counts{0, 0}))
	assert.False(t, often(1, tally.Counts{100, 1}))
	assert.True(t, often(1, tally.Counts{0, 100}))
	assert.True(t, often(1, tally.Counts{1}))
}

// When there are too many different stacks, further samples are counted without their stacks, and no sample is lost.
func TestFolded(t *testing.T) {
	var last callstack.ID
	stacks := stacksOf(t, func(w *callstack.Writer) {
		for i := range 10 {
			last = w.Push(last, frame(callstack.Compiled, "A::a", i))
		}
	})
	c := NewCounter[int](stacks)
	const more = 1000
	for i := range maxKeys + more {
		c.Add(Key[int]{Spot: i, Stack: last}, 0)
	}
	c.Add(Key[int]{Spot: 1, Stack: last}, 0)
	assert.EqualValues(t, more, c.Folded(), "what is known already is still counted with its stack")
	assert.Equal(t, tally.Counts{maxKeys + more + 1}, c.Ends(Whole))
	var sum, folded int64
	s := NewSet(stacks, 1)
	leaf := s.Leaf([]LeafFrame{{Frame: frame(callstack.Stub, "x", callstack.Unknown)}})
	c.Each(1, func(k Key[int], n tally.Counts) {
		sum += n[0]
		if k.Stack == Folded {
			folded += n[0]
		}
		s.Add("t", leaf, k.Stack, n)
	})
	assert.EqualValues(t, maxKeys+more+1, sum)
	assert.EqualValues(t, more, folded)
	tree := s.TopDown(Limits{Least: 0.00001})
	assert.EqualValues(t, sum, tree.Nodes[0].Counts[0])
	assert.Equal(t, "[stacks not counted]", tree.Nodes[tree.Nodes[1].Children[1]].Label())
}

// A hostile file has one stack of a million frames. Each sum takes time in proportion to its length.
func TestDeep(t *testing.T) {
	const depth = 1 << 20
	var last callstack.ID
	stacks := stacksOf(t, func(w *callstack.Writer) {
		for i := range depth {
			last = w.Push(last, frame(callstack.Compiled, fmt.Sprint("A::a", i%3), 1))
		}
	})
	s := NewSet(stacks, 1)
	leaf := s.Leaf([]LeafFrame{{Frame: frame(callstack.Compiled, "A::a0", 1)}})
	start := time.Now()
	for i := range callstack.ID(100) {
		s.Add("t", leaf, last-i, tally.Counts{1})
	}
	assert.Equal(t, tally.Counts{100}, s.Totals()[Code{Kind: callstack.Compiled, Name: "A::a1"}])
	assert.Len(t, s.TopDown(Limits{}).Nodes, maxDepth+1)
	assert.LessOrEqual(t, len(s.Callers(1, Limits{})[0].Nodes), 3*maxDepth+1)
	assert.Equal(t, []tally.Counts{{0}, {100}}, s.Split([]Pattern{"no::such"}))
	frames := 0
	for range stacks.Callers(last) {
		frames++
	}
	assert.Equal(t, MaxFrames+2, frames, "the last one is a mark")
	assert.Less(t, time.Since(start), time.Minute)
}

// A tree with details counts each sample of each part once. For each node, it has the frame with the most samples.
func TestDetails(t *testing.T) {
	var often, seldom callstack.ID
	stacks := stacksOf(t, func(w *callstack.Writer) {
		start := w.Push(0, frame(callstack.Native, "clone3", callstack.Unknown))
		often = w.Push(start, callstack.Frame{Kind: callstack.Compiled, Name: "A::a", PC: 0x20, CompileID: 2, Line: 8})
		seldom = w.Push(start, callstack.Frame{Kind: callstack.Compiled, Name: "A::a", PC: 0x10, CompileID: 1, Line: 7})
	})
	s := NewSet(stacks, 1)
	one := s.Leaf([]LeafFrame{{Frame: callstack.Frame{Kind: callstack.Inlined, Name: "B::b", PC: 0x31}}})
	two := s.Leaf([]LeafFrame{{Frame: callstack.Frame{Kind: callstack.Inlined, Name: "B::b", PC: 0x41}}})
	small := s.Leaf([]LeafFrame{{Frame: frame(callstack.Native, "memcpy", callstack.Unknown)}})
	s.AddPart("t", one, often, 0, tally.Counts{30})
	s.AddPart("t", one, seldom, 2, tally.Counts{25})
	s.AddPart("t", two, often, 2, tally.Counts{40})
	s.AddPart("t", small, often, 1, tally.Counts{1})

	tree := s.TopDown(Limits{Least: 0.02, FromJava: true, Details: true})
	var lines []string
	for _, n := range tree.Nodes {
		at := "none"
		if n.Frame != nil {
			at = fmt.Sprintf("%x", n.Frame.PC)
		}
		lines = append(lines, fmt.Sprintf("%s at %s: self %v, omitted %v", n.Label(), at, n.SelfParts, n.OmittedParts))
	}
	assert.Equal(t, []string{
		"[no name] at none: self [], omitted []",
		"t at none: self [], omitted []",
		"A::a at 20: self [], omitted [{1 [1]}]",
		"B::b at 31: self [{0 [30]} {2 [65]}], omitted []",
	}, lines)
	assert.Equal(t, map[Code][]PartCounts{
		{Kind: callstack.Native, Name: "clone3"}: {{0, tally.Counts{30}}, {1, tally.Counts{1}}, {2, tally.Counts{65}}},
		{Kind: callstack.Compiled, Name: "A::a"}: {{0, tally.Counts{30}}, {1, tally.Counts{1}}, {2, tally.Counts{65}}},
		{Kind: callstack.Compiled, Name: "B::b"}: {{0, tally.Counts{30}}, {2, tally.Counts{65}}},
		{Kind: callstack.Native, Name: "memcpy"}: {{1, tally.Counts{1}}},
	}, s.TotalsByPart())
	for _, n := range s.TopDown(Limits{}).Nodes {
		assert.Nil(t, n.Frame, "nobody asked")
	}
}
