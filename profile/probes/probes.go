// Package probes sums up what probed methods have counted: calls, and how long they took. It knows nothing of samples,
// because a probe counts every call.
package probes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/rings"
)

// A Probe holds what a probed method has counted, in all JVMs of a profile, in or out of its windows.
type Probe struct {
	Kind       rings.SiteKind
	Method     string // java.util.HashMap::get
	Descriptor string // (Ljava/lang/Object;)Ljava/lang/Object;
	Counts
	// Histogram counts the calls by how long they took, in the buckets of [rings.BucketRange].
	Histogram [rings.Buckets]int64
	Threads   []Thread // the thread with the most time first
}

// Counts are the counts of a probed method. For locks, Entries counts how often one was taken, and Returns how
// often one was given back. For allocations, Entries counts the objects.
type Counts struct {
	Entries, Returns, Throws int64
	// Nanos is the time in outermost calls. MaxNanos is how long the longest call took, outermost or not.
	Nanos, MaxNanos int64
}

// A Thread is the part of a Probe that one thread has.
type Thread struct {
	PID, TID int
	Name     string // as Java has it, up to 63 bytes
	Counts
}

func (c *Counts) add(o *rings.Calls) {
	c.Entries += o.Entries
	c.Returns += o.Returns
	c.Throws += o.Throws
	c.Nanos += o.Nanos
	c.MaxNanos = max(c.MaxNanos, o.MaxNanos)
}

// Percentile returns how long a share of the calls (0 to 1) took at most. It is accurate to a thirty-second: it is the
// middle of the bucket that the call is in, but at most the time of the longest call. In the last bucket, which has no
// end, it is the time of the longest call. Without calls that have ended it is 0.
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

// Of sums up the probes of some JVMs. Methods come first, those with the most time first, then locks and
// allocations, those with the highest counts first.
func Of(all []capture.Probes, pids []int) []Probe {
	at := map[[4]string]int{}
	var probes []Probe
	for i := range all {
		of := &all[i]
		if !slices.Contains(pids, of.PID) {
			continue
		}
		index := map[int]int{} // by the site's id: its index in probes
		for _, s := range of.Sites {
			if s.Kind == rings.SDT { // other tracers count them
				continue
			}
			key := [4]string{string(s.Kind), s.Class, s.Method, s.Descriptor}
			if _, ok := at[key]; !ok {
				at[key] = len(probes)
				probes = append(probes, Probe{Kind: s.Kind, Method: s.Name(), Descriptor: s.Descriptor})
			}
			index[s.ID] = at[key]
		}
		threads := map[int]rings.Ring{}
		for _, t := range of.Threads {
			threads[t.Slot] = t
		}
		for j := range of.Calls {
			c := &of.Calls[j]
			probe, ok := index[c.Site]
			if !ok {
				continue
			}
			p := &probes[probe]
			p.add(c)
			for k, n := range c.Histogram {
				p.Histogram[k] += n
			}
			t := threads[c.Slot]
			thread := Thread{PID: of.PID, TID: t.TID, Name: t.Thread}
			thread.add(c)
			p.Threads = append(p.Threads, thread)
		}
	}
	for i := range probes {
		slices.SortStableFunc(probes[i].Threads, func(a, b Thread) int {
			return cmp.Or(cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Entries, a.Entries))
		})
	}
	slices.SortStableFunc(probes, func(a, b Probe) int {
		return cmp.Or(-strings.Compare(string(a.Kind), string(b.Kind)), cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Entries, a.Entries), strings.Compare(a.Method, b.Method))
	})
	return probes
}
