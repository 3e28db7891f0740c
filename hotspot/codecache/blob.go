package codecache

import "github.com/gasm-profiler/gasm/printassembly"

// A State says whether an nmethod is run.
type State int8

const (
	InUse State = iota
	// NotEntrant code is not entered any more. Threads may still be in it.
	NotEntrant
)

// A Blob is a piece of code that is or was in the code cache: a compiled method, a stub, a
// codelet of the interpreter …. The Cache changes State and GoneMonoNanos, within a Poll;
// all else stays as it is.
type Blob struct {
	Kind   printassembly.Kind
	Lo, Hi uint64 // the code
	Name   string // of nmethods and native wrappers as printassembly.Installed has it
	// Method tells of an nmethod or a native wrapper all that LogCompilation's tag does,
	// but when it was installed. It is nil for all others.
	Method *printassembly.Installed
	State  State

	// SinceMonoNanos is the Poll that saw the blob first. NotBeforeMonoNanos is the Poll
	// before that, at which it was not there; 0 when there was none.
	SinceMonoNanos, NotBeforeMonoNanos int64
	// GoneMonoNanos is the Poll that did not see the blob any more; 0 for one that is
	// there. It was still there at the Poll before, at LastMonoNanos.
	LastMonoNanos, GoneMonoNanos int64
}

// Gone tells that the blob is not in the code cache any more.
func (b *Blob) Gone() bool { return b.GoneMonoNanos != 0 }

// Changes are what a Poll found.
type Changes struct {
	Added []*Blob // were not there at the last Poll; by ascending address
	Gone  []*Blob // were there at the last Poll, and are not now: freed, replaced, moved
}

// Any tells whether there are any.
func (c Changes) Any() bool { return len(c.Added)+len(c.Gone) > 0 }
