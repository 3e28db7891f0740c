package wallclock

import (
	"math/rand/v2"

	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/hotspot/wallclock/runcounts"
)

// manyThreads is the minimum number of threads for asking all of them together, with a BPF iterator, if the kernel
// allows that. Creating the iterator takes as long as asking about ten thousand threads one by one.
const manyThreads = 500

// chooseWay decides whether all threads are asked together.
func (r *Recorder) chooseWay() {
	if len(r.threads) < r.many {
		return
	}
	r.many = 1 << 30 // try only once
	c, err := runcounts.Open(r.pid)
	if err == nil {
		r.counts, r.together = c, true
	}
}

// askTogether asks all threads together how often they have run, if that is due, and stores the answers in the field
// told. It reports whether it has asked them.
func (r *Recorder) askTogether(now int64) bool {
	if r.counts == nil || now < r.due {
		return false
	}
	pause := max(r.budget.pause(len(r.threads)), 0)
	if r.due = 0; pause > r.period() {
		r.due = now + int64((0.5+rand.Float64())*float64(pause))
	}
	var err error
	if r.counted, err = r.counts.Read(r.counted[:0]); err != nil || len(r.counted) == 0 {
		r.counts.Close()
		r.counts = nil
		return false
	}
	i := 0
	for _, t := range r.threads { // both are sorted by id
		for i < len(r.counted) && r.counted[i].TID < t.known.TID {
			i++
		}
		t.told = threaddump.Runs{}
		if i < len(r.counted) && r.counted[i].TID == t.known.TID {
			c := &r.counted[i]
			t.told = threaddump.Runs{Known: c.Count > 0, Count: c.Count, Ran: c.Ran, Delay: c.Delay}
			if t.phase == blocked {
				t.known.Told(t.told)
			}
		}
	}
	return true
}
