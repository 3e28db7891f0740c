package diff

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/diff/asm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/htmlpage"
)

func writeHTML(t *testing.T, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteHTML(&b, "v1"))
	return b.String()
}

func TestHTMLGolden(t *testing.T) {
	a, b := hostileSides("")
	text := writeHTML(t, Compare(a, b, options()))
	for _, file := range []string{htmlpage.Style, htmlStyle, htmlScript} {
		require.Contains(t, text, file)
		text = strings.Replace(text, file, "…", 1)
	}
	text = regexp.MustCompile(`sha256-.*?&#39;`).ReplaceAllString(text, "sha256-…&#39;")
	gasmtest.Golden(t, "page.golden", []byte(text))
}

var (
	htmlTag    = regexp.MustCompile(`<[^>]*>`)
	htmlRowsOf = regexp.MustCompile(`(?s)<section class="t" id="(t\d+-\w+)">.*?<tbody>(.*?)</tbody>`)
	htmlCount  = regexp.MustCompile(`data-s="(\d+)">[^<]*</td><td class="n" data-s="(\d+)"`)
	aligned    = regexp.MustCompile(`(?s)<article class="aligned".*?</article>`)
	alignedIn  = regexp.MustCompile(`<div class="dl (same|left|right|both)"[^>]*><b(?: class="h\d" data-n="(\d+)")?>[^<]*</b><code>(.*?)</code><i>[^<]*</i><b(?: class="h\d" data-n="(\d+)")?>[^<]*</b><code>(.*?)</code>`)
)

// The page's numbers, and its code, are those of the JSON.
func TestHTMLNumbers(t *testing.T) {
	r := Compare(captureSide(t, "jdk17-lean-none"), captureSide(t, "jdk25-lean-none"), options())
	text := writeHTML(t, r)
	c := &r.Trials[0]
	var regions []Row
	for i := range c.Regions {
		regions = append(regions, c.Regions[i].Row)
	}
	want := map[string][]Row{"t0-methods": c.Methods, "t0-frames": c.Frames, "t0-regions": regions}
	tables := htmlRowsOf.FindAllStringSubmatch(text, -1)
	require.Len(t, tables, len(want))
	for _, table := range tables {
		rows := htmlCount.FindAllStringSubmatch(table[2], -1)
		require.Len(t, rows, len(want[table[1]]), table[1])
		for i, row := range want[table[1]] {
			assert.Equal(t, []string{fmt.Sprint(row.SamplesA), fmt.Sprint(row.SamplesB)}, rows[i][1:], row.Name)
		}
	}
	articles := aligned.FindAllString(text, -1)
	for i := range c.Regions {
		if len(c.Regions[i].Listing) == 0 {
			continue
		}
		require.NotEmpty(t, articles)
		checkAligned(t, articles[0], c.Regions[i].Listing)
		articles = articles[1:]
	}
	assert.Empty(t, articles)
}

// checkAligned checks that all lines of each side of a listing are there, in their order.
func checkAligned(t *testing.T, article string, listing []asm.ListingLine) {
	t.Helper()
	var a, b []string
	for _, l := range listing {
		text := func(n int64) string {
			if l.Label != "" {
				return fmt.Sprintf("%d %s: %s", n, l.Label, l.Text)
			}
			return fmt.Sprintf("%d %s", n, l.Text)
		}
		if l.Op != "+" {
			a = append(a, text(l.A))
		}
		if l.Op != "-" {
			b = append(b, text(l.B))
		}
	}
	var gotA, gotB []string
	for _, m := range alignedIn.FindAllStringSubmatch(article, -1) {
		text := func(count, code string) string {
			n, _ := strconv.Atoi("0" + count)
			return fmt.Sprintf("%d %s", n, html.UnescapeString(htmlTag.ReplaceAllString(code, "")))
		}
		if m[1] != "right" {
			gotA = append(gotA, text(m[2], m[3]))
		}
		if m[1] != "left" {
			gotB = append(gotB, text(m[4], m[5]))
		}
	}
	assert.Equal(t, a, gotA)
	assert.Equal(t, b, gotB)
}

// Blocks that changed are listed by how much, and are open; the others are folded.
func TestHTMLBlocks(t *testing.T) {
	lines := func(text string) []asm.ListingLine {
		var out []asm.ListingLine
		for _, l := range strings.Split(text, ", ") {
			line := asm.ListingLine{Op: l[:1], Text: l[1:]}
			if label, rest, ok := strings.Cut(line.Text, ": "); ok {
				line.Label, line.Text = label, rest
			}
			out = append(out, line)
		}
		return out
	}
	for listing, want := range map[string]string{
		"=u, =jl L1, =v":             "2 1",
		"=u, =L1: v, =w":             "1 2",
		"=u, -jl L1, -v, +jg L1, =w": "4 1",
		"-L1: u, -v, +L2: w, +x, =y": "5",
		"=call x, =b.ne L1, =ret":    "2 1",
		"=u":                         "1",
	} {
		var got []string
		for _, b := range blocksOf(lines(listing)) {
			got = append(got, strconv.Itoa(len(b)))
		}
		assert.Equal(t, want, strings.Join(got, " "), listing)
	}
	a := trial(1000, region("A::sum", 1, code(0x1000, sumLoop...)), region("A::walk", 2, code(0x9000, walkLoop...)))
	b := trial(1300, region("A::sum", 7, code(0x3000, mulLoop...)), region("A::walk", 9, code(0x8000, walkLoop...)))
	text := writeHTML(t, Compare(side("a", a), side("b", b), options()))
	assert.Contains(t, text, `<details class="block differs" id="t0-c0-b1" open>`)
	assert.Contains(t, text, "Changed blocks, what changed most first: <a href=\"#t0-c0-b1\">B1 &#43;11.54 (3 differ)</a>")
}

// The page begins with the result of the gate, with a row for each trial, failed ones first. Facts that are the same
// for both sides are stated once.
func TestHTMLVerdict(t *testing.T) {
	a, b := side("a"), side("b")
	for i, after := range []float64{10, 20, 30} { // the first one is unchanged, the last one changed most
		for s, us := range map[*Side]float64{a: 10, b: after} {
			one := benchmark("", []float64{us, us + 0.1, us - 0.1}, []float64{us, us + 0.1, us - 0.1}).Trials[0]
			one.Name = fmt.Sprintf("p.B.run%d", i)
			s.Trials = append(s.Trials, one)
		}
	}
	a.Sampler, b.Sampler = "perf, cpu-clock at 1001 Hz", "perf, cpu-clock at 997 Hz"
	a.Command, b.Command = []string{"java", "Main"}, []string{"java", "Main"}
	r := Compare(a, b, options())
	r.Gate = r.Judge(5)
	text := html.UnescapeString(htmlTag.ReplaceAllString(writeHTML(t, r), " "))
	words := strings.Join(strings.Fields(text), " ")
	words = words[strings.LastIndex(words, "gasm diff: a → b ")+len("gasm diff: a → b "):]
	assert.Regexp(t, `^slower 2 of 3 benchmarks slower by more than 5 % result benchmark before after change noise changed `+
		`slower p.B.run2 10 us 30 us \+200.0 % ± \d.*slower p.B.run1 10 us 20 us .* p.B.run0 10 us 10 us `, words)
	assert.Equal(t, 1, strings.Count(words, "java Main"))
	assert.Regexp(t, `Both Command java Main A, before: a Sampler perf, cpu-clock at 1001 Hz B, after: b Sampler perf, cpu-clock at 997 Hz`, words)
	one := Compare(benchmark("a", []float64{10}), benchmark("b", []float64{20}), options())
	one.Gate = one.Judge(5)
	assert.Equal(t, "not judged: the noise is known only with two forks or captures on each side", one.verdict().Text)
	assert.False(t, one.verdict().Judged)
	assert.Less(t, strings.LastIndex(words, "p.B.run2"), strings.LastIndex(words, "p.B.run1"), "the trials' order")
}
