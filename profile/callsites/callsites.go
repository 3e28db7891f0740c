// Package callsites lists the calls in hot code that the JIT compilers did not inline, the hottest first, with the
// reasons (package decisions).
//
// Two numbers say how hot a call is. Around counts the samples in the basic block with the call, and so shows how often
// the call runs. Callee counts the samples that were taken in the callee while this call was its caller, if the profile
// has call stacks. This includes samples in methods that are inlined into the callee. It does not include samples in
// methods that the callee calls in turn, because inlining this call would not change those calls.
package callsites

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/decisions"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Site is a call that was not inlined.
type Site struct {
	*decisions.Call
	Source, Method string // of the compiled code that contains the call, as in a profile's regions
	CompileID      int
	PID            int
	// Around and Callee are described in the package comment, and Counts is their sum. Callee is nil without call
	// stacks.
	Around, Callee, Counts tally.Counts
}

// A Table has the calls in hot code.
type Table struct {
	// Sites are the calls that were not inlined and have samples, hottest first. The list is cut to [Most] elements;
	// AllSites is its length before that. Calls about which nothing is known are left out.
	Sites    []Site
	AllSites int
	// Pieces is the number of pieces of code that have calls. Early is the number of these pieces that were compiled
	// before the decisions were recorded.
	Pieces, Early int
	// Inlined is the number of calls whose callee is part of the code. Outcomes counts the others, by outcome.
	Inlined  int
	Outcomes map[decisions.Outcome]int
}

// Most is the maximum number of sites of a Table.
const Most = 100

// A Piece is a piece of hot code.
type Piece struct {
	Source, Method string
	CompileID      int
	PID            int
	Code           *decisions.Code
	Lines          []code.Line // all instructions of the code
	// Called returns the samples in the callee of a call. The parameter returns is the address to which the call
	// returns. Called is nil without call stacks.
	Called func(returns uint64) tally.Counts
}

// A Builder makes a Table.
type Builder struct {
	counters int
	table    Table
	sites    []Site
}

// NewBuilder returns a Builder without code. counters is the number of counts that each line has.
func NewBuilder(counters int) *Builder {
	return &Builder{counters: counters, table: Table{Outcomes: map[decisions.Outcome]int{}}}
}

// Add adds a piece of code.
func (b *Builder) Add(p *Piece) {
	t := &b.table
	if len(p.Code.Calls) > 0 {
		t.Pieces++
		if !p.Code.Complete {
			t.Early++
		}
	}
	t.Inlined += p.Code.Inlined
	blocks := code.BlocksOf(p.Lines, b.counters)
	for _, c := range p.Code.Calls {
		t.Outcomes[c.Outcome]++
		at := code.LineAt(p.Lines, c.Lo)
		if c.Outcome == decisions.Unknown || at < 0 {
			continue
		}
		s := Site{Call: c, Source: p.Source, Method: p.Method, CompileID: p.CompileID, PID: p.PID,
			Around: blocks[code.BlockAt(blocks, at)].Counts}
		s.Counts = slices.Clone(s.Around)
		if p.Called != nil {
			s.Callee = make(tally.Counts, b.counters)
			s.Callee.Add(p.Called(c.Hi))
			s.Counts.Add(s.Callee)
		}
		if slices.Max(s.Counts) > 0 {
			b.sites = append(b.sites, s)
		}
	}
}

// Table returns the table. It returns nil if the code that was added has no calls, inlined or not.
func (b *Builder) Table() *Table {
	t := b.table
	if t.Pieces == 0 && t.Inlined == 0 {
		return nil
	}
	slices.SortStableFunc(b.sites, func(x, y Site) int {
		return cmp.Or(tally.Compare(x.Counts, y.Counts), cmp.Compare(x.Method, y.Method),
			cmp.Compare(x.CompileID, y.CompileID), cmp.Compare(x.Lo, y.Lo))
	})
	t.AllSites = len(b.sites)
	t.Sites = b.sites[:min(len(b.sites), Most)]
	return &t
}

// Calls returns the number of calls in the code, inlined or not.
func (t *Table) Calls() int {
	n := t.Inlined
	for _, of := range t.Outcomes {
		n += of
	}
	return n
}
