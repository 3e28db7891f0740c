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

//go:embed calls.js
var callsScript string

var htmlTemplate = template.Must(template.New("page").Parse(htmlText))

// An htmlView is what the template shows. Its strings are escaped like all text for people,
// and the template escapes them for HTML.
type htmlView struct {
	Policy, Title, Gasm string
	Style               template.CSS
	Scripts             []template.JS
	Verdict             htmlVerdict
	Sides               []htmlSide // facts that are the same for both sides, if any; facts about A; facts about B
	Notes               []string
	Trials              []htmlTrial // in the order of the verdict's rows, and then those that have no row there
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
	Calls  template.JS // the calls of both sides; "" if one of them has none
	Says   string      // a sentence below the tables: what was compared
}

type htmlTable struct {
	ID, Title, Note, Kind string
	Rows                  []htmlRow
	More                  string
	Sources, Details      bool // at least one row has a source; at least one has a detail
}

type htmlRow struct {
	A, B, Change         string
	SamplesA, SamplesB   int64
	Width                string // of the bar that shows the change, in percent of the largest bar
	Grew                 bool
	Source, Name, Detail string
	Link                 string // the id of its code; "" for none
}

// An htmlVerdict is a verdict whose strings are escaped.
type htmlVerdict struct {
	verdict
	Legend string
}

func (r *Result) htmlVerdict() htmlVerdict {
	v := htmlVerdict{verdict: r.verdict()}
	if v.Timed {
		v.Legend = verdictLegend
	}
	for i := range v.Rows {
		v.Rows[i].Title = layout.Escape(v.Rows[i].Title)
	}
	for i := range v.Methods {
		v.Methods[i].Name = layout.Escape(v.Methods[i].Name)
	}
	return v
}

// maxHTMLRows limits the number of rows in a table on the page.
const maxHTMLRows = 500

// WriteHTML writes the comparison as one HTML file, which a browser can open from disk. gasm
// is the version of gasm that compared. Without JavaScript the page lacks only keyboard
// shortcuts and the sorting of tables.
func (r *Result) WriteHTML(w io.Writer, gasm string) error {
	style := htmlpage.Style + htmlStyle
	v := htmlView{Gasm: layout.Escape(gasm), Style: template.CSS(style),
		Title: layout.Escape(fmt.Sprintf("gasm diff: %s → %s", r.A.Name, r.B.Name)), Verdict: r.htmlVerdict()}
	a, b := newHTMLSide("A, before", r.A), newHTMLSide("B, after", r.B)
	if both := bothSides(&a, &b); len(both.Facts)+len(both.Notes) > 0 {
		v.Sides = append(v.Sides, both)
	}
	v.Sides = append(v.Sides, a, b)
	for _, n := range r.Notes {
		v.Notes = append(v.Notes, layout.Escape(n))
	}
	for _, name := range r.UnpairedA {
		v.Notes = append(v.Notes, layout.Escape("only A has "+name+": not compared"))
	}
	for _, name := range r.UnpairedB {
		v.Notes = append(v.Notes, layout.Escape("only B has "+name+": not compared"))
	}
	room := maxHTMLCalls
	scripts := []string{htmlScript}
	for _, i := range r.bySize() {
		t := r.Trials[i].html(i, &room)
		v.Trials = append(v.Trials, t)
		if t.Calls != "" && len(scripts) == 1 {
			scripts = []string{htmlpage.CallTree, htmlpage.FlameGraph, callsScript, htmlScript}
		}
	}
	for _, s := range scripts {
		v.Scripts = append(v.Scripts, template.JS(s))
	}
	v.Policy = htmlpage.Policy(style, scripts...)
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

// bothSides returns the facts and notes that are the same for both sides, and removes them from the sides.
func bothSides(a, b *htmlSide) htmlSide {
	both := htmlSide{Label: "Both"}
	for _, f := range a.Facts {
		if slices.Contains(b.Facts, f) {
			both.Facts = append(both.Facts, f)
		}
	}
	for _, n := range a.Notes {
		if slices.Contains(b.Notes, n) {
			both.Notes = append(both.Notes, n)
		}
	}
	for _, side := range []*htmlSide{a, b} {
		side.Facts = slices.DeleteFunc(side.Facts, func(f htmlFact) bool { return slices.Contains(both.Facts, f) })
		side.Notes = slices.DeleteFunc(side.Notes, func(n string) bool { return slices.Contains(both.Notes, n) })
	}
	return both
}

// html returns the view of a comparison. number is the index of the comparison in the Result. callsLeft is how many
// calls the page still has room for.
func (c *Comparison) html(number int, callsLeft *int) htmlTrial {
	v := htmlTrial{ID: number, Title: layout.Escape(c.htmlTitle()), Facts: c.htmlFacts()}
	switch {
	case c.A.Samples == 0 || c.B.Samples == 0:
		v.Says = "Not compared: one side has no samples of it."
		return v
	case c.unchanged():
		v.Says = fmt.Sprintf("Nothing changed above the noise: %s compared.", c.Compared)
		return v
	}
	v.Says = fmt.Sprintf("%s compared; nothing else changed above the noise.", c.Compared)
	v.Calls = c.htmlCalls(callsLeft)
	regions := v.addCode(c)
	links := map[itemKey]string{} // by method: the id of the code of its hottest region that has code
	for _, r := range regions {
		if links[r.key()] == "" {
			links[r.key()] = r.link
		}
	}
	methods, frames := changedRows(c.Methods), changedRows(c.Frames)
	for i := range methods {
		methods[i].link = links[methods[i].key()]
	}
	v.addTable(htmlTable{ID: "methods", Title: "Changed methods", Kind: "method",
		Note: "as compiled, with all that was inlined into them; native functions among them"}, methods)
	v.addTable(htmlTable{ID: "frames", Title: "Changed frames", Kind: "method", Note: "inlining undone"}, frames)
	v.addTable(htmlTable{ID: "regions", Title: "Changed regions", Kind: "region",
		Note: "runs of sampled instructions within one piece of code"}, regions)
	return v
}

func (c *Comparison) htmlTitle() string {
	title := c.A.Title()
	if other := c.B.Title(); other != title {
		title += " → " + other
	}
	return cmp.Or(title, "the program")
}

// htmlFacts returns what is known about both sides as a whole.
func (c *Comparison) htmlFacts() []htmlFact {
	facts := []htmlFact{{"Samples", "A " + c.A.samplesText() + "; B " + c.B.samplesText()}}
	if c.A.Samples == 0 || c.B.Samples == 0 {
		return escaped(facts)
	}
	if a, b := c.A.NanosPerOp, c.B.NanosPerOp; a > 0 && b > 0 {
		facts = append(facts, htmlFact{"CPU time", fmt.Sprintf("A %s, B %s per operation: %+.1f %%", nanosText(a),
			nanosText(b), 100*(b-a)/a)})
	}
	if text := c.scoreText(false); text != "" {
		facts = append(facts, htmlFact{"Score", text})
	}
	return escaped(append(facts, htmlFact{"Noise", c.noiseText()}))
}

func escaped(facts []htmlFact) []htmlFact {
	for i := range facts {
		facts[i].Value = layout.Escape(facts[i].Value)
	}
	return facts
}

// A changedRow is a row of a table of changes, with what the page shows beside its numbers.
type changedRow struct {
	*Row
	detail string // how its code changed
	link   string // the id of its code on the page; "" for none
}

func (r *changedRow) key() itemKey { return itemKey{r.Source, r.Name} }

func changedRows(rows []Row) []changedRow {
	out := make([]changedRow, len(rows))
	for i := range rows {
		out[i] = changedRow{Row: &rows[i], detail: rows[i].details(codeDifference(rows[i].Code))}
	}
	return out
}

// addCode adds the code of the changed regions, and returns the rows of these regions.
func (v *htmlTrial) addCode(c *Comparison) []changedRow {
	rows := make([]changedRow, len(c.Regions))
	for i := range c.Regions {
		r := &c.Regions[i]
		rows[i] = changedRow{Row: &r.Row, detail: r.details(r.codeText())}
		if len(r.Listing) > 0 {
			code := c.htmlCode(r, fmt.Sprintf("t%d-c%d", v.ID, len(v.Code)))
			v.Code = append(v.Code, code)
			rows[i].link = code.ID
		}
	}
	return rows
}

// addTable adds a table with these rows, if there are any. It makes the table's ID unique on the page.
func (v *htmlTrial) addTable(t htmlTable, rows []changedRow) {
	if len(rows) == 0 {
		return
	}
	t.ID = fmt.Sprintf("t%d-%s", v.ID, t.ID)
	t.Rows = htmlRows(rows)
	if left := len(rows) - len(t.Rows); left > 0 {
		t.More = layout.Plural(left, "row") + " more in the JSON (--format json)"
	}
	t.Sources = slices.ContainsFunc(t.Rows, func(r htmlRow) bool { return r.Source != "" })
	t.Details = slices.ContainsFunc(t.Rows, func(r htmlRow) bool { return r.Detail != "" })
	v.Tables = append(v.Tables, t)
}

// htmlRows returns the first maxHTMLRows rows as the template shows them.
func htmlRows(rows []changedRow) []htmlRow {
	var largest float64
	for _, r := range rows {
		largest = max(largest, math.Abs(r.Change))
	}
	var out []htmlRow
	for _, r := range rows[:min(len(rows), maxHTMLRows)] {
		cells := shareCells(r.Row)
		width := "0"
		if largest > 0 {
			width = fmt.Sprintf("%.1f", 100*math.Abs(r.Change)/largest)
		}
		out = append(out, htmlRow{A: cells[0], B: cells[1], Change: cells[2], SamplesA: r.SamplesA, SamplesB: r.SamplesB,
			Width: width, Grew: r.Change > 0,
			Source: layout.Escape(r.Source), Name: layout.Escape(r.Name), Detail: layout.Escape(r.detail), Link: r.link})
	}
	return out
}
