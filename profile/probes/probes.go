// Package probes sums up what the probes in methods have counted: calls, and how long the calls took. The package does
// not use samples, because a probe counts every call.
package probes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/rings"
)

// A Probe holds the counts of one probed method in all JVMs of a profile. They include calls outside of the profile's
// windows, the times to which its samples are limited.
type Probe struct {
	Kind       rings.SiteKind
	Method     string // java.util.HashMap::get
	Descriptor string // (Ljava/lang/Object;)Ljava/lang/Object;
	Counts
	// Histogram counts the calls by how long they took, in the buckets of [rings.BucketRange].
	Histogram [rings.Buckets]int64
	Threads   []Thread // the thread with the most time first
}

// Counts are the counts of a probed method. For locks, Entries counts how often a lock was taken, and Returns counts
// how often a lock was released. For allocations, Entries counts the objects.
type Counts struct {
	Entries, Returns, Throws int64
	// Nanos is the time in outermost calls. MaxNanos is how long the longest call took, outermost or not.
	Nanos, MaxNanos int64
}

// A Thread holds one thread's part of a Probe's counts.
type Thread struct {
	PID, TID int
	Name     string // the thread's name in Java, up to 63 bytes
	Counts
}

func (c *Counts) add(o *rings.Calls) {
	c.Entries += o.Entries
	c.Returns += o.Returns
	c.Throws += o.Throws
	c.Nanos += o.Nanos
	c.MaxNanos = max(c.MaxNanos, o.MaxNanos)
}

// Percentile returns the time, in nanoseconds, that the given share of the calls (0 to 1) did not exceed. It returns
// the middle of a bucket of the histogram, so the time is accurate to one part in 32. If the longest call took less
// time, or if the bucket is the last one, which has no end, Percentile returns the time of the longest call. If no call
// has ended, it returns 0.
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

// Of sums up the probes of the given JVMs. Methods come first, then locks, then allocations. Within a kind, probes are
// sorted by time and then by count, highest first.
func Of(all []capture.Probes, pids []int) []Probe {
	at := map[[4]string]int{}
	var probes []Probe
	for i := range all {
		of := &all[i]
		if !slices.Contains(pids, of.PID) {
			continue
		}
		index := map[int]int{} // index in probes of each site, by the site's id
		for _, s := range of.Sites {
			if s.Kind == rings.SDT { // sites of this kind are for other tracers, which count the calls
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
		return cmp.Or(-strings.Compare(string(a.Kind), string(b.Kind)), cmp.Compare(b.Nanos, a.Nanos),
			cmp.Compare(b.Entries, a.Entries), strings.Compare(a.Method, b.Method))
	})
	return probes
}
