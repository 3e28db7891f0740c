package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Delay is code that ran in application threads while other threads waited for them to
// come to a safepoint. Its Counts are the samples of that time.
type Delay struct {
	Source, Method string // of a native function its module and name
	CompileID      int    // 0 for what is not compiled
	Native         bool
	// Region is the place in Profile.Regions of the region that the hottest of Lines is in; -1
	// without one.
	Region int
	Counts Counts
	Lines  []DelayLine // hottest first, of compiled code; at most maxDelayLines
}

// A DelayLine is an instruction of a Delay.
type DelayLine struct {
	printassembly.Instruction
	Counts Counts
}

// maxDelays and maxDelayLines are more than one looks at: the first few say what delays.
const maxDelays, maxDelayLines = 100, 8

// addDelay counts a sample that was taken while threads waited for a safepoint.
func (b *Builder) addDelay(t *trialCounts, pid, e int, s *sampler.Sample) {
	if t.delays == nil {
		t.delays, t.nativeDelays = map[codeKey]Counts{}, map[int32]Counts{}
	}
	module := s.Module
	if !s.Kernel() {
		if jvm, blob, ok := b.find(pid, s); ok {
			bumpAt(t.delays, codeKey{jvm: jvm, blob: blob, pc: s.PC}, e)
			return
		}
		module = cmp.Or(module, UnknownModule)
	} else {
		module = sampler.KernelModule
	}
	bumpAt(t.nativeDelays, b.function(module, s.Symbol), e)
}

// delays sums up the samples between the requests for safepoints and the arrival of all
// threads, hottest first.
func (w *work) delays(p *Profile) []Delay {
	type blobDelay struct {
		counts Counts
		atPC   map[uint64]Counts
	}
	blobs := map[blobRef]*blobDelay{}
	for key, c := range w.trial.delays {
		ref := blobRef{key.jvm, key.blob}
		d := blobs[ref]
		if d == nil {
			d = &blobDelay{make(Counts, w.n), map[uint64]Counts{}}
			blobs[ref] = d
		}
		d.counts.Add(c)
		addTo(w, d.atPC, key.pc, c)
	}
	type found struct {
		Delay
		ref  blobRef
		atPC map[uint64]Counts
	}
	var all []found
	for ref, d := range blobs {
		blob := w.blob(ref)
		all = append(all, found{Delay{Source: blob.Source(), Method: blob.Name, CompileID: blob.ID, Region: -1, Counts: d.counts}, ref, d.atPC})
	}
	for function, c := range w.trial.nativeDelays {
		f := w.b.functions[function]
		all = append(all, found{Delay: Delay{Source: f.module, Method: f.symbol, Native: true, Region: -1, Counts: w.counts(c)}})
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Method, b.Method), cmp.Compare(a.CompileID, b.CompileID),
			cmp.Compare(a.ref.jvm, b.ref.jvm), cmp.Compare(a.ref.blob, b.ref.blob))
	})
	delays := make([]Delay, 0, min(len(all), maxDelays))
	for _, f := range all[:cap(delays)] {
		if !f.Native {
			f.Lines = w.delayLines(f.ref, f.atPC)
			f.Region = w.regionOf(p, f.ref, f.Lines)
		}
		delays = append(delays, f.Delay)
	}
	return delays
}

// delayLines are the instructions that have most of a delay's samples.
func (w *work) delayLines(ref blobRef, atPC map[uint64]Counts) []DelayLine {
	insts := w.listing(ref)
	byInst := map[int]Counts{}
	for pc, c := range atPC {
		if i := find(insts, pc); i >= 0 {
			addTo(w, byInst, i, c)
		}
	}
	lines := make([]DelayLine, 0, len(byInst))
	for i, c := range byInst {
		lines = append(lines, DelayLine{insts[i], c})
	}
	slices.SortFunc(lines, func(a, b DelayLine) int { return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Lo, b.Lo)) })
	return lines[:min(len(lines), maxDelayLines)]
}

// regionOf finds the region that the hottest instruction of a delay is in; -1 when there is
// none. Regions have the addresses of the first of their JVMs, so in another JVM a region is
// only known when it is its method's only one.
func (w *work) regionOf(p *Profile, ref blobRef, lines []DelayLine) int {
	blob, pid := w.blob(ref), w.b.jvms[ref.jvm].PID
	only, n := -1, 0
	for i := range p.Regions {
		r := &p.Regions[i]
		if r.Method != blob.Name || r.Source != blob.Source() || !slices.Contains(r.PIDs, pid) {
			continue
		}
		if only, n = i, n+1; len(lines) > 0 && r.Lo <= lines[0].Lo && lines[0].Lo < r.Hi {
			return i
		}
	}
	if n == 1 {
		return only
	}
	return -1
}
