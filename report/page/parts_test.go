package page

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/report/page/chains"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/page/sources"
	"github.com/gasm-profiler/gasm/report/schema"
)

func frames(text ...string) []printassembly.Frame {
	var chain []printassembly.Frame
	for _, f := range text {
		method, line, _ := strings.Cut(f, "|")
		n, _ := strconv.Atoi(line)
		chain = append(chain, printassembly.Frame{Method: method, Line: n, BCI: n})
	}
	return chain
}

// TestChips checks what a listing says about inlining at each instruction.
func TestChips(t *testing.T) {
	var c chains.Chips
	for _, step := range []struct {
		chain []printassembly.Frame
		want  string
	}{
		{nil, ""},
		{frames("a.B::outer|7"), "<em>B::outer:7</em> "},
		{frames("a.B::outer|7"), ""},
		{frames("a.B::outer|8"), "<u>:8</u> "},
		{frames("c.D$E::inner|20", "a.B::outer|8"), "<em>B::outer:8 › <em>E::inner:20</em></em> "},
		{frames("c.D$E::inner|21", "a.B::outer|8"), "<u>:21</u> "},
		{frames("x::<init>|3", "c.D$E::inner|21", "a.B::outer|8"),
			"<s>›</s><em>E::inner:21 › <em>x::&lt;init&gt;:3</em></em> "},
		{nil, ""},
		{frames("a.B::outer|9"), "<em>B::outer:9</em> "},
		{frames("a.B::outer"), ""}, // without a line
		{frames("f::f|6", "e::e|5", "d::d|4", "c::c|3", "b::b|2", "a::a|1"),
			"<s>›</s><em>c::c:3 › <em>d::d:4 › <em>e::e:5 › <em>f::f:6</em></em></em></em> "},
	} {
		assert.Equal(t, step.want, string(c.Append(nil, step.chain)), "%v", step.chain)
	}
}

// Each chain is in the data once, and can be restored from it.
func TestChains(t *testing.T) {
	c := chains.New()
	list := [][]printassembly.Frame{frames("a::b|1"), frames("c::d|2", "a::b|1"), frames("a::b|1"),
		frames("a::b|12", "a::b|1"), frames("a::b|1", "a::b|21")}
	want := []int{0, 1, 0, 2, 3}
	for i, chain := range list {
		assert.Equal(t, want[i], c.Number(chain))
	}
	assert.Equal(t, -1, c.Number(nil))
	var got struct {
		Methods []string
		Chains  [][]int
		Other   []string
		Syntax  string
	}
	require.NoError(t, json.Unmarshal(c.JSON([]string{"mov eax,</script>"}, "Intel", nil, nil), &got))
	assert.Equal(t, []string{"a::b", "c::d"}, got.Methods)
	assert.Equal(t, []int{1, 2, 2, 0, 1, 1}, got.Chains[1])
	assert.Equal(t, []string{"mov eax,</script>"}, got.Other)
	assert.NotContains(t, string(c.JSON([]string{"</script>"}, "", nil, nil)), "</")
}

func TestTexts(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1: "<0.01%", 10: "0.01%", 99_999: "100.00%", 30_089: "30.09%"} {
		assert.Equal(t, want, show.Percent(n, 100_000))
	}
	assert.Empty(t, show.Percent(1, 0))
	for n, want := range map[int64]int{0: 0, 1: 1, 10: 2, 50: 3, 150: 4, 500: 5, 1500: 6, 10_000: 6} {
		assert.Equal(t, want, show.Heat(n, 10_000), n)
	}
	for method, want := range map[string]string{
		"java.util.HashMap$Node::getKey": "Node::getKey", "Foo$1::run": "Foo$1::run",
		"a.Foo$$Lambda/0x000000003a043920::apply": "Foo$$Lambda::apply",
		"StubRoutines": "StubRoutines", "x::<init>": "x::<init>",
	} {
		assert.Equal(t, want, show.Brief(method))
	}
	assert.Equal(t, "1 sample", show.Count(1, "sample"))
	assert.Equal(t, "9999 samples", show.Count(9999, "sample"))
	assert.Equal(t, "1\u202f234\u202f567 samples", show.Count(1_234_567, "sample"))
	assert.Equal(t, `a&lt;b&gt;&amp;&#34;&#39;\u202e`, string(show.Append(nil, "a<b>&\"'\u202e")))
}

// TestWhere checks what the overview says about the place of the hottest instruction.
func TestWhere(t *testing.T) {
	for _, c := range []struct {
		method, made, loop string
		frames             int
		guess              bool
		want               string
	}{
		{"a.b.Tree::get", "Tree::get:7", "in no loop", 1, false, "Tree::get:7 (not inlined), in no loop of the machine code"},
		{"a.b.Tree::get", "Node::find:7", "loop 2, depth 2", 2, false,
			"Node::find:7, inlined into Tree::get, in loop 2, depth 2 of the machine code"},
		{"a.b.Tree::get", "Node::find:7", "loop 2", 2, true,
			"~Node::find:7, inlined into Tree::get, in loop 2 of the machine code"},
		{"a.b.Tree::get", "", "", 0, false, "Tree::get"},
	} {
		assert.Equal(t, c.want, (&hotLine{Method: c.method, Made: c.made, Loop: c.loop, Guess: c.guess}).where(c.frames))
	}
}

// A line is marked if most of its samples are at instructions without a line of their own.
func TestMark(t *testing.T) {
	l := profile.Listing{Lines: make([]code.Line, 4)}
	for i, counts := range []int64{3, 2, 2, 3} {
		l.Lines[i].Lo, l.Lines[i].Counts = uint64(i), tally.Counts{counts}
		l.Lines[i].Frames, l.Lines[i].OwnFrames = frames([]string{"A::f|1", "A::f|2"}[i/2]), i%2 == 1
	}
	at := newPlaces(&profile.Profile{Listings: []profile.Listing{l}}, 0)
	assert.Equal(t, []string{"~", "", ""}, []string{at.mark("A::f", 1), at.mark("A::f", 2), at.mark("B::g", 1)})
}

// The page has the source lines that code was made from, and some lines around each.
func TestSources(t *testing.T) {
	file := make([]string, 100)
	for i := range file {
		file[i] = "line " + strconv.Itoa(i+1)
	}
	asked, read := 0, 0
	s := sources.New(func(method string, line int) (string, int) {
		asked++
		switch {
		case strings.HasPrefix(method, "a.Known") && line >= 2000: // of an inline function
			return "c/Inline.kt", line - 2000
		case strings.HasPrefix(method, "a.Known"):
			return "a/Known.java", line
		}
		return "b/Unknown.java", line
	}, func(name string) []string {
		read++
		if name == "b/Unknown.java" {
			return nil
		}
		return file
	}, func(name string) []string {
		if name == "/src/zip.c" {
			return file
		}
		return nil
	})
	l := profile.Listing{Lines: make([]code.Line, 4)}
	l.Lines[0].Frames = frames("a.Known::f|50", "b.Unknown::g|1")
	l.Lines[1].Frames = frames("a.Known$Inner::f|3")
	l.Lines[2].Frames = frames("a.Known::f|1000")
	l.Lines[3].Frames = frames("a.Known::f|2090", "a.Known::f|50")
	s.Add(&l)
	files := s.Files()
	require.Len(t, files, 2)
	assert.Equal(t, "c/Inline.kt", files[1].Name)
	assert.Equal(t, map[string]map[int][2]int{"a.Known::f": {2090: {1, 90}}}, s.Moved())
	assert.Equal(t, "line 90", s.Line("a.Known::f", 2090))
	assert.Equal(t, "a/Known.java", files[0].Name)
	assert.Equal(t, []string{"a.Known::f", "a.Known$Inner::f"}, files[0].Methods)
	var numbers, gaps []int
	for _, line := range files[0].Lines {
		numbers = append(numbers, line.Number)
		assert.Equal(t, "line "+strconv.Itoa(line.Number), line.Text)
		if line.Gap {
			gaps = append(gaps, line.Number)
		}
	}
	assert.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56}, numbers)
	assert.Equal(t, []int{44}, gaps)
	assert.Equal(t, "line 50", s.Line("a.Known::f", 50))
	assert.Empty(t, s.Line("b.Unknown::g", 1))
	before := asked
	s.Add(&l)
	assert.Equal(t, before, asked, "each line is looked up once")
	assert.Equal(t, 3, read, "each file is read once")
}

// The bar splits the samples in HotSpot's library by the work of its threads. It does not split the samples of other
// sources.
func TestWorkOfLibjvm(t *testing.T) {
	count := func(part int, n int64) parts.Count { return parts.Count{Part: part, Counts: tally.Counts{n}} }
	p := &profile.Profile{Threads: []threads.KindTotal{{Kind: threads.Application}}, Parts: &profile.Parts{
		Threads: []parts.ThreadGroup{{Kind: threads.Application, Name: "main"}, {Kind: threads.Compilers},
			{Kind: threads.Collector}, {Kind: threads.OtherJVM}},
		List: []parts.Part{{Slice: 0, Thread: 0}, {Slice: 0, Thread: 1}, {Slice: 0, Thread: 2}, {Slice: 0, Thread: 3},
			{Slice: 1, Thread: 1}},
		Sources: map[string]parts.Counts{"libjvm.so": {count(0, 3), count(1, 20), count(3, 4), count(4, 10)},
			"libc.so.6": {count(0, 5), count(2, 8)}},
	}}
	r := &schema.Profile{Sources: []schema.Source{{Source: "libjvm.so", Counts: schema.Counts{Values: []int64{37}}},
		{Source: "libc.so.6", Counts: schema.Counts{Values: []int64{13}}}}}
	assert.Equal(t, []bar{
		{"native", "libjvm.so, JIT", "60.00%", "60.0", 30, "1.20 4.10"},
		{"native", "libjvm.so, runtime", "14.00%", "14.0", 7, "0.3 3.4"},
		{"native", "libc.so.6", "26.00%", "26.0", 13, "0.5 2.8"},
	}, sourceBars(p, r, []int64{50}))
	p.Threads = nil
	assert.Equal(t, "libjvm.so", sourceBars(p, r, []int64{50})[0].Name, "the work is not known without names of threads")
	p.Parts = nil
	assert.Equal(t, []bar{{"native", "libjvm.so", "74.00%", "74.0", 37, ""},
		{"native", "libc.so.6", "26.00%", "26.0", 13, ""}}, sourceBars(p, r, []int64{50}))
}
