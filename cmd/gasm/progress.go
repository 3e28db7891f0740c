package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// progress shows on a terminal how far work has come that takes longer than a
// second.
type progress struct {
	bar     *progressbar.ProgressBar // nil where stderr is no terminal
	start   time.Time                // of the work; zero before its first bytes
	unshown int
}

// newProgress shows work on total bytes, -1 when that is unknown, from the first
// bytes on.
func newProgress(stderr *os.File, doing string, total int64) *progress {
	p := &progress{}
	if layout.IsTerminal(stderr) {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(stderr), progressbar.OptionSetDescription(layout.Message("gasm: %s", doing)),
			progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetRenderBlankState(false))
	}
	return p
}

// add counts quietly for a second, and then shows.
func (p *progress) add(bytes int) {
	if p.start.IsZero() {
		p.start = time.Now()
	}
	p.unshown += bytes
	if p.bar != nil && time.Since(p.start) >= time.Second {
		_ = p.bar.Add(p.unshown)
		p.unshown = 0
	}
}

// done takes the display away.
func (p *progress) done() {
	if p.bar != nil && !p.start.IsZero() && time.Since(p.start) >= time.Second {
		_ = p.bar.Finish()
	}
}
