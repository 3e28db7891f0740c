package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Doing is what a JVM did in a sample.
type Doing int

// What JVMs do, in the order in which a History counts it.
const (
	RanJava    Doing = iota // code of the code cache, in threads other than the next two's
	RanJIT                  // the threads of the JIT compilers
	RanGC                   // the collector's
	RanNative               // native code and the kernel, in all other threads
	NotCounted              // samples that are in no profile: out of the windows, of other threads
	doings
)

// A History says when the samples of the first event were taken, JVM by JVM, in or out of
// the windows.
type History struct {
	FromMonoNanos int64 // when the first bin begins
	StepNanos     int64 // how long each bin is
	Bins          int   // how many there are
	JVMs          []JVMHistory
}

// A JVMHistory is the history of one process.
type JVMHistory struct {
	PID  int
	Bins [][doings]int64 // samples, by Doing
	// Lanes are the events that lasted, by kind; those of the JVM's own first.
	Lanes []Lane
}

// A Lane says when events of a kind lasted.
type Lane struct {
	Kind   event.Kind
	Shares []float64 // of each bin, 0 to 1
}

// laneKinds are the kinds that have lanes. Threads park and sleep all the time.
var laneKinds = []event.Kind{event.GC, event.Safepoint, event.Concurrent, event.Compilation, event.Lock, event.Own}

// addLanes adds the lanes of all JVMs.
func (h *History) addLanes(events []event.Event) {
	if h == nil {
		return
	}
	shares := map[int]map[event.Kind][]float64{}
	for i := range events {
		e := &events[i]
		from, to := max(e.MonoNanos, h.FromMonoNanos)-h.FromMonoNanos, min(e.EndMonoNanos(), h.FromMonoNanos+int64(h.Bins)*h.StepNanos)-h.FromMonoNanos
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

// historyBins is about how many bins a history has: half as many to as many as that.
const historyBins = 240

// historyCounts collect samples before it is known how long the run is: when the bins are too
// many, each two of them are joined.
type historyCounts struct {
	step int64 // ns
	bins map[historyKey]*[doings]int64
	lo   int64 // of the bins
	hi   int64
}

type historyKey struct {
	bin int64
	pid int
}

func newHistoryCounts() *historyCounts {
	const shortest = 1_000_000
	return &historyCounts{step: shortest, bins: map[historyKey]*[doings]int64{}}
}

// add counts a sample. Samples without a time are left out.
func (h *historyCounts) add(pid int, mono int64, doing Doing) {
	if mono < 0 || mono >= lastTime {
		return
	}
	bin := mono / h.step
	if len(h.bins) == 0 {
		h.lo, h.hi = bin, bin
	}
	h.lo, h.hi = min(h.lo, bin), max(h.hi, bin)
	for h.hi-h.lo >= historyBins {
		h.halve()
		bin = mono / h.step
	}
	key := historyKey{bin, pid}
	if h.bins[key] == nil {
		h.bins[key] = new([doings]int64)
	}
	h.bins[key][doing]++
}

// halve joins each two bins.
func (h *historyCounts) halve() {
	h.step *= 2
	h.lo, h.hi = h.lo/2, h.hi/2
	joined := make(map[historyKey]*[doings]int64, len(h.bins)/2+1)
	for key, counts := range h.bins {
		key.bin /= 2
		if joined[key] == nil {
			joined[key] = new([doings]int64)
		}
		for d, n := range counts {
			joined[key][d] += n
		}
	}
	h.bins = joined
}

// history gives what was counted; nil when nothing was.
func (h *historyCounts) history() *History {
	if h == nil || len(h.bins) == 0 {
		return nil
	}
	out := &History{FromMonoNanos: h.lo * h.step, StepNanos: h.step, Bins: int(h.hi-h.lo) + 1}
	var pids []int
	for key := range h.bins {
		pids = append(pids, key.pid)
	}
	at := map[int]int{}
	for i, pid := range distinct(pids) {
		at[pid] = i
		out.JVMs = append(out.JVMs, JVMHistory{PID: pid, Bins: make([][doings]int64, out.Bins)})
	}
	for key, counts := range h.bins {
		out.JVMs[at[key.pid]].Bins[key.bin-h.lo] = *counts
	}
	return out
}

// remember counts a sample of the first event for the history, where one is wanted.
func (b *Builder) remember(pid, e int, s *sampler.Sample, doing Doing) {
	if b.history != nil && e == 0 {
		b.history.add(pid, s.MonoNanos, doing)
	}
}

// doing tells what a sample in the profile is of.
func (b *Builder) doing(label int32, outside bool) Doing {
	switch kind := b.seen.kinds[label]; {
	case kind == CompilerThreads:
		return RanJIT
	case kind == CollectorThreads:
		return RanGC
	case outside:
		return RanNative
	}
	return RanJava
}

// Total is the number of samples of each kind in a JVM.
func (h *JVMHistory) Total() (sum [doings]int64) {
	for _, bin := range h.Bins {
		for d, n := range bin {
			sum[d] += n
		}
	}
	return sum
}

// Of gives the history of some processes.
func (h *History) Of(pids []int) []JVMHistory {
	if h == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(h.JVMs), func(j JVMHistory) bool { return !slices.Contains(pids, j.PID) })
}

// Samples is the number of all samples of a JVM.
func (h *JVMHistory) Samples() int {
	var sum int64
	for _, n := range h.Total() {
		sum += n
	}
	return int(sum)
}
