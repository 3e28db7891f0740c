package page

import (
	"bytes"
	_ "embed" // for the page's files
	"fmt"
	"html/template"
	"io"

	"github.com/gasm-profiler/gasm/internal/htmlpage"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/schema"
)

// Input is what a page is made of.
type Input struct {
	Profiles *profile.Profiles
	Report   *schema.Report // of the same profiles; the tables show its numbers
	Names    []string       // of the profiles, as people know them
	Command  string         // as one would type it in a shell
	// Place returns the file that a line number of a method stands for, and the line in it; for line 0, the class's own
	// file. FileLines returns all lines of a file, or nil if there is no such file. Both are nil if there are no sources.
	Place     func(method string, line int) (file string, at int)
	FileLines func(file string) []string
	// PerOperation returns which amount per operation of the benchmark one sample of an event stands for, and in which
	// unit. ok is false if that is unknown.
	PerOperation func(p *profile.Profile, event int) (factor float64, decimals int, unit string, ok bool)
	Top          int    // how many rows of a table are shown at first; 0 for all
	Unit         string // the unit of counts at first: "percent", "raw" or "norm"
	Intel        bool   // instructions are in Intel's syntax
}

//go:embed page.html.tmpl
var templateText string

//go:embed page.js
var scriptText string

// pageTemplate is the page without the rows of code.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"shown": shown,
	"inc":   func(i int) int { return i + 1 },
}).Parse(templateText))

// Write writes the page.
func Write(w io.Writer, in Input) error {
	v := newView(in)
	v.Style, v.Script = template.CSS(htmlpage.Style), template.JS(scriptText)
	v.Policy = htmlpage.Policy(htmlpage.Style, scriptText)
	var out bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&out, "page", v); err != nil {
		return fmt.Errorf("making the page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}
