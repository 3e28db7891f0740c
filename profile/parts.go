package profile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// Parts are the samples of a profile cut by time and by thread, so that a reader can look at some of them alone: at one
// fork, at the beginning of a run, at one pool of threads. The counts of all parts of a method, for example, add up to
// the method's Counts in the profile.
type Parts struct {
	Slices  []TimeSlice
	Threads []ThreadGroup
	List    []Part // only those with samples; a PartCount has an index in it

	All             PartCounts
	Methods, Native map[[2]string]PartCounts // by source and name, by module and symbol
	Sources         map[string]PartCounts
	Frames, Totals  map[string]PartCounts // by method: the parts of FrameTotal.Counts and of FrameTotal.Total
	Lines           map[MethodLine]PartCounts
	ByThread        map[string]PartCounts // by Thread.Name
}

// A Part is the samples of a thread group in a slice of time.
type Part struct{ Slice, Thread int } // indexes in Parts.Slices and Parts.Threads

// A TimeSlice is a slice of the time of one JVM. If there are too many JVMs to tell them apart, there is one slice for
// all of them, with the PID of the first.
type TimeSlice struct {
	PID int
	capture.Span
}

// A ThreadGroup is the threads of one name. If Name is "", it is all threads of the kind that have no group of their
// own.
type ThreadGroup struct{ Kind, Name string }

// A MethodLine is a line of a method.
type MethodLine struct {
	Method string
	Line   int
}

// PartCounts are counts by part, in the order of the parts. Parts without samples are left out.
type PartCounts []PartCount

// A PartCount is the samples of one part.
type PartCount struct {
	Part   int // index in Parts.List
	Counts tally.Counts
}

// partedSpots are the samples of a profile cut into parts, by spot.
type partedSpots struct {
	parts  *Parts
	spots  map[spot]int32 // numbers the spots
	counts []PartCounts   // by the spot's number
	partOf func(s *keptSample) int
}

// at returns the samples at an address of a blob's code.
func (p *partedSpots) at(ref blobRef, pc uint64) PartCounts {
	if n, ok := p.spots[spot{int32(ref.jvm), int32(ref.blob), pc}]; ok {
		return p.counts[n]
	}
	return nil
}

// number numbers the parts that have samples from 0 on, in the order of time. It returns how many there are. Before
// that, the number of a part is that of its slice times groups, plus that of its thread group.
func (p *partedSpots) number(groups int) int {
	used := map[int]int{}
	for _, counts := range p.counts {
		for _, c := range counts {
			used[c.Part] = 0
		}
	}
	for i, part := range slices.Sorted(maps.Keys(used)) {
		used[part] = i
		p.parts.List = append(p.parts.List, Part{part / groups, part % groups})
	}
	for _, counts := range p.counts {
		for i := range counts {
			counts[i].Part = used[counts[i].Part]
		}
	}
	raw := p.partOf
	p.partOf = func(s *keptSample) int { return used[raw(s)] }
	return len(used)
}

// partSums sum up counts by key and part.
type partSums[K comparable] map[partKey[K]]tally.Counts

type partKey[K comparable] struct {
	key  K
	part int
}

func (p partSums[K]) add(key K, counts PartCounts) {
	for _, c := range counts {
		k := partKey[K]{key, c.Part}
		if p[k] == nil {
			p[k] = make(tally.Counts, len(c.Counts))
		}
		p[k].Add(c.Counts)
	}
}

// byKey returns the sums of each key.
func (p partSums[K]) byKey() map[K]PartCounts {
	out := map[K]PartCounts{}
	for k, c := range p {
		out[k.key] = append(out[k.key], PartCount{k.part, c})
	}
	for _, counts := range out {
		slices.SortFunc(counts, func(a, b PartCount) int { return cmp.Compare(a.Part, b.Part) })
	}
	return out
}

// sum sums up the parts of everything that the profile counts.
func (p *partedSpots) sum(b *Builder, code *codeReader, sampled []*sampledBlob) *Parts {
	all, sources := partSums[bool]{}, partSums[string]{}
	methods, native := partSums[[2]string]{}, partSums[[2]string]{}
	frames, totals, lines := partSums[string]{}, partSums[string]{}, partSums[MethodLine]{}
	for at, n := range p.spots {
		counts := p.counts[n]
		all.add(true, counts)
		switch at.jvm {
		case inNative:
			f := b.functions.list[at.blob]
			native.add([2]string{f.module, f.symbol}, counts)
			sources.add(f.module, counts)
		case inUnresolved:
			sources.add(UnresolvedSource, counts)
		}
	}
	for _, s := range sampled {
		source := s.Source()
		for pc := range s.atPC {
			counts := p.at(s.blobRef, pc)
			methods.add([2]string{source, s.Name}, counts)
			sources.add(source, counts)
			if !s.Kind.Java() {
				continue
			}
			chain := code.chain(s, pc)
			frames.add(chain[0].Method, counts)
			lines.add(MethodLine{chain[0].Method, chain[0].Line}, counts)
			for i, f := range chain {
				if !slices.ContainsFunc(chain[:i], func(before printassembly.Frame) bool { return before.Method == f.Method }) {
					totals.add(f.Method, counts)
				}
			}
		}
	}
	parts := p.parts
	parts.All, parts.Sources, parts.Methods, parts.Native = all.byKey()[true], sources.byKey(), methods.byKey(), native.byKey()
	parts.Frames, parts.Totals, parts.Lines = frames.byKey(), totals.byKey(), lines.byKey()
	return parts
}

// byThread sums up the parts of kept samples by the threads' names.
func (p *partedSpots) byThread(kept []keptSample, names *threads.Table, counters int) map[string]PartCounts {
	sums := partSums[string]{}
	for i := range kept {
		s := &kept[i]
		one := PartCount{p.partOf(s), make(tally.Counts, counters)}
		one.Counts[s.counter] = 1
		sums.add(names.Label(s.label), PartCounts{one})
	}
	return sums.byKey()
}

// listing sums up the parts of each instruction of some code, over all forks. It returns nil without parts.
func (p *partedSpots) listing(from *mergedCode, insts []printassembly.Instruction) *ListingParts {
	if p == nil {
		return nil
	}
	all, lines := partSums[bool]{}, partSums[int]{}
	for _, s := range from.blobs {
		for pc := range s.atPC {
			counts := p.at(s.blobRef, pc)
			all.add(true, counts)
			if i := find(insts, pc-s.Lo+from.Lo); i >= 0 {
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
