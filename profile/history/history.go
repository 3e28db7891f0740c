// Package history says what each JVM of a run did over time. It counts samples in Java code, in the JIT compilers, in
// the garbage collector, and in native code, and says when events such as pauses took place. It covers the whole run
// and not just the windows, which are the times that are measured. So a reader can see whether the windows are well
// chosen.
package history

import (
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// A Doing is what a JVM was doing when a sample was taken.
type Doing int

// The values of Doing. They are also the indexes of the counts in each bin of a History. The values before RanJIT are
// for code in the code cache, in all threads except those of RanJIT, RanGC and RanService.
const (
	RanInterpreter Doing = iota // interpreted a method
	RanC1Profiled               // ran code of C1 that collects a profile for C2 (levels 2 and 3)
	RanC1                       // ran code of C1 that C2 does not replace (level 1)
	RanC2                       // ran code of C2, or of another compiler in its place
	RanCompiled                 // ran code of a compiler that is not known
	RanStub                     // ran a stub, an adapter, or code that is not known
	RanJIT                      // ran a thread of a JIT compiler
	RanGC                       // ran a thread of the garbage collector
	RanService                  // ran another thread of the JVM, such as one of Flight Recorder
	RanNative                   // ran native code or the kernel, in any other thread
	RanUnnamed                  // ran native code or the kernel, in a thread without a name, which may be a compiler's
	NotCounted                  // not in a profile: outside the windows, or the thread is not chosen
	doings
)

// DoingOf returns what a JVM was doing when one of its threads was sampled. kind is the kind of the thread, as package
// threads names it, and named is true if the thread has a name. code is what the thread ran, one of the values up to
// RanStub, or RanNative.
func DoingOf(kind string, named bool, code Doing) Doing {
	switch {
	case kind == threads.Compilers:
		return RanJIT
	case kind == threads.Collector:
		return RanGC
	case kind == threads.OtherJVM:
		return RanService
	case code == RanNative && !named:
		return RanUnnamed
	}
	return code
}

// DoingIn returns what a thread of the program was doing if it ran the code of a blob.
func DoingIn(b *printassembly.Blob) Doing {
	switch {
	case b.Kind == printassembly.Interpreter:
		return RanInterpreter
	case b.Kind != printassembly.NMethod:
		return RanStub
	case b.Compiler == "":
		return RanCompiled
	case b.Compiler != "c1":
		return RanC2
	case b.Level == 1:
		return RanC1
	}
	return RanC1Profiled
}

// A History says how many samples each JVM had in each bin of time. It counts samples of the first counter only, inside
// and outside the windows.
type History struct {
	FromMonoNanos int64 // start of the first bin
	StepNanos     int64 // length of each bin
	Bins          int   // number of bins
	JVMs          []JVM
}

// A JVM is the history of one process.
type JVM struct {
	PID  int
	Bins []Counts // counts of samples; NotCounted is for samples that are in no profile
	// All has all samples, even those that are in no profile. Only the samples that were taken while HotSpot printed
	// code for gasm are missing.
	All []Counts
	// Lanes has a Lane for each kind of events that the JVM had, in the order of laneKinds.
	Lanes []Lane
}

// Counts are numbers of samples, by Doing.
type Counts [doings]int64

// A Lane shows when events of one kind took place, as a share of each bin's time.
type Lane struct {
	Kind   event.Kind
	Shares []float64 // for each bin, the share of its time that events of this kind took, from 0 to 1
}

// laneKinds are the kinds of events that have lanes. Parking and sleeping have no lanes, because in most programs some
// thread is always doing that.
var laneKinds = []event.Kind{event.GC, event.Safepoint, event.Concurrent, event.Compilation, event.Lock, event.Own}

// AddLanes adds a lane to a JVM for each kind of the given events that the JVM had. It does nothing if h is nil.
func (h *History) AddLanes(events []event.Event) {
	if h == nil {
		return
	}
	shares := map[int]map[event.Kind][]float64{}
	for i := range events {
		e := &events[i]
		from, to := max(e.MonoNanos, h.FromMonoNanos)-h.FromMonoNanos, min(e.EndMonoNanos(),
			h.FromMonoNanos+int64(h.Bins)*h.StepNanos)-h.FromMonoNanos
		if to <= from || !slices.Contains(laneKinds, e.Kind) {
			continue
		}
		if shares[e.PID] == nil {
			shares[e.PID] = map[event.Kind][]float64{}
		}
		lane := shares[e.PID][e.Kind]
		if lane == nil {
			lane = make([]float64, h.Bins)
			shares[e.PID][e.Kind] = lane
		}
		for bin := from / h.StepNanos; bin*h.StepNanos < to; bin++ {
			part := min(to, (bin+1)*h.StepNanos) - max(from, bin*h.StepNanos)
			lane[bin] = min(lane[bin]+float64(part)/float64(h.StepNanos), 1)
		}
	}
	for i := range h.JVMs {
		j := &h.JVMs[i]
		for _, kind := range laneKinds {
			if lane := shares[j.PID][kind]; lane != nil {
				j.Lanes = append(j.Lanes, Lane{kind, lane})
			}
		}
	}
}

// maxBins is the maximum number of bins in a history. When there are more, a Builder merges them in pairs. So the
// history of a long run has between maxBins/2 and maxBins bins.
const maxBins = 240

// A Builder counts samples for a History. It does not need to know how long the run is: when there are more than
// maxBins bins, it doubles the length of the bins and merges them in pairs.
type Builder struct {
	step   int64 // length of a bin, ns
	bins   map[binKey]*bin
	lo, hi int64 // numbers of the first and the last bin
}

// maxTime limits the time of a sample, in ns. It is 36 years after the start of the machine.
const maxTime = 1 << 60

type binKey struct {
	bin int64
	pid int
}

// A bin has the counts of [JVM.Bins] and of [JVM.All].
type bin struct{ counted, all Counts }

// NewBuilder returns a Builder without samples.
func NewBuilder() *Builder {
	const shortest = 1_000_000
	return &Builder{step: shortest, bins: map[binKey]*bin{}}
}

// Add counts a sample. It ignores samples whose time is unknown (negative) or impossible. inProfile is true if the
// sample is in a profile. If doing is NotCounted, the sample is not in [JVM.All].
func (h *Builder) Add(pid int, mono int64, doing Doing, inProfile bool) {
	if mono < 0 || mono >= maxTime {
		return
	}
	at := mono / h.step
	if len(h.bins) == 0 {
		h.lo, h.hi = at, at
	}
	h.lo, h.hi = min(h.lo, at), max(h.hi, at)
	for h.hi-h.lo >= maxBins {
		h.halve()
		at = mono / h.step
	}
	key := binKey{at, pid}
	if h.bins[key] == nil {
		h.bins[key] = new(bin)
	}
	if doing != NotCounted {
		h.bins[key].all[doing]++
	}
	if !inProfile {
		doing = NotCounted
	}
	h.bins[key].counted[doing]++
}

// halve merges the bins in pairs.
func (h *Builder) halve() {
	h.step *= 2
	h.lo, h.hi = h.lo/2, h.hi/2
	joined := make(map[binKey]*bin, len(h.bins)/2+1)
	for key, b := range h.bins {
		key.bin /= 2
		if joined[key] == nil {
			joined[key] = new(bin)
		}
		joined[key].counted.add(&b.counted)
		joined[key].all.add(&b.all)
	}
	h.bins = joined
}

func (c *Counts) add(other *Counts) {
	for d, n := range other {
		c[d] += n
	}
}

// History returns the counts of all samples that were added. It returns nil if h is nil or no samples were added.
func (h *Builder) History() *History {
	if h == nil || len(h.bins) == 0 {
		return nil
	}
	out := &History{FromMonoNanos: h.lo * h.step, StepNanos: h.step, Bins: int(h.hi-h.lo) + 1}
	var pids []int
	for key := range h.bins {
		pids = append(pids, key.pid)
	}
	at := map[int]int{}
	for i, pid := range slices.Compact(slices.Sorted(slices.Values(pids))) {
		at[pid] = i
		out.JVMs = append(out.JVMs, JVM{PID: pid, Bins: make([]Counts, out.Bins), All: make([]Counts, out.Bins)})
	}
	for key, b := range h.bins {
		j := &out.JVMs[at[key.pid]]
		j.Bins[key.bin-h.lo], j.All[key.bin-h.lo] = b.counted, b.all
	}
	return out
}

// Total returns the number of samples of each Doing in a JVM.
func (h *JVM) Total() (sum Counts) {
	for i := range h.Bins {
		sum.add(&h.Bins[i])
	}
	return sum
}

// Of returns the histories of the JVMs with the given process ids.
func (h *History) Of(pids []int) []JVM {
	if h == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(h.JVMs), func(j JVM) bool { return !slices.Contains(pids, j.PID) })
}

// Samples returns the number of all samples of a JVM.
func (h *JVM) Samples() int {
	var sum int64
	for _, n := range h.Total() {
		sum += n
	}
	return int(sum)
}

// A Span is a part of a JVM's time, with all samples from that time.
type Span struct {
	FromMonoNanos, ToMonoNanos int64
	Counts
}

// Spans cuts the time between the first and the last sample of a JVM into at most n spans of the same number of bins.
func (h *History) Spans(j *JVM, n int) []Span {
	empty := func(c Counts) bool { return c == Counts{} }
	first := slices.IndexFunc(j.All, func(c Counts) bool { return !empty(c) })
	if first < 0 || n < 1 {
		return nil
	}
	last := len(j.All) - 1
	for empty(j.All[last]) {
		last--
	}
	step := (last - first + n) / n
	var spans []Span
	for from := first; from <= last; from += step {
		to := min(from+step, last+1)
		s := Span{FromMonoNanos: h.FromMonoNanos + int64(from)*h.StepNanos,
			ToMonoNanos: h.FromMonoNanos + int64(to)*h.StepNanos}
		for i := range j.All[from:to] {
			s.add(&j.All[from+i])
		}
		spans = append(spans, s)
	}
	return spans
}

// Sum returns the number of all samples.
func (c *Counts) Sum() (n int64) {
	for _, k := range c {
		n += k
	}
	return n
}
