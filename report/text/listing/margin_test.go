package listing

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/text/counts"
)

// inlined returns reporttest.Dot with other methods inlined: real code, made-up frames.
func inlined(t *testing.T) profile.Profile {
	p := reporttest.Dot(t)
	lines := p.Regions[0].Lines
	outer := printassembly.Frame{Method: "Workload::dot", BCI: 20, Line: 12}
	for _, run := range []struct {
		from, to int
		method   string // "" for no debug info
	}{
		{0, 3, "Workload::dot"},
		{3, 8, "java.util.HashMap::getNode"},
		{8, 9, "java.util.HashMap$TreeNode::<init>"},
		{9, 12, "org.sample.Trie::getNode"},
		{12, 14, ""},
		{14, 18, "org.sample.Trie::checkFromIndexToSize"},
	} {
		for i := run.from; i < run.to; i++ {
			lines[i].Frames = nil
			if run.method != "" {
				lines[i].Frames = []printassembly.Frame{{Method: run.method, BCI: i, Line: 100 + i}, outer}
			}
			lines[i].OwnFrames = lines[i].OwnFrames && run.method != ""
		}
	}
	lines[10].Hi-- // a gap
	lines[9].Section = "Exception Handler"
	return p
}

// listingOf returns the listing of a profile's first region.
func listingOf(p profile.Profile, look layout.Look, o Options) []byte {
	var b bytes.Buffer
	page := layout.NewPage(&b, look)
	Write(page, &p, counts.Of(&p, counts.Percent, 0), &p.Regions[0], o)
	_ = page.Flush() // to a buffer
	return b.Bytes()
}

func TestMargin(t *testing.T) {
	source := func(method string, line int) SourceLine {
		if !strings.HasPrefix(method, "java.") {
			return SourceLine{}
		}
		const text = "} while ((e = e.next) != null); // and a comment that goes on and on, to the end of a wide screen and further"
		return SourceLine{Number: line, Text: text}
	}
	for name, c := range map[string]struct {
		look   layout.Look
		source func(string, int) SourceLine
	}{
		"margin":       {},
		"margin-ascii": {layout.Look{ASCII: true, Width: 100}, source},
		"margin-color": {layout.Look{Color: true, Width: 150}, source},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Comments: Full, DrawIntraJumps: true, DrawInterJumps: true, Source: c.source}
			gasmtest.Golden(t, name+".golden", listingOf(inlined(t), c.look, o))
		})
	}
}

// A region that consists of a single method has no margin.
func TestNoMargin(t *testing.T) {
	lines := inlined(t).Regions[0].Lines
	for i := range lines {
		if innermost(&lines[i]) != "" {
			lines[i].Frames[0].Method = "Workload::dot"
		}
	}
	if m := layoutMargin(lines, "│", "…"); m.width != 0 {
		t.Errorf("%+v", m)
	}
	if m := layoutMargin(nil, "│", "…"); m.width != 0 {
		t.Errorf("%+v", m)
	}
}

func TestMarginLabels(t *testing.T) {
	for _, c := range []struct{ methods, want []string }{
		{[]string{"a.B::get", "a.B::put"}, []string{"get", "put"}},
		{[]string{"a.B::checkFromIndexToSize"}, []string{"checkFromIndexT…"}},
		{[]string{"a.B::checkFromIndexToSize", "a.B::checkFromIndexToEnd"}, []string{"B.check…exToSize", "B.check…dexToEnd"}},
		{[]string{"a.Map::get", "a.List::get", "a.Map::put"}, []string{"Map.get", "List.get", "put"}},
		{[]string{"a.Map::get", "b.Map::get"}, []string{"a.Map.get", "b.Map.get"}},
		{[]string{"java.util.concurrent.ConcurrentHashMap::get", "a.B::get"}, []string{"ConcurrentH….get", "B.get"}},
		{[]string{"j.ConcurrentHashMap::get", "j.ConcurrentHashSet::get"}, []string{"Concurr…hMap.get", "Concurr…hSet.get"}},
		{[]string{"j.HashMap::<init>", "j.HashMap$Node::<init>"}, []string{"HashMap.<init>", "Node.<init>"}},
		{[]string{"j.HashMap::<clinit>"}, []string{"HashMap.<clinit>"}},
		{[]string{"a.VeryLongName::<clinit>"}, []string{"VeryLo….<clinit>"}},
		{[]string{"A$1::run", "A$2::run"}, []string{"A$1.run", "A$2.run"}},
		{[]string{"A$$Lambda/0x00007f0001234000::run", "B$$Lambda$14+0x00007f0001234000::run"},
			[]string{"Lambda.run", "B$$Lambda$14.run"}},
		{[]string{"A::größteGemeinsameTeiler"}, []string{"größteGemeinsam…"}},
		{[]string{"no class"}, []string{"no class"}},
	} {
		labels := marginLabels(c.methods, "…")
		for i, method := range c.methods {
			if labels[method] != c.want[i] {
				t.Errorf("%v: %q is %q, want %q", c.methods, method, labels[method], c.want[i])
			}
		}
		if distinct := slices.Compact(slices.Sorted(maps.Values(labels))); len(distinct) != len(c.methods) {
			t.Errorf("%v: not all different: %q", c.methods, labels)
		}
	}
}

func TestSimpleNamesOfNative(t *testing.T) {
	for method, want := range map[string][2]string{
		"zip::Block<std::pair<int, int> >::crc": {"Block<std::pair<int, int> >", "crc"},
		"std::swap<std::string>":                {"std", "swap<std::string>"},
		"main":                                  {"", "main"},
		"a.b.C::<init>":                         {"C", "<init>"},
		"C::operator->":                         {"C", "operator->"},
	} {
		_, name := simpleNames(method)
		assert.Equal(t, want[1], name, method)
	}
}
