// Package delays finds the code that ran in application threads while other threads waited for them to come to a
// safepoint. Threads stop only at polls, so a long loop without a poll makes the whole JVM wait.
package delays

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/numbers"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Delay is code that ran in application threads while other threads waited for them to come to a safepoint. Its
// Counts are the samples of that time.
type Delay struct {
	Source, Method string // for a native function, its module and its name
	CompileID      int    // 0 for code that is not compiled
	Native         bool
	// Region is the index in Profile.Regions of the region that has the hottest line of the delay. It is -1 if there is
	// no such region.
	Region int
	Counts tally.Counts
	Lines  []Line // the sampled instructions of compiled code, hottest first; at most maxLines
}

// A Line is an instruction of a Delay.
type Line struct {
	printassembly.Instruction
	Counts tally.Counts
}

// maxDelays limits the number of delays of a profile. maxLines limits the number of lines of a delay. The first few
// already show what delays safepoints.
const maxDelays, maxLines = 100, 8

// The type delayed is a Delay, together with the samples at each PC of its code.
type delayed struct {
	Delay
	ref  jvmcode.Ref
	atPC map[uint64]tally.Counts // nil for native code
}

// Counts are the samples of a profile's delays, by blob and by native function.
type Counts struct {
	code      *jvmcode.Reader
	counters  int
	blobs     map[jvmcode.Ref]*delayed
	functions map[numbers.Function]*delayed
	all       []*delayed
}

// New returns Counts without samples, of a profile with this number of counters.
func New(code *jvmcode.Reader, counters int) *Counts {
	return &Counts{code: code, counters: counters, blobs: map[jvmcode.Ref]*delayed{},
		functions: map[numbers.Function]*delayed{}}
}

// Add adds samples at an address of a blob.
func (c *Counts) Add(ref jvmcode.Ref, pc uint64, counts tally.Counts) {
	d := c.blobs[ref]
	if d == nil {
		blob := c.code.Blob(ref)
		d = &delayed{Delay{Source: blob.Source(), Method: blob.Name, CompileID: blob.ID, Region: -1,
			Counts: make(tally.Counts, c.counters)},
			ref, map[uint64]tally.Counts{}}
		c.blobs[ref] = d
		c.all = append(c.all, d)
	}
	d.Counts.Add(counts)
	tally.AddTo(d.atPC, pc, counts, c.counters)
}

// AddNative adds samples in a native function.
func (c *Counts) AddNative(f numbers.Function, counts tally.Counts) {
	d := c.functions[f]
	if d == nil {
		d = &delayed{Delay: Delay{Source: f.Module, Method: f.Symbol, Native: true, Region: -1,
			Counts: make(tally.Counts, c.counters)}}
		c.functions[f] = d
		c.all = append(c.all, d)
	}
	d.Counts.Add(counts)
}

// Delays returns the delays, those with the most samples first. The function regionOf returns the value of the field
// Region for a delay. Its argument jvm is the JVM that the delay was in, as in Ref.JVM.
func (c *Counts) Delays(regionOf func(d *Delay, jvm int) int) []Delay {
	slices.SortFunc(c.all, func(a, b *delayed) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.CompileID, b.CompileID),
			cmp.Compare(a.ref.JVM, b.ref.JVM), cmp.Compare(a.ref.Index, b.ref.Index))
	})
	delays := make([]Delay, 0, min(len(c.all), maxDelays))
	for _, d := range c.all[:cap(delays)] {
		if !d.Native {
			d.Lines = lines(c.code.Listing(d.ref), d.atPC, c.counters)
			d.Region = regionOf(&d.Delay, d.ref.JVM)
		}
		delays = append(delays, d.Delay)
	}
	return delays
}

// lines returns those instructions of a delay that have the most samples, hottest first.
func lines(insts []printassembly.Instruction, atPC map[uint64]tally.Counts, counters int) []Line {
	byInst := map[int]tally.Counts{}
	for pc, c := range atPC {
		if i := jvmcode.Index(insts, pc); i >= 0 {
			tally.AddTo(byInst, i, c, counters)
		}
	}
	lines := make([]Line, 0, len(byInst))
	for i, c := range byInst {
		lines = append(lines, Line{insts[i], c})
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts),
			cmp.Compare(a.Lo, b.Lo))
	})
	return lines[:min(len(lines), maxLines)]
}
