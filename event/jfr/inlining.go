package jfr

import "github.com/gasm-profiler/gasm/event"

// inliningType is the event of a compiler's decision about a call.
const inliningType = "jdk.CompilerInlining"

// Inlining reads the decisions of the JIT compilers about calls. It skips all other events of a recording.
type Inlining struct {
	r       *Reader
	wanted  func(compileID int) bool
	decided event.Inlined
	anchor  func(*Chunk) Anchor
	chunk   *Chunk
	at      Anchor
	seen    bool
	first   int64 // the start of the earliest decision, in ns
}

// NewInlining returns an Inlining that reads the recording of r. It returns decisions of those compilations for which
// wanted returns true. It calls anchor(chunk) for the Anchor of each chunk, as [NewEvents] does.
func NewInlining(r *Reader, wanted func(compileID int) bool, anchor func(*Chunk) Anchor) *Inlining {
	return &Inlining{r: r, wanted: wanted, anchor: anchor}
}

// Scan reads the next decision that is wanted. It returns false at the end of the recording, and after an I/O error,
// which the Reader's Err returns.
func (x *Inlining) Scan() bool {
	for x.r.Scan() {
		e := x.r.Event()
		if e.typ.Name != inliningType {
			continue
		}
		x.see(e)
		id := int(e.Field("compileId").Int())
		if !x.wanted(id) {
			continue
		}
		callee := e.Field("callee")
		x.decided = event.Inlined{CompileID: id, BCI: int(e.Field("bci").Int()), Caller: e.Field("caller").methodName(),
			Callee: javaClass(callee.Field("type").name()) + "::" + callee.Field("name").name(),
			Done:   e.Field("succeeded").Bool(), Message: e.Field("message").name()}
		return true
	}
	return false
}

// see updates the time of the earliest decision. It is called for each decision, wanted or not.
func (x *Inlining) see(e *Event) {
	if e.chunk != x.chunk {
		x.chunk, x.at = e.chunk, x.anchor(e.chunk)
	}
	if start, _ := e.MonoNanos(x.at); !x.seen || start < x.first {
		x.seen, x.first = true, start
	}
}

// Decided returns the decision that Scan has read.
func (x *Inlining) Decided() event.Inlined { return x.decided }

// FirstMonoNanos returns the time of the earliest decision that was read, wanted or not, on CLOCK_MONOTONIC. ok is
// false if there was no decision. Of compilations that began earlier, some or all decisions may be missing.
func (x *Inlining) FirstMonoNanos() (nanos int64, ok bool) { return x.first, x.seen }
