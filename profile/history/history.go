// Package history says what each JVM of a run did over time. It counts samples in Java code, in the JIT compilers, in
// the garbage collector, and in native code, and says when events such as pauses took place. It covers the whole run
// and not just the windows, which are the times that are measured. So a reader can see whether the windows are well
// chosen.
package history

import (
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// A Doing is what a JVM was doing when a sample was taken.
type Doing int

// The values of Doing. They are also the indexes of the counts in each bin of a History.
const (
	RanJava    Doing = iota // ran code in the code cache, in any thread but those of RanJIT and RanGC
	RanJIT                  // ran a thread of a JIT compiler
	RanGC                   // ran a thread of the garbage collector
	RanNative               // ran native code or the kernel, in any thread but those of RanJIT and RanGC
	NotCounted              // not in a profile: outside the windows, or the thread is not chosen
	doings
)

// DoingOf returns what a JVM was doing when one of its threads was sampled. kind is the kind of the thread, as package
// threads names it. outside is true if the thread was outside the code cache, in native code or in the kernel.
func DoingOf(kind string, outside bool) Doing {
	switch {
	case kind == threads.Compilers:
		return RanJIT
	case kind == threads.Collector:
		return RanGC
	case outside:
		return RanNative
	}
	return RanJava
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
	Bins [][doings]int64 // numbers of samples, by Doing
	// Lanes has a Lane for each kind of events that the JVM had, in the order of laneKinds.
	Lanes []Lane
}

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

// maxBins is the maximum number of bins in a history. When there are more, a Builder merges them in pairs. So the
// history of a long run has between maxBins/2 and maxBins bins.
const maxBins = 240

// A Builder counts samples for a History. It does not need to know how long the run is: when there are more than
// maxBins bins, it doubles the length of the bins and merges them in pairs.
type Builder struct {
	step   int64 // length of a bin, ns
	bins   map[binKey]*[doings]int64
	lo, hi int64 // numbers of the first and the last bin
}

// maxTime limits the time of a sample, in ns. It is 36 years after the start of the machine.
const maxTime = 1 << 60

type binKey struct {
	bin int64
	pid int
}

// NewBuilder returns a Builder without samples.
func NewBuilder() *Builder {
	const shortest = 1_000_000
	return &Builder{step: shortest, bins: map[binKey]*[doings]int64{}}
}

// Add counts a sample. It ignores samples whose time is unknown (negative) or impossible.
func (h *Builder) Add(pid int, mono int64, doing Doing) {
	if mono < 0 || mono >= maxTime {
		return
	}
	bin := mono / h.step
	if len(h.bins) == 0 {
		h.lo, h.hi = bin, bin
	}
	h.lo, h.hi = min(h.lo, bin), max(h.hi, bin)
	for h.hi-h.lo >= maxBins {
		h.halve()
		bin = mono / h.step
	}
	key := binKey{bin, pid}
	if h.bins[key] == nil {
		h.bins[key] = new([doings]int64)
	}
	h.bins[key][doing]++
}

// halve merges the bins in pairs.
func (h *Builder) halve() {
	h.step *= 2
	h.lo, h.hi = h.lo/2, h.hi/2
	joined := make(map[binKey]*[doings]int64, len(h.bins)/2+1)
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
		out.JVMs = append(out.JVMs, JVM{PID: pid, Bins: make([][doings]int64, out.Bins)})
	}
	for key, counts := range h.bins {
		out.JVMs[at[key.pid]].Bins[key.bin-h.lo] = *counts
	}
	return out
}

// Total returns the number of samples of each Doing in a JVM.
func (h *JVM) Total() (sum [doings]int64) {
	for _, bin := range h.Bins {
		for d, n := range bin {
			sum[d] += n
		}
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
