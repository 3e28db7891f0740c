package text

import (
	"bytes"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// A Row is a row of annotated code without colours.
type Row struct {
	Text string
	Line int // index in Region.Lines of the instruction in the row; -1 if there is none
}

// Rows lays out the annotated code of a region as the report shows it, for a program that shows rows by itself. From p
// it takes the names of the counters, and the number of samples that counts as 100 %.
func Rows(p *profile.Profile, reg *profile.Region, o Options) []Row {
	o.Color = false
	var text bytes.Buffer
	page := layout.NewPage(&text, o.Look)
	v := &view{Page: page, amounts: amounts{p: p, unit: o.Counts}, shortNames: shortNames{ellipsis: page.Ellipsis()},
		opts: o, about: &capture.Description{}}
	at := map[int]int{} // the lines of code, by the numbers of their rows
	written, counted := 0, 0
	v.row = func(line int) {
		_ = page.Flush() // to a buffer
		counted += bytes.Count(text.Bytes()[written:], []byte("\n"))
		written = text.Len()
		at[counted] = line
	}
	writeCode(v, reg)
	_ = page.Flush()
	var rows []Row
	for line := range strings.Lines(text.String()) {
		r := Row{Text: strings.TrimSuffix(line, "\n"), Line: -1}
		if i, ok := at[len(rows)]; ok {
			r.Line = i
		}
		rows = append(rows, r)
	}
	return rows
}
