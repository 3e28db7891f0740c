package profile

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
	Lines  []DelayLine // of compiled code, hottest first; at most maxDelayLines
}

// A DelayLine is an instruction of a Delay.
type DelayLine struct {
	printassembly.Instruction
	Counts tally.Counts
}

// maxDelays limits the number of delays of a profile, and maxDelayLines the number of lines of a delay. The first few
// already show what delays safepoints.
const maxDelays, maxDelayLines = 100, 8

// A delayedCode is a Delay with the samples at each PC of its code.
type delayedCode struct {
	Delay
	ref  jvmcode.Ref
	atPC map[uint64]tally.Counts // nil for native code
}

// delays returns the code in which samples were taken after a safepoint was requested and before all threads had
// arrived. The hottest code comes first.
func (w *work) delays(regions []Region) []Delay {
	all := w.delayedCode()
	slices.SortFunc(all, func(a, b *delayedCode) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Method, b.Method), cmp.Compare(a.CompileID, b.CompileID),
			cmp.Compare(a.ref.JVM, b.ref.JVM), cmp.Compare(a.ref.Index, b.ref.Index))
	})
	delays := make([]Delay, 0, min(len(all), maxDelays))
	for _, d := range all[:cap(delays)] {
		if !d.Native {
			d.Lines = delayLines(w.code.Listing(d.ref), d.atPC, w.n)
			d.Region = regionOf(regions, d, w.b.jvms.List[d.ref.JVM].PID)
		}
		delays = append(delays, d.Delay)
	}
	return delays
}

// delayedCode groups the samples of delays by blob and by native function. All unresolved addresses count as one
// unknown native function.
func (w *work) delayedCode() []*delayedCode {
	blobs, functions := map[jvmcode.Ref]*delayedCode{}, map[numbers.Function]*delayedCode{}
	var all []*delayedCode
	for at, c := range w.trial.delays {
		if at.jvm < 0 {
			f := numbers.Function{Module: UnknownModule}
			if at.jvm == inNative {
				f = w.b.functions.At(at.blob)
			}
			d := functions[f]
			if d == nil {
				d = &delayedCode{Delay: Delay{Source: f.Module, Method: f.Symbol, Native: true, Region: -1, Counts: make(tally.Counts, w.n)}}
				functions[f] = d
				all = append(all, d)
			}
			d.Counts.Add(c)
			continue
		}
		ref := at.ref()
		d := blobs[ref]
		if d == nil {
			blob := w.code.Blob(ref)
			d = &delayedCode{Delay{Source: blob.Source(), Method: blob.Name, CompileID: blob.ID, Region: -1, Counts: make(tally.Counts, w.n)},
				ref, map[uint64]tally.Counts{}}
			blobs[ref] = d
			all = append(all, d)
		}
		d.Counts.Add(c)
		tally.AddTo(d.atPC, at.pc, c, w.n)
	}
	return all
}

// delayLines returns those instructions of a delay that have the most samples, hottest first.
func delayLines(insts []printassembly.Instruction, atPC map[uint64]tally.Counts, counters int) []DelayLine {
	byInst := map[int]tally.Counts{}
	for pc, c := range atPC {
		if i := jvmcode.Index(insts, pc); i >= 0 {
			tally.AddTo(byInst, i, c, counters)
		}
	}
	lines := make([]DelayLine, 0, len(byInst))
	for i, c := range byInst {
		lines = append(lines, DelayLine{insts[i], c})
	}
	slices.SortFunc(lines, func(a, b DelayLine) int { return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Lo, b.Lo)) })
	return lines[:min(len(lines), maxDelayLines)]
}

// regionOf returns the index of the region that has the hottest instruction of a delay, or -1. pid is the JVM that the
// delay was in. A region has the addresses of its code in the first of its JVMs. In other JVMs the same code has other
// addresses, so there regionOf finds the region only if it is the method's only one.
func regionOf(regions []Region, d *delayedCode, pid int) int {
	only, n := -1, 0
	for i := range regions {
		r := &regions[i]
		if r.Method != d.Method || r.Source != d.Source || !slices.Contains(r.PIDs, pid) {
			continue
		}
		if only, n = i, n+1; len(d.Lines) > 0 && r.Lo <= d.Lines[0].Lo && d.Lines[0].Lo < r.Hi {
			return i
		}
	}
	if n == 1 {
		return only
	}
	return -1
}
