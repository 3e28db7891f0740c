package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on a terminal how far work has come that takes longer than a
// second. It is a writer that counts what passes.
type progress struct {
	bar     *progressbar.ProgressBar // nil where stderr is no terminal
	start   time.Time
	unshown int
}

// startProgress begins to show work on total bytes; -1 when that is unknown.
func startProgress(stderr *os.File, what string, total int64) *progress {
	p := &progress{start: time.Now()}
	if term.IsTerminal(int(stderr.Fd())) {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(stderr), progressbar.OptionSetDescription("gasm: "+what),
			progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetRenderBlankState(false))
	}
	return p
}

// reader counts what is read through it.
func (p *progress) reader(r io.Reader) io.Reader { return io.TeeReader(r, p) }

// writer counts what is written through it.
func (p *progress) writer(w io.Writer) io.Writer { return io.MultiWriter(w, p) }

// Write counts quietly for a second, and then shows.
func (p *progress) Write(b []byte) (int, error) {
	p.unshown += len(b)
	if p.bar != nil && time.Since(p.start) >= time.Second {
		_ = p.bar.Add(p.unshown)
		p.unshown = 0
	}
	return len(b), nil
}

// done takes the display away.
func (p *progress) done() {
	if p.bar != nil && time.Since(p.start) >= time.Second {
		_ = p.bar.Finish()
	}
}
