package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/profile/delays"
	"github.com/gasm-profiler/gasm/profile/numbers"
)

// delays returns the code in which samples were taken after a safepoint was requested and before all threads had
// reached it. The hottest code comes first. All unresolved addresses count as one unknown native function.
func (w *work) delays(regions []Region) []delays.Delay {
	counts := delays.New(w.code, w.n)
	for at, c := range w.trial.delays {
		switch {
		case at.jvm >= 0:
			counts.Add(at.ref(), at.pc, c)
		case at.jvm == inNative:
			counts.AddNative(w.b.functions.At(at.blob), c)
		default:
			counts.AddNative(numbers.Function{Module: UnknownModule}, c)
		}
	}
	return counts.Delays(func(d *delays.Delay, jvm int) int { return regionOf(regions, d, w.b.jvms.List[jvm].PID) })
}

// regionOf returns the index of the region that contains the hottest instruction of a delay, or -1. pid is the JVM that
// the delay was in. The addresses of a region are those of the code in the first of the region's JVMs, and another JVM
// has the same code at other addresses. So in another JVM, regionOf finds the region only if the method has no other.
func regionOf(regions []Region, d *delays.Delay, pid int) int {
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
