package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

const (
	// leastLoop is the minimum share of the samples of a loop in the table of loops.
	leastLoop = 0.01
	maxLoops  = 10
	// minLimit is the minimum number of columns for the description of a loop.
	minLimit = 30
)

// writeLoops describes the hottest loops. It leaves out loops that contain other loops, because the inner loops have
// the samples.
func writeLoops(v *view) {
	var hot []*profile.HotLoop
	for i := range v.p.HotLoops {
		l := &v.p.HotLoops[i]
		if l.Facts.Innermost && len(hot) < min(maxLoops, v.opts.Top) && v.p.Share(l.Counts) >= leastLoop &&
			v.visible(l.Counts) {
			hot = append(hot, l)
		}
	}
	if len(hot) == 0 {
		return
	}
	v.Rule("Hottest Loops")
	for _, l := range hot {
		writeLoop(v, l)
	}
	v.EndRule()
	bounded := func(l *profile.HotLoop) bool { return l.Facts.Bound != nil }
	if slices.ContainsFunc(hot, bounded) {
		v.Paragraph("", "No faster than: with every load in the L1 cache and every jump predicted, on Zen to Zen 5 or Skylake and later. "+
			"A chain is of instructions that wait for one another, from round to round; chains through memory are not followed.")
	}
	v.Line("")
}

// writeLoop describes a loop.
func writeLoop(v *view, l *profile.HotLoop) {
	where := fmt.Sprintf(", loop %d at 0x%x, %s", l.Number, l.Head, layout.Plural(l.Lines, "instruction"))
	counts := v.countCells(l.Counts)
	start := counts + "  "
	v.Line("%s%s%s", start, v.headingName(l.Method, layout.ShortMethod, layout.Width(start)+layout.Width(where)), where)
	indent := strings.Repeat(" ", layout.Width(start))
	v.Paragraph(indent, l.Facts.Words())
	if limit := l.Facts.Limit(); limit != "" {
		v.Paragraph(indent, limit)
	}
	if m := l.Facts.Modelled; m != nil {
		v.Paragraph(indent, m.Tool+": "+m.Verdict)
	}
}

// regionLoops has the marks that the code of a region shows for its loops.
type regionLoops struct {
	heads map[uint64]string // the text about each loop, by the address at which the loop begins
	chain map[uint64]bool   // addresses of the instructions of chains
}

// loopsOf returns those loops of a region that are limited by a chain.
func (v *view) loopsOf(reg *profile.Region) regionLoops {
	r := regionLoops{map[uint64]string{}, map[uint64]bool{}}
	for i := range v.p.HotLoops {
		l := &v.p.HotLoops[i]
		if b := l.Facts.Bound; b != nil && b.Limited() && l.Source == reg.Source && l.Method == reg.Method &&
			l.CompileID == reg.CompileID {
			r.heads[l.Head] = fmt.Sprintf("loop %d: no faster than %s, a chain of %s (%s)", l.Number, b.Fastest(), b.Links(),
				v.chainMark())
			for _, link := range b.Chain {
				r.chain[link.Addr] = true
			}
		}
	}
	return r
}

// chainMark stands before the instructions of a chain.
func (v *view) chainMark() string { return v.Glyph("•", "*") }

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
