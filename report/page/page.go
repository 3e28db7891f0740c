package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page's files
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/schema"
)

// Input is what a page is made of.
type Input struct {
	Profiles *profile.Profiles
	Report   *schema.Report // of Profiles: the numbers of the tables are its
	Names    []string       // of Profiles.Trials, for people
	Command  string         // as one would type it
	// File gives the name and the lines of the file of sources that has a method; no lines for
	// none. Nil when there are no sources.
	File func(method string) (name string, lines []string)
	// PerOperation gives what one sample of an event is per operation of the benchmark, and in
	// which unit; false where nobody knows.
	PerOperation func(p *profile.Profile, event int) (factor float64, decimals int, unit string, ok bool)
	Top          int    // rows of a table that are shown at first; 0 for all
	Unit         string // of counts, at first: "percent", "raw" or "norm"
	Intel        bool   // instructions are in Intel's syntax
}

//go:embed page.html.tmpl
var templateText string

//go:embed page.css
var styleText string

//go:embed page.js
var scriptText string

// pageTemplate has the page around the code.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"shown": shown,
	"inc":   func(i int) int { return i + 1 },
}).Parse(templateText))

// Write writes the page.
func Write(w io.Writer, in Input) error {
	v := newView(in)
	v.Style, v.Script = template.CSS(styleText), template.JS(scriptText)
	v.Policy = policy(styleText, scriptText)
	var out bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&out, "page", v); err != nil {
		return fmt.Errorf("making the page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// policy is the page's Content-Security-Policy: nothing is fetched from anywhere, and no
// script runs but the page's own. Bars have their lengths in style attributes.
func policy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return fmt.Sprintf("default-src 'none'; base-uri 'none'; form-action 'none'; script-src %s; style-src %s; style-src-attr 'unsafe-inline'",
		hash(script), hash(style))
}
