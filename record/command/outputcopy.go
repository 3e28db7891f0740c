package command

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// An outputCopy passes one stream of what the command prints through gasm, unchanged.
type outputCopy struct {
	ours *os.File // gasm's end
	to   *os.File // gasm's own stdout or stderr
	// see is called with each piece before it is passed on, because the time of a line is the time of its arrival. It
	// may be nil.
	see    func(out []byte, monoNanos int64)
	copied chan struct{} // closed when the output has ended
	// idleSince is when the last Read began, by CLOCK_MONOTONIC in ns; 0 while output is being passed on.
	idleSince atomic.Int64
	midLine   atomic.Bool // the last piece did not end with the end of a line
}

func newOutputCopy(ours, to *os.File, see func([]byte, int64)) *outputCopy {
	return &outputCopy{ours: ours, to: to, see: see, copied: make(chan struct{})}
}

// copy passes the output on until it ends.
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
			// When gasm's stdout is closed (gasm … | head), the command must get the
			// same SIGPIPE that it would get without gasm.
			if _, err := p.to.Write(buf[:n]); err != nil {
				p.ours.Close()
				return
			}
			p.midLine.Store(buf[n-1] != '\n')
		}
		if err != nil {
			return // EOF, or EIO from a terminal that no process has open any more
		}
	}
}

// drain waits until the output has ended, or until nothing has come for a second.
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

// inLine reports whether the output is in the middle of a line, or is being passed on.
func (p *outputCopy) inLine() bool { return p.idleSince.Load() == 0 || p.midLine.Load() }
