package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/rings"
)

// A Probe has what a probed method has counted, in all JVMs of a profile, in or out of its windows.
type Probe struct {
	Kind       rings.SiteKind
	Method     string // java.util.HashMap::get
	Descriptor string // (Ljava/lang/Object;)Ljava/lang/Object;
	ProbeCounts
	// Histogram are the calls by how long they took, in the buckets of [rings.BucketRange].
	Histogram [rings.Buckets]int64
	Threads   []ProbeThread // those with the most time first
}

// ProbeCounts are the counts of a probed method. Of locks, Entries are those that were taken, and Returns those that were given back;
// of allocations, Entries are the objects.
type ProbeCounts struct {
	Entries, Returns, Throws int64
	// Nanos is the time in outermost calls; MaxNanos is how long the longest call took, outermost or not.
	Nanos, MaxNanos int64
}

// A ProbeThread is what a thread has of a Probe.
type ProbeThread struct {
	PID, TID int
	Name     string // as Java has it, up to 63 bytes
	ProbeCounts
}

func (c *ProbeCounts) add(o *rings.Calls) {
	c.Entries += o.Entries
	c.Returns += o.Returns
	c.Throws += o.Throws
	c.Nanos += o.Nanos
	c.MaxNanos = max(c.MaxNanos, o.MaxNanos)
}

// Percentile gives how long a share of the calls took at most, to a sixteenth: the end of the bucket that the call is in, but
// not more than the longest call. It is 0 without calls that have ended.
func (p *Probe) Percentile(share float64) int64 {
	var total int64
	for _, n := range p.Histogram {
		total += n
	}
	if total == 0 {
		return 0
	}
	left := max(1, int64(share*float64(total)+0.5))
	for i, n := range p.Histogram {
		if left -= n; left <= 0 {
			if i == rings.Buckets-1 {
				return p.MaxNanos
			}
			lo, hi := rings.BucketRange(i)
			return min((lo+hi)/2, p.MaxNanos)
		}
	}
	return p.MaxNanos
}

// probesOf sums up the probes of some JVMs: methods by the time in them, then locks and allocations by their counts.
func probesOf(all []capture.Probes, pids []int) []Probe {
	at := map[[4]string]int{}
	var probes []Probe
	for i := range all {
		of := &all[i]
		if !slices.Contains(pids, of.PID) {
			continue
		}
		places := map[int]int{} // of sites in probes
		for _, s := range of.Sites {
			if s.Kind == rings.SDT { // other tracers count these
				continue
			}
			key := [4]string{string(s.Kind), s.Class, s.Method, s.Descriptor}
			if _, ok := at[key]; !ok {
				at[key] = len(probes)
				probes = append(probes, Probe{Kind: s.Kind, Method: s.Name(), Descriptor: s.Descriptor})
			}
			places[s.ID] = at[key]
		}
		threads := map[int]rings.Ring{}
		for _, t := range of.Threads {
			threads[t.Slot] = t
		}
		for j := range of.Calls {
			c := &of.Calls[j]
			place, ok := places[c.Site]
			if !ok {
				continue
			}
			p := &probes[place]
			p.add(c)
			for k, n := range c.Histogram {
				p.Histogram[k] += n
			}
			t := threads[c.Slot]
			thread := ProbeThread{PID: of.PID, TID: t.TID, Name: t.Thread}
			thread.add(c)
			p.Threads = append(p.Threads, thread)
		}
	}
	for i := range probes {
		slices.SortStableFunc(probes[i].Threads, func(a, b ProbeThread) int {
			return cmp.Or(cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Entries, a.Entries))
		})
	}
	slices.SortStableFunc(probes, func(a, b Probe) int {
		return cmp.Or(-strings.Compare(string(a.Kind), string(b.Kind)), cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Entries, a.Entries), strings.Compare(a.Method, b.Method))
	})
	return probes
}
