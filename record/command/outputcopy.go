package command

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// An outputCopy passes one stream of the command's output through gasm, unchanged.
type outputCopy struct {
	ours *os.File // gasm's end of the pipe or pseudo-terminal, for reading
	to   *os.File // gasm's own stdout or stderr
	// see is called with each piece of output and its time of arrival, before the piece is passed on. It may be nil.
	see    func(out []byte, monoNanos int64)
	copied chan struct{} // closed when copy returns
	// idleSince is the time at which the last Read began (CLOCK_MONOTONIC, in ns). It is 0 while output is being passed
	// on.
	idleSince atomic.Int64
	midLine   atomic.Bool // true if the last piece did not end with the end of a line
}

func newOutputCopy(ours, to *os.File, see func([]byte, int64)) *outputCopy {
	return &outputCopy{ours: ours, to: to, see: see, copied: make(chan struct{})}
}

// copy passes the output on until the output ends, or until it can no longer be written.
func (p *outputCopy) copy() {
	defer close(p.copied)
	buf := make([]byte, 1<<16)
	for {
		p.idleSince.Store(monotonic.Nanos())
		n, err := p.ours.Read(buf)
		p.idleSince.Store(0)
		if n > 0 {
			if p.see != nil {
				p.see(buf[:n], monotonic.Nanos())
			}
			// When gasm's stdout is closed (gasm … | head), the command must get the same SIGPIPE that it would get
			// without gasm.
			if _, err := p.to.Write(buf[:n]); err != nil {
				p.ours.Close()
				return
			}
			p.midLine.Store(buf[n-1] != '\n')
		}
		if err != nil {
			return // EOF or, if no process has the terminal open any more, EIO
		}
	}
}

// drain waits until the output has ended, or until nothing was printed for a second.
func (p *outputCopy) drain() {
	for {
		select {
		case <-p.copied:
			return
		case <-time.After(50 * time.Millisecond):
			if idle := p.idleSince.Load(); idle != 0 && monotonic.Nanos()-idle > int64(time.Second) {
				return
			}
		}
	}
}

// inLine reports whether the output so far ends in the middle of a line. While output is being passed on, it returns
// true, because the end is not known yet.
func (p *outputCopy) inLine() bool { return p.idleSince.Load() == 0 || p.midLine.Load() }
