package diff

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// markdownOf writes a comparison, and checks its structure: the only HTML in it is that of folded listings, all rows of
// a table have the same number of cells, and there are no links or images.
func markdownOf(t *testing.T, r *Result, gasm string) (written string, doc ast.Node) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.WriteMarkdown(&out, gasm))
	assert.LessOrEqual(t, out.Len(), MarkdownLimit)
	gasmtest.TerminalText(t, out.String(), false)
	source := out.Bytes()
	doc = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	opened, closed := 0, 0
	require.NoError(t, ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			var html []byte
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				html = append(html, line.Value(source)...)
			}
			switch block := strings.TrimSpace(string(html)); {
			case strings.HasPrefix(block, "<details><summary>") && strings.HasSuffix(block, "</summary>"):
				opened++
				assert.Equal(t, 7, strings.Count(block, "<"), "tags of %q", block)
			case block == "</details>":
				closed++
			default:
				t.Errorf("other HTML: %q", block)
			}
		case *ast.RawHTML:
			tag := ""
			for i := range n.Segments.Len() {
				segment := n.Segments.At(i)
				tag += string(segment.Value(source))
			}
			assert.Contains(t, []string{"<sub>", "</sub>"}, tag)
		case *ast.Link, *ast.Image, *ast.AutoLink:
			t.Errorf("a link or an image: %s", n.Kind())
		case *ast.FencedCodeBlock:
			assert.Equal(t, "diff", string(n.Language(source)))
		case *tables.TableRow:
			assert.Equal(t, n.Parent().FirstChild().ChildCount(), n.ChildCount())
		}
		return ast.WalkContinue, nil
	}))
	assert.Equal(t, opened, closed, "each listing is folded")
	return out.String(), doc
}

func TestMarkdown(t *testing.T) {
	a, b := hostileSides("")
	a.Trials[0].Name, b.Trials[0].Name = "p.B.run (size=10)", "p.B.run (size=10)"
	a.Trials[0].Score, b.Trials[0].Score = benchmark("a", []float64{10, 10.1},
		[]float64{10, 10.1}).Trials[0].Score, benchmark("b", []float64{20, 20.1}, []float64{20, 20.1}).Trials[0].Score
	r := Compare(a, b, options())
	written, _ := markdownOf(t, r, "v1")
	assert.Contains(t, written, "### gasm: 1 benchmark compared\n")
	r.Gate = r.Judge(5)
	written, doc := markdownOf(t, r, "v1")
	gasmtest.Golden(t, "markdown.md", []byte(written))
	assert.Contains(t, written, "### ❌ gasm: 1 of 1 benchmark slower by more than 5 %\n")
	assert.Contains(t, written, "| ❌ | `p.B.run (size=10)` | 10.1 us | 20.1 us | +99.5 % | ± ")
	assert.Contains(t, written, "<details><summary>Code of <code>p.A::a</code> (<code>c2, level 4</code>)")
	headings, fences := 0, 0
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n.Kind() {
		case ast.KindHeading:
			headings++
		case ast.KindFencedCodeBlock:
			fences++
		}
	}
	assert.Equal(t, 2, headings)
	assert.Positive(t, fences)
}

// The length of a comparison of many benchmarks is limited too. It says what is left out, and begins with the largest
// changes.
func TestMarkdownOfMuch(t *testing.T) {
	a, b := side("before"), side("after")
	for i := range 40 {
		var before, after []string
		for k := range 100 {
			before = append(before, fmt.Sprintf("%d add $%d,%%eax", 1+k%3, k))
			after = append(after, fmt.Sprintf("%d mul $%d,%%ebx", 1+k%3, k*7))
		}
		x, y := trial(1000, region("p.A::a", 7, code(0x1000, before...))), trial(1000,
			region("p.A::a", 7, code(0x1000, after...)))
		x.Name = fmt.Sprintf("p.B.run%d (text=%s)", i, strings.Repeat("x", 100))
		y.Name = x.Name
		a.Trials, b.Trials = append(a.Trials, x), append(b.Trials, y)
	}
	written, _ := markdownOf(t, Compare(a, b, options()), "v1")
	assert.Greater(t, len(written), MarkdownLimit/2)
	assert.Regexp(t, `[0-9]+ of the tables and listings had no room here`, written)
}

// Lines of a listing that differ are shown or counted. An ellipsis stands for lines that are left out in between.
func TestMarkdownListing(t *testing.T) {
	for _, n := range []int{2, 10, 100, 600} {
		var before, after []string
		for k := range n {
			before = append(before, fmt.Sprintf("0 add $%d,%%eax", k))
			after = append(after, fmt.Sprintf("0 add $%d,%%eax", k))
			if k%5 == 0 {
				before[k], after[k] = fmt.Sprintf("%d sub $%d,%%eax", 50+k%3, k), fmt.Sprintf("50 mul $%d,%%ebx", k*7)
			}
		}
		r := Compare(side("before", trial(int64(60*n), region("p.A::a", 7, code(0x1000, before...)))),
			side("after", trial(int64(60*n), region("p.A::a", 7, code(0x1000, after...)))), options())
		require.NotEmpty(t, r.Trials)
		require.NotEmpty(t, r.Trials[0].Regions)
		c, row := &r.Trials[0], &r.Trials[0].Regions[0]
		differ, listed, shown, left := 0, 0, 0, 0
		for i := range row.Listing {
			if row.Listing[i].Op != "=" {
				differ++
			}
		}
		text := c.markdownListing(row)
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, "+ "), strings.HasPrefix(line, "- "):
				listed, shown = listed+1, shown+1
			case strings.Contains(line, "$"):
				shown++
			case strings.Contains(line, "not shown"):
				_, err := fmt.Sscanf(strings.TrimSpace(line), "(%d more", &left)
				require.NoError(t, err)
			}
		}
		assert.Equal(t, differ, listed+left, text)
		assert.LessOrEqual(t, shown, maxMarkdownLines)
		assert.Equal(t, shown < len(row.Listing), strings.Contains(text, "\n  …\n"), "%d of %d lines: %s", shown,
			len(row.Listing), text)
		assert.Equal(t, n > 10, left > 0)
	}
}

// No text in a report can break out of its place in the Markdown.
func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{"", "`", "``` ~~~", "|", "a|b\\", "\\|", "](http://x)", "![x](y)", "<details>",
		"</details>", "</summary><script>", "&lt;b&gt;", "http://example.org", "www.example.org", "@name", "#1",
		"- [ ] x", "\n\n# head\n", "<!--", "*a* _b_ ~~c~~", "a@b.org", "\x1b[31m", "\u202e", " ` ", "日本"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, b := hostileSides(text)
		r := Compare(a, b, options())
		r.Notes = append(r.Notes, text)
		r.Gate = r.Judge(0)
		markdownOf(t, r, text)
	})
}
