package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	Where             string // all of that in words
	Samples           string
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
		h.Where = where(&h, len(line.Frames))
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

// where says what an instruction was made from, and in which loop it is:
// "Node::find:7, inlined into Tree::get, in loop 1, depth 2 of the machine code". Frames is
// how long its inlining chain is.
func where(h *hotLine, frames int) string {
	text := brief(h.Method)
	switch {
	case frames > 1:
		text = h.Made + ", inlined into " + text
	case frames == 1:
		text = h.Made + " (not inlined)"
	}
	if h.Loop != "" {
		text += ", in " + strings.TrimPrefix(h.Loop, "in ") + " of the machine code"
	}
	return text
}

// hottest is the hottest instruction of the profile; nil without one.
func (b *builder) hottest(totals []int64) *hotLine {
	if len(b.hot) == 0 {
		return nil
	}
	h := b.hot[0]
	h.Share = percent(h.counts[0], totals[0])
	h.Raw, h.Parts = h.counts[0], partText(h.parts, 0)
	h.Samples = counted(int(h.Raw), "sample")
	return &h
}

// hotTable is the table of the hottest instructions. It has the samples of the first event as
// numbers, too: shares of single instructions are small.
func (t *tableBuilder) hotTable() *table {
	out := t.start("hot", "Hottest instructions", "of the code in this page; a loop has its number in the code of its method", "samples", "instruction", "made from", "loop", "in")
	out.Columns[len(t.totals)].Number = true
	for _, h := range t.b.hot {
		n := t.count(h.counts[0], 0, h.parts)
		n.Text, n.Unit = strconv.FormatInt(n.Raw, 10), "raw"
		out.Rows = append(out.Rows, row{Link: h.Link, Cells: append(t.counts(h.counts, h.parts), n,
			cell{Text: h.Text, Name: true, Code: true}, cell{Text: h.Made, Cut: h.Whole}, cell{Text: h.Loop}, cell{Text: brief(h.Method), Cut: h.Method})})
	}
	return t.cut(out, len(t.b.hot))
}
