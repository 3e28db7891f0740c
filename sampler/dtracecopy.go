package sampler

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// What DTraceProgram prints first and last.
const (
	beginMark = "gasm: begin"
	endMark   = "gasm: end"
)

const (
	// paceInterval is how long DTrace's text may wait for us, and pipeSize how
	// much of it DTrace prints without waiting. See [dtraceText.pace].
	paceInterval = 250 * time.Millisecond
	pipeSize     = 4 << 10
	// lull is how long no more text has come when DTrace has nothing to print.
	lull = 5 * time.Millisecond
	// lastPrint is more than DTrace takes to print what it has: switchrate=10hz.
	lastPrint = 300 * time.Millisecond
)

// Tests shorten these.
var (
	// dtraceStartTimeout is how long DTrace may take to sample. It needs a
	// second, and more on a loaded machine.
	dtraceStartTimeout = startTimeout
	// endTimeout is how long no text may come from a DTrace that is to end.
	endTimeout = 30 * time.Second
)

// A dtraceText takes what DTrace prints on its stdout to a file.
//
// DTrace for Linux wakes up for each single record, a millisecond of work each
// time (libdtrace's dt_peb.c asks for wakeup_events = 1): at 1001 Hz that takes
// a good part of a core away from what is measured. So its text is fetched only
// four times a second, from the smallest pipe there is. When that is full DTrace
// sleeps, the records gather in its buffers (4 MB per CPU, half a minute), and
// it then takes them all at once. Measured over 8 s on two CPUs: 5.3 s of CPU
// time with -n alone, 0.36 s when it leaves itself out, 0.02 s with this.
type dtraceText struct {
	pipe     *os.File
	file     *os.File
	messages dropCounter  // its stderr
	before   cappedBuffer // what it printed before it sampled
	paced    bool

	begun chan struct{} // closed when DTrace samples
	end   chan struct{} // closed when all samples are in the file
	saved chan struct{} // closed when no more text comes
	quick chan struct{} // closed when it is not to wait any more
	once  sync.Once     // for quick
	// caughtUp is closed when, after hurry, DTrace has printed what it had and
	// no longer waits for us in the middle of a line.
	caughtUp chan struct{}

	lastRead atomic.Int64 // Unix ns
	mu       sync.Mutex
	failure  error // of the file
}

func newDTraceText(pipe, file *os.File) *dtraceText {
	return &dtraceText{pipe: pipe, file: file, begun: make(chan struct{}), end: make(chan struct{}),
		saved: make(chan struct{}), quick: make(chan struct{}), caughtUp: make(chan struct{})}
}

// save copies until DTrace closes the pipe. Where the file can't be written it
// goes on reading: DTrace must not wait for us.
func (t *dtraceText) save() {
	defer close(t.saved)
	defer t.pipe.Close()
	defer t.file.Close()
	buf := make([]byte, 64<<10)
	var tail []byte // of what was read before, for a mark that was cut
	begun, ended := false, false
	small := 0 // readings in a row that left room in the pipe, since hurry
	for {
		n, err := t.pipe.Read(buf)
		if n > 0 {
			t.lastRead.Store(time.Now().UnixNano())
			t.write(buf[:n])
			if !begun {
				t.before.Write(buf[:n])
			}
			tail = append(tail, buf[:n]...)
			if !begun && bytes.Contains(tail, []byte(beginMark)) {
				begun = true
				close(t.begun)
			}
			if !ended && bytes.Contains(tail, []byte(endMark)) {
				ended = true
				close(t.end)
			}
			tail = append(tail[:0], tail[max(0, len(tail)-len(beginMark)):]...)
		}
		idle := errors.Is(err, os.ErrDeadlineExceeded)
		if t.hurried() {
			if small++; n >= pipeSize/2 {
				small = 0
			}
			t.catchUp(idle || small == 3)
		}
		switch {
		case idle:
			t.rest()
		case err != nil:
			return
		case begun && t.paced:
			t.pipe.SetReadDeadline(t.deadline())
		}
	}
}

// deadline is when a paced reading takes a break: when DTrace has printed all
// it had. Before the end the first such moment counts.
func (t *dtraceText) deadline() time.Time {
	select {
	case <-t.caughtUp:
		return time.Time{}
	default:
		return time.Now().Add(lull)
	}
}

// catchUp notes that DTrace does not wait for us, if so.
func (t *dtraceText) catchUp(ok bool) {
	select {
	case <-t.caughtUp:
	default:
		if ok {
			close(t.caughtUp)
		}
	}
}

func (t *dtraceText) hurried() bool {
	select {
	case <-t.quick:
		return true
	default:
		return false
	}
}

// awaitCatchUp waits until DTrace can be told to end. A signal in the middle of
// its write loses what it was writing, or has it written twice.
func (t *dtraceText) awaitCatchUp() {
	if !t.paced {
		return
	}
	select {
	case <-t.caughtUp:
	case <-t.saved:
	case <-time.After(2 * time.Second):
	}
}

// rest waits for the next time to read.
func (t *dtraceText) rest() {
	select {
	case <-t.quick:
	case <-time.After(paceInterval):
	}
	t.pipe.SetReadDeadline(time.Time{})
}

// hurry ends the pauses.
func (t *dtraceText) hurry() {
	t.once.Do(func() {
		if t.paced {
			widenPipe(t.pipe)
		}
		close(t.quick)
	})
}

func (t *dtraceText) write(text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure == nil {
		_, t.failure = t.file.Write(text)
	}
}

func (t *dtraceText) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failure
}

// start is what a DTrace that has ended before it sampled printed, on stderr and
// on stdout.
func (t *dtraceText) start() string {
	select {
	case <-t.saved:
	case <-time.After(time.Second): // a child of it holds the pipe
	}
	return t.messages.String() + "\n" + t.before.String()
}

// ended tells whether DTrace has printed all.
func (t *dtraceText) ended() bool {
	select {
	case <-t.end:
		return true
	default:
		return false
	}
}

// awaitEnd waits until all is printed, or the pipe closed. It is false when
// DTrace does neither.
func (t *dtraceText) awaitEnd() bool {
	asked := time.Now()
	for {
		select {
		case <-t.end:
			return true
		case <-t.saved:
			return true
		case <-time.After(time.Second):
			last := time.Unix(0, t.lastRead.Load())
			if time.Since(asked) > endTimeout && time.Since(last) > endTimeout {
				return false
			}
		}
	}
}

// abandon stops reading.
func (t *dtraceText) abandon() {
	t.hurry()
	t.pipe.Close()
}

// discard takes the file away when DTrace did not sample.
func (t *dtraceText) discard() {
	t.abandon()
	t.file.Close()
	os.Remove(t.file.Name())
}

// A dropCounter takes what DTrace prints on its stderr: it counts drops and
// keeps the rest.
type dropCounter struct {
	drops atomic.Int64
	rest  cappedBuffer

	mu   sync.Mutex
	line []byte // the last one, which has no end yet
}

func (c *dropCounter) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line = append(c.line, text...)
	lines := c.line
	for {
		end := bytes.IndexByte(lines, '\n') + 1
		if end == 0 {
			break
		}
		if n, ok := parseDrops(lines[:end]); ok {
			c.drops.Add(n)
		} else {
			c.rest.Write(lines[:end])
		}
		lines = lines[end:]
	}
	if len(lines) > 64<<10 { // no message of DTrace's
		c.rest.Write(lines)
		lines = nil
	}
	c.line = append(c.line[:0], lines...)
	return len(text), nil
}

// String returns all but the drops.
func (c *dropCounter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rest.String() + string(c.line)
}
