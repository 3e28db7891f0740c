package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A Listing is all code of one method, stub or codelet that has samples, hot or not. Forks
// with the same code have one.
type Listing struct {
	Source, Method string // as in [Region]
	CompileID      int
	OSR            bool
	PIDs           []int // the JVMs that have samples in it
	Lo, Hi         uint64
	Counts         Counts
	// Lines are all of its instructions, with their samples. Beside are samples at addresses
	// that the log has no instruction for.
	Lines  []Line
	Beside Counts
	// Other are the texts of Lines in Intel's syntax, where Lines have AT&T's, and the other
	// way around. It is nil where there is one text only: of other processors, and where the
	// log has the text of a disassembler instead of bytes.
	Other []string
	// Parts are the counts of Lines and of the whole listing by part; nil where the profile has
	// no parts.
	Parts *ListingParts
}

// A ListingParts has the parts of a listing's samples.
type ListingParts struct {
	All   PartCounts   // with those beside its lines
	Lines []PartCounts // one for each line
}

// Unlisted is what [Profile.Listings] leaves out.
type Unlisted struct {
	Pieces int // methods, stubs and codelets that have samples
	Counts Counts
	// NoCode of these are pieces that the log has no code for.
	NoCode int
}

// leastListed is the part of the profile that a piece of code must have to be listed.
const leastListed = 0.001

// hottestListing is how many times the room of a profile its hottest piece of code may take.
const hottestListing = 5

// wholeListings lists the hottest code whole, until there are as many instructions as the
// profile has room for. The hottest piece may be larger. What is too large for the room that
// is left makes way for smaller pieces behind it.
func (w *work) wholeListings(p *Profile, merged []*mergedCode) {
	if w.opts.Listings == 0 {
		return
	}
	totals := make(map[*mergedCode]Counts, len(merged))
	for _, m := range merged {
		sum := make(Counts, w.n)
		for _, c := range m.mergedAtPC {
			sum.Add(c)
		}
		totals[m] = sum
	}
	merged = slices.Clone(merged)
	slices.SortStableFunc(merged, func(a, b *mergedCode) int { return compareCounts(totals[a], totals[b]) })
	p.Unlisted.Counts = make(Counts, w.n)
	room := w.room()
	hottest := hottestListing * room
	for _, m := range merged {
		if w.skipped(m.Kind) {
			continue
		}
		insts := w.listing(m.blobRef)
		fits := len(insts) <= room && p.Share(totals[m]) >= leastListed
		first := len(p.Listings) == 0 && len(insts) <= hottest
		if len(insts) == 0 || !fits && !first {
			p.Unlisted.Pieces++
			p.Unlisted.Counts.Add(totals[m])
			if len(insts) == 0 {
				p.Unlisted.NoCode++
			}
			continue
		}
		room -= len(insts)
		p.Listings = append(p.Listings, w.wholeListing(m, totals[m], insts))
	}
}

// room is how many of the instructions that [Options.Listings] allows are for this profile:
// as large a part of them as its samples are of all samples, and of trials the same for each
// at least.
func (w *work) room() int {
	first := func(c Counts) int64 {
		if len(c) == 0 {
			return 0
		}
		return c[0]
	}
	var all int64
	for _, t := range w.b.trials {
		all += first(t.inside)
	}
	part := float64(first(w.trial.inside)) / float64(max(all, 1))
	if w.trial.Name != "" {
		part = max(part, 1/float64(len(w.b.trials)))
	}
	return int(part * float64(w.opts.Listings))
}

// wholeListing makes the listing of one piece of code.
func (w *work) wholeListing(m *mergedCode, counts Counts, insts []printassembly.Instruction) Listing {
	l := Listing{Source: m.Source(), Method: m.Name, CompileID: m.ID, OSR: m.OSR, Lo: m.Lo, Hi: m.Hi,
		Counts: counts}
	l.Lines, l.Beside = w.countedLines(m, insts)
	for _, pids := range m.pidsAtPC {
		l.PIDs = append(l.PIDs, pids...)
	}
	l.PIDs = distinct(l.PIDs)
	l.Other = w.otherSyntax(m, insts)
	l.Parts = w.listingParts(m, insts)
	return l
}

// countedLines makes lines of all instructions of some code, with their samples. Beside are samples at addresses without
// an instruction.
func (w *work) countedLines(m *mergedCode, insts []printassembly.Instruction) (lines []Line, beside Counts) {
	lines, beside = make([]Line, len(insts)), make(Counts, w.n)
	for i, in := range insts {
		lines[i] = w.line(m, in)
	}
	for pc, c := range m.mergedAtPC {
		if i := find(insts, pc); i >= 0 {
			lines[i].Counts.Add(c)
		} else {
			beside.Add(c)
		}
	}
	return lines, beside
}

// PartsBetween adds up the parts of all lines from one address to another one.
func (l *Listing) PartsBetween(lo, hi uint64) PartCounts {
	sums := partSums[bool]{}
	for i := range l.Lines {
		if l.Lines[i].Lo < hi && l.Lines[i].Hi > lo {
			sums.add(true, l.Parts.Lines[i])
		}
	}
	return sums.byKey()[true]
}

// listingParts adds up the parts of each instruction, over all forks.
func (w *work) listingParts(m *mergedCode, insts []printassembly.Instruction) *ListingParts {
	if w.parted == nil {
		return nil
	}
	all, lines := partSums[bool]{}, partSums[int]{}
	for _, s := range m.blobs {
		for pc := range s.atPC {
			counts := w.parted.at(s.blobRef, pc)
			all.add(true, counts)
			if i := find(insts, pc-s.Lo+m.Lo); i >= 0 {
				lines.add(i, counts)
			}
		}
	}
	out := &ListingParts{All: all.byKey()[true], Lines: make([]PartCounts, len(insts))}
	for i, counts := range lines.byKey() {
		out.Lines[i] = counts
	}
	return out
}

// otherSyntax gives the texts of instructions in the syntax that they are not in; nil where
// they are the same, or the log has texts and no bytes.
func (w *work) otherSyntax(m *mergedCode, insts []printassembly.Instruction) []string {
	other := disasm.Intel
	if w.opts.Syntax == disasm.Intel {
		other = disasm.ATT
	}
	again, err := w.b.jvms[m.jvm].Log.Code(w.blob(m.blobRef), other)
	if err != nil || len(again) != len(insts) {
		return nil
	}
	texts, same := make([]string, len(again)), 0
	for i, in := range again {
		texts[i] = in.Text
		if in.Text == insts[i].Text {
			same++
		}
	}
	if same == len(texts) {
		return nil
	}
	return texts
}

// HottestLine is the index of a listing's line with the most samples.
func (l *Listing) HottestLine() int {
	best := 0
	for i := range l.Lines {
		if cmp.Or(compareCounts(l.Lines[i].Counts, l.Lines[best].Counts), cmp.Compare(i, best)) < 0 {
			best = i
		}
	}
	return best
}
