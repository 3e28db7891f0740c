package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/profile"
)

// hotLines is how many instructions the table of the hottest ones has.
const hotLines = 30

// A hotLine is an instruction with samples.
type hotLine struct {
	Link, Text, Share string
	Method, Tier      string // of the compiled code
	Made, Whole       string // the innermost method and line that it was made from, short and whole
	Loop              string
	Raw               int64
	Parts             string
	counts            profile.Counts
	parts             profile.PartCounts
}

// addHot takes the hottest instructions of a listing.
func (b *builder) addHot(number int, l *profile.Listing, blocks []block, loops []loop, loopsKnown bool) {
	var order []int
	for i := range l.Lines {
		if slices.ContainsFunc(l.Lines[i].Counts, func(n int64) bool { return n > 0 }) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return slices.Compare(l.Lines[y].Counts, l.Lines[x].Counts) })
	for _, i := range order[:min(len(order), hotLines)] {
		line := &l.Lines[i]
		h := hotLine{Link: rowID(number, l, i), Text: shown(line.Text), Method: shown(l.Method), Tier: l.Source, counts: line.Counts}
		if len(line.Frames) > 0 {
			at := ""
			if n := line.Frames[0].Line; n > 0 {
				at = ":" + strconv.Itoa(n)
			}
			h.Whole = shown(line.Frames[0].Method + at)
			h.Made = shown(brief(line.Frames[0].Method) + at)
		}
		switch in := blocks[blockAt(blocks, i)].loop; {
		case in >= 0:
			h.Loop = fmt.Sprintf("loop %d", in+1)
			if loops[in].depth > 1 {
				h.Loop += fmt.Sprintf(", depth %d", loops[in].depth)
			}
		case loopsKnown:
			h.Loop = "in no loop"
		}
		if l.Parts != nil {
			h.parts = l.Parts.Lines[i]
		}
		b.hot = append(b.hot, h)
	}
	slices.SortStableFunc(b.hot, func(x, y hotLine) int {
		return cmp.Or(slices.Compare(y.counts, x.counts), cmp.Compare(x.Method, y.Method))
	})
	b.hot = b.hot[:min(len(b.hot), hotLines)]
}

// hottest is the hottest instruction of the profile; nil without one.
func (b *builder) hottest(totals []int64) *hotLine {
	if len(b.hot) == 0 {
		return nil
	}
	h := b.hot[0]
	h.Share = percent(h.counts[0], totals[0])
	h.Raw, h.Parts = h.counts[0], partText(h.parts, 0)
	return &h
}

// hotTable is the table of the hottest instructions.
func (t *tableBuilder) hotTable() *table {
	out := t.start("hot", "Hottest instructions", "of the code in this page; a loop has its number in the code of its method", "instruction", "made from", "loop", "in")
	for _, h := range t.b.hot {
		out.Rows = append(out.Rows, row{Link: h.Link, Cells: append(t.counts(h.counts, h.parts),
			cell{Text: h.Text, Name: true, Code: true}, cell{Text: h.Made, Cut: h.Whole}, cell{Text: h.Loop}, cell{Text: brief(h.Method), Cut: h.Method})})
	}
	return t.cut(out, len(t.b.hot))
}
