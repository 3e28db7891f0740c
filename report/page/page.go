package page

import (
	"bytes"
	_ "embed" // for the page's files
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/gasm-profiler/gasm/internal/htmlpage"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/schema"
)

// Input has the data and the settings for a page.
type Input struct {
	Profiles *profile.Profiles
	Report   *schema.Report // the JSON report of these profiles; the tables show its numbers
	Names    []string       // of the profiles, for display
	Command  string         // as one would type it in a shell
	// Place converts a line number of a method's debug info to a source file and a line in that file. For line 0, it
	// returns the file of the method's class. FileLines returns all lines of a file, or nil if there is no such file.
	// Both are nil if there are no sources.
	Place     func(method string, line int) (file string, at int)
	FileLines func(file string) []string
	// NativeLines returns all lines of a file from which native code was made, or nil if there is no such file. It is
	// nil if there are no sources.
	NativeLines func(file string) []string
	// PerOperation returns the factor that converts a number of samples of an event to an amount per operation of the
	// benchmark. It also returns the decimals and the unit of that amount. ok is false if the factor is unknown.
	PerOperation func(p *profile.Profile, event int) (factor float64, decimals int, unit string, ok bool)
	Top          int    // the value of --top, which limits the rows of a table; 0 for all rows
	Unit         string // the unit of counts at first: "percent", "raw" or "norm"
	Intel        bool   // instructions are in Intel's syntax
	Idle         bool   // show idle threads, too; package waits says what these are
}

//go:embed page.html.tmpl
var templateText string

//go:embed page.js
var scriptText string

//go:embed calls.js
var callsText string

// The script and the style sheet for the time lanes of threads.
var (
	//go:embed lanes.js
	lanesText string
	//go:embed lanes.css
	lanesStyle string
)

// pageTemplate is the template of the page. The rows of code come from a rowWriter, not from the template.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"shown": show.Text,
	"inc":   func(i int) int { return i + 1 },
	// A link to an element is its id, and other links are escaped already. The template must not escape them again.
	"fragment": func(link string) template.URL { return template.URL(link) },
}).Parse(templateText))

// Write writes the page.
func Write(w io.Writer, in Input) error {
	v := newView(in)
	scripts := []string{scriptText}
	if v.HasCalls {
		scripts = []string{htmlpage.CallTree, htmlpage.FlameGraph, callsText, scriptText}
	}
	style := htmlpage.Style
	if v.HasWaits {
		scripts = slices.Insert(scripts, 0, lanesText)
		style += lanesStyle
	}
	v.Kinds = legend(in.Profiles)
	v.Style, v.Policy = template.CSS(style), htmlpage.Policy(style, scripts...)
	for _, s := range scripts {
		v.Scripts = append(v.Scripts, template.JS(s))
	}
	var out bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&out, "page", v); err != nil {
		return fmt.Errorf("making the page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}
