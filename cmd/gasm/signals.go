package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/gasm-profiler/gasm/cmd/gasm/halfwritten"
	"github.com/gasm-profiler/gasm/record"
)

// A signalTaker is a recording that signals are handed to. Signal returns false if the recording has no use for the
// signal, because the command has ended.
type signalTaker interface {
	Signal(sig syscall.Signal) (taken bool)
}

// A signalWatch hands the signals that gasm gets to the recording. After the command has ended, a signal to stop means
// that the user does not want the report.
type signalWatch struct {
	ch      chan os.Signal
	stopped chan syscall.Signal // receives a signal to stop if it comes after the recording

	mu       sync.Mutex // held while gasm cleans up
	reported bool       // the report was complete before a signal to stop came
	kept     bool       // the signal came first, so the capture is kept
}

// catchSignals begins to catch signals. SIGPIPE is caught so that it does not kill gasm. Then writing to a closed
// stdout returns an error, and gasm can clean up. The command runs with the default action for SIGPIPE.
func catchSignals() *signalWatch {
	w := &signalWatch{ch: make(chan os.Signal, 8), stopped: make(chan syscall.Signal, 1)}
	signal.Notify(w.ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGPIPE)
	return w
}

// during runs a function that records and reports. While that function runs, signals are handed to the recording. It
// returns the function's error.
//
// If a signal to stop comes when the recording is over, the method does not wait until the function has returned. It
// removes the files that are half written, says where the capture is, and returns an error with the exit code. The
// function still runs then, so the caller must end the process at once. If the function has called finish, the method
// waits until finish has cleaned up.
func (w *signalWatch) during(rec signalTaker, s streams, folder *record.Folder, files *halfwritten.Files,
	work func() error) error {
	go w.handTo(rec)
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case sig := <-w.stopped:
		files.Abandon()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.kept = !w.reported; w.kept {
			say(s.err, "gasm: stopped before the report was done; the capture is kept in %s", folder.Keep())
		}
		return &exitError{code: 128 + int(sig)}
	}
}

// handTo hands the caught signals to a recording, until the watch is stopped.
func (w *signalWatch) handTo(rec signalTaker) {
	ctrlC := false // the first Ctrl-C is meant for the command, even if it comes after the command's end
	for caught := range w.ch {
		sig := caught.(syscall.Signal) // on Unix, all signals are of this type
		taken := rec.Signal(sig)
		stops := sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGINT && ctrlC
		ctrlC = ctrlC || sig == syscall.SIGINT
		if !taken && stops {
			select {
			case w.stopped <- sig:
			default: // gasm is stopping already
			}
		}
	}
}

// finish notes that the report is complete, and calls a function that cleans up, unless a signal has stopped gasm
// before. From then on, Ctrl-C and Ctrl-\ are for gasm again, and not for a pager.
func (w *signalWatch) finish(cleanUp func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept {
		return
	}
	w.reported = true
	signal.Notify(w.ch, syscall.SIGINT, syscall.SIGQUIT)
	cleanUp()
}

func (w *signalWatch) stop() {
	signal.Stop(w.ch)
	close(w.ch)
}
