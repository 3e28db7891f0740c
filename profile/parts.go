package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/nativesamples"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// Parts are the samples of a profile, divided by time and by thread. The counts of all parts of a method, for example,
// add up to the method's Counts in the profile.
type Parts struct {
	Slices  []parts.TimeSlice
	Threads []parts.ThreadGroup
	List    []parts.Part // all parts with samples; a parts.Count has an index in List

	All             parts.Counts
	Methods, Native map[[2]string]parts.Counts // Methods by source and name, Native by module and symbol
	Sources         map[string]parts.Counts
	Frames, Totals  map[string]parts.Counts // by method: the parts of FrameTotal.Counts and of FrameTotal.Total
	WithCallees     map[string]parts.Counts // by method: the parts of FrameTotal.WithCallees; nil without call stacks
	Lines           map[MethodLine]parts.Counts
	ByThread        map[string]parts.Counts // the parts of each thread's samples, by thread name
}

// A MethodLine is a line of a method.
type MethodLine struct {
	Method string
	Line   int
}

// partedSpots holds the samples at each spot of a profile, divided by time and by thread.
type partedSpots struct {
	*parts.Cut
	numbers map[keptSpot]int32 // the number that each spot has in Cut.Spots
	native  *nativesamples.Counts
}

// at returns the samples at an address of a blob's code.
func (p *partedSpots) at(ref jvmcode.Ref, pc uint64) parts.Counts {
	if ref.JVM == jvmcode.OfNative {
		sums := parts.Sums[bool]{}
		for _, n := range p.native.Spots(nativesamples.At{Function: int32(ref.Index), PC: pc}) {
			sums.Add(true, p.Spots[n])
		}
		return sums.ByKey()[true]
	}
	if n, ok := p.numbers[keptSpot{spot{int32(ref.JVM), int32(ref.Index), pc}, nativesamples.Nowhere}]; ok {
		return p.Spots[n]
	}
	return nil
}

// sum sums up the samples of each part for all tables of the profile.
func (p *partedSpots) sum(b *Builder, code *jvmcode.Reader, sampled []*sampledBlob) *Parts {
	all, sources := parts.Sums[bool]{}, parts.Sums[string]{}
	methods, native := parts.Sums[[2]string]{}, parts.Sums[[2]string]{}
	frames, totals, lines := parts.Sums[string]{}, parts.Sums[string]{}, parts.Sums[MethodLine]{}
	for at, n := range p.numbers {
		counts := p.Spots[n]
		all.Add(true, counts)
		switch at.jvm {
		case inNative:
			f := b.functions.At(at.blob)
			native.Add([2]string{f.Module, f.Symbol}, counts)
			sources.Add(f.Module, counts)
		case inUnresolved:
			sources.Add(UnresolvedSource, counts)
		}
	}
	for _, s := range sampled {
		source := s.Source()
		for pc := range s.atPC {
			counts := p.at(s.Ref, pc)
			methods.Add([2]string{source, s.Name}, counts)
			sources.Add(source, counts)
			if !s.Kind.Java() {
				continue
			}
			chain := code.Chain(s.Ref, pc)
			frames.Add(chain[0].Method, counts)
			lines.Add(MethodLine{chain[0].Method, chain[0].Line}, counts)
			for i, f := range chain {
				if !slices.ContainsFunc(chain[:i], func(before printassembly.Frame) bool { return before.Method == f.Method }) {
					totals.Add(f.Method, counts)
				}
			}
		}
	}
	return &Parts{Slices: p.Slices, Threads: p.Threads, List: p.List,
		All: all.ByKey()[true], Sources: sources.ByKey(), Methods: methods.ByKey(), Native: native.ByKey(),
		Frames: frames.ByKey(), Totals: totals.ByKey(), Lines: lines.ByKey()}
}

// byThread sums up kept samples by the names of their threads, separately for each part.
func (p *partedSpots) byThread(kept []parts.Sample, names *threads.Table, counters int) map[string]parts.Counts {
	sums := parts.Sums[string]{}
	for i := range kept {
		s := &kept[i]
		one := parts.Count{Part: p.PartOf(s), Counts: make(tally.Counts, counters)}
		one.Counts[s.Counter] = 1
		sums.Add(names.Label(s.Label), parts.Counts{one})
	}
	return sums.ByKey()
}

// listing sums up the samples at each instruction of some code over all JVMs, separately for each part of the profile's
// time and threads. It returns nil if the profile is not cut into parts.
func (p *partedSpots) listing(from *mergedCode, insts []printassembly.Instruction) *ListingParts {
	if p == nil {
		return nil
	}
	all, lines := parts.Sums[bool]{}, parts.Sums[int]{}
	for _, s := range from.blobs {
		for pc := range s.atPC {
			counts := p.at(s.Ref, pc)
			all.Add(true, counts)
			if i := jvmcode.Index(insts, pc-s.Lo+from.Lo); i >= 0 {
				lines.Add(i, counts)
			}
		}
	}
	out := &ListingParts{All: all.ByKey()[true], Lines: make([]parts.Counts, len(insts))}
	for i, counts := range lines.ByKey() {
		out.Lines[i] = counts
	}
	return out
}
