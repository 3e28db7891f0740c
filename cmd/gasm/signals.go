package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/gasm-profiler/gasm/record"
)

// A signalTaker is a recording. It returns false for a signal that means nothing to it any
// more.
type signalTaker interface {
	Signal(sig syscall.Signal) (taken bool)
}

// A signalWatch hands the signals that gasm gets to the recording. When the command
// has ended, a signal to stop means that the report is not wanted.
type signalWatch struct{ ch chan os.Signal }

// catchSignals begins to catch. SIGPIPE is caught so that a closed stdout is an
// error that cleans up and not the end of gasm; the command has its default.
func catchSignals() *signalWatch {
	w := &signalWatch{ch: make(chan os.Signal, 8)}
	signal.Notify(w.ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGPIPE)
	return w
}

// handTo hands what was caught, and what will be, to a recording into a folder.
func (w *signalWatch) handTo(rec signalTaker, s streams, folder *record.Folder) {
	go func() {
		ctrlC := false // the first one is for the command, whenever it comes
		for caught := range w.ch {
			sig := caught.(syscall.Signal) // they all are, on Unix
			taken := rec.Signal(sig)
			stops := sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGINT && ctrlC
			ctrlC = ctrlC || sig == syscall.SIGINT
			if !taken && stops {
				say(s.err, "gasm: stopped before the report was done; the capture is kept in %s", folder.Keep())
				leave(128 + int(sig))
			}
		}
	}()
}

// resume takes the keys back that a pager had.
func (w *signalWatch) resume() { signal.Notify(w.ch, syscall.SIGINT, syscall.SIGQUIT) }

func (w *signalWatch) stop() {
	signal.Stop(w.ch)
	close(w.ch)
}
