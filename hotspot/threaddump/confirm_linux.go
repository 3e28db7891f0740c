package threaddump

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// confirmTime limits how long the threads of deadlocks are read again, until none of them runs. Threads in a deadlock
// do run sometimes: HotSpot wakes some of the threads that wait for a monitor once a second.
const confirmTime = 250 * time.Millisecond

// confirmed returns the deadlocks that really exist. Others only seem to exist, because stacks and owners of locks are
// read at different times: after its stack was read, a thread may have got the lock that it waited for, and may have
// taken another one before the owners were read.
func (r *reader) confirmed(all []Deadlock) (confirmed []Deadlock) {
	until := time.Now().Add(confirmTime)
	for _, d := range all {
		if r.confirm(d, until) {
			confirmed = append(confirmed, d)
		}
	}
	return confirmed
}

// confirm reports whether the threads of a deadlock wait for each other while none of them runs.
func (r *reader) confirm(d Deadlock, until time.Time) bool {
	for {
		before, still := r.standstill(d)
		if still && r.stillWait(d) {
			if after, still := r.standstill(d); still && slices.Equal(before, after) {
				return true
			}
		}
		if time.Now().After(until) {
			return false
		}
		time.Sleep(attemptPause)
	}
}

// standstill returns how often each thread of a deadlock has been scheduled, and in which system call it is. ok is
// false if one of them runs.
func (r *reader) standstill(d Deadlock) (each []string, ok bool) {
	for _, i := range d {
		c := &r.captures[i]
		before := r.runs(c)
		text := r.text(c, "syscall")
		if after := r.runs(c); !before.Known || after.Count != before.Count || !parseCall(text).known {
			return nil, false
		}
		each = append(each, fmt.Sprintf("%d %s", before.Count, text))
	}
	return each, true
}

// stillWait reads the threads of a deadlock again. It reports whether each thread still waits for the same lock, and
// whether the next thread in the cycle still has that lock.
func (r *reader) stillWait(d Deadlock) bool {
	l := r.capturer.layout
	r.owners, r.byObject, r.byJava = newOwners(), map[uint64]int{}, map[uint64]int{}
	for _, i := range d {
		c, t := &r.captures[i], &r.dump.Threads[i]
		fields, err := r.view.VM.Read(nil, c.java, l.javaThread)
		if err != nil || le64(fields, l.pending.At) != le64(c.fields, l.pending.At) {
			return false
		}
		if c.object, err = r.names.Object(c.java); err != nil {
			return false
		}
		if v := t.Virtual; v != nil {
			if now := r.readVirtual(le64(fields, l.vthread.At), c.object, r.names); now == nil || now.ID != v.ID {
				return false
			}
		}
		c.fields = fields
		r.noteOwner(i)
	}
	r.owners.sort()
	for n, i := range d {
		if r.holder(i) != d[(n+1)%len(d)] {
			return false
		}
	}
	return true
}

// holder returns the index of the thread that has the lock for which a thread waits, or -1.
func (r *reader) holder(thread int) int {
	c := &r.captures[thread]
	if c.wanted != 0 {
		monitor := le64(c.fields, r.capturer.layout.pending.At)
		return r.owner(monitor, r.monitorObject(monitor))
	}
	if !strings.HasSuffix(r.readThread(c.object).State, "(parking)") {
		return -1
	}
	if _, holder := r.parkedFor(c); holder != 0 {
		if i, known := r.byObject[holder]; known {
			return i
		}
	}
	return -1
}
