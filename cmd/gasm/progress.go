package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on a terminal how far work has come that takes longer than a
// second.
type progress struct {
	bar     *progressbar.ProgressBar
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
func (p *progress) reader(r io.Reader) io.Reader {
	if p.bar == nil {
		return r
	}
	return &countedReader{r, p}
}

type countedReader struct {
	io.Reader
	p *progress
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.p.add(n)
	return n, err
}

// writer counts what is written through it.
func (p *progress) writer(w io.Writer) io.Writer {
	if p.bar == nil {
		return w
	}
	return &countedWriter{w, p}
}

type countedWriter struct {
	io.Writer
	p *progress
}

func (c *countedWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.p.add(n)
	return n, err
}

// add counts quietly for a second, and then shows.
func (p *progress) add(n int) {
	p.unshown += n
	if time.Since(p.start) >= time.Second {
		_ = p.bar.Add(p.unshown)
		p.unshown = 0
	}
}

// done takes the display away.
func (p *progress) done() {
	if p.bar != nil && time.Since(p.start) >= time.Second {
		_ = p.bar.Finish()
	}
}
