package view

import (
	"io"

	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/top"
)

// TextOptions say what Text writes.
type TextOptions struct {
	Look        // Height has no meaning
	Rows    int // number of rows of each table
	Several bool
	Source  func(method string, line int) listing.SourceLine
}

// codeRows is how many rows of code Text writes, with the hottest instruction in their middle.
const codeRows = 21

// Text writes a picture as text: the head, the table of each view, and the code of the hottest method around its
// hottest instruction.
func Text(w io.Writer, p *top.Picture, o TextOptions) error {
	s := &State{Source: o.Source, Several: o.Several}
	o.Height = 1 << 20
	lines := s.head(p, o.Look)[:3]
	for v := range views {
		s.Show(v)
		if v == Programs && !o.Several {
			continue
		}
		if v == Callers || v == Code {
			s.Show(Methods)
			s.jump(v, p)
		}
		t := s.table(p, o.Look)
		if len(t.rows) == 0 && v != Methods {
			continue
		}
		lines = append(lines, nil, t.title)
		first, last := 0, min(len(t.rows), o.Rows)
		if v == Code {
			at := max(0, t.cursorAt(s.at().cursor))
			first = max(0, min(at-codeRows/2, len(t.rows)-codeRows))
			last = min(len(t.rows), first+codeRows)
		}
		lines = append(lines, t.rows[first:last]...)
		if len(t.rows) == 0 {
			lines = append(lines, Line{span(Plain, "  "+t.empty)})
		}
	}
	for _, l := range append(lines, nil) {
		if _, err := io.WriteString(w, l.cut(o.Width).String()+"\n"); err != nil {
			return err
		}
	}
	return nil
}
