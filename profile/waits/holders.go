package waits

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/wall"
)

// A Lock is an object that threads waited for while it had a certain owner. With another owner, it is another Lock.
type Lock struct {
	PID     int
	Kind    wall.LockKind
	Class   string
	Of      string // the class that the object represents if it is a java.lang.Class, or else ""
	Address uint64 // the object's address when it was read
	// Owner is the Counter's index of the owning thread; -1 if the owner is not known, or if there was none.
	Owner int
	Taken callstack.ID // the stack where the owner got the lock; 0 if that is not known
}

// Name returns the class of the lock: "com.acme.Pool", or "class com.acme.Pool" for a java.lang.Class.
func (l *Lock) Name() string {
	if l.Of != "" {
		return "class " + l.Of
	}
	return l.Class
}

// OwnerOf returns the name of the thread that owns a lock, or "" if it is not known.
func (t *Table) OwnerOf(l *Lock) string {
	if l.Owner < 0 {
		return ""
	}
	return t.owners[l.Owner].name
}

// A Holder is a thread that had a lock for which other threads waited. If the thread got several locks of one class in
// the same method, they share one Holder.
type Holder struct {
	PID     int
	Kind    wall.LockKind
	Class   string // Lock.Name
	Address uint64 // the lock's address; 0 if there are several locks
	Objects int    // number of different addresses; objects move, so one lock may have had several
	Owner   string // the name of the lock's owner
	TID     int
	// Taken is the frame in which the owner got the lock. If the owner got it at several lines, it is the line that
	// caused the longest waits. Taken has no Method if it is not known.
	Taken event.Frame
	// Threads is how many threads waited, and Most is the largest number of them that waited at once.
	Threads, Most int
	Nanos         int64 // how long all these threads waited, together
	// HeldNanos is the time during which at least one of them waited. Meanwhile lists what the owner did in that time,
	// longest first.
	HeldNanos int64
	Meanwhile []Meanwhile
	// Next is the index of the Holder for which this one's owner waited longest; -1 if it waited for none.
	Next int
}

// A Meanwhile is what the owner of a lock did while others waited for the lock.
type Meanwhile struct {
	State wall.State
	Frame event.Frame // where the owner was; without Method if that is not known
	For   string
	Nanos int64
}

// A holderKey identifies a Holder.
type holderKey struct {
	owner int
	kind  wall.LockKind
	class string
	taken string // the name of the method in which the owner got the lock
}

// mostMeanwhile is the number of Holders for which Most, HeldNanos, Meanwhile and Next are determined. These are the
// Holders with the longest waits.
const mostMeanwhile = 1000

// A holding is a Holder under construction.
type holding struct {
	Holder
	key       holderKey
	addresses map[uint64]bool
	waiters   map[int32]bool
	lines     map[event.Frame]int64 // for how long threads waited, in ns, by the line of Taken
	spans     []capture.Span
}

// addHolders finds the owners of locks that threads waited for.
func (b *builder) addHolders(cells []counted) {
	all := map[holderKey]*holding{}
	byLock := map[int32]*holding{}
	for i := range cells {
		c := &cells[i]
		h := b.holding(c, all, byLock)
		if h == nil {
			continue
		}
		h.Nanos += c.nanos
		h.waiters[c.thread] = true
		h.addresses[b.Locks[c.lock-1].Address] = true
		h.lines[b.takenAt(&b.Locks[c.lock-1])] += c.nanos
	}
	for i := range b.Threads {
		for _, s := range b.Threads[i].Spans {
			if h := byLock[s.Lock]; h != nil && Waits(s.State) {
				h.spans = append(h.spans, s.Span)
			}
		}
	}
	list := make([]*holding, 0, len(all))
	for _, h := range all {
		h.Threads, h.Objects = len(h.waiters), len(h.addresses)
		var longest int64
		for at, n := range h.lines {
			if n > longest || n == longest && compareFrames(at, h.Taken) < 0 {
				h.Taken, longest = at, n
			}
		}
		if h.Objects == 1 {
			for a := range h.addresses {
				h.Address = a
			}
		}
		list = append(list, h)
	}
	slices.SortFunc(list, func(x, y *holding) int {
		return cmp.Or(cmp.Compare(y.Nanos, x.Nanos), cmp.Compare(x.Class, y.Class), cmp.Compare(x.key.owner, y.key.owner),
			compareFrames(x.Taken, y.Taken), cmp.Compare(x.Kind, y.Kind))
	})
	index := map[*holding]int{}
	for i, h := range list {
		index[h] = i
	}
	for _, h := range list[:min(len(list), mostMeanwhile)] {
		b.addMeanwhile(h, byLock, index)
	}
	for _, h := range list {
		b.Holders = append(b.Holders, h.Holder)
	}
}

// holding returns the Holder for which a cell's thread waited, or nil if the cell has no lock with a known owner.
func (b *builder) holding(c *counted, all map[holderKey]*holding, byLock map[int32]*holding) *holding {
	if c.lock == 0 || !Waits(c.state) {
		return nil
	}
	if h, known := byLock[c.lock]; known {
		return h
	}
	l := &b.Locks[c.lock-1]
	if l.Owner < 0 || l.Owner == int(c.thread) {
		return nil
	}
	key := holderKey{l.Owner, l.Kind, l.Name(), b.takenAt(l).Method}
	h := all[key]
	if h == nil {
		owner := &b.Counter.threads[l.Owner]
		h = &holding{Holder: Holder{PID: owner.pid, Kind: l.Kind, Class: l.Name(), Owner: owner.name, TID: owner.tid,
			Next: -1}, key: key,
			addresses: map[uint64]bool{}, waiters: map[int32]bool{}, lines: map[event.Frame]int64{}}
		all[key] = h
	}
	byLock[c.lock] = h
	return h
}

func compareFrames(x, y event.Frame) int {
	return cmp.Or(cmp.Compare(x.Method, y.Method), cmp.Compare(x.Line, y.Line), cmp.Compare(x.BCI, y.BCI))
}

// takenAt returns the frame in which the lock's owner got the lock.
func (b *builder) takenAt(l *Lock) event.Frame { return byLine(b.places.frame(l.Taken, wall.Monitor)) }

// addMeanwhile determines how many threads waited at once, and what the owner did meanwhile.
func (b *builder) addMeanwhile(h *holding, byLock map[int32]*holding, index map[*holding]int) {
	var joined []capture.Span
	joined, h.Most = overlaps(h.spans)
	type did struct {
		state wall.State
		frame event.Frame
		about string
	}
	times, next := map[did]int64{}, map[*holding]int64{}
	var owned []Span
	if i, ok := b.of[int32(h.key.owner)]; ok {
		owned = b.Threads[i].Spans
	}
	for _, w := range joined {
		h.HeldNanos += length64(w)
		first := sort.Search(len(owned), func(i int) bool { return owned[i].ToMonoNanos > w.FromMonoNanos })
		for i := first; i < len(owned) && owned[i].FromMonoNanos < w.ToMonoNanos; i++ {
			s := &owned[i]
			n := min(s.ToMonoNanos, w.ToMonoNanos) - max(s.FromMonoNanos, w.FromMonoNanos)
			times[did{s.State, byLine(b.places.frame(s.Stack, s.State)), b.about(s.Lock, s.Detail)}] += n
			if to := byLock[s.Lock]; to != nil && to != h && Waits(s.State) {
				next[to] += n
			}
		}
	}
	for at, n := range times {
		h.Meanwhile = append(h.Meanwhile, Meanwhile{at.state, at.frame, at.about, n})
	}
	slices.SortFunc(h.Meanwhile, func(x, y Meanwhile) int {
		return cmp.Or(cmp.Compare(y.Nanos, x.Nanos), cmp.Compare(x.State, y.State), compareFrames(x.Frame, y.Frame),
			cmp.Compare(x.For, y.For))
	})
	const most = 20
	h.Meanwhile = h.Meanwhile[:min(len(h.Meanwhile), most)]
	var longest int64
	for to, n := range next {
		if n > longest || n == longest && index[to] < h.Next {
			h.Next, longest = index[to], n
		}
	}
}

// overlaps joins overlapping spans. The result most is the largest number of spans at one moment. The function sorts
// its argument.
func overlaps(spans []capture.Span) (joined []capture.Span, most int) {
	slices.SortFunc(spans, func(a, b capture.Span) int { return cmp.Compare(a.FromMonoNanos, b.FromMonoNanos) })
	ends := make([]int64, len(spans))
	for i, s := range spans {
		ends[i] = s.ToMonoNanos
		if n := len(joined); n > 0 && s.FromMonoNanos <= joined[n-1].ToMonoNanos {
			joined[n-1].ToMonoNanos = max(joined[n-1].ToMonoNanos, s.ToMonoNanos)
		} else {
			joined = append(joined, s)
		}
	}
	slices.Sort(ends)
	over := 0
	for i, s := range spans {
		for ends[over] <= s.FromMonoNanos {
			over++
		}
		most = max(most, i+1-over)
	}
	return joined, most
}

// Chain returns the indexes of a holder, of the one that it waited for, and so on. If they wait in a circle, the chain
// ends before the first one that is already in it.
func (t *Table) Chain(holder int) (chain []int) {
	for holder >= 0 && !slices.Contains(chain, holder) {
		chain = append(chain, holder)
		holder = t.Holders[holder].Next
	}
	return chain
}

// Text returns a lock with its address: "com.acme.Pool@7f0010", or "3 × com.acme.Pool" for several objects.
func (h *Holder) Text() string {
	if h.Objects > 1 {
		return fmt.Sprintf("%d × %s", h.Objects, h.Class)
	}
	return fmt.Sprintf("%s@%x", h.Class, h.Address)
}
