package profile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Parts cut the samples of a profile by time and by thread, so that a reader can look at some of
// them alone: at one fork, at the beginning of a run, at one pool of threads. The counts of
// all parts of a thing add up to its Counts in the profile.
type Parts struct {
	Slices  []TimeSlice
	Threads []ThreadGroup
	List    []Part // those that have samples

	All             PartCounts
	Methods, Native map[[2]string]PartCounts // by source and name, by module and symbol
	Sources         map[string]PartCounts
	Frames, Totals  map[string]PartCounts // by method, as FrameTotal.Counts and Total
	Lines           map[MethodLine]PartCounts
	ByThread        map[string]PartCounts // by Thread.Name
}

// A Part is the samples of some threads in a slice of time: places in Parts.Slices and Threads.
type Part struct{ Slice, Thread int }

// A TimeSlice is a slice of the time of one JVM; of the first of all JVMs, where there are too many
// to tell them apart.
type TimeSlice struct {
	PID int
	capture.Span
}

// A ThreadGroup is the threads of one name or, without a name, those of a kind that have no
// group of their own.
type ThreadGroup struct{ Kind, Name string }

// A MethodLine is a line of a method.
type MethodLine struct {
	Method string
	Line   int
}

// PartCounts are counts by part, ascending, without those that are zero.
type PartCounts []PartCount

// A PartCount is the samples of one part.
type PartCount struct {
	Part   int
	Counts Counts
}

// partWork is what the parts of a profile are made of.
type partWork struct {
	parts  *Parts
	places map[sightedAt]int32
	counts []PartCounts // by place
	partOf func(s *sighting) int
}

// at gives the samples at an address of a blob's code.
func (pw *partWork) at(ref blobRef, pc uint64) PartCounts {
	if place, ok := pw.places[sightedAt{int32(ref.jvm), int32(ref.blob), pc}]; ok {
		return pw.counts[place]
	}
	return nil
}

// cutParts cuts all samples of the profile into parts: as finely as there is room for. It gives nil
// where that is one part or none.
func (w *work) cutParts() *partWork {
	seen := w.trial.sightings
	if seen == nil || len(seen.list) == 0 {
		return nil
	}
	groups, groupOf := w.threadGroups()
	byPlace := make([][]int32, len(seen.places)) // samples
	for i := range seen.list {
		at := seen.list[i].place
		byPlace[at] = append(byPlace[at], int32(i))
	}
	for _, c := range w.cuts() {
		pw := &partWork{parts: &Parts{Slices: c.slices, Threads: groups}, places: seen.places, counts: make([]PartCounts, len(byPlace))}
		pw.partOf = func(s *sighting) int { return c.of(s)*len(groups) + groupOf[s.thread] }
		sum := 0
		for at, samples := range byPlace {
			pw.counts[at] = w.countParts(samples, pw.partOf)
			if sum += len(pw.counts[at]); sum > maxPartCounts {
				break
			}
		}
		if sum > maxPartCounts || pw.number(len(groups)) > maxProfileParts {
			continue
		}
		if len(pw.parts.List) < 2 {
			return nil
		}
		return pw
	}
	return nil
}

// countParts counts the samples of one place.
func (w *work) countParts(samples []int32, partOf func(*sighting) int) PartCounts {
	var out PartCounts
	for _, i := range samples {
		s := &w.trial.sightings.list[i]
		part := partOf(s)
		at, ok := slices.BinarySearchFunc(out, part, func(c PartCount, part int) int { return cmp.Compare(c.Part, part) })
		if !ok {
			out = slices.Insert(out, at, PartCount{part, make(Counts, w.n)})
		}
		out[at].Counts[s.event]++
	}
	return out
}

// number gives the parts that have samples the numbers from 0 on, in the order of time. The
// result is how many they are.
func (pw *partWork) number(groups int) int {
	used := map[int]int{}
	for _, counts := range pw.counts {
		for _, c := range counts {
			used[c.Part] = 0
		}
	}
	for i, part := range slices.Sorted(maps.Keys(used)) {
		used[part] = i
		pw.parts.List = append(pw.parts.List, Part{part / groups, part % groups})
	}
	for _, counts := range pw.counts {
		for i := range counts {
			counts[i].Part = used[counts[i].Part]
		}
	}
	raw := pw.partOf
	pw.partOf = func(s *sighting) int { return used[raw(s)] }
	return len(used)
}

// partSums add up parts by key.
type partSums[K comparable] map[partKey[K]]Counts

type partKey[K comparable] struct {
	key  K
	part int
}

func (p partSums[K]) add(key K, counts PartCounts) {
	for _, c := range counts {
		k := partKey[K]{key, c.Part}
		if p[k] == nil {
			p[k] = make(Counts, len(c.Counts))
		}
		p[k].Add(c.Counts)
	}
}

// byKey gives the sums of each key.
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

// parts adds up the parts of everything that the profile counts.
func (w *work) parts(pw *partWork, sampled []*sampledBlob) *Parts {
	if pw == nil {
		return nil
	}
	all, sources := partSums[bool]{}, partSums[string]{}
	methods, native := partSums[[2]string]{}, partSums[[2]string]{}
	frames, totals, lines := partSums[string]{}, partSums[string]{}, partSums[MethodLine]{}
	for at, place := range pw.places {
		counts := pw.counts[place]
		all.add(true, counts)
		switch at.jvm {
		case inNative:
			f := w.b.functions[at.blob]
			native.add([2]string{f.module, f.symbol}, counts)
			sources.add(f.module, counts)
		case inUnresolved:
			sources.add(UnresolvedSource, counts)
		}
	}
	for _, s := range sampled {
		source := s.Source()
		for pc := range s.atPC {
			counts := pw.at(s.blobRef, pc)
			methods.add([2]string{source, s.Name}, counts)
			sources.add(source, counts)
			if !s.Kind.Java() {
				continue
			}
			chain := w.chain(s, pc)
			frames.add(chain[0].Method, counts)
			lines.add(MethodLine{chain[0].Method, chain[0].Line}, counts)
			for i, f := range chain {
				if !slices.ContainsFunc(chain[:i], func(before printassembly.Frame) bool { return before.Method == f.Method }) {
					totals.add(f.Method, counts)
				}
			}
		}
	}
	p := pw.parts
	p.All, p.Sources, p.Methods, p.Native = all.byKey()[true], sources.byKey(), methods.byKey(), native.byKey()
	p.Frames, p.Totals, p.Lines = frames.byKey(), totals.byKey(), lines.byKey()
	p.ByThread = w.threadParts(pw)
	return p
}

// threadParts adds up the parts by the threads' names.
func (w *work) threadParts(pw *partWork) map[string]PartCounts {
	sums := partSums[string]{}
	for i := range w.trial.sightings.list {
		s := &w.trial.sightings.list[i]
		one := PartCount{pw.partOf(s), make(Counts, w.n)}
		one.Counts[s.event] = 1
		sums.add(w.b.seen.labels[s.thread], PartCounts{one})
	}
	return sums.byKey()
}
