package report

import (
	"strconv"

	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/wall"
)

// The maximum lengths of the lists in the JSON report.
const (
	mostWaitPools   = 5_000
	mostWaitThreads = 20_000
	mostWaitPlaces  = 5_000
	mostHolders     = 1_000
)

// waitsTable converts the table of how threads spent wall-clock time. It returns nil if that was not recorded.
func (p jsonProfile) waitsTable() *schema.Waits {
	w := p.Waits
	if w == nil {
		return nil
	}
	a := &w.Account
	out := &schema.Waits{JVMs: each(w.JVMs, waitsJVM), States: stateTimes(&w.Times), IdleThreads: w.Idle.Threads,
		IdleNS: w.Idle.Nanos, QueuedNS: w.Idle.Queued,
		Account: schema.WaitsAccount{TotalNS: a.Total, OutsideWindowNS: a.OutsideWindow, OtherThreadNS: a.OtherThread,
			OutsideMethodNS: a.OutsideMethod, NotUnderNS: a.NotUnder, ProfiledNS: a.Profiled},
		Pools: each(w.Pools[:min(len(w.Pools), mostWaitPools)], func(p *waits.Pool) schema.WaitsPool {
			return schema.WaitsPool{Name: p.Name, Kind: p.Kind, Threads: p.Threads, Idle: p.Idle, States: stateTimes(&p.Times),
				QueuedNS: p.Queued}
		}),
		Threads: each(w.Threads[:min(len(w.Threads), mostWaitThreads)], func(t *waits.Thread) schema.WaitsThread {
			return schema.WaitsThread{PID: t.PID, TID: t.TID, Name: t.Name, Pool: t.Pool, JavaID: t.JavaID, Idle: t.Idle,
				States: stateTimes(&t.Times)}
		}),
		Places:    each(w.Places[:min(len(w.Places), mostWaitPlaces)], p.waitPlace),
		Holders:   each(w.Holders[:min(len(w.Holders), mostHolders)], p.holder),
		Deadlocks: each(w.Deadlocks, p.deadlock),
		Virtual: each(w.Virtual, func(v *waits.VirtualPlace) schema.VirtualWaits {
			return schema.VirtualWaits{State: v.State.String(), At: p.site(v.Frame), For: v.For, Mean: v.Mean, Most: v.Most}
		}),
	}
	if v := &w.VirtualSum; v.Counts > 0 {
		out.VirtualCounts = &schema.VirtualCounts{Counts: v.Counts, Moved: v.Moved, Threads: v.Threads, Looked: v.Looked,
			Mounted: v.Mounted, Unread: v.Unread, Untracked: v.Untracked}
	}
	for i := range out.Places[:min(len(out.Places), mostSiteTrees)] {
		out.Places[i].Callers = p.callers(w.Places[i].Stacks,
			func(c *schema.SiteCaller, nanos int64) { c.TotalMS = float64(nanos) / 1e6 })
	}
	for i := range out.Holders {
		if out.Holders[i].Next >= len(out.Holders) {
			out.Holders[i].Next = -1
		}
	}
	left := schema.WaitsLeftOut{Pools: len(w.Pools) - len(out.Pools), Threads: len(w.Threads) - len(out.Threads),
		Places: len(w.Places) - len(out.Places), Holders: len(w.Holders) - len(out.Holders)}
	if left != (schema.WaitsLeftOut{}) {
		out.LeftOut = &left
	}
	return out
}

func waitsJVM(j *waits.JVM) schema.WaitsJVM {
	out := schema.WaitsJVM{PID: j.PID, Hertz: j.Hertz, FromNS: j.FromMonoNanos, ToNS: j.ToMonoNanos, CutOff: j.End == nil}
	if e := j.End; e != nil {
		out.Looks, out.Moved, out.Unread, out.LeftOut, out.ClampedNS = e.Looks, e.Moved, e.Unread, e.Left, e.Clamped
		out.Unrecorded, out.Reopened, out.Full, out.BPFIterator = e.Unrecorded, e.Reopened, e.Full, e.Together
	}
	return out
}

// stateTimes converts times by state. States without time are left out.
func stateTimes(times *waits.Times) map[string]int64 {
	out := map[string]int64{}
	for _, s := range wall.States() {
		if times[s] > 0 {
			out[s.String()] = times[s]
		}
	}
	return out
}

func (p jsonProfile) waitPlace(w *waits.Place) schema.WaitPlace {
	return schema.WaitPlace{Pool: w.Pool, State: w.State.String(), At: p.site(w.Frame), For: w.For, Queue: w.Queue,
		Threads: w.Threads, Idle: w.Idle, NS: w.Nanos, IdleNS: w.IdleNanos}
}

func (p jsonProfile) holder(h *waits.Holder) schema.LockHolder {
	out := schema.LockHolder{PID: h.PID, Kind: string(h.Kind), Class: h.Class, Objects: h.Objects, Owner: h.Owner,
		TID: h.TID, TakenAt: p.site(h.Taken),
		Threads: h.Threads, AtOnce: h.Most, NS: h.Nanos, HeldNS: h.HeldNanos, Next: h.Next,
		Meanwhile: each(h.Meanwhile, func(m *waits.Meanwhile) schema.HolderDid {
			return schema.HolderDid{State: m.State.String(), At: p.site(m.Frame), For: m.For, NS: m.Nanos}
		})}
	if h.Objects == 1 {
		out.Address = strconv.FormatUint(h.Address, 16)
	}
	return out
}

func (p jsonProfile) deadlock(d *waits.Deadlock) schema.Deadlock {
	return schema.Deadlock{PID: d.PID, FromNS: d.FromMonoNanos, ToNS: d.ToMonoNanos,
		Threads: each(d.Threads, func(t *waits.Deadlocked) schema.Deadlocked {
			return schema.Deadlocked{TID: t.TID, Name: t.Name, State: t.State.String(), Class: t.Lock.Name(),
				Address: strconv.FormatUint(t.Lock.Address, 16), At: p.site(t.Frame)}
		})}
}
