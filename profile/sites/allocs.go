package sites

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
)

// An Alloc is a place in the program that allocates.
type Alloc struct {
	Frame  event.Frame // without Method if the recording has no stacks
	Class  string
	Events int   // how many events were recorded: one for each allocation, or for a sample of the allocations
	Bytes  int64 // how many bytes were allocated, estimated if the events are only a sample
	// Code is the instruction that allocates; nil if the events do not have it.
	Code *AllocCode
	// Stacks are the stacks of the threads that allocated there, those with the most bytes first. Their Weight is in
	// bytes or, if the sizes of all allocations of the profile are unknown, in events.
	Stacks []Stack

	stacks stackCounts
}

// An AllocCode is a call instruction that allocates. It ends at the return address that the event has.
type AllocCode struct {
	Source, Method string // Method may also be the name of a stub or codelet
	CompileID      int    // 0 for code that is not compiled
	PC             uint64
	Text           string // text of the instruction; "" if the code is not in the capture
}

// An allocKey tells allocation sites apart.
type allocKey struct {
	frame event.Frame
	class string
	code  jvmcode.Ref // the code that pc is in
	pc    uint64      // the address after the allocating instruction; 0 if it is unknown
}

// maxBytes limits the sum of bytes, because it could otherwise overflow in a damaged capture.
const maxBytes = 1 << 60

func (t *Counter) addAllocation(e *event.Event, stack []event.Frame, key allocKey) {
	s := t.allocs[key]
	if s == nil {
		if len(t.allocs) >= maxSites {
			return
		}
		if t.allocs == nil {
			t.allocs = map[allocKey]*Alloc{}
		}
		s = &Alloc{Frame: first(stack), Class: key.class}
		t.allocs[key] = s
	}
	s.Events += e.Times()
	bytes := min(e.Bytes, maxBytes-min(s.Bytes, maxBytes))
	s.Bytes += bytes
	t.addStack(&s.stacks, stack, e.Truncated, bytes, e.Times())
}

// Allocs returns the places that allocate, those that allocate most first.
func (t *Counter) Allocs(code *jvmcode.Reader, rule event.SiteRule) []Alloc {
	sized := false
	for _, s := range t.allocs {
		sized = sized || s.Bytes > 0
	}
	sites := make([]Alloc, 0, len(t.allocs))
	for key, s := range t.allocs {
		site := *s
		site.Stacks, site.stacks = s.stacks.sorted(), nil
		if key.pc != 0 {
			site.findCode(code, key, rule)
		}
		for i := range site.Stacks {
			if !sized {
				site.Stacks[i].Weight = int64(site.Stacks[i].Count)
			}
		}
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b Alloc) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Events, a.Events), compareFrames(a.Frame, b.Frame),
			cmp.Compare(a.Class, b.Class), comparePCs(a.Code, b.Code))
	})
	return sites
}

// findCode finds the call instruction that made an allocation, and its method and line. The instruction ends at the
// address key.pc. Of the method's callers, only those are known into which it was inlined.
func (s *Alloc) findCode(code *jvmcode.Reader, key allocKey, rule event.SiteRule) {
	blob := code.Blob(key.code)
	s.Code = &AllocCode{Source: blob.Source(), Method: blob.Name, CompileID: blob.ID, PC: key.pc - 1}
	if !blob.Kind.Java() {
		return
	}
	stack := []event.Frame{{Method: blob.Name}}
	insts := code.Listing(key.code)
	if i := jvmcode.Index(insts, key.pc-1); i >= 0 {
		s.Code.PC, s.Code.Text = insts[i].Lo, insts[i].Text
		if len(insts[i].Frames) > 0 {
			stack = stack[:0]
		}
		for _, f := range insts[i].Frames {
			stack = append(stack, event.Frame{Method: f.Method, BCI: f.BCI, Line: f.Line})
		}
	}
	stack = stack[max(rule.Index(stack, false), 0):]
	s.Frame = stack[0]
	s.Stacks = []Stack{{Frames: stack, Cut: true, Weight: s.Bytes, Count: s.Events}}
}

func comparePCs(a, b *AllocCode) int {
	if a == nil || b == nil {
		return 0
	}
	return cmp.Compare(a.PC, b.PC)
}
