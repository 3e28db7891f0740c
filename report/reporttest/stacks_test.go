package reporttest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
)

// profileOf returns the only profile of the capture in a folder.
func profileOf(t *testing.T, dir string, o choice.Options) (*profile.Profiles, *profile.Profile) {
	t.Helper()
	c, err := capture.Open(dir)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	ps, err := profile.Of(c, o)
	require.NoError(t, err)
	require.Len(t, ps.Trials, 1)
	for _, a := range ps.Trials[0].Accounts {
		require.True(t, a.Balanced(), "%+v", a)
	}
	return ps, &ps.Trials[0]
}

func withStacks() choice.Options {
	o := choice.DefaultOptions()
	o.Stacks, o.Locations = true, true
	return o
}

// A label is the text of a frame in a tree.
func label(f callstack.Frame) string {
	if f.Kind.Java() {
		f.Kind = callstack.Compiled
	}
	c := calltree.Code{Kind: f.Kind, Module: f.Module, Name: f.Name}
	return c.Label()
}

// path returns the labels of a sample, the innermost first.
func (s *StackSample) path() (labels []string) {
	for _, f := range s.Frames {
		labels = append(labels, label(f))
	}
	return labels
}

// The account says how many stacks are complete.
func TestStackAccount(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	_, p := profileOf(t, dir, withStacks())
	a := p.Accounts[0]
	want := map[callstack.Kind]int64{}
	for _, s := range StackSamples() {
		last := s.Frames[len(s.Frames)-1].Kind
		if !last.Mark() {
			last = 0
		}
		want[last] += int64(s.N)
	}
	assert.EqualValues(t, 1000, a.Profiled)
	assert.Equal(t, want, map[callstack.Kind]int64{0: a.Whole, callstack.Cut: a.Cut, callstack.Frozen: a.Frozen,
		callstack.Unwalked: a.Unwalked})
	assert.EqualValues(t, 80, a.Interpreter)

	_, p = profileOf(t, dir, choice.DefaultOptions())
	assert.Zero(t, p.Accounts[0].Stacks(), "nobody has asked")
	assert.Nil(t, p.Stacks)
}

// Every path of calls in the tree has the samples that were taken there, and all levels add up.
func TestTopDown(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	_, p := profileOf(t, dir, withStacks())
	for _, fromJava := range []bool{false, true} {
		tree := p.Stacks.TopDown(calltree.Limits{FromJava: fromJava})
		checkSums(t, tree)
		self := map[string]int64{}
		for i := range tree.Nodes {
			if n := tree.Nodes[i].Self[0]; n > 0 {
				self[pathOf(tree, i)] += n
			}
		}
		want := map[string]int64{}
		for _, s := range StackSamples() {
			path := s.path()
			if fromJava {
				path = withoutStart(s)
			}
			slices.Reverse(path)
			want[join(append([]string{threadOf(s.Thread)}, path...))] += int64(s.N)
		}
		assert.Equal(t, want, self)
	}
	for _, limits := range []calltree.Limits{{Least: 0.05}, {Least: 1}, {Nodes: 7},
		{Least: 0.01, Nodes: 1, FromJava: true}} {
		tree := p.Stacks.TopDown(limits)
		checkSums(t, tree)
		if limits.Nodes > 0 {
			assert.LessOrEqual(t, len(tree.Nodes), limits.Nodes)
		}
		for _, n := range tree.Nodes {
			assert.GreaterOrEqual(t, float64(n.Counts[0]), limits.Least*1000)
		}
	}
}

// threadOf returns the name of a thread without the number at its end.
func threadOf(name string) string {
	return map[string]string{"http-1": "http-", "http-2": "http-", "GC Thread#0": "GC Thread#"}[name] +
		map[string]string{"main": "main", "ForkJoinPool-1-w": "ForkJoinPool-1-w", "C2 CompilerThre": "C2 CompilerThre"}[name]
}

// withoutStart returns the path of a sample without the native frames outside of Java.
func withoutStart(s StackSample) []string {
	path := s.path()
	if s.Frames[len(s.Frames)-1].Kind.Mark() {
		return path
	}
	for i, f := range slices.Backward(s.Frames) {
		if f.Kind.Java() {
			return path[:i+1]
		}
	}
	return path
}

func join(path []string) string {
	text := ""
	for _, p := range path {
		text += p + "|"
	}
	return text
}

// pathOf returns the labels from the root to a node. The root itself is left out if it has no name.
func pathOf(tree *calltree.Tree, i int) string {
	var path []string
	for at := int32(i); at >= 0; at = tree.Nodes[at].Parent {
		if n := &tree.Nodes[at]; at > 0 || n.Name != "" {
			path = append(path, n.Label())
		}
	}
	slices.Reverse(path)
	return join(path)
}

// checkSums fails if the samples of a node are not the sum of its parts.
func checkSums(t *testing.T, tree *calltree.Tree) {
	t.Helper()
	for i, n := range tree.Nodes {
		sum := n.Self[0] + n.Omitted[0]
		last := int64(math.MaxInt64)
		for _, c := range n.Children {
			child := &tree.Nodes[c]
			require.EqualValues(t, i, child.Parent)
			require.Greater(t, int(c), i)
			require.LessOrEqual(t, child.Counts[0], last, "the hottest first")
			last = child.Counts[0]
			sum += child.Counts[0]
		}
		require.Equal(t, n.Counts[0], sum, "node %d, %s", i, n.Label())
		require.Equal(t, n.Others > 0, n.Omitted[0] > 0)
	}
}

// The trees of callers have the paths of all samples, from the sampled code outwards.
func TestCallers(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	_, p := profileOf(t, dir, withStacks())
	for _, fromJava := range []bool{false, true} {
		self, want := map[string]int64{}, map[string]int64{}
		var total int64
		trees := p.Stacks.Callers(100, calltree.Limits{FromJava: fromJava})
		for _, tree := range trees {
			checkSums(t, tree)
			total += tree.Nodes[0].Counts[0]
			for i := range tree.Nodes {
				if n := tree.Nodes[i].Self[0]; n > 0 {
					self[pathOf(tree, i)] += n
				}
			}
		}
		for _, s := range StackSamples() {
			path := s.path()
			if fromJava {
				path = withoutStart(s)
			}
			want[join(path)] += int64(s.N)
		}
		assert.Equal(t, want, self)
		assert.EqualValues(t, 1000, total)
		assert.True(t, slices.IsSortedFunc(trees, func(a, b *calltree.Tree) int {
			return cmp.Compare(b.Nodes[0].Counts[0],
				a.Nodes[0].Counts[0])
		}))
	}
	trees := p.Stacks.Callers(2, calltree.Limits{Least: 0.05, FromJava: true})
	require.Len(t, trees, 2)
	checkSums(t, trees[0])
	top := trees[0].Nodes
	assert.Equal(t, "java.util.HashMap::getNode", top[0].Label())
	assert.True(t, top[0].Only(callstack.Inlined))
	assert.Equal(t, 570, top[0].Line)
	assert.EqualValues(t, 580, top[0].Counts[0])
	assert.EqualValues(t, 10, top[1].Omitted[0], "the hostile name has less than 5 %")
	assert.EqualValues(t, 20, top[2].Omitted[0], "so has Task::run")
	assert.Equal(t, 1, top[2].Others)
}

// A method's total has each sample once, however often the method is on the stack.
func TestTotals(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	_, p := profileOf(t, dir, withStacks())
	want := map[string]int64{}
	for _, s := range StackSamples() {
		once := map[string]bool{}
		for _, f := range s.Frames {
			if !once[label(f)] {
				once[label(f)] = true
				want[label(f)] += int64(s.N)
			}
		}
	}
	got := map[string]int64{}
	for code, c := range p.Stacks.Totals() {
		got[code.Label()] += c[0]
	}
	assert.Equal(t, want, got)
	frames := map[string]int64{}
	for _, f := range p.Frames {
		require.NotNil(t, f.WithCallees)
		assert.GreaterOrEqual(t, f.WithCallees[0], f.Total[0])
		assert.GreaterOrEqual(t, f.Total[0], f.Counts[0])
		assert.Equal(t, want[f.Method], f.WithCallees[0], f.Method)
		frames[f.Method] = f.WithCallees[0]
	}
	assert.Contains(t, frames, "com.acme.Main::main", "it has no samples of its own")
	assert.EqualValues(t, 100, frames["com.acme.Fib::fib"])
}

// --by divides all samples between callers, and the innermost caller decides.
func TestBy(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	o := withStacks()
	o.By = []calltree.Pattern{"com.acme.Server::handle", "Batch::step", "Main::main", "HashMap::*", "clone3"}
	_, p := profileOf(t, dir, o)
	got := map[string]int64{}
	for _, b := range p.By {
		got[b.Method] = b.Counts[0]
	}
	assert.Equal(t, map[string]int64{"com.acme.Server::handle": 70, "Batch::step": 40, "Main::main": 170,
		"HashMap::*": 580, "clone3": 90, "": 50}, got)
}

// --under leaves out all samples without a method among their frames, whether it is on the stack or was inlined.
func TestUnder(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	for _, name := range []string{"com.acme.Server::handle", "Users::find", "HashMap::getNode", "Fib::fib", "Main::*",
		"Main::loop", "clone3", "copy_page", "call_stub", "no::such"} {
		o := withStacks()
		o.Under = calltree.Pattern(name)
		_, p := profileOf(t, dir, o)
		var want int64
		for _, s := range StackSamples() {
			if slices.ContainsFunc(s.Frames, func(f callstack.Frame) bool {
				c := calltree.Code{Kind: f.Kind, Module: f.Module, Name: f.Name}
				if f.Kind.Java() {
					c.Kind = callstack.Compiled
				}
				return o.Under.Matches(&c)
			}) {
				want += int64(s.N)
			}
		}
		assert.Equal(t, want, p.Accounts[0].Profiled, name)
		assert.Equal(t, 1000-want, p.Accounts[0].NotUnder, name)
		if name != "no::such" && name != "call_stub" {
			assert.Positive(t, want, name)
		}
	}
}

// Locations have all samples, and the interpreted method in place of the interpreter's codelet.
func TestStackLocations(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	ps, p := profileOf(t, dir, withStacks())
	var sum int64
	interpreted := map[string]int64{}
	for _, l := range p.Locations {
		sum += l.Counts[0]
		if l.Source == "interpreter" {
			require.Len(t, l.Frames, 1)
			interpreted[l.Frames[0].Method] += l.Counts[0]
			f, _ := ps.Stacks.Frame(l.Stack)
			assert.Equal(t, "com.acme.Main::main", f.Name)
		}
		if l.Module == "kernel" {
			f, _ := ps.Stacks.Frame(l.Stack)
			assert.Equal(t, "ksys_read", f.Name, "the sampled function is not its own caller")
		}
	}
	assert.EqualValues(t, 1000, sum)
	assert.Equal(t, map[string]int64{"com.acme.Main::loop": 80}, interpreted)
	assert.NotEmpty(t, slices.Collect(maps.Keys(interpreted)))
}
