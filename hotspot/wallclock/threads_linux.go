package wallclock

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/wall"
)

// renew reads the names of threads again, and writes those that have changed.
func (r *Recorder) renew(threads []*thread, now int64) {
	if len(threads) == 0 {
		return
	}
	known, before := make([]*threaddump.Known, len(threads)), make([]threaddump.Known, len(threads))
	for i, t := range threads {
		known[i], before[i] = t.known, *t.known
	}
	r.looker.Renew(known...)
	for i, t := range threads {
		t.renewed = now
		if t.known.Java != 0 {
			r.byNID[t.known.NID] = t
		}
		if !t.written || t.known.Name != before[i].Name || t.known.ID != before[i].ID {
			t.written = true
			r.writeThread(t)
		}
	}
}

func (r *Recorder) writeThread(t *thread) {
	k := t.known
	r.out.Thread(&wall.Thread{Number: t.number, TID: k.TID, NID: k.NID, JavaID: k.ID, BornMonoNanos: t.met, Name: k.Name})
}

// youth is how long after its start a thread may still become a Java thread: HotSpot adds a thread to the list of Java
// threads only after it has been scheduled.
const youth = int64(3 * time.Second)

// list lists the threads. It begins to record new threads, and ends the accounts of those that are gone. It returns an
// error if no thread can be read.
func (r *Recorder) list(now int64) error {
	r.listed = now
	tids := r.looker.Threads()
	slices.Sort(tids)
	r.more = max(r.more, len(tids)-r.most)
	tids = tids[:min(len(tids), r.most)]
	isNew := func(tid int) bool { return r.byTID[tid] == nil }
	isYoung := func(t *thread) bool { return t.known.Java == 0 && now-t.met < youth }
	if err := r.looker.ReadJavaThreads(); err != nil && len(r.threads) == 0 { // otherwise the next list tries again
		return err
	}
	var changed []*thread // the threads whose names may have changed
	for _, t := range slices.Clone(r.threads) {
		if _, there := slices.BinarySearch(tids, t.known.TID); !there {
			r.ended(t, now)
		} else if isYoung(t) || r.looker.Outdated(t.known) {
			changed = append(changed, t)
		}
	}
	var failed error
	for _, tid := range tids {
		if isNew(tid) {
			t, err := r.meet(tid)
			if err == nil {
				changed = append(changed, t)
			} else if !errors.Is(err, threaddump.ErrEnded) {
				failed = err
			}
		}
	}
	r.renew(changed, now)
	r.again = slices.ContainsFunc(r.threads, isYoung)
	slices.SortFunc(r.threads, func(a, b *thread) int { return cmp.Compare(a.known.TID, b.known.TID) })
	if len(r.threads) == 0 {
		return failed
	}
	return nil
}

// meet begins to record a thread. Its name is not read yet.
func (r *Recorder) meet(tid int) (*thread, error) {
	known, runs, err := r.looker.Meet(tid)
	if err != nil {
		return nil, err
	}
	now := monotonic.Nanos()
	r.result.Threads++
	t := &thread{number: r.result.Threads, known: known, met: now, renewed: now}
	t.life = life{thread: t.number, write: r.out.Spell, at: now, runs: runs}
	r.threads = append(r.threads, t)
	r.byTID[tid] = t
	if !known.Kept() {
		r.reopened++
	}
	return t, nil
}

// ended writes the end of a thread that is gone.
func (r *Recorder) ended(t *thread, now int64) {
	t.unseen(threaddump.Runs{}, now, "")
	t.end()
	r.out.Ended(wall.Ended{Thread: t.number, MonoNanos: max(now, t.at)})
	r.clamped += t.clamped()
	r.looker.Forget(t.known)
	delete(r.byTID, t.known.TID)
	if r.byNID[t.known.NID] == t {
		delete(r.byNID, t.known.NID)
	}
	r.again = true
	r.threads = slices.DeleteFunc(r.threads, func(o *thread) bool { return o == t })
}
