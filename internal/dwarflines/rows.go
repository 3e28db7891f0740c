package dwarflines

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/internal/nativecode"
)

// rows joins the lines of a function with the functions that are inlined in it. It returns nil if more than mostDepth
// inlined ranges contain the same address, or if the rows would have more than *left frames. Otherwise it subtracts the
// number of their frames from *left.
func (w *function) rows(left *int) []nativecode.Row {
	if w.tooMuch || len(w.lines) == 0 {
		return nil
	}
	slices.SortStableFunc(w.lines, func(a, b line) int { return cmp.Compare(a.Lo, b.Lo) })
	slices.SortStableFunc(w.inlined, func(a, b inlined) int {
		return cmp.Or(cmp.Compare(a.Lo, b.Lo),
			cmp.Compare(a.depth, b.depth))
	})
	var rows []nativecode.Row
	at := w.Lo
	var open []inlined // the inlined functions at the current address, outermost first
	next, most := 0, *left
	for _, l := range w.lines {
		for lo := max(l.Lo, at); lo < l.Hi; {
			for ; next < len(w.inlined) && w.inlined[next].Lo <= lo; next++ {
				open = append(open, w.inlined[next])
			}
			open = slices.DeleteFunc(open, func(in inlined) bool { return in.Hi <= lo })
			if len(open) > mostDepth {
				return nil
			}
			hi := l.Hi
			if next < len(w.inlined) {
				hi = min(hi, w.inlined[next].Lo)
			}
			for i := range open {
				hi = min(hi, open[i].Hi)
			}
			row := nativecode.Row{Lo: lo, Hi: hi, Frames: frames(l, open)}
			before := len(rows)
			if rows = appendRow(rows, row); len(rows) > before {
				most -= len(row.Frames)
			}
			if most < 0 {
				return nil
			}
			lo, at = hi, hi
		}
	}
	*left = most
	return rows
}

// frames returns the frames of a line. The parameter around holds the inlined functions that contain it, in any order.
func frames(l line, around []inlined) []nativecode.Frame {
	around = slices.Clone(around)
	slices.SortStableFunc(around, func(a, b inlined) int { return cmp.Compare(b.depth, a.depth) })
	all := []nativecode.Frame{{File: l.file, Line: l.line}}
	for i, in := range around {
		all[len(all)-1].Function = in.name
		if in.depth == 0 || i == len(around)-1 || len(all) == nativecode.MaxInlined {
			break
		}
		all = append(all, nativecode.Frame{File: in.callFile, Line: in.callLine})
	}
	return all
}

// appendRow appends a row, or extends the last one if it has the same frames.
func appendRow(rows []nativecode.Row, r nativecode.Row) []nativecode.Row {
	if n := len(rows); n > 0 && rows[n-1].Hi == r.Lo && slices.Equal(rows[n-1].Frames, r.Frames) {
		rows[n-1].Hi = r.Hi
		return rows
	}
	return append(rows, r)
}
