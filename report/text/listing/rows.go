package listing

import (
	"bytes"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/text/counts"
)

// A Row is a row of annotated code without colours.
type Row struct {
	Text string
	Line int // index in Region.Lines of the instruction in the row; -1 if there is none
}

// Rows lays out the annotated code of a region as the report shows it, for a program that shows rows by itself. From p
// it uses the names of the counters, and the number of samples that is 100 %. The rows have no colours, whatever the
// parameter look says.
func Rows(p *profile.Profile, reg *profile.Region, look layout.Look, o Options) []Row {
	look.Color = false
	var text bytes.Buffer
	page := layout.NewPage(&text, look)
	w := writer{Page: page, Format: counts.Of(p, counts.Percent, 0), opts: o, p: p}
	at := map[int]int{} // the lines of code, by the numbers of their rows
	written, counted := 0, 0
	w.row = func(line int) {
		_ = page.Flush() // to a buffer
		counted += bytes.Count(text.Bytes()[written:], []byte("\n"))
		written = text.Len()
		at[counted] = line
	}
	write(w, reg)
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
