package diff

import (
	"bytes"
	"cmp"
	_ "embed" // for the page's files
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/htmlpage"
	"github.com/gasm-profiler/gasm/internal/layout"
)

//go:embed html.tmpl
var htmlText string

//go:embed html.css
var htmlStyle string

//go:embed html.js
var htmlScript string

var htmlTemplate = template.Must(template.New("page").Parse(htmlText))

// An htmlView is what the template shows. Its strings are escaped as in all text for people,
// and the template escapes them for HTML.
type htmlView struct {
	Policy, Title, Gasm string
	Style               template.CSS
	Script              template.JS
	Sides               []htmlSide
	Notes               []string
	Trials              []htmlTrial
}

type htmlFact struct{ Name, Value string }

type htmlSide struct {
	Label, Name string
	Facts       []htmlFact
	Notes       []string
}

// An htmlTrial is the comparison of one trial or program.
type htmlTrial struct {
	ID     int
	Title  string
	Facts  []htmlFact
	Tables []htmlTable
	Code   []htmlCode
	Says   string // that nothing changed, or what else did not
}

type htmlTable struct {
	ID, Title, Note, Kind string
	Rows                  []htmlRow
	More                  string
	Sources, Details      bool // some row has them
}

type htmlRow struct {
	A, B, Change         string
	SamplesA, SamplesB   int64
	Width                string // of the change's bar, in percent of the largest
	Grew                 bool
	Source, Name, Detail string
	Link                 string // to the code
}

// maxHTMLRows is how many rows of a table the page has.
const maxHTMLRows = 500

// WriteHTML writes the comparison as one HTML file, which a browser opens from disk. gasm is
// the version of gasm that compared. Without JavaScript the page only lacks keys and the
// sorting of tables.
func (r *Result) WriteHTML(w io.Writer, gasm string) error {
	style := htmlpage.Style + htmlStyle
	v := htmlView{Policy: htmlpage.Policy(style, htmlScript), Gasm: layout.Escape(gasm), Style: template.CSS(style), Script: template.JS(htmlScript),
		Title: layout.Escape(fmt.Sprintf("gasm diff: %s → %s", r.A.Name, r.B.Name)), Sides: []htmlSide{newHTMLSide("A, before", r.A), newHTMLSide("B, after", r.B)}}
	for _, n := range r.Notes {
		v.Notes = append(v.Notes, layout.Escape(n))
	}
	for _, name := range r.UnpairedA {
		v.Notes = append(v.Notes, layout.Escape("only A has "+name+": not compared"))
	}
	for _, name := range r.UnpairedB {
		v.Notes = append(v.Notes, layout.Escape("only B has "+name+": not compared"))
	}
	for i := range r.Trials {
		v.Trials = append(v.Trials, r.Trials[i].html(i))
	}
	var out bytes.Buffer
	if err := htmlTemplate.Execute(&out, v); err != nil {
		return fmt.Errorf("making the page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func newHTMLSide(label string, s *Side) htmlSide {
	out := htmlSide{Label: label, Name: layout.Escape(s.Name)}
	add := func(name, value string) {
		if value != "" {
			out.Facts = append(out.Facts, htmlFact{name, layout.Escape(value)})
		}
	}
	add("Command", strings.Join(s.Command, " "))
	jvms := s.JVMs
	if len(jvms) > maxJVMs+1 {
		jvms = append(append([]string{}, jvms[:maxJVMs]...), fmt.Sprintf("%d more", len(s.JVMs)-maxJVMs))
	}
	add("JVMs", strings.Join(jvms, "; "))
	add("Sampler", s.Sampler)
	for _, n := range s.Notes {
		out.Notes = append(out.Notes, layout.Escape(n))
	}
	return out
}

// html makes the view of a comparison, which has this number, from 0.
func (c *Comparison) html(number int) htmlTrial {
	title := c.A.Title()
	if other := c.B.Title(); other != title {
		title += " → " + other
	}
	v := htmlTrial{ID: number, Title: layout.Escape(cmp.Or(title, "the program"))}
	add := func(name, value string) { v.Facts = append(v.Facts, htmlFact{name, layout.Escape(value)}) }
	add("Samples", "A "+c.A.samplesText()+"; B "+c.B.samplesText())
	if c.A.Samples == 0 || c.B.Samples == 0 {
		v.Says = "Not compared: a side has no samples of it."
		return v
	}
	if a, b := c.A.NanosPerOp, c.B.NanosPerOp; a > 0 && b > 0 {
		add("CPU time", fmt.Sprintf("A %s, B %s an operation: %+.1f %%", nanosText(a), nanosText(b), 100*(b-a)/a))
	}
	if text := c.scoreText(false); text != "" {
		add("Score", text)
	}
	add("Noise", c.noiseText())
	if c.unchanged() {
		v.Says = fmt.Sprintf("Nothing changed above the noise: %s compared.", c.Compared)
		return v
	}
	v.Says = fmt.Sprintf("%s compared; nothing else changed above the noise.", c.Compared)
	links := map[itemKey]string{}
	regions := make([]Row, len(c.Regions))
	details := make([]string, len(c.Regions))
	regionLinks := make([]string, len(c.Regions))
	for i := range c.Regions {
		r := &c.Regions[i]
		regions[i], details[i] = r.Row, r.details(r.codeText())
		if len(r.Listing) == 0 {
			continue
		}
		code := c.htmlCode(r, fmt.Sprintf("t%d-c%d", number, len(v.Code)))
		v.Code = append(v.Code, code)
		regionLinks[i] = code.ID
		if key := (itemKey{r.Source, r.Name}); links[key] == "" {
			links[key] = code.ID
		}
	}
	table := func(id, title, note, kind string, rows []Row, detail func(i int) string, link func(i int) string) {
		t := htmlTable{ID: fmt.Sprintf("t%d-%s", number, id), Title: title, Note: note, Kind: kind, Rows: htmlRows(rows, detail, link)}
		if left := len(rows) - len(t.Rows); left > 0 {
			t.More = layout.Plural(left, "row") + " more in the JSON (--format json)"
		}
		t.Sources = slices.ContainsFunc(t.Rows, func(r htmlRow) bool { return r.Source != "" })
		t.Details = slices.ContainsFunc(t.Rows, func(r htmlRow) bool { return r.Detail != "" })
		if len(t.Rows) > 0 {
			v.Tables = append(v.Tables, t)
		}
	}
	plain := func(rows []Row) func(i int) string {
		return func(i int) string { return rows[i].details(codeDifference(rows[i].Code)) }
	}
	table("methods", "Changed methods", "as compiled, with all that was inlined into them; native functions among them", "method", c.Methods, plain(c.Methods),
		func(i int) string { return links[itemKey{c.Methods[i].Source, c.Methods[i].Name}] })
	table("frames", "Changed frames", "inlining undone", "method", c.Frames, plain(c.Frames), func(int) string { return "" })
	table("regions", "Changed regions", "runs of sampled instructions within one piece of code", "region", regions,
		func(i int) string { return details[i] }, func(i int) string { return regionLinks[i] })
	return v
}

// htmlRows are the rows of a table, at most maxHTMLRows.
func htmlRows(rows []Row, detail, link func(i int) string) []htmlRow {
	var largest float64
	for i := range rows {
		largest = max(largest, math.Abs(rows[i].Change))
	}
	var out []htmlRow
	for i := range rows[:min(len(rows), maxHTMLRows)] {
		r := &rows[i]
		cells := shareCells(r)
		width := "0"
		if largest > 0 {
			width = fmt.Sprintf("%.1f", 100*math.Abs(r.Change)/largest)
		}
		out = append(out, htmlRow{A: cells[0], B: cells[1], Change: cells[2], SamplesA: r.SamplesA, SamplesB: r.SamplesB, Width: width, Grew: r.Change > 0,
			Source: layout.Escape(r.Source), Name: layout.Escape(r.Name), Detail: layout.Escape(detail(i)), Link: link(i)})
	}
	return out
}
