package profile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/sampler"
)

// A LockSite is a place in the program at which threads waited for a lock that another
// thread had.
type LockSite struct {
	Frame event.Frame // where it was to be locked; no Method where the recording has no stacks
	Class string      // of the lock
	Owner string      // the thread that had it most often before, without the number at its end
	Count int
	// Nanos is how long threads waited together, and LongestNanos the longest wait.
	Nanos, LongestNanos int64
	owners              map[string]int
}

// An AllocSite is a place in the program that allocates.
type AllocSite struct {
	Frame  event.Frame // no Method where the recording has no stacks
	Class  string
	Events int   // that were recorded: samples of the allocations, or each
	Bytes  int64 // that the events stand for
	// Code is the instruction that allocates; nil where the events do not have it.
	Code *AllocCode
}

// An AllocCode is an instruction that allocates: a call of the JVM behind the allocation.
type AllocCode struct {
	Source, Method string // of a stub or codelet its name
	CompileID      int    // 0 for what is not compiled
	PC             uint64
	Text           string // "" where the code is not in the capture
}

type lockKey struct {
	frame event.Frame
	class string
}

type allocKey struct {
	frame event.Frame
	class string
	code  blobRef // where there is a pc
	pc    uint64  // behind the instruction; 0 for none
}

// maxSites is more than the places of any program. Events of others are summed up in their
// totals alone.
const maxSites = 1 << 16

// addSites counts an event of a trial for the place in the program that it is of.
func (b *Builder) addSites(t *trialCounts, e *event.Event) {
	switch {
	case e.OfRecorder():
	case e.Kind == event.Lock || e.Kind == event.Park && isLock(e.Name):
		t.addLock(e)
	case e.Kind == event.Alloc:
		key := allocKey{frame: byLine(siteOf(e)), class: e.Name}
		key.code, key.pc = b.allocator(e)
		t.addAllocation(e, key)
	}
}

// allocator finds the code that an allocation was in. Where that is a stub, it is what has called
// the stub: one of C1's by the chain of frames, or one of C2's (OptoRuntime::_new_array_Java) by
// the words above its frame, see package event/usdt.
func (b *Builder) allocator(e *event.Event) (code blobRef, pc uint64) {
	jvm, blob, ok := b.find(e.PID, &sampler.Sample{PC: e.PC - 1, MonoNanos: e.MonoNanos})
	if e.PC == 0 || !ok {
		return blobRef{}, 0
	}
	if stub := b.jvms[jvm].code.Blob(blob); stub.Kind.IsStub() {
		by := "caller"
		if strings.Contains(stub.Name, "_new_") && strings.HasSuffix(stub.Name, "_Java") {
			by = "above"
		}
		caller, err := strconv.ParseUint(e.Arg(by), 0, 64)
		if err == nil && caller > 0 {
			if _, calling, ok := b.find(e.PID, &sampler.Sample{PC: caller - 1, MonoNanos: e.MonoNanos}); ok {
				return blobRef{jvm, calling}, caller
			}
		}
	}
	return blobRef{jvm, blob}, e.PC
}

// isLock tells by the class that a thread parks at whether it waits for a lock of
// java.util.concurrent.
func isLock(class string) bool {
	return strings.HasPrefix(class, "java.util.concurrent.locks.Reentrant")
}

// inner are the packages whose frames are not where a program locks.
var inner = []string{"java.util.concurrent.locks.", "jdk.internal.misc.", "sun.misc."}

// siteOf is the frame of the program's that an event is of: the innermost one, but for the
// inner works of java.util.concurrent.
func siteOf(e *event.Event) event.Frame {
	for _, f := range e.Frames {
		if e.Kind != event.Park || !slices.ContainsFunc(inner, func(p string) bool { return strings.HasPrefix(f.Method, p) }) {
			return f
		}
	}
	return event.Frame{}
}

// byLine is a frame without its place in the bytecode where its line is known: what is in a line is summed up, because HotSpot may tell of a
// lock as of the bytecode behind it.
func byLine(f event.Frame) event.Frame {
	if f.Line > 0 {
		f.BCI = 0
	}
	return f
}

func (t *trialCounts) addLock(e *event.Event) {
	key := lockKey{byLine(siteOf(e)), e.Name}
	s := t.locks[key]
	if s == nil {
		if len(t.locks) >= maxSites {
			return
		}
		if t.locks == nil {
			t.locks = map[lockKey]*LockSite{}
		}
		s = &LockSite{Frame: siteOf(e), Class: key.class, owners: map[string]int{}}
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

func (t *trialCounts) addAllocation(e *event.Event, key allocKey) {
	s := t.allocations[key]
	if s == nil {
		if len(t.allocations) >= maxSites {
			return
		}
		if t.allocations == nil {
			t.allocations = map[allocKey]*AllocSite{}
		}
		s = &AllocSite{Frame: siteOf(e), Class: key.class}
		t.allocations[key] = s
	}
	s.Events += allocations(e)
	s.Bytes += min(e.Bytes, maxBytes-min(s.Bytes, maxBytes))
}

// allocations is how many an event is of.
func allocations(e *event.Event) int {
	n, err := strconv.ParseInt(e.Arg("count"), 10, 32)
	if err != nil || n <= 0 {
		return 1
	}
	return int(n)
}

// maxBytes is more than any program allocates. Damaged events could make sums overflow.
const maxBytes = 1 << 60

// lockSites are the places at which threads waited longest, those first.
func (w *work) lockSites() []LockSite {
	sites := make([]LockSite, 0, len(w.trial.locks))
	for _, s := range w.trial.locks {
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

// allocSites are the places that allocate most, those first.
func (w *work) allocSites() []AllocSite {
	sites := make([]AllocSite, 0, len(w.trial.allocations))
	for key, s := range w.trial.allocations {
		site := *s
		if key.pc != 0 {
			w.placeAllocation(&site, key)
		}
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b AllocSite) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Events, a.Events), compareFrames(a.Frame, b.Frame), cmp.Compare(a.Class, b.Class), comparePCs(a.Code, b.Code))
	})
	return sites
}

// placeAllocation finds the instruction in front of the address that an allocation returns to, and
// its method and line.
func (w *work) placeAllocation(s *AllocSite, key allocKey) {
	blob := w.blob(key.code)
	s.Code = &AllocCode{Source: blob.Source(), Method: blob.Name, CompileID: blob.ID, PC: key.pc - 1}
	if !blob.Kind.Java() {
		return
	}
	s.Frame = event.Frame{Method: blob.Name}
	insts := w.listing(key.code)
	i := find(insts, key.pc-1)
	if i < 0 {
		return
	}
	s.Code.PC, s.Code.Text = insts[i].Lo, insts[i].Text
	if frames := insts[i].Frames; len(frames) > 0 {
		s.Frame = event.Frame{Method: frames[0].Method, BCI: frames[0].BCI, Line: frames[0].Line}
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
