package profile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/sampler"
)

// A LockSite is a place in the program at which threads waited for a lock that another thread had.
type LockSite struct {
	Frame event.Frame // where threads waited; without Method if the recording has no stacks
	Class string      // of the lock
	Owner string      // name of the thread that most often held the lock during a wait, without its number
	Count int
	// Nanos is the sum of all waits, and LongestNanos the longest wait.
	Nanos, LongestNanos int64
	owners              map[string]int
}

// An AllocSite is a place in the program that allocates.
type AllocSite struct {
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

// A lockKey tells lock sites apart.
type lockKey struct {
	frame event.Frame
	class string
}

// An allocKey tells allocation sites apart.
type allocKey struct {
	frame event.Frame
	class string
	code  blobRef // the code that pc is in
	pc    uint64  // the address after the instruction; 0 if it is unknown
}

// maxSites limits the number of lock sites, and also the number of allocation sites. Events at further places count
// only in the totals.
const maxSites = 1 << 16

// addSites counts an event of a trial for the place in the program where it happened.
func (b *Builder) addSites(t *trialCounts, e *event.Event) {
	switch {
	case e.OfRecorder():
	case e.Kind == event.Lock || e.Kind == event.Park && isLock(e.Name):
		t.addLock(e, b.sites.Site(e))
	case e.Kind == event.Alloc:
		site := b.sites.Site(e)
		key := allocKey{frame: byLine(site), class: e.Name}
		key.code, key.pc = b.allocator(e)
		t.addAllocation(e, site, key)
	}
}

// allocator returns the code that an allocation was in, and the address after its instruction. If the instruction is in
// a stub, allocator returns the call of the stub instead. The event has the return address of this call as an argument.
// For a stub of C1, it is the argument "caller", which comes from walking the frames. For a stub of C2
// (OptoRuntime::_new_array_Java), it is the argument "above", which comes from the words above the stub's frame. See
// package event/usdt.
func (b *Builder) allocator(e *event.Event) (code blobRef, pc uint64) {
	code, ok := b.findCode(e.PID, &sampler.Sample{PC: e.PC - 1, MonoNanos: e.MonoNanos})
	if e.PC == 0 || !ok {
		return blobRef{}, 0
	}
	if stub := b.jvms[code.jvm].code.Blob(code.blob); stub.Kind.IsStub() {
		by := "caller"
		if strings.Contains(stub.Name, "_new_") && strings.HasSuffix(stub.Name, "_Java") {
			by = "above"
		}
		caller, err := strconv.ParseUint(e.Arg(by), 0, 64)
		if err == nil && caller > 0 {
			if calling, ok := b.findCode(e.PID, &sampler.Sample{PC: caller - 1, MonoNanos: e.MonoNanos}); ok {
				return calling, caller
			}
		}
	}
	return code, e.PC
}

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

func (t *eventCounts) addLock(e *event.Event, site event.Frame) {
	key := lockKey{byLine(site), e.Name}
	s := t.locks[key]
	if s == nil {
		if len(t.locks) >= maxSites {
			return
		}
		if t.locks == nil {
			t.locks = map[lockKey]*LockSite{}
		}
		s = &LockSite{Frame: site, Class: key.class, owners: map[string]int{}}
		t.locks[key] = s
	}
	s.Count++
	s.Nanos += e.Nanos
	s.LongestNanos = max(s.LongestNanos, e.Nanos)
	owner := strings.TrimRight(e.Arg("previousOwner"), "0123456789")
	if _, ok := s.owners[owner]; owner != "" && (ok || len(s.owners) < maxNamed) {
		s.owners[owner]++
	}
}

func (t *eventCounts) addAllocation(e *event.Event, site event.Frame, key allocKey) {
	s := t.allocs[key]
	if s == nil {
		if len(t.allocs) >= maxSites {
			return
		}
		if t.allocs == nil {
			t.allocs = map[allocKey]*AllocSite{}
		}
		s = &AllocSite{Frame: site, Class: key.class}
		t.allocs[key] = s
	}
	s.Events += allocations(e)
	s.Bytes += min(e.Bytes, maxBytes-min(s.Bytes, maxBytes))
}

// allocations returns how many allocations an event stands for.
func allocations(e *event.Event) int {
	n, err := strconv.ParseInt(e.Arg("count"), 10, 32)
	if err != nil || n <= 0 {
		return 1
	}
	return int(n)
}

// maxBytes limits the sum of bytes, because it could otherwise overflow in a damaged capture.
const maxBytes = 1 << 60

// lockSites returns the places at which threads waited, those with the longest time first.
func (t *eventCounts) lockSites() []LockSite {
	sites := make([]LockSite, 0, len(t.locks))
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
	slices.SortFunc(sites, func(a, b LockSite) int {
		return cmp.Or(cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Count, a.Count), compareFrames(a.Frame, b.Frame), cmp.Compare(a.Class, b.Class))
	})
	return sites
}

// allocSites returns the places that allocate, those that allocate most first.
func (t *eventCounts) allocSites(code *codeReader, rule event.SiteRule) []AllocSite {
	sites := make([]AllocSite, 0, len(t.allocs))
	for key, s := range t.allocs {
		site := *s
		if key.pc != 0 {
			site.findCode(code, key, rule)
		}
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b AllocSite) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Events, a.Events), compareFrames(a.Frame, b.Frame), cmp.Compare(a.Class, b.Class), comparePCs(a.Code, b.Code))
	})
	return sites
}

// findCode finds the instruction before the address that an allocation returns to, and its method and line.
func (s *AllocSite) findCode(code *codeReader, key allocKey, rule event.SiteRule) {
	blob := code.blob(key.code)
	s.Code = &AllocCode{Source: blob.Source(), Method: blob.Name, CompileID: blob.ID, PC: key.pc - 1}
	if !blob.Kind.Java() {
		return
	}
	s.Frame = event.Frame{Method: blob.Name}
	insts := code.listing(key.code)
	i := find(insts, key.pc-1)
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
