package callers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// text writes lines as a report does, with numbers of samples instead of shares.
func text(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		n := fmt.Sprintf("%4d ", l.Samples)
		if l.Same {
			n = "     "
		}
		b.WriteString(n + strings.Repeat(" ", l.Indent))
		if l.Branch {
			b.WriteString("- ")
		}
		switch {
		case l.Node != nil:
			name, tail := Name(l.Node)
			b.WriteString(name + tail)
			if l.Times > 1 {
				fmt.Fprintf(&b, " (%d times)", l.Times)
			}
		case l.Omitted > 0:
			fmt.Fprintf(&b, "(%d others)", l.Omitted)
		default:
			b.WriteString("...")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// treeOf returns the callers of a native function. Each line is a number of samples and the frames of a stack, the
// outermost first.
func treeOf(t *testing.T, least float64, stacks string) *calltree.Tree {
	t.Helper()
	var file strings.Builder
	w := callstack.NewWriter(&file)
	type kind struct {
		n  int64
		id callstack.ID
	}
	var kinds []kind
	for line := range strings.Lines(strings.TrimSpace(stacks)) {
		var k kind
		words := strings.Fields(line)
		_, err := fmt.Sscan(words[0], &k.n)
		require.NoError(t, err)
		for _, name := range words[1:] {
			k.id = w.Push(k.id, callstack.Frame{Kind: callstack.Compiled, BCI: callstack.Unknown, Line: 1, Name: name})
		}
		kinds = append(kinds, k)
	}
	require.NoError(t, w.Flush())
	read, err := callstack.Read(strings.NewReader(file.String()), "stacks.txt")
	require.NoError(t, err)
	s := calltree.NewSet(calltree.NewStacks(read), 1)
	leaf := s.Leaf([]calltree.LeafFrame{{Frame: callstack.Frame{Kind: callstack.Native, Name: "f"}}})
	for _, k := range kinds {
		s.Add("t", leaf, k.id, tally.Counts{k.n})
	}
	trees := s.Callers(1, calltree.Limits{Least: least})
	require.Len(t, trees, 1)
	return trees[0]
}

func TestLines(t *testing.T) {
	tree := treeOf(t, 0.05, "50 a b c\n30 a d c\n15 e\n3 x c\n2 y")
	assert.Equal(t, `  83 - c:1
  50   - b:1
         a:1
  30   - d:1
         a:1
  15 - e:1
`, text(Lines(tree, 0.05, 20)))
	// The omitted callers have a line if they have as many samples as a caller that is shown.
	tree = treeOf(t, 0.5, "60 a b\n10 c b\n10 d b\n10 e\n10 f")
	assert.Equal(t, "  80 - b:1\n  60   - a:1\n  20   - (2 others)\n  20 - (2 others)\n", text(Lines(tree, 0.2, 20)))
	// A long path is cut, but not before the second path begins.
	deep := "60" + strings.Repeat(" a b c d", 5) + "\n40 z" + strings.Repeat(" y x", 5)
	lines := Lines(treeOf(t, 0.05, deep), 0.05, 10)
	assert.Len(t, lines, 10)
	assert.Contains(t, text(lines), "  40 - x:1")
	assert.Contains(t, text(lines), "...")
	assert.Empty(t, Lines(&calltree.Tree{Nodes: []calltree.Node{{}}}, 0.05, 10))
}

// A method that calls itself has one line, however deep the recursion is, even if fewer and fewer samples have its
// outer callers.
func TestRecursion(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(" r", n) }
	tree := treeOf(t, 0.05, "40 a"+deep(300)+" z\n40 b"+deep(200)+" z\n20 c z")
	assert.Equal(t, ` 100 z:1
  80 - r:1 (200 times)
  40   - b:1
  40   - r:1 (100 times)
         a:1
  20 - c:1
`, text(Lines(tree, 0.05, 10)))
}

func TestName(t *testing.T) {
	check := func(want string, n calltree.Node) {
		t.Helper()
		name, tail := Name(&n)
		assert.Equal(t, want, name+tail)
	}
	java := func(kinds uint16, line int) calltree.Node {
		return calltree.Node{Code: calltree.Code{Kind: callstack.Compiled, Name: "A::a"}, Kinds: kinds, Line: line}
	}
	check("A::a", java(1<<callstack.Compiled, 0))
	check("A::a:7", java(1<<callstack.Compiled|1<<callstack.Inlined, 7))
	check("A::a [inlined]", java(1<<callstack.Inlined, calltree.SeveralLines))
	check("A::a:3 [interpreted]", java(1<<callstack.Interpreted, 3))
	check("read [libc.so.6]", calltree.Node{Code: calltree.Code{Kind: callstack.Native, Module: "libc.so.6",
		Name: "read"}})
	check("[libc.so.6]", calltree.Node{Code: calltree.Code{Kind: callstack.Native, Module: "libc.so.6"}})
	check("[native]", calltree.Node{Code: calltree.Code{Kind: callstack.Native}})
	check("schedule [kernel]", calltree.Node{Code: calltree.Code{Kind: callstack.Kernel, Name: "schedule"}})
	check("call_stub [stub]", calltree.Node{Code: calltree.Code{Kind: callstack.Stub, Name: "call_stub"}})
	check("main [thread]", calltree.Node{Code: calltree.Code{Kind: calltree.Thread, Name: "main"}})
	check("[cut]", calltree.Node{Code: calltree.Code{Kind: callstack.Cut}})
	guess := java(1<<callstack.Inlined, 0)
	guess.Guessed = true
	check("~A::a [inlined]", guess)
}
