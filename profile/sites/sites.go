// Package sites counts the locks that threads waited for, and the allocations, by their places in the program.
package sites

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
)

// A Lock is a place in the program at which threads waited for a lock that another thread had.
type Lock struct {
	Frame event.Frame // where threads waited; without Method if the recording has no stacks
	Class string      // of the lock
	Owner string      // name of the thread that most often held the lock during a wait, without its number
	Count int
	// Nanos is the sum of all waits, and LongestNanos the longest wait.
	Nanos, LongestNanos int64
	owners              map[string]int
}

// An Alloc is a place in the program that allocates.
type Alloc struct {
	Frame  event.Frame // without Method if the recording has no stacks
	Class  string
	Events int   // how many events were recorded: one for each allocation, or for a sample of the allocations
	Bytes  int64 // how many bytes the events stand for
	// Code is the instruction that allocates; nil if the events do not have it.
	Code *AllocCode
}

// An AllocCode is a call instruction that allocates. It ends at the return address that the event has.
type AllocCode struct {
	Source, Method string // Method may also be the name of a stub or codelet
	CompileID      int    // 0 for code that is not compiled
	PC             uint64
	Text           string // "" if the code is not in the capture
}

// A Counter sums up the events of a profile by their places. The zero Counter is empty.
type Counter struct {
	locks  map[lockKey]*Lock
	allocs map[allocKey]*Alloc
}

// Counts reports whether a Counter counts events of this kind and name. It counts those that are about the program's own
// locks and allocations.
func Counts(e *event.Event) bool {
	return !e.OfRecorder() && (e.Kind == event.Alloc || e.Kind == event.Lock || e.Kind == event.Park && isLock(e.Name))
}

// Add counts an event for which [Counts] is true. rule chooses the frame that names its place. Of an allocation, code is
// the code that it was in, and pc the address after its instruction, or 0 if that is unknown.
func (t *Counter) Add(e *event.Event, rule event.SiteRule, code jvmcode.Ref, pc uint64) {
	site := rule.Site(e)
	if e.Kind == event.Alloc {
		t.addAllocation(e, site, allocKey{byLine(site), e.Name, code, pc})
		return
	}
	t.addLock(e, site)
}

// A lockKey tells lock sites apart.
type lockKey struct {
	frame event.Frame
	class string
}

// An allocKey tells allocation sites apart.
type allocKey struct {
	frame event.Frame
	class string
	code  jvmcode.Ref // the code that pc is in
	pc    uint64      // the address after the instruction; 0 if it is unknown
}

// maxOwners limits the number of threads whose waits are counted separately for a lock.
const maxOwners = 10

// maxSites limits the number of lock sites, and also the number of allocation sites. Events at further places count
// only in the totals.
const maxSites = 1 << 16

// isLock reports whether a thread that parks on an object of this class is waiting for a lock of java.util.concurrent.
func isLock(class string) bool {
	return strings.HasPrefix(class, "java.util.concurrent.locks.Reentrant")
}

// byLine returns a frame without its bytecode index if its line is known. All events of a line are summed up together,
// because HotSpot may report a lock at the bytecode after the one that takes it.
func byLine(f event.Frame) event.Frame {
	if f.Line > 0 {
		f.BCI = 0
	}
	return f
}

// addLock counts an event for the lock at its site.
func (t *Counter) addLock(e *event.Event, site event.Frame) {
	key := lockKey{byLine(site), e.Name}
	s := t.locks[key]
	if s == nil {
		if len(t.locks) >= maxSites {
			return
		}
		if t.locks == nil {
			t.locks = map[lockKey]*Lock{}
		}
		s = &Lock{Frame: site, Class: key.class, owners: map[string]int{}}
		t.locks[key] = s
	}
	s.Count++
	s.Nanos += e.Nanos
	s.LongestNanos = max(s.LongestNanos, e.Nanos)
	owner := strings.TrimRight(e.Arg("previousOwner"), "0123456789")
	if _, ok := s.owners[owner]; owner != "" && (ok || len(s.owners) < maxOwners) {
		s.owners[owner]++
	}
}

func (t *Counter) addAllocation(e *event.Event, site event.Frame, key allocKey) {
	s := t.allocs[key]
	if s == nil {
		if len(t.allocs) >= maxSites {
			return
		}
		if t.allocs == nil {
			t.allocs = map[allocKey]*Alloc{}
		}
		s = &Alloc{Frame: site, Class: key.class}
		t.allocs[key] = s
	}
	s.Events += e.Times()
	s.Bytes += min(e.Bytes, maxBytes-min(s.Bytes, maxBytes))
}

// maxBytes limits the sum of bytes, because it could otherwise overflow in a damaged capture.
const maxBytes = 1 << 60

// Locks returns the places at which threads waited, those with the longest time first.
func (t *Counter) Locks() []Lock {
	sites := make([]Lock, 0, len(t.locks))
	for _, s := range t.locks {
		site := *s
		for owner, n := range s.owners {
			if best := s.owners[site.Owner]; n > best || n == best && owner < site.Owner {
				site.Owner = owner
			}
		}
		site.owners = nil
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Count, a.Count), compareFrames(a.Frame, b.Frame), cmp.Compare(a.Class, b.Class))
	})
	return sites
}

// Allocs returns the places that allocate, those that allocate most first.
func (t *Counter) Allocs(code *jvmcode.Reader, rule event.SiteRule) []Alloc {
	sites := make([]Alloc, 0, len(t.allocs))
	for key, s := range t.allocs {
		site := *s
		if key.pc != 0 {
			site.findCode(code, key, rule)
		}
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b Alloc) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Events, a.Events), compareFrames(a.Frame, b.Frame), cmp.Compare(a.Class, b.Class), comparePCs(a.Code, b.Code))
	})
	return sites
}

// findCode finds the instruction before the address that an allocation returns to, and its method and line.
func (s *Alloc) findCode(code *jvmcode.Reader, key allocKey, rule event.SiteRule) {
	blob := code.Blob(key.code)
	s.Code = &AllocCode{Source: blob.Source(), Method: blob.Name, CompileID: blob.ID, PC: key.pc - 1}
	if !blob.Kind.Java() {
		return
	}
	s.Frame = event.Frame{Method: blob.Name}
	insts := code.Listing(key.code)
	i := jvmcode.Index(insts, key.pc-1)
	if i < 0 {
		return
	}
	s.Code.PC, s.Code.Text = insts[i].Lo, insts[i].Text
	var stack []event.Frame
	for _, f := range insts[i].Frames {
		stack = append(stack, event.Frame{Method: f.Method, BCI: f.BCI, Line: f.Line})
	}
	if len(stack) > 0 {
		s.Frame = rule.Choose(stack, false)
	}
}

func comparePCs(a, b *AllocCode) int {
	if a == nil || b == nil {
		return 0
	}
	return cmp.Compare(a.PC, b.PC)
}

func compareFrames(a, b event.Frame) int {
	return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.Line, b.Line), cmp.Compare(a.BCI, b.BCI))
}
