package dtrace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/external"
)

// DTrace's program prints beginMark as its first line and endMark as its last.
const (
	beginMark = "gasm: begin"
	endMark   = "gasm: end"
)

const (
	// paceInterval is the pause between two readings of the pipe. pipeSize is the size of the pipe in bytes. It is
	// small, so that DTrace has to wait for the next reading (see [output]).
	paceInterval = 250 * time.Millisecond
	pipeSize     = 4 << 10
	// lull is how long DTrace must have printed nothing before gasm assumes that it has nothing more to print for
	// now.
	lull = 5 * time.Millisecond
	// lastPrint is an upper bound for the time between a sample and the moment at which DTrace prints it. DTrace
	// empties its buffers ten times a second (switchrate=10hz).
	lastPrint = 300 * time.Millisecond
)

// patience is how long gasm waits for something that DTrace or sudo usually does within a second.
const patience = 30 * time.Second

// Tests shorten these times.
var (
	// startTimeout is how long DTrace may take until it samples. Usually it needs a second, and
	// more on a busy machine.
	startTimeout = patience
	// slowEnd is the time after which gasm tells the user that DTrace has not ended yet.
	slowEnd = external.SlowEnd
	// endTimeout is the time after which a DTrace is killed if it was asked to end and prints nothing.
	endTimeout = 10 * time.Second
	// releaseTimeout limits the time that DTrace takes to end after it has printed everything. It needs up to ten
	// seconds if all CPUs are busy.
	releaseTimeout = 30 * time.Second
)

// An output saves what DTrace prints on stdout. It writes the text to a file or, if DTrace runs a
// Script, to Options.Text.
//
// DTrace for Linux wakes up for each single record (libdtrace's dt_peb.c asks for wakeup_events = 1) and works for a
// millisecond each time. At 1001 Hz it would take a good part of a core away from the measured program. So a paced
// output reads the text only four times a second, from a pipe of the smallest possible size. While the pipe is full,
// DTrace sleeps. Meanwhile the records gather in its buffers, which have 4 MB per CPU, enough for half a minute. When
// gasm reads again, DTrace prints them all at once.
//
// In a test of 8 s on two CPUs, DTrace took 5.3 s of CPU time with a plain program. It took 0.36 s with a program that
// does not sample DTrace itself, and 0.02 s when the output was paced as well.
type output struct {
	pipe     *os.File
	file     *os.File        // nil for a Script, whose text is not saved
	to       io.Writer       // the file or, for a Script, Options.Text
	messages dropCounter     // DTrace's stderr
	before   external.Buffer // what DTrace printed on stdout before it sampled
	paced    bool            // read the pipe only now and then; set before save is called

	begun chan struct{} // closed when DTrace samples
	end   chan struct{} // closed when DTrace has printed endMark: all samples are in the file
	saved chan struct{} // closed when DTrace has closed the pipe and all text is written
	quick chan struct{} // closed when the pipe should be read without pauses
	once  sync.Once     // closes quick
	// caughtUp is closed some time after the channel quick, when DTrace has printed all that it had. From then on,
	// DTrace does not wait in the middle of a line for room in the pipe.
	caughtUp chan struct{}

	lastRead atomic.Int64 // when text was last read from the pipe, in Unix ns
	mu       sync.Mutex
	failure  error // why the file could not be written
	pauses   []pausedTime
	line     []byte // the incomplete last line so far; empty if Pause was never called
}

func newOutput(pipe, file *os.File) *output {
	return &output{pipe: pipe, file: file, to: file, begun: make(chan struct{}), end: make(chan struct{}),
		saved: make(chan struct{}), quick: make(chan struct{}), caughtUp: make(chan struct{})}
}

// save copies the text from the pipe to the file until DTrace closes the pipe. If the file can't be written, the
// reading goes on, because DTrace would otherwise hang on a full pipe.
func (t *output) save() {
	defer close(t.saved)
	defer t.pipe.Close()
	defer t.file.Close()
	defer t.writeRest()
	buf := make([]byte, 64<<10)
	var tail []byte // the end of the text read so far: a mark may arrive in two parts
	begun, ended := false, false
	small := 0 // after hurry was called: number of successive readings that found the pipe less than half full
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
			if idle || small == 3 {
				t.catchUp()
			}
		}
		switch {
		case idle:
			t.pause()
		case err != nil:
			return
		case begun && t.paced:
			t.pipe.SetReadDeadline(t.deadline())
		}
	}
}

// deadline returns the time until which a reading of the pipe waits for text. If the output is paced, a reading waits
// only for a short time, lull. When DTrace has printed all that it had, readings have no deadline, and the result is
// the zero time.
func (t *output) deadline() time.Time {
	select {
	case <-t.caughtUp:
		return time.Time{}
	default:
		return time.Now().Add(lull)
	}
}

// catchUp closes caughtUp, if it is not closed yet.
func (t *output) catchUp() {
	select {
	case <-t.caughtUp: // already closed
	default:
		close(t.caughtUp)
	}
}

func (t *output) hurried() bool {
	select {
	case <-t.quick:
		return true
	default:
		return false
	}
}

// awaitCatchUp waits until DTrace can be asked to end, but at most two seconds. If the signal to end came in the middle
// of a write, DTrace would lose the text that it was writing, or write the text twice.
func (t *output) awaitCatchUp() {
	if !t.paced {
		return
	}
	select {
	case <-t.caughtUp:
	case <-t.saved:
	case <-time.After(2 * time.Second):
	}
}

// pause waits until it is time to read the pipe again.
func (t *output) pause() {
	select {
	case <-t.quick:
	case <-time.After(paceInterval):
	}
	t.pipe.SetReadDeadline(time.Time{})
}

// hurry makes the method save read the pipe without pauses, so that DTrace can print the rest of its samples quickly.
func (t *output) hurry() {
	t.once.Do(func() {
		if t.paced {
			widenPipe(t.pipe)
		}
		close(t.quick)
	})
}

func (t *output) write(text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pauses != nil || len(t.line) > 0 {
		text = t.withoutPauses(text)
	}
	t.writeText(text)
}

// writeText writes a text to t.to, unless an earlier write failed. The caller holds the lock.
func (t *output) writeText(text []byte) {
	if t.failure == nil {
		_, t.failure = t.to.Write(text)
	}
}

func (t *output) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failure
}

// start returns what DTrace has printed so far: first its stderr, then its stdout. It is used for the error message
// if DTrace did not begin to sample.
func (t *output) start() string {
	select {
	case <-t.saved:
	case <-time.After(time.Second): // perhaps a child of DTrace still has the pipe open
	}
	return t.messages.String() + "\n" + t.before.String()
}

// ended reports whether DTrace has printed everything.
func (t *output) ended() bool {
	select {
	case <-t.end:
		return true
	default:
		return false
	}
}

// awaitEnd waits until DTrace has printed everything, or has closed the pipe. If DTrace prints nothing for endTimeout,
// awaitEnd returns false. After slowEnd it calls slow() once.
func (t *output) awaitEnd(slow func()) bool {
	asked := time.Now()
	tell := time.NewTimer(slowEnd)
	defer tell.Stop()
	for {
		select {
		case <-t.end:
			return true
		case <-t.saved:
			return true
		case <-tell.C:
			slow()
		case <-time.After(time.Second):
			last := time.Unix(0, t.lastRead.Load())
			if time.Since(asked) > endTimeout && time.Since(last) > endTimeout {
				return false
			}
		}
	}
}

// abandon closes the pipe, so that nothing more is read from it.
func (t *output) abandon() {
	t.hurry()
	t.pipe.Close()
}

// discard removes the file of a DTrace that did not sample.
func (t *output) discard() {
	t.abandon()
	t.file.Close()
	if t.file != nil {
		os.Remove(t.file.Name())
	}
}

// A dropCounter receives what DTrace prints on stderr. It adds up the numbers in lines about dropped records, and keeps
// all other lines. A line like the following one counts as one dropped record. It means that a probe's clause could not
// read an address.
//
//	dtrace: error on enabled probe ID 4 (ID 4047: hotspot4711:libjvm.so:…:thread-start): invalid address (0x10) in action #1
type dropCounter struct {
	drops atomic.Int64
	rest  external.Buffer

	mu   sync.Mutex
	line []byte // the last line, if its end has not been written yet
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
		if n, ok := sampler.DTraceDrops(lines[:end]); ok {
			c.drops.Add(n)
		} else if bytes.HasPrefix(lines, []byte("dtrace: error on enabled probe ID ")) {
			c.drops.Add(1)
		} else {
			c.rest.Write(lines[:end])
		}
		lines = lines[end:]
	}
	if len(lines) > 64<<10 { // DTrace has no message that is so long
		c.rest.Write(lines)
		lines = nil
	}
	c.line = append(c.line[:0], lines...)
	return len(text), nil
}

// String returns what DTrace printed, without the lines about drops.
func (c *dropCounter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rest.String() + string(c.line)
}
