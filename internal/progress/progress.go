// Package progress shows on a terminal how far work has come that takes longer than a
// second.
package progress

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// A Bar is the display of one piece of work.
type Bar struct {
	bar     *progressbar.ProgressBar // nil where stderr is no terminal
	start   time.Time                // of the work; zero before its first bytes
	unshown int
}

// New shows work on total bytes, -1 when that is unknown, from the first
// bytes on.
func New(stderr *os.File, doing string, total int64) *Bar {
	b := &Bar{}
	if layout.IsTerminal(stderr) {
		b.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(stderr), progressbar.OptionSetDescription(layout.Message("gasm: %s", doing)),
			progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetRenderBlankState(false))
	}
	return b
}

// Add counts quietly for a second, and then shows.
func (b *Bar) Add(bytes int) {
	if b.start.IsZero() {
		b.start = time.Now()
	}
	b.unshown += bytes
	if b.bar != nil && time.Since(b.start) >= time.Second {
		_ = b.bar.Add(b.unshown)
		b.unshown = 0
	}
}

// Done takes the display away.
func (b *Bar) Done() {
	if b.bar != nil && !b.start.IsZero() && time.Since(b.start) >= time.Second {
		_ = b.bar.Finish()
	}
}
