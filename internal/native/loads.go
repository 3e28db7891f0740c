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

// Upper bounds for what all Resolvers of this process may take together to read files and to keep what was found. A
// process that is profiled can map files that were made to exhaust gasm: sparse ones of any size, many of them, and on
// slow disks. A file beyond these limits has no names, and a note says so. A program of 300 MB with its symbol table takes
// some 250 MB while it is read.
const (
	maxMemory  = 1 << 30          // in bytes
	maxTime    = time.Minute      // regained while other things are done, at a tenth of the speed
	longestOne = 20 * time.Second // for one file, which may be in a file system that does not answer
)

// A limits bounds memory and time. Files are read one at a time. Each may take half of what is left, so that a file
// that is needed later gets something, too.
type limits struct {
	turn chan struct{} // has one element while no file is being read

	mu       sync.Mutex
	memory   int64 // that is left
	time     time.Duration
	mostTime time.Duration
	regained time.Time // when time was last regained
}

// regainedShare: of the time that passes, this share can be spent on files.
const regainedShare = 10

func newLimits(memory int64, most time.Duration) *limits {
	l := &limits{turn: make(chan struct{}, 1), memory: memory, time: most, mostTime: most, regained: time.Now()}
	l.turn <- struct{}{}
	return l
}

// allLimits are the limits of all Resolvers, except in tests.
var allLimits = newLimits(maxMemory, maxTime)

// next returns what the next file may take.
func (l *limits) next() (memory int64, limit time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.time = min(l.mostTime, l.time+now.Sub(l.regained)/regainedShare)
	l.regained = now
	return l.memory / 2, min(longestOne, l.time/2)
}

// An account has the memory that an image takes as long as it is used.
type account struct {
	limits *limits
	bytes  int64
}

// newAccount returns an account that is given back when the image is garbage.
func newAccount(img *image, l *limits) *account {
	a := &account{limits: l}
	runtime.AddCleanup(img, func(a *account) {
		a.limits.mu.Lock()
		defer a.limits.mu.Unlock()
		a.limits.memory += a.bytes
	}, a)
	return a
}

// take takes memory for the image. It returns false if that much is not left.
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

// spend takes time.
func (l *limits) spend(t time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.time -= min(l.time, t)
}

// read calls f, which reads a file, when it is its turn. It returns at the latest when ctx is done or the time for one
// file is over. f goes on until it next looks at its context, and no other file is read until then. f must not share
// memory with the caller.
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
		o := &reading{ctx: ctx, left: memory}
		defer o.end()
		return f(o)
	})
}

// errTime is the error of a file when the time for all files is over, and shortestOne the shortest time for a file.
var errTime = errors.New("other files took too long")

const shortestOne = 10 * time.Millisecond

// A reading is that of one file: it bounds the memory for that, and notices when nobody waits for it any more.
type reading struct {
	ctx    context.Context
	left   int64 // memory that it may still take
	taken  int64 // memory that it has now
	most   int64 // the largest value of taken
	passed int   // calls of over
}

// errMemory is the error of a file that would take more memory than is left for it.
var errMemory = errors.New("it would take too much memory")

// take takes memory for the file. A caller that needs it no longer calls give.
func (l *reading) take(bytes int64) error {
	if bytes > l.left {
		return fmt.Errorf("%w: %d MiB", errMemory, (l.taken+bytes)>>20)
	}
	l.left -= bytes
	l.taken += bytes
	l.most = max(l.most, l.taken)
	return nil
}

// give returns memory that take has taken.
func (l *reading) give(bytes int64) {
	l.left += bytes
	l.taken -= bytes
}

// over returns an error if nobody waits for the file any more. It is called in loops.
func (l *reading) over() error {
	if l.passed++; l.passed%(1<<10) != 0 {
		return nil
	}
	return context.Cause(l.ctx)
}

// largeLoad is how much memory a file must have taken, in bytes, for end to return the memory to the system.
const largeLoad = 64 << 20

// end is called when the file was read.
func (l *reading) end() {
	if l.most >= largeLoad {
		debug.FreeOSMemory() // otherwise the garbage of several files would be there at once
	}
}

// A limitedFile is the file of a reading.
type limitedFile struct {
	*reading
	file io.ReaderAt
}

// readAtOnce is how much is read before looking at the context again, in bytes.
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
