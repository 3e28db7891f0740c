package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/htmlpage"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// stackProfiles returns the profiles of a capture with call stacks.
func stackProfiles(t *testing.T, dir string) *profile.Profiles {
	t.Helper()
	o := choice.DefaultOptions()
	o.Listings, o.SkipLines, o.Parts, o.Stacks, o.Locations = 12_000, true, true, true, true
	c, err := capture.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	ps, err := profile.Of(c, o)
	require.NoError(t, err)
	return ps
}

// A readCalls is a tree of calls as a reader of the page's data sees it.
type readCalls struct {
	data  htmlpage.Calls
	paths []string // for each node, the names on its path, from the thread on
	// self has the samples that end at a node, by event and part. rest has the samples of the node's omitted children.
	self, rest []map[[2]int]int
}

// callsOf returns the tree of calls in a page of profiles.
func callsOf(t *testing.T, ps *profile.Profiles, number int) *readCalls {
	t.Helper()
	p := &ps.Trials[number]
	text := (&builder{in: Input{Profiles: ps}}).calls(p, newPlaces(p, 0))
	require.NotEmpty(t, text)
	r := &readCalls{}
	require.NoError(t, json.Unmarshal([]byte(text), &r.data))
	depth := -1
	var path []string
	for i := 0; i < len(r.data.Nodes); i += 2 {
		depth += 1 - r.data.Nodes[i+1]
		require.GreaterOrEqual(t, depth, 0)
		path = append(path[:depth], r.name(r.data.Nodes[i]))
		r.paths = append(r.paths, strings.Join(path[1:], ";"))
	}
	r.self, r.rest = r.counts(t, r.data.Self), r.counts(t, r.data.Rest)
	return r
}

// name returns the name of a frame.
func (r *readCalls) name(frame int) string {
	return r.data.Names[r.data.Codes[2*r.data.Frames[5*frame]]]
}

func (r *readCalls) kind(frame int) string { return r.data.Kinds[r.data.Frames[5*frame+1]] }

func (r *readCalls) counts(t *testing.T, byEvent [][]int) []map[[2]int]int {
	t.Helper()
	all := make([]map[[2]int]int, len(r.paths))
	for i := range all {
		all[i] = map[[2]int]int{}
	}
	for e, list := range byEvent {
		node := 0
		for i := 0; i < len(list); {
			node += list[i]
			n := list[i+1]
			for i += 2; n > 0; n-- {
				require.Positive(t, list[i+1])
				all[node][[2]int{e, list[i]}] += list[i+1]
				i += 2
			}
		}
	}
	return all
}

// slowPaths sums up the samples of an event by path: the thread and then all frames, without the native ones outside of
// the outermost Java method of a whole stack.
func slowPaths(ps *profile.Profiles, p *profile.Profile, event int) map[string]int {
	sums := map[string]int{}
	for i := range p.Locations {
		l := &p.Locations[i]
		if l.Counts[event] == 0 {
			continue
		}
		type frame struct {
			name       string
			java, mark bool
		}
		var inner []frame
		for _, f := range l.Frames {
			inner = append(inner, frame{name: f.Method, java: true})
		}
		if len(l.Frames) == 0 {
			name := l.Name
			if name == "" {
				name = "[" + strings.Trim(l.Source, "[]") + "]"
			}
			inner = append(inner, frame{name: name})
		}
		for c := range ps.Stacks.Callers(l.Stack) {
			inner = append(inner, frame{c.Label(), c.Java(), c.Mark()})
		}
		isJava := func(f frame) bool { return f.java }
		if !slices.ContainsFunc(inner, func(f frame) bool { return f.mark }) && slices.ContainsFunc(inner, isJava) {
			for !inner[len(inner)-1].java {
				inner = inner[:len(inner)-1]
			}
		}
		thread := l.Thread
		if thread == "" {
			thread = "[no name]"
		}
		path := []string{show.Text(thread)}
		for _, f := range slices.Backward(inner) {
			path = append(path, show.Text(f.name))
		}
		sums[strings.Join(path, ";")] += int(l.Counts[event])
	}
	return sums
}

// The page's tree has each sample of the profile once, at its path and in its part.
func TestCalls(t *testing.T) {
	made := t.TempDir()
	reporttest.WriteStacks(t, made)
	for name, dir := range map[string]string{"made": made, "stacks": gasmtest.UnpackFolder(t, "stacks")} {
		t.Run(name, func(t *testing.T) {
			ps := stackProfiles(t, dir)
			p := &ps.Trials[0]
			r := callsOf(t, ps, 0)
			require.NotNil(t, p.Parts)
			byPart := map[[2]int]int{}
			for e := range p.Counters {
				got := map[string]int{}
				for i, path := range r.paths {
					for key, n := range r.self[i] {
						if key[0] == e {
							got[path] += n
							byPart[key] += n
						}
					}
					assert.Empty(t, r.rest[i], "nothing is left out")
				}
				assert.Equal(t, slowPaths(ps, p, e), got)
			}
			want := map[[2]int]int{}
			for _, c := range p.Parts.All {
				for e, n := range c.Counts {
					want[[2]int{e, c.Part}] = int(n)
				}
			}
			assert.Equal(t, want, byPart)
			checkThreads(t, p, r)
			checkMarks(t, p, r)
			checkWithCallees(t, p)
		})
	}
}

// checkThreads checks that the samples of a part are below threads of the part.
func checkThreads(t *testing.T, p *profile.Profile, r *readCalls) {
	t.Helper()
	named := map[string]bool{}
	for _, g := range p.Parts.Threads {
		named[g.Name] = true
	}
	for i, path := range r.paths {
		thread, _, _ := strings.Cut(path, ";")
		if !named[thread] {
			thread = ""
		}
		for key := range r.self[i] {
			assert.Equal(t, thread, p.Parts.Threads[p.Parts.List[key[1]].Thread].Name, path)
		}
	}
}

// checkMarks compares the samples below marks with the account.
func checkMarks(t *testing.T, p *profile.Profile, r *readCalls) {
	t.Helper()
	sums := map[string]int64{}
	for i := range r.paths {
		kinds := map[string]bool{}
		for up, depth := i, strings.Count(r.paths[i], ";")+1; up > 0; up-- { // callers precede the node in the data
			if d := strings.Count(r.paths[up], ";") + 1; d == depth {
				kinds[r.kind(r.data.Nodes[2*up])] = true
				depth--
			}
		}
		for _, n := range r.self[i] {
			for kind := range kinds {
				sums[kind] += int64(n)
			}
		}
	}
	a := p.Accounts[0]
	assert.Equal(t, []int64{a.Cut, a.Frozen, a.Unwalked}, []int64{sums["cut"], sums["frozen"], sums["unwalked"]})
	assert.Equal(t, a.Profiled, a.Whole+a.Cut+a.Frozen+a.Unwalked)
	assert.Positive(t, a.Cut)
	for _, kind := range []string{"c2", "interpreter", "native", "vm", "kernel", "stub"} {
		assert.Positive(t, sums[kind], kind)
	}
}

// checkWithCallees checks the parts of the totals: their sums, and that each sample of a part is counted at most once
// in a total.
func checkWithCallees(t *testing.T, p *profile.Profile) {
	t.Helper()
	for _, f := range p.Frames {
		sum := make(tally.Counts, len(p.Counters))
		for _, c := range p.Parts.WithCallees[f.Method] {
			sum.Add(c.Counts)
			at := slices.IndexFunc(p.Parts.All, func(all parts.Count) bool { return all.Part == c.Part })
			assert.LessOrEqual(t, c.Counts[0], p.Parts.All[at].Counts[0])
		}
		assert.Equal(t, f.WithCallees, sum, f.Method)
	}
}

// A frame leads to the instruction of its call.
func TestPlacesOfCalls(t *testing.T) {
	ps := stackProfiles(t, gasmtest.UnpackFolder(t, "stacks"))
	p := &ps.Trials[0]
	at := newPlaces(p, 0)
	tree := p.Stacks.TopDown(calltree.Limits{Details: true})
	exact := 0
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		f := n.Frame
		if f == nil || !f.Kind.Java() || f.Kind == callstack.Interpreted {
			continue
		}
		assert.Equal(t, n.Name, f.Name)
		for k := range p.Listings {
			l := &p.Listings[k]
			if l.CompileID != f.CompileID {
				continue
			}
			line := slices.IndexFunc(l.Lines, func(line code.Line) bool { return line.Lo < f.PC && f.PC <= line.Hi })
			require.GreaterOrEqual(t, line, 0)
			assert.Equal(t, rowID(k, l, line), at.call(f))
			inlinedInto := func(child int32) bool { return tree.Nodes[child].Frame != nil && tree.Nodes[child].Frame.PC == f.PC }
			if n.Self[0] == 0 && !slices.ContainsFunc(n.Children, inlinedInto) {
				assert.Contains(t, l.Lines[line].Text, "call", "%s in %s", f.Name, l.Method)
				methods := map[string]bool{l.Method: true}
				for _, in := range l.Lines[line].Frames {
					methods[in.Method] = true
				}
				assert.True(t, methods[f.Name], "%s in %v", f.Name, methods)
				exact++
			}
		}
	}
	assert.Greater(t, exact, 10)
}

// Which kind a frame has depends on the compilation that its address is in.
func TestKindsOfCalls(t *testing.T) {
	c := compilations{7: {
		{Kind: printassembly.NMethod, Compiler: "c1", Level: 3, ID: 7, Lo: 0x1000, Hi: 0x2000},
		{Kind: printassembly.NMethod, Compiler: "c2", Level: 4, ID: 7, Lo: 0x3000, Hi: 0x4000}, // of another JVM
		{Kind: printassembly.NMethod, ID: 7, Lo: 0x5000, Hi: 0x6000},
	}}
	node := func(kind callstack.Kind, pc uint64) *calltree.Node {
		return &calltree.Node{Code: calltree.Code{Kind: kind}, Frame: &callstack.Frame{Kind: kind, PC: pc, CompileID: 7}}
	}
	for want, n := range map[string]*calltree.Node{
		"c1": node(callstack.Compiled, 0x1001), "c2": node(callstack.Inlined, 0x4000), "compiled": node(callstack.Compiled,
			0x5001),
		"root": {Parent: -1}, "thread": {}, "vm": {Code: calltree.Code{Kind: callstack.Native, Module: "libjvm.so"}},
		"native": {Code: calltree.Code{Kind: callstack.Native, Module: "libc.so.6"}}, "kernel": node(callstack.Kernel, 0),
		"unresolved": {Code: calltree.Code{Kind: callstack.Native, Module: profile.UnknownModule}},
		"cut":        node(callstack.Cut, 0), "frozen": node(callstack.Frozen, 0),
	} {
		assert.Equal(t, want, frameKinds[c.kindOf(n)])
	}
}

// wide returns a profile with the given number of different stacks. The function name returns the names of the frames.
func wide(t *testing.T, stacks int, name func(i int) string) *profile.Profiles {
	t.Helper()
	var text strings.Builder
	w := callstack.NewWriter(&text)
	var ids []callstack.ID
	for i := range stacks {
		root := w.Push(0, callstack.Frame{Kind: callstack.Native, BCI: -1, Line: -1, Module: name(i % 7), Name: name(i % 13)})
		ids = append(ids, w.Push(root, callstack.Frame{Kind: callstack.Compiled, CompileID: 1, PC: 0x1000, BCI: 1, Line: 1,
			Name: name(i)}))
	}
	require.NoError(t, w.Flush())
	tree, err := callstack.Read(strings.NewReader(text.String()), "stacks.txt")
	require.NoError(t, err)
	all := calltree.NewStacks(tree)
	set := calltree.NewSet(all, 1)
	leaf := set.Leaf([]calltree.LeafFrame{{Frame: callstack.Frame{Kind: callstack.Inlined, Name: name(1), Line: 3}}})
	for i, id := range ids {
		set.AddPart(name(i%3), leaf, id, i%5, tally.Counts{int64(1 + i%4)})
	}
	ps := &profile.Profiles{Stacks: all, Trials: make([]profile.Profile, 1)}
	p := &ps.Trials[0]
	p.Stacks, p.Counters, p.Accounts = set, []string{"cycles"}, []profile.Account{{Profiled: set.Total()[0]}}
	return ps
}

// However many calls there are, the tree in the page is small, and has all samples.
func TestBoundedCalls(t *testing.T) {
	const n = 200_000
	ps := wide(t, n, func(i int) string { return fmt.Sprint("a.b.C::m", i) })
	text := (&builder{in: Input{Profiles: ps}}).calls(&ps.Trials[0], newPlaces(&ps.Trials[0], 0))
	assert.Less(t, len(text), 1_500_000, "bytes")
	r := callsOf(t, ps, 0)
	assert.LessOrEqual(t, len(r.paths), mostCalls)
	sum, others := 0, 0
	for i := range r.paths {
		for _, counts := range []map[[2]int]int{r.self[i], r.rest[i]} {
			for _, n := range counts {
				sum += n
			}
		}
	}
	for i := 1; i < len(r.data.Others); i += 2 {
		others += r.data.Others[i]
	}
	assert.Equal(t, int(ps.Trials[0].Stacks.Total()[0]), sum)
	assert.Positive(t, others)
}

// Names are data: no name can end the script that contains it, and none has invisible characters.
func TestHostileCalls(t *testing.T) {
	const evil = "</script><img src=x onerror=alert(1)>\u202e\x1b[31m\u2028"
	ps := wide(t, 20, func(i int) string { return fmt.Sprint(evil, i) })
	text := string((&builder{in: Input{Profiles: ps}}).calls(&ps.Trials[0], newPlaces(&ps.Trials[0], 0)))
	assert.NotContains(t, text, "<")
	r := callsOf(t, ps, 0)
	assert.Contains(t, r.name(r.data.Nodes[2]), `</script><img src=x onerror=alert(1)>\u202e\x1b[31m\u2028`)
}
