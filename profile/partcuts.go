package profile

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
)

const (
	// maxProfileParts is how many parts a profile has at most. A person chooses from them.
	maxProfileParts = 64
	// maxPartCounts bounds the counts by part of all spots together. Each takes some bytes in the page.
	maxPartCounts = 40_000
	// namedThreads is how many of the hottest threads' names have a group of their own.
	namedThreads = 8
	// timeSlices is the largest number of time slices of a program without trials.
	timeSlices = 12
)

// A partCutter cuts the kept samples of a trial into parts.
type partCutter struct {
	trial     *trialCounts
	processes map[int]*process
	threads   *threads.Table
	n         int // number of counters
}

// A timeCut is one of the ways to cut the time into slices.
type timeCut struct {
	slices []TimeSlice
	of     func(s *keptSample) int // returns the slice of a sample
}

// cut cuts all samples of the profile into parts, as finely as there is room for. It returns nil if that is at most
// one part.
func (p *partCutter) cut() *partedSpots {
	kept := p.trial.kept
	if kept == nil || len(kept.list) == 0 {
		return nil
	}
	groups, groupOf := p.threadGroups()
	bySpot := make([][]int32, len(kept.spots)) // indexes of samples in kept.list
	for i := range kept.list {
		at := kept.list[i].spot
		bySpot[at] = append(bySpot[at], int32(i))
	}
	for _, time := range p.timeCuts() {
		cut := &partedSpots{parts: &Parts{Slices: time.slices, Threads: groups}, spots: kept.spots, counts: make([]PartCounts, len(bySpot))}
		cut.partOf = func(s *keptSample) int { return time.of(s)*len(groups) + groupOf[s.label] }
		sum := 0
		for at, samples := range bySpot {
			cut.counts[at] = p.countParts(samples, cut.partOf)
			if sum += len(cut.counts[at]); sum > maxPartCounts {
				break
			}
		}
		if sum > maxPartCounts || cut.number(len(groups)) > maxProfileParts {
			continue // too fine
		}
		if len(cut.parts.List) < 2 {
			return nil
		}
		return cut
	}
	return nil
}

// countParts counts the samples of one spot, which are indexes of kept samples, by part.
func (p *partCutter) countParts(samples []int32, partOf func(*keptSample) int) PartCounts {
	var out PartCounts
	for _, i := range samples {
		s := &p.trial.kept.list[i]
		part := partOf(s)
		at, ok := slices.BinarySearchFunc(out, part, func(c PartCount, part int) int { return cmp.Compare(c.Part, part) })
		if !ok {
			out = slices.Insert(out, at, PartCount{part, make(tally.Counts, p.n)})
		}
		out[at].Counts[s.counter]++
	}
	return out
}

// timeCuts returns the ways to cut the time, the finest first. It leaves out those that have more slices than there
// may be parts.
func (p *partCutter) timeCuts() []timeCut {
	pids := p.trial.PIDs
	lo, hi := int64(math.MaxInt64), int64(-1)
	for i := range p.trial.kept.list {
		if mono := p.trial.kept.list[i].mono; mono >= 0 {
			lo, hi = min(lo, mono), max(hi, mono+1)
		}
	}
	var all []timeCut
	if p.trial.Name != "" && len(p.trial.Windows) > 0 {
		all = append(all, p.benchmarkCut())
	} else if lo < hi {
		for n := timeSlices; n > 1; n /= 2 {
			all = append(all, evenCut(pids, n, lo, hi))
		}
	}
	all = append(all, evenCut(pids, 1, min(lo, hi), hi), evenCut(pids[:min(len(pids), 1)], 1, min(lo, hi), hi))
	return slices.DeleteFunc(all, func(c timeCut) bool { return len(c.slices) > maxProfileParts })
}

// evenCut cuts the time from lo to hi into n equal slices for each process.
func evenCut(pids []int, n int, lo, hi int64) timeCut {
	c := timeCut{of: func(s *keptSample) int {
		first := 0
		if len(pids) > 1 {
			first = int(s.jvm) * n
		}
		if n == 1 || s.mono < lo {
			return first
		}
		return first + min(int(float64(s.mono-lo)/float64(hi-lo)*float64(n)), n-1)
	}}
	for _, pid := range pids {
		for i := range int64(n) {
			step := (hi - lo) / int64(n)
			slice := TimeSlice{PID: pid, Span: capture.Span{FromMonoNanos: lo + i*step, ToMonoNanos: lo + (i+1)*step}}
			if i == int64(n)-1 {
				slice.ToMonoNanos = hi
			}
			c.slices = append(c.slices, slice)
		}
	}
	return c
}

// benchmarkCut returns the slices of a benchmark, which are those of Profile.Slices.
func (p *partCutter) benchmarkCut() timeCut {
	c := timeCut{of: func(s *keptSample) int {
		process := p.processes[p.trial.PIDs[s.jvm]]
		if process == nil {
			return 0
		}
		_, slice, _ := process.Find(s.mono)
		return slice
	}}
	for _, pid := range p.trial.PIDs {
		for i := range int64(windows.SlicesPerJVM) {
			c.slices = append(c.slices, TimeSlice{pid, p.slice(pid, i)})
		}
	}
	return c
}

// slice returns the time of slice i of a JVM of a benchmark.
func (p *partCutter) slice(pid int, i int64) capture.Span {
	if process := p.processes[pid]; process != nil {
		return process.Slice(p.trial.Name, i)
	}
	return capture.Span{FromMonoNanos: -1}
}

// threadGroups returns the groups of threads, and the index of the group of each label. Each of the hottest labels has
// a group of its own; the others of each kind of threads share one.
func (p *partCutter) threadGroups() (groups []ThreadGroup, of map[int32]int) {
	total := map[int32]int64{}
	for i := range p.trial.kept.list {
		total[p.trial.kept.list[i].label]++
	}
	labels := slices.SortedFunc(maps.Keys(total), func(a, b int32) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(p.threads.Label(a), p.threads.Label(b)))
	})
	of = make(map[int32]int, len(labels))
	for i, label := range labels {
		g := ThreadGroup{Kind: p.threads.Kind(label)}
		if i < namedThreads {
			g.Name = p.threads.Label(label)
		}
		at := slices.Index(groups, g)
		if at < 0 {
			at = len(groups)
			groups = append(groups, g)
		}
		of[label] = at
	}
	return groups, of
}
