package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Listing is the whole code of one method, stub or codelet that has samples. It includes the instructions that are
// not hot. JVMs with the same code share one Listing. There are also Listings of methods without samples that have
// called the hot code.
type Listing struct {
	Source, Method string // as in [Region]
	CompileID      int
	OSR            bool
	Native         bool  // it is a function of a library or of the kernel
	PIDs           []int // the JVMs that have samples in the listing
	Lo, Hi         uint64
	Counts         tally.Counts
	SafepointsOnly bool             // as in [Region]
	Moved          bool             // as in [Region]
	Profiled       *jitprofile.Code // not nil
	// Lines are all instructions of the listing, with their samples. Beside counts the samples at addresses for which
	// the log has no instruction.
	Lines  []code.Line
	Beside tally.Counts
	// Other has the texts of Lines in Intel's syntax if Lines have AT&T's, and the other way around. It is nil if there
	// is only one text. That is so for processors other than x86-64, and if the log has the text of a disassembler
	// instead of bytes.
	Other []string
	// Parts splits the samples of each line, and of the whole listing, by time slice and thread group. It is nil if the
	// profile has no parts.
	Parts *ListingParts
}

// A ListingParts holds the samples of a listing, split by time slice and thread group.
type ListingParts struct {
	All   parts.Counts   // the samples of the whole listing, including those at addresses that have no line
	Lines []parts.Counts // one for each line
}

// Unlisted sums up what [Profile.Listings] leaves out.
type Unlisted struct {
	Pieces int // number of methods, stubs and codelets that have samples
	Counts tally.Counts
	// NoCode is the number of those Pieces whose code the log does not have.
	NoCode int
}

// A listingMaker lists the code of a profile, and its hottest instructions.
type listingMaker struct {
	p        *Profile
	opts     *choice.Options
	code     *jvmcode.Reader
	parted   *partedSpots // nil without parts
	counters int
}

// leastListed is the share of the profile that a piece of code must have to be listed. The hottest piece may have less.
const leastListed = 0.001

// hottestListing limits the size of a profile's hottest piece of code. That piece is listed even if it has more
// instructions than all listings together may have, but not if it has more than hottestListing times as many.
const hottestListing = 5

// list lists the hottest pieces of code, each as a whole. The parameter room is the maximum number of instructions in
// all listings together. Only the hottest piece may be larger than that. If any other piece does not fit, it is
// skipped, and the next one is tried. The result is how much room is left.
func (l *listingMaker) list(merged []*mergedCode, room int) (left int) {
	totals := make(map[*mergedCode]tally.Counts, len(merged))
	for _, from := range merged {
		sum := make(tally.Counts, l.counters)
		for _, c := range from.mergedAtPC {
			sum.Add(c)
		}
		totals[from] = sum
	}
	merged = slices.Clone(merged)
	slices.SortStableFunc(merged, func(a, b *mergedCode) int { return tally.Compare(totals[a], totals[b]) })
	p := l.p
	p.Unlisted.Counts = make(tally.Counts, l.counters)
	hottest := hottestListing * room
	for _, from := range merged {
		if l.opts.Skips(from.Kind) {
			continue
		}
		insts := l.code.Listing(from.Ref)
		fits := len(insts) <= room && p.Share(totals[from]) >= leastListed
		first := len(p.Listings) == 0 && len(insts) <= hottest
		if len(insts) == 0 || !fits && !first {
			p.Unlisted.Pieces++
			p.Unlisted.Counts.Add(totals[from])
			if len(insts) == 0 {
				p.Unlisted.NoCode++
			}
			continue
		}
		room -= len(insts)
		p.Listings = append(p.Listings, l.listing(from, totals[from], insts))
	}
	return room
}

// listCallers lists code without samples, as far as there is room. Code whose instructions are not in the log is left
// out.
func (l *listingMaker) listCallers(callers []*mergedCode, room int) {
	for _, from := range callers {
		insts := l.code.Listing(from.Ref)
		if len(insts) == 0 || len(insts) > room {
			continue
		}
		room -= len(insts)
		listing := l.listing(from, from.counts, insts)
		listing.PIDs = []int{from.pid}
		l.p.Listings = append(l.p.Listings, listing)
	}
}

// listing returns the listing of one piece of code.
func (l *listingMaker) listing(from *mergedCode, counts tally.Counts, insts []printassembly.Instruction) Listing {
	out := Listing{Source: from.Source(), Method: from.Name, CompileID: from.ID, OSR: from.OSR,
		Native: from.Kind == printassembly.Library, Lo: from.Lo, Hi: from.Hi,
		Counts: counts}
	out.Moved = from.moved
	out.SafepointsOnly, out.Profiled = l.code.SafepointsOnly(from.Ref), l.code.Profiled(from.Ref)
	out.Lines, out.Beside = from.lines(insts, l.code, l.counters)
	for _, pids := range from.pidsAtPC {
		out.PIDs = append(out.PIDs, pids...)
	}
	out.PIDs = distinct(out.PIDs)
	out.Other = l.code.OtherSyntax(from.Ref, insts)
	out.Parts = l.parted.listing(from, insts)
	return out
}

// PartsBetween sums up the samples of all lines with an address in [lo, hi), separately for each part.
func (l *Listing) PartsBetween(lo, hi uint64) parts.Counts {
	sums := parts.Sums[bool]{}
	for i := range l.Lines {
		if l.Lines[i].Lo < hi && l.Lines[i].Hi > lo {
			sums.Add(true, l.Parts.Lines[i])
		}
	}
	return sums.ByKey()[true]
}

// HottestLine returns the index of the line with the most samples.
func (l *Listing) HottestLine() int {
	best := 0
	for i := range l.Lines {
		if cmp.Or(tally.Compare(l.Lines[i].Counts, l.Lines[best].Counts), cmp.Compare(i, best)) < 0 {
			best = i
		}
	}
	return best
}
