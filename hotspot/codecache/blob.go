package codecache

import "github.com/gasm-profiler/gasm/printassembly"

// A State says whether threads may enter an nmethod.
type State int8

const (
	InUse State = iota
	// NotEntrant code is not entered any more, but threads may still be in it.
	NotEntrant
)

// A Blob is a piece of code that is or was in the code cache: a compiled method, a stub, a codelet of the interpreter
// and so on. Cache.Poll may change State, LastMonoNanos and GoneMonoNanos; the other fields never change.
type Blob struct {
	Kind   printassembly.Kind
	Lo, Hi uint64 // the addresses of the code
	// Header is the address of the CodeBlob that contains the code. HotSpot keeps many stubs in one CodeBlob; their
	// Blobs all have the same Header.
	Header uint64
	Name   string // for nmethods and native wrappers, the same as printassembly.Installed.Name
	// Method is nil unless the blob is an nmethod or a native wrapper. It has everything that LogCompilation's tag
	// <nmethod> contains, except the time of installation.
	Method *printassembly.Installed
	State  State

	// SinceMonoNanos is the time of the Poll that found the blob. NotBeforeMonoNanos is the time of an earlier Poll,
	// the last one at which the blob was certainly not there. It is 0 if there was no such Poll.
	SinceMonoNanos, NotBeforeMonoNanos int64
	// GoneMonoNanos is the time of the Poll that found the blob gone, or 0 if the blob is still there. LastMonoNanos is
	// the time of the previous Poll, when the blob was still there.
	LastMonoNanos, GoneMonoNanos int64
}

// Gone reports whether the blob is not in the code cache any more.
func (b *Blob) Gone() bool { return b.GoneMonoNanos != 0 }

// Changes says what has changed since the previous Poll.
type Changes struct {
	Added []*Blob // blobs that were not there at the last Poll, by ascending address
	Gone  []*Blob // blobs that were there at the last Poll and are not now: freed, replaced or moved
}

// Any reports whether anything has changed.
func (c Changes) Any() bool { return len(c.Added)+len(c.Gone) > 0 }
