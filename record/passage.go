package record

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A passage takes what the command prints through gasm. Nothing is changed in it.
type passage struct {
	ours *os.File // gasm's end
	to   *os.File // gasm's own stdout or stderr
	// see is shown each piece first, because the time of a line is the time of its arrival;
	// nil for nobody.
	see    func(out []byte, monoNanos int64)
	copied chan struct{} // closed when the output is at its end
	// idleSince is when the reading began to wait, 0 while output is on its way.
	idleSince atomic.Int64
	midLine   atomic.Bool // what was written last is not the end of a line
}

func newPassage(ours, to *os.File, see func([]byte, int64)) *passage {
	return &passage{ours: ours, to: to, see: see, copied: make(chan struct{})}
}

// copy passes the output on, to its end.
func (p *passage) copy() {
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
			return // EOF; EIO from a terminal whose last user is gone
		}
	}
}

// drain waits for the rest of the output: to its end, or until nothing has come
// for a second.
func (p *passage) drain() {
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

// inLine tells whether the output is in the middle of a line, or on its way.
func (p *passage) inLine() bool { return p.idleSince.Load() == 0 || p.midLine.Load() }
