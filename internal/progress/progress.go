// Package progress shows the progress of work on a terminal, if the work takes longer than a second.
package progress

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// A Bar shows the progress of one piece of work.
type Bar struct {
	bar     *progressbar.ProgressBar // nil if stderr is not a terminal
	start   time.Time                // when the work began; zero before its first bytes
	unshown int
}

// New returns a Bar for work on the given number of bytes. The number is -1 if it is unknown. doing says what the work
// is: "reading the samples". The Bar takes the first call of Add as the beginning of the work.
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

// Add tells the Bar that some more bytes are done. The Bar appears after the work has taken a second.
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

// Done removes the Bar from the terminal.
func (b *Bar) Done() {
	if b.bar != nil && !b.start.IsZero() && time.Since(b.start) >= time.Second {
		_ = b.bar.Finish()
	}
}
