package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/schema"
)

// borrowedMark precedes a line of Java that is not certain, because HotSpot kept no line for the instruction. The
// shown line is that of a later instruction, or a guess (see tableBuilder.instead).
const borrowedMark = "~"

// A hotLine is one of the hottest instructions, as the overview shows it.
type hotLine struct {
	Link, Text, Share string // Link is "" if the code is not in the page
	Method            string // of the compiled code
	Made, Whole       string // innermost method and line of the instruction; Made is the short form of Whole
	Guess             bool   // HotSpot kept no debug info here, so Made is a guess or that of a later instruction
	Loop              string
	Where             string // Made, Method and Loop in words
	Samples           string
	Raw               int64
	Parts             string
}

// newHotLine returns the view of an instruction.
func newHotLine(h *schema.HotLine, byPart parts.Counts, at *places, totals []int64) *hotLine {
	n := h.Counts.Values[0]
	out := &hotLine{Link: at.instruction(h.Source, h.Method, h.CompileID, uint64(h.Addr)), Text: show.Text(h.Text),
		Method: show.Text(h.Method), Guess: h.FramesOfNext,
		Share: show.Percent(n, totals[0]), Raw: n, Samples: show.Count(int(n), "sample"), Parts: partText(byPart, 0)}
	if len(h.Frames) > 0 {
		inner := h.Frames[0]
		line := ""
		if inner.Line > 0 {
			line = ":" + strconv.Itoa(inner.Line)
		}
		out.Whole, out.Made = show.Text(inner.Method+line), show.Text(show.Brief(inner.Method)+line)
	}
	switch {
	case h.Loop > 0:
		out.Loop = fmt.Sprintf("loop %d", h.Loop)
		if h.Depth > 1 {
			out.Loop += fmt.Sprintf(", depth %d", h.Depth)
		}
	case !h.LoopUnknown:
		out.Loop = "in no loop"
	}
	out.Where = out.where(len(h.Frames))
	return out
}

// where returns a text that says what an instruction was made from and in which loop it is: "Node::find:7, inlined
// into Tree::get, in loop 1, depth 2 of the machine code". frames is the length of the instruction's inlining chain.
func (h *hotLine) where(frames int) string {
	text, made := show.Brief(h.Method), h.Made
	if h.Guess {
		made = borrowedMark + made
	}
	switch {
	case frames > 1:
		text = made + ", inlined into " + text
	case frames == 1:
		text = made + " (not inlined)"
	}
	if h.Loop != "" {
		text += ", in " + strings.TrimPrefix(h.Loop, "in ") + " of the machine code"
	}
	return text
}

// hotLines returns the hottest instructions of a profile.
func hotLines(p *profile.Profile, r *schema.Profile, at *places, totals []int64) []*hotLine {
	var all []*hotLine
	for i := range r.Hottest {
		all = append(all, newHotLine(&r.Hottest[i], p.Hottest[i].Parts, at, totals))
	}
	return all
}

// hotTable returns the table of the hottest instructions. Besides shares, it shows the number of samples of the first
// event, because the shares of single instructions are small.
func (t *tableBuilder) hotTable() *table {
	note := "loops are numbered within the code of their method"
	guess := false
	for i := range t.r.Hottest {
		guess = guess || t.r.Hottest[i].FramesOfNext
	}
	if guess {
		note += "; ~: HotSpot kept no line for this instruction, so " + t.instead()
	}
	out := t.start("hot", "Hottest instructions", note, "samples", "instruction", "made from", "loop", "in")
	out.Columns[len(t.totals)].Number = true
	for i, h := range hotLines(t.p, t.r, t.places, t.totals) {
		counts, byPart := t.r.Hottest[i].Counts.Values, t.p.Hottest[i].Parts
		n := t.count(counts[0], 0, byPart)
		n.Text, n.Unit = strconv.FormatInt(n.Raw, 10), "raw"
		made := h.Made
		if h.Guess {
			made = borrowedMark + made
		}
		out.Rows = append(out.Rows, row{Link: h.Link, Cells: append(t.counts(counts, byPart), n,
			cell{Text: h.Text, Name: true, Code: true}, cell{Text: made, Cut: h.Whole}, cell{Text: h.Loop},
			cell{Text: show.Brief(h.Method), Cut: h.Method})})
	}
	return t.cut(out, len(out.Rows))
}
