package listing

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// minLimit is the minimum number of columns for the text about a loop.
const minLimit = 30

// regionLoops has the texts and marks about loops that a region's code shows.
type regionLoops struct {
	heads map[uint64]string // the text about each loop, by the address at which the loop begins
	chain map[uint64]bool   // addresses of the instructions of chains
}

// loopsOf returns the texts and marks for those loops of a region that a chain limits.
func (w *writer) loopsOf(reg *profile.Region) regionLoops {
	r := regionLoops{map[uint64]string{}, map[uint64]bool{}}
	for i := range w.p.HotLoops {
		l := &w.p.HotLoops[i]
		if b := l.Facts.Bound; b != nil && b.Limited() && l.Source == reg.Source && l.Method == reg.Method &&
			l.CompileID == reg.CompileID {
			r.heads[l.Head] = fmt.Sprintf("loop %d: no faster than %s, a chain of %s (%s)", l.Number, b.Fastest(), b.Links(),
				w.chainMark())
			for _, link := range b.Chain {
				r.chain[link.Addr] = true
			}
		}
	}
	return r
}

// chainMark returns the mark before the instructions of a chain.
func (w *writer) chainMark() string { return w.Glyph("•", "*") }

// loop writes a row about the loop that begins at line i, if there is something to say.
func (ls *listing) loop(i int, addr uint64) {
	text := ls.loops.heads[addr]
	if text == "" {
		return
	}
	width := ls.Width
	if width == 0 {
		width = layout.RuleWidth
	}
	for _, line := range layout.Wrap(text, max(width-ls.arrowsEnd()-layout.Width(mark), minLimit)) {
		ls.Line("%s%s", ls.between(i-1), ls.Paint(layout.Dim, mark+line))
	}
}

// addressCell returns the address of an instruction, and a mark if the instruction is part of a chain.
func (ls *listing) addressCell(addr uint64) string {
	text := fmt.Sprintf(ls.address, addr)
	if plain, blank := strings.CutSuffix(text, "   "); blank && ls.loops.chain[addr] {
		return plain + " " + ls.chainMark() + " "
	}
	return text
}
