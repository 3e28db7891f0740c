package wallclock

import (
	"io"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/shared"
)

const (
	// DefaultHertz is how many times a second each thread that has run is looked at.
	DefaultHertz = 20
	// MaxHertz is an upper bound for Options.Hertz. A look takes about 50 µs.
	MaxHertz = 1000
)

// Options say how a JVM is recorded.
type Options struct {
	JVMs *shared.JVMs // JVMs that are open already
	Out  io.Writer    // gets text in the format of package wall
	// Hertz is how many times a second each thread that has run is looked at; 0 means DefaultHertz.
	Hertz int
	// Share is how much of a processor the looks may take, from 0 to 1; 0 means 0.02.
	Share float64
	// MaxSize is the largest size of the text in bytes, not counting the last lines; 0 means the default of package
	// wall. The recording ends when the text has this size.
	MaxSize int64

	mostThreads int // for tests; 0 means threaddump.MaxThreads
	manyThreads int // for tests; 0 means manyThreads
}

// defaultShare is the default of Options.Share.
const defaultShare = 0.02

// A Result says how a recording went.
type Result struct {
	Looks, Moved, Unread int64
	Left                 int64 // looks that were left out because they would have cost too much
	Threads              int
	// CPU is how much processor time the recorder has used.
	CPU time.Duration
	// First is the processor time that had been used when every thread had been looked at once, and FirstTook is how
	// long that took. Both are 0 if the recording ended before that.
	First, FirstTook time.Duration
	// Last is the processor time of the last look at all threads, when the recording was stopped.
	Last time.Duration
	// Write is the first error of writing the text, and Read is the error that ended the reading of the JVM's threads.
	// Either may be nil.
	Write, Read error
	// Virtual says why virtual threads that are not mounted were not counted, or not until the end. It is nil if they
	// were, or if there were none.
	Virtual error
}
