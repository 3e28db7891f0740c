package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// Limits for the memory and the time that all Resolvers together use for files and their functions. They are needed
// because a profiled process can map files that exhaust gasm: sparse files of any size, very many files, or files on
// slow disks. When a limit is reached, the functions of further files have no names, and a note says so. For
// comparison, reading a program of 300 MB with its symbol table takes about 250 MB of memory.
const (
	maxMemory  = 1 << 30          // in bytes
	maxTime    = time.Minute      // the limit at first; time that was used comes back slowly, see regainedShare
	longestOne = 20 * time.Second // for a single file, because its file system may not answer
)

// The type limits holds the memory and the time that are left. Files are read one at a time. Each file may use half of
// the memory and half of the time that are left, so that something remains for later files.
type limits struct {
	turn chan struct{} // has one element while no file is being read

	mu       sync.Mutex
	memory   int64 // the memory that is left, in bytes
	time     time.Duration
	mostTime time.Duration
	longest  time.Duration // for a single file: longestOne, except in tests
	regained time.Time     // when time was last regained
}

// regainedShare says how fast limits.time grows again. It grows by a tenth (1/regainedShare) of the time that passes.
const regainedShare = 10

func newLimits(memory int64, most time.Duration) *limits {
	l := &limits{turn: make(chan struct{}, 1), memory: memory, time: most, mostTime: most, longest: longestOne,
		regained: time.Now()}
	l.turn <- struct{}{}
	return l
}

// allLimits are the limits of all Resolvers, except in tests.
var allLimits = newLimits(maxMemory, maxTime)

// next returns how much memory (in bytes) and time the next file may use.
func (l *limits) next() (memory int64, limit time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.time = min(l.mostTime, l.time+now.Sub(l.regained)/regainedShare)
	l.regained = now
	return l.memory / 2, min(l.longest, l.time/2)
}

// An account counts the memory that an image or its functions use. This memory is subtracted from the limits until its
// owner is garbage collected.
type account struct {
	limits *limits
	bytes  int64
}

// newAccount returns an account whose memory goes back to the limits when its owner is garbage collected.
func newAccount[T any](owner *T, l *limits) *account {
	a := &account{limits: l}
	runtime.AddCleanup(owner, func(a *account) {
		a.limits.mu.Lock()
		defer a.limits.mu.Unlock()
		a.limits.memory += a.bytes
	}, a)
	return a
}

// take reserves a number of bytes. If the limits leave less than that, it reserves nothing and returns
// false.
func (a *account) take(bytes int) bool {
	a.limits.mu.Lock()
	defer a.limits.mu.Unlock()
	if int64(bytes) > a.limits.memory {
		return false
	}
	a.limits.memory -= int64(bytes)
	a.bytes += int64(bytes)
	return true
}

// spend subtracts t from the time that is left.
func (l *limits) spend(t time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.time -= min(l.time, t)
}

// read waits until no other file is being read, and then calls f to read a file. It returns the results of f. If ctx is
// done or the file takes too long, read returns an error without waiting for f. Then f may go on running until it next
// checks its context, so f must not share memory with the caller. No other file is read until f has returned.
func read[T any](ctx context.Context, l *limits, f func(*reading) (T, error)) (T, error) {
	_, limit := l.next()
	if limit < shortestOne {
		var none T
		return none, errTime
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(foreign.ErrLate)
	return foreign.Within(ctx, limit, func() (none T, err error) {
		select {
		case <-l.turn:
		case <-ctx.Done():
			return none, context.Cause(ctx)
		}
		defer func() { l.turn <- struct{}{} }()
		memory, _ := l.next()
		began := time.Now()
		defer func() { l.spend(min(limit, time.Since(began))) }()
		o := &reading{ctx: ctx, limits: l, left: memory}
		defer o.end()
		return f(o)
	})
}

// errTime is the error for a file that is not read because too little time is left for it (less than shortestOne).
var errTime = errors.New("other files took too long")

const shortestOne = 10 * time.Millisecond

// A reading is the work of reading one file. It limits the memory for that file. Its context ends when nobody waits for
// the result any more.
type reading struct {
	ctx    context.Context
	limits *limits
	left   int64 // bytes that the reading may still take
	taken  int64 // bytes that it has taken and not given back
	most   int64 // the largest value of taken so far
	passed int   // how often over was called
}

// errMemory is the error for a file that would take more memory than is left for it.
var errMemory = errors.New("it would take too much memory")

// take takes memory for the file. It returns an error if not enough memory is left. When the caller no longer needs the
// memory, it must call the method give.
func (l *reading) take(bytes int64) error {
	if bytes > l.left {
		return fmt.Errorf("%w: %d MiB", errMemory, (l.taken+bytes)>>20)
	}
	l.left -= bytes
	l.taken += bytes
	l.most = max(l.most, l.taken)
	return nil
}

// give gives back memory that the caller got from the method take.
func (l *reading) give(bytes int64) {
	l.left += bytes
	l.taken -= bytes
}

// over returns an error if nobody waits for the result any more. It is called in loops, so it checks the context only
// every 1024th time.
func (l *reading) over() error {
	if l.passed++; l.passed%(1<<10) != 0 {
		return nil
	}
	return context.Cause(l.ctx)
}

// largeLoad is an amount of memory, in bytes. If reading a file took at least this much, the method end returns the
// memory to the system.
const largeLoad = 64 << 20

// end is called after the file was read. If that took a lot of memory, the memory is returned to the system.
func (l *reading) end() {
	if l.most >= largeLoad {
		debug.FreeOSMemory() // otherwise the garbage of several files could add up
	}
}

// A limitedFile is a file that is being read. Its ReadAt returns an error as soon as nobody waits for the result any
// more.
type limitedFile struct {
	*reading
	file io.ReaderAt
}

// readAtOnce is the number of bytes that limitedFile.ReadAt reads before it checks the context again.
const readAtOnce = 1 << 20

func (r limitedFile) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		if err := context.Cause(r.ctx); err != nil {
			return n, err
		}
		piece := p[n:min(n+readAtOnce, len(p))]
		read, err := r.file.ReadAt(piece, at+int64(n))
		n += read
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
