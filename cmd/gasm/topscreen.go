package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/top/terminal"
	"github.com/gasm-profiler/gasm/top/view"
)

// show draws the screen each second and handles keys, until the user or a signal ends the view.
func (t *topView) show(ctx context.Context) (err error) {
	look := layout.LookOf(t.streams.out)
	color := t.flags.color == "always" || t.flags.color == "auto" && look.Color
	if t.screen, err = terminal.Open(color, look.ASCII || t.flags.ascii); err != nil {
		return fmt.Errorf("the terminal can't be used: %w (--batch prints text)", err)
	}
	abandoned := false // true if a shell uses the terminal again
	defer func() {
		if !abandoned {
			t.screen.Close()
		}
	}()
	t.said = make(chan string, 8)
	for i, name := range viewNames {
		if name == t.flags.first {
			t.state.Show(view.View(i))
		}
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	t.tick()
	t.draw(true)
	for {
		select {
		case <-ctx.Done():
			if abandoned = shellHasTerminal(t.streams.out); abandoned {
				terminal.Leave(t.streams.out)
			}
			return &exitError{code: 130}
		case <-ticker.C:
			t.tick()
			if failure := t.session.Failure(); failure != nil {
				t.state.Message = failure.Error()
			}
			t.draw(true)
		case text := <-t.said:
			t.state.Message = text
			t.draw(false)
		case e, open := <-t.screen.Events():
			if !open {
				return nil // the terminal is gone
			}
			if e.Resized {
				t.screen.Redraw()
			} else if t.obey(t.state.Key(e.Key, t.picture)) {
				return nil
			}
			t.draw(e.Key.Rune == 'm')
		}
	}
}

// draw draws the screen. If fresh is true, it draws a new picture.
func (t *topView) draw(fresh bool) {
	if fresh || t.picture == nil {
		t.picture = t.model.Picture(t.state.Mode())
	}
	t.screen.Show(t.state.Draw(t.picture, t.screen.Look()))
}

// obey carries out the action of a key. It reports whether gasm should end.
func (t *topView) obey(action view.Action) (quit bool) {
	switch action {
	case view.Quit:
		return true
	case view.WriteCapture:
		t.write("", "")
	case view.WriteReport:
		t.write("text", ".txt")
	case view.WritePage:
		t.write("html", ".html")
	}
	return false
}

// decayTime is the number of seconds whose samples are written if the user writes a decaying picture to a file. In such
// a picture, older samples count less and less, so it has no length in time.
const decayTime = 30

// write writes what is on the screen: as a capture, or as a report in a format.
func (t *topView) write(format, suffix string) {
	p := t.state.Shown(t.picture)
	seconds := p.Mode.Seconds
	if p.Mode.Decaying {
		seconds = decayTime
	}
	from := int64(0)
	if seconds > 0 {
		from = p.MonoTime - int64(seconds)*int64(time.Second)
	}
	name := "gasm-top-" + time.Now().Format("20060102-150405")
	dir := name
	if format != "" {
		temporary, err := os.MkdirTemp("", "gasm-top-")
		if err != nil {
			t.message("%v", err)
			return
		}
		dir, name = filepath.Join(temporary, name), name+suffix
	}
	t.state.Message = "writing " + name
	t.session.Keep(dir, from, p.MonoTime, func(err error) {
		if format != "" {
			if err == nil {
				err = t.report(dir, format, name)
			}
			os.RemoveAll(filepath.Dir(dir))
		}
		if err != nil {
			t.message("%s was not written: %v", name, err)
			return
		}
		t.message("written: %s", name)
	})
}

// report writes the report of a capture to a file.
func (t *topView) report(dir, format, file string) error {
	c, err := capture.Open(dir)
	if err != nil {
		return err
	}
	defer c.Close()
	var flags reportFlags
	flags.register(pflag.NewFlagSet("", pflag.ContinueOnError))
	if err := flags.check(); err != nil {
		return err
	}
	flags.format, flags.file, flags.intel, flags.ascii = format, file, t.flags.intel, t.flags.ascii
	ps, err := profile.Of(c, flags.profileOptions())
	if err != nil {
		return err
	}
	src, err := openSources(t.flags.sourcePaths)
	if err != nil {
		return err
	}
	defer src.close()
	o := flags.reportOptions(t.streams.out)
	src.findLines(ps, &o.Code)
	src.findFiles(&o)
	return flags.files.Write(file, func(w io.Writer) error { return report.FormatOf(format).Write(w, ps, o) })
}
