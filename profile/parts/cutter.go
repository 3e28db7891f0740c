package parts

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
)

const (
	// MaxParts is the maximum number of parts of a profile. A person has to choose parts from a list, so it must not be
	// too long.
	MaxParts = 64
	// maxCounts limits the number of Counts of all spots together. A spot is a place in the code. Each Count takes some
	// bytes in the HTML page.
	maxCounts = 40_000
	// namedThreads is the number of thread names that get a group of their own. They are the names with the most
	// samples.
	namedThreads = 8
	// timeSlices is the maximum number of time slices of a program without trials.
	timeSlices = 12
)

// A Sample is one sample of a profile.
type Sample struct {
	Spot      int32 // number of the sampled place in the code, from 0 to Cutter.Spots-1
	JVM       int32 // index of the process in the measurement's PIDs
	Label     int32 // number of the thread's name in the table of threads
	Counter   int32
	MonoNanos int64 // time of the sample; negative if it is unknown
}

// A Cutter cuts the samples of a measurement into parts, by time and by thread.
type Cutter struct {
	Measurement *windows.Measurement
	Samples     []Sample
	Spots       int                             // number of spots, which are places in the code
	Timeline    func(pid int) *windows.Timeline // returns nil for an unknown process
	Threads     *threads.Table
	Counters    int
}

// A Cut says how the samples of a profile are cut into parts.
type Cut struct {
	Slices  []TimeSlice
	Threads []ThreadGroup
	List    []Part   // the parts that have samples
	Spots   []Counts // the counts of each spot, by its number
	partOf  func(s *Sample) int
}

// PartOf returns which part a sample belongs to, as an index in c.List.
func (c *Cut) PartOf(s *Sample) int { return c.partOf(s) }

// A timeCut is one way to cut the time of a measurement into slices.
type timeCut struct {
	slices []TimeSlice
	of     func(s *Sample) int // returns the index in slices of the slice that a sample is in
}

// Cut cuts all samples into parts, as finely as MaxParts and maxCounts permit. If there would be fewer than two parts,
// it returns nil.
func (c *Cutter) Cut() *Cut {
	if len(c.Samples) == 0 {
		return nil
	}
	groups, groupOf := c.threadGroups()
	bySpot := make([][]int32, c.Spots) // indexes in Samples
	for i := range c.Samples {
		at := c.Samples[i].Spot
		bySpot[at] = append(bySpot[at], int32(i))
	}
	for _, time := range c.timeCuts() {
		cut := &Cut{Slices: time.slices, Threads: groups, Spots: make([]Counts, len(bySpot))}
		cut.partOf = func(s *Sample) int { return time.of(s)*len(groups) + groupOf[s.Label] }
		sum := 0
		for at, samples := range bySpot {
			cut.Spots[at] = c.countParts(samples, cut.partOf)
			if sum += len(cut.Spots[at]); sum > maxCounts {
				break
			}
		}
		if sum > maxCounts || cut.number(len(groups)) > MaxParts {
			continue // too fine
		}
		if len(cut.List) < 2 {
			return nil
		}
		return cut
	}
	return nil
}

// countParts counts the samples at one place in the code (spot) by part. samples are indexes in c.Samples.
func (c *Cutter) countParts(samples []int32, partOf func(*Sample) int) Counts {
	var out Counts
	for _, i := range samples {
		s := &c.Samples[i]
		out = out.Bump(partOf(s), int(s.Counter), c.Counters)
	}
	return out
}

// timeCuts returns several ways to cut the time, the finest one first. It leaves out ways that make more than MaxParts
// slices.
func (c *Cutter) timeCuts() []timeCut {
	pids := c.Measurement.PIDs
	lo, hi := int64(math.MaxInt64), int64(-1)
	for i := range c.Samples {
		if mono := c.Samples[i].MonoNanos; mono >= 0 {
			lo, hi = min(lo, mono), max(hi, mono+1)
		}
	}
	var all []timeCut
	if c.Measurement.Name != "" && len(c.Measurement.Windows) > 0 {
		all = append(all, c.benchmarkCut())
	} else if lo < hi {
		for n := timeSlices; n > 1; n /= 2 {
			all = append(all, evenCut(pids, n, lo, hi))
		}
	}
	all = append(all, evenCut(pids, 1, min(lo, hi), hi), evenCut(pids[:min(len(pids), 1)], 1, min(lo, hi), hi))
	return slices.DeleteFunc(all, func(t timeCut) bool { return len(t.slices) > MaxParts })
}

// evenCut cuts the time from lo to hi into n equal slices for each process.
func evenCut(pids []int, n int, lo, hi int64) timeCut {
	c := timeCut{of: func(s *Sample) int {
		first := 0
		if len(pids) > 1 {
			first = int(s.JVM) * n
		}
		if n == 1 || s.MonoNanos < lo {
			return first
		}
		return first + min(int(float64(s.MonoNanos-lo)/float64(hi-lo)*float64(n)), n-1)
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

// benchmarkCut cuts the time of a benchmark into the same slices as Profile.Slices.
func (c *Cutter) benchmarkCut() timeCut {
	cut := timeCut{of: func(s *Sample) int {
		line := c.Timeline(c.Measurement.PIDs[s.JVM])
		if line == nil {
			return 0
		}
		_, slice, _ := line.Find(s.MonoNanos)
		return slice
	}}
	for _, pid := range c.Measurement.PIDs {
		for i := range int64(windows.SlicesPerJVM) {
			cut.slices = append(cut.slices, TimeSlice{pid, c.slice(pid, i)})
		}
	}
	return cut
}

// slice returns the time of the i-th slice of a benchmark's JVM. FromMonoNanos is -1 if the process is unknown.
func (c *Cutter) slice(pid int, i int64) capture.Span {
	if line := c.Timeline(pid); line != nil {
		return line.Slice(c.Measurement.Name, i)
	}
	return capture.Span{FromMonoNanos: -1}
}

// threadGroups returns the groups of threads, and the index of each label's group. A label is the name of a thread. The
// namedThreads hottest labels have a group of their own. Among all other threads, those of the same kind share a group.
func (c *Cutter) threadGroups() (groups []ThreadGroup, of map[int32]int) {
	total := map[int32]int64{}
	for i := range c.Samples {
		total[c.Samples[i].Label]++
	}
	labels := slices.SortedFunc(maps.Keys(total), func(a, b int32) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(c.Threads.Label(a), c.Threads.Label(b)))
	})
	of = make(map[int32]int, len(labels))
	for i, label := range labels {
		g := ThreadGroup{Kind: c.Threads.Kind(label)}
		if i < namedThreads {
			g.Name = c.Threads.Label(label)
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

// number renumbers the parts. Before the call, every combination of a slice and a thread group is a part, with the
// number slice*groups+thread. Afterwards only combinations with samples are parts. The number of a part is then its
// index in c.List, which is filled by this call. The result is the length of c.List.
func (c *Cut) number(groups int) int {
	used := map[int]int{}
	for _, counts := range c.Spots {
		for i := range counts {
			used[counts[i].Part] = 0
		}
	}
	for i, part := range slices.Sorted(maps.Keys(used)) {
		used[part] = i
		c.List = append(c.List, Part{part / groups, part % groups})
	}
	for _, counts := range c.Spots {
		for i := range counts {
			counts[i].Part = used[counts[i].Part]
		}
	}
	raw := c.partOf
	c.partOf = func(s *Sample) int { return used[raw(s)] }
	return len(used)
}
