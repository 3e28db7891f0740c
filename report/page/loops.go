package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/loops"
	"github.com/gasm-profiler/gasm/report/page/show"
)

// loopFacts has the facts about the loops of a listing.
type loopFacts struct {
	byLoop map[int]*loops.Facts // the facts about the loops that the page describes, by the loops' indexes
	chain  map[int]bool         // lines of the chains that limit these loops
	said   map[int]bool         // loops whose limit has already been written in a heading
}

// maxLoops is the maximum number of loops that the page describes for each listing. The table in the side panel has
// only these loops.
const maxLoops = 40

// newLoopFacts returns the facts about the hottest loops of a listing. If the profile already has the description of a
// loop, newLoopFacts uses that, because it may include what a program that models processors says about the loop.
func newLoopFacts(p *profile.Profile, l *profile.Listing, blocks []code.Block, all []code.Loop) *loopFacts {
	f := &loopFacts{map[int]*loops.Facts{}, map[int]bool{}, map[int]bool{}}
	known := map[uint64]*loops.Facts{}
	for i := range p.HotLoops {
		if h := &p.HotLoops[i]; h.Source == l.Source && h.Method == l.Method && h.CompileID == l.CompileID {
			known[h.Head] = h.Facts
		}
	}
	described := loops.New(l.Lines, blocks, all)
	for _, i := range hottestLoops(all) {
		facts := known[l.Lines[blocks[all[i].Head].From].Lo]
		if facts == nil {
			facts = described.Describe(i)
		}
		f.byLoop[i] = facts
		if b := facts.Bound; b != nil && b.Limited() {
			for _, link := range b.Chain {
				if line := code.LineAt(l.Lines, link.Addr); line >= 0 {
					f.chain[line] = true
				}
			}
		}
	}
	return f
}

// hottestLoops returns the indexes of up to maxLoops loops with samples, the hottest first.
func hottestLoops(all []code.Loop) []int {
	order := make([]int, 0, len(all))
	for i := range all {
		if slices.ContainsFunc(all[i].Counts, func(n int64) bool { return n > 0 }) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(all[b].Counts, all[a].Counts) })
	return order[:min(len(order), maxLoops)]
}

// loopViews returns the hottest loops of a listing.
func loopViews(number int, l *profile.Listing, blocks []code.Block, all []code.Loop, facts *loopFacts,
	totals []int64) []loopView {
	var views []loopView
	for _, i := range hottestLoops(all) {
		lp, f := &all[i], facts.byLoop[i]
		v := loopView{Number: i + 1, Depth: lp.Depth, Lines: lp.Lines, Share: show.Percent(lp.Counts[0], totals[0]),
			Raw: lp.Counts[0], Link: rowID(number, l, blocks[lp.Head].From)}
		v.About = append(v.About, f.Words())
		if limit := f.Limit(); limit != "" {
			v.About = append(v.About, show.Text(limit))
		}
		if m := f.Modelled; m != nil {
			v.Modelled = &loops.Model{Tool: show.Text(m.Tool), Verdict: show.Text(m.Verdict), Text: shownLines(m.Text)}
		}
		views = append(views, v)
	}
	return views
}

// shownLines escapes a text from outside that may have several lines.
func shownLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(show.Text(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return out.String()
}

// limit returns a text for the heading of a loop that says what limits the loop. If a chain of instructions limits it,
// the text begins with the chain, because the end of the text may not fit beside the code. The side panel has the whole
// text. The result is "" if the page does not describe the loop, and for all headings in the loop except the first.
func (f *loopFacts) limit(loop int) string {
	facts := f.byLoop[loop]
	if facts == nil || f.said[loop] {
		return ""
	}
	f.said[loop] = true
	limit := facts.Limit()
	if b := facts.Bound; b != nil && b.Limited() {
		fastest, _, _ := strings.Cut(limit, ": ")
		return chainMark + " chain of " + b.Links() + ": " + fastest
	}
	return limit
}

// chainMark precedes the instructions of a chain that limits a loop.
const chainMark = "•"

// loopTable returns the table of the hottest loops. It leaves out loops that contain other loops, because the inner
// loops have the samples.
func (t *tableBuilder) loopTable() *table {
	out := t.start("loops", "Hottest loops",
		"a round is at best as fast as its longest chain of instructions that wait for one another, or as its ports: with all loads in the L1 cache and all jumps predicted",
		"loop", "what limits it", "what it is", "in")
	for i := range t.p.HotLoops {
		l := &t.p.HotLoops[i]
		if !l.Facts.Innermost {
			continue
		}
		link := t.places.instruction(l.Source, l.Method, l.CompileID, l.Head)
		out.Rows = append(out.Rows, row{Link: link, Cells: append(t.counts(l.Counts, nil),
			cell{Text: "loop " + strconv.Itoa(l.Number), Name: true}, cell{Text: show.Text(l.Facts.Limit())},
			cell{Text: fmt.Sprintf("%s, %s", show.Count(l.Lines, "instruction"), l.Facts.Words())},
			cell{Text: show.Brief(show.Text(l.Method)), Cut: show.Text(l.Method)})})
	}
	return t.cut(out, len(out.Rows))
}
