package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/loops"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/names"
	"github.com/gasm-profiler/gasm/report/page/chains"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/schema"
)

// A codeView is one listing in the page.
type codeView struct {
	ID                 string // "c3"
	Profile            int
	Method, Tier       string
	CompileID          int
	Share              string
	Raw                int64
	Total              *cell  // samples of the method and of all that it calls; nil without call stacks
	Hottest            string // the id of the hottest instruction
	About              []string
	Rows               template.HTML
	Data               template.JS
	Inlined            []inlined
	Loops              []loopView
	Switch             bool // whether the page has the other syntax too
	LoopsLeftOut       bool
	NoSource           bool
	Events             []string // headings of the columns of counts; nil for a single event
	Kind               string
	ArrowsLeft, Beside string
	Calls              bool // whether the page has the callers of methods
}

// An inlined is a method in one listing, with its samples there. It was inlined into the compiled method, or is the
// compiled method itself.
type inlined struct {
	Method      string
	Brief       string // see brief
	Link        string // to its hottest instruction
	Self, Total string
	Raw, RawAll int64
	counts      tally.Counts
	total       tally.Counts
	place       place
}

// A loopView is a loop with its samples in a listing.
type loopView struct {
	Number, Depth, Lines int
	Share                string
	Raw                  int64
	Link                 string
	About                []string // what the loop does, and how fast it can be; see package loops
	Modelled             *loops.Model
}

// code returns the view of a listing.
func (b *builder) code(p *profile.Profile, r *schema.Profile, l *profile.Listing, at *places,
	totals []int64) *codeView {
	number := b.listing
	b.listing++
	blocks := code.BlocksOf(l.Lines, len(totals))
	loops, whole := code.FindLoops(l.Lines, blocks, len(totals))
	facts := newLoopFacts(p, l, blocks, loops)
	w := &rowWriter{number: number, listing: l, totals: totals, blocks: blocks, loops: loops, facts: facts,
		loopsUnknown: !whole, chains: chains.New(), listed: at.byName}
	rows := w.write()
	syntax := "Intel"
	if b.in.Intel {
		syntax = "AT&T"
	}
	v := &codeView{ID: "c" + strconv.Itoa(number), Profile: b.listingProfile(p), Method: show.Text(l.Method),
		Tier: show.Text(l.Source), CompileID: l.CompileID, Kind: kindOf(l.Source),
		Hottest: rowID(number, l, l.HottestLine()), Rows: template.HTML(rows),
		Data:   template.JS(w.chains.JSON(l.Other, syntax, loopParents(loops), loopEnds(l, blocks, loops))),
		Switch: l.Other != nil, LoopsLeftOut: !whole, NoSource: b.in.Place == nil && l.CompileID > 0,
		Calls: p.Stacks != nil}
	if len(l.Counts) > 0 {
		v.Share, v.Raw = show.Percent(l.Counts[0], totals[0]), l.Counts[0]
	}
	if n := at.totals[l.Method]; len(n) > 0 && l.CompileID > 0 {
		v.Total = &cell{Text: show.Percent(n[0], totals[0]), Raw: n[0]}
		if p.Parts != nil {
			v.Total.Parts = partText(p.Parts.WithCallees[l.Method], 0)
		}
	}
	if len(totals) > 1 {
		for _, e := range r.Account.Events {
			v.Events = append(v.Events, show.Text(e))
		}
	}
	if n := w.gutter.Dropped; n > 0 {
		v.ArrowsLeft = show.Count(n, "jump") + " without an arrow"
	}
	if n := l.Beside; len(n) > 0 && n[0] > 0 {
		v.Beside = show.Count(int(n[0]), "sample") + " at addresses whose code is not in the log"
	}
	v.About = append(b.aboutCode(p, l, at, totals), aboutJITProfile(l)...)
	v.Inlined = inlinedIn(number, l, totals)
	v.Loops = loopViews(number, l, blocks, loops, facts, totals)
	b.sources.Add(l)
	return v
}

// aboutCode returns the facts that the page shows above a listing: the size, the address and the compile id of the
// code, and how reliable the line numbers are.
func (b *builder) aboutCode(p *profile.Profile, l *profile.Listing, at *places, totals []int64) []string {
	about := []string{show.Count(len(l.Lines), "instruction"), fmt.Sprintf("0x%x", l.Lo)}
	if said := names.Dispatch(l.Method); said != "" {
		about = append(about, said)
	}
	if l.CompileID > 0 {
		about = append(about, "compile id "+strconv.Itoa(l.CompileID))
		if m := at.sums[[2]string{l.Source, l.Method}]; m != nil && m.Blobs > 1 && len(l.Counts) > 0 &&
			m.Counts[0] > l.Counts[0] {
			about = append(about, fmt.Sprintf("the method's %d compilations have %s in total", m.Blobs,
				show.Percent(m.Counts[0], totals[0])))
		}
	}
	if l.Moved {
		about = append(about, "moved by HotSpot to other addresses, whose samples are added up")
	}
	if len(p.PIDs) > 1 {
		if len(l.PIDs) == 1 {
			about = append(about, "pid "+strconv.Itoa(l.PIDs[0]))
		} else {
			about = append(about, fmt.Sprintf("in %d of %d JVMs", len(l.PIDs), len(p.PIDs)))
		}
	}
	own, some := 0, 0
	for i := range l.Lines {
		if l.Lines[i].OwnFrames {
			own++
		}
		if len(l.Lines[i].Frames) > 0 {
			some++
		}
	}
	switch {
	case l.CompileID > 0 && some == 0:
		about = append(about, "no lines of Java: HotSpot kept no debug info for this code")
	case l.Native:
		about = append(about, aboutNative(l, some))
	case l.SafepointsOnly:
		about =
			append(about,
				fmt.Sprintf("HotSpot kept lines for its %s only, because it was compiled without DebugNonSafepoints: other instructions have guesses, by the flow of control; methods that are not certain have a ~", show.Count(own, "safepoint")))
	case own > 0:
		about =
			append(about,
				fmt.Sprintf("HotSpot kept the line of %d%% of the instructions; the others are shown with the line of the next instruction that has a line", (100*own+len(l.Lines)/2)/len(l.Lines)))
	}
	return about
}

// aboutNative returns a sentence about the source of a native function's line numbers. lines is the number of the
// function's instructions that have a line number.
func aboutNative(l *profile.Listing, lines int) string {
	if lines == 0 {
		return "no lines of source: gasm has read no debug information of " + show.Text(l.Source) + " for it"
	}
	return "lines of source are from the debug information of " + show.Text(l.Source)
}

// inlinedIn returns up to 60 methods in the chains of a listing, the hottest first. A sample counts in Self for the
// innermost method of its chain, and in Total for all methods of the chain.
func inlinedIn(number int, l *profile.Listing, totals []int64) []inlined {
	by := map[string]*inlined{}
	get := func(method string) *inlined {
		if by[method] == nil {
			by[method] = &inlined{Method: method, counts: make(tally.Counts, len(totals)),
				total: make(tally.Counts, len(totals))}
		}
		return by[method]
	}
	for i := range l.Lines {
		line := &l.Lines[i]
		if len(line.Frames) == 0 || !slices.ContainsFunc(line.Counts, func(n int64) bool { return n > 0 }) {
			continue
		}
		inner := get(line.Frames[0].Method)
		inner.counts.Add(line.Counts)
		if slices.Compare(line.Counts, inner.place.counts) > 0 {
			inner.place = place{rowID(number, l, i), line.Counts}
		}
		seen := map[string]bool{}
		for _, f := range line.Frames {
			if !seen[f.Method] {
				seen[f.Method] = true
				get(f.Method).total.Add(line.Counts)
			}
		}
	}
	all := make([]inlined, 0, len(by))
	for _, in := range by {
		in.Link, in.Self, in.Total = in.place.id, show.Percent(in.counts[0], totals[0]), show.Percent(in.total[0], totals[0])
		in.Raw, in.RawAll = in.counts[0], in.total[0]
		all = append(all, *in)
	}
	slices.SortFunc(all, func(a, b inlined) int {
		return cmp.Or(slices.Compare(b.counts, a.counts), slices.Compare(b.total, a.total),
			strings.Compare(a.Method, b.Method))
	})
	const most = 60
	all = all[:min(len(all), most)]
	for i := range all {
		all[i].Method, all[i].Brief = show.Text(all[i].Method), show.Text(show.Brief(all[i].Method))
	}
	return all
}

// loopParents returns, for each loop, the number of the loop around it, or 0 if there is none. The first loop has the
// number 1.
func loopParents(loops []code.Loop) []int {
	parents := make([]int, len(loops))
	for i := range loops {
		parents[i] = loops[i].Parent + 1
	}
	return parents
}

// loopEnds returns, for each loop, the indexes of the lines whose jumps close the loop.
func loopEnds(l *profile.Listing, blocks []code.Block, loops []code.Loop) [][]int {
	ends := make([][]int, len(loops))
	for i := range loops {
		ends[i] = loops[i].Ends(l.Lines, blocks)
	}
	return ends
}
