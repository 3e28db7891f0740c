package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/jvm"
)

// A signalWatch hands the signals that gasm gets to the command, so that
// stopping gasm stops the command and still gives a report.
type signalWatch struct {
	ch     chan os.Signal
	mu     sync.Mutex
	launch *jvm.Launch
	ctrlC  bool
}

// catchSignals begins to catch. SIGPIPE is caught so that a closed stdout is an
// error that cleans up and not the end of gasm; the command has its default.
func (r *run) catchSignals() *signalWatch {
	s := &signalWatch{ch: make(chan os.Signal, 8)}
	signal.Notify(s.ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGPIPE)
	go func() {
		for sig := range s.ch {
			s.take(sig, r)
		}
	}()
	return s
}

func (s *signalWatch) take(sig os.Signal, r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig == syscall.SIGINT {
		if s.ctrlC && s.launch == nil {
			// The command has ended, and the user wants the report no more.
			say(r.err, "gasm: interrupted; the capture is kept in %s", r.dir)
			os.Exit(130)
		}
		s.ctrlC = true
	}
	switch {
	case s.launch == nil || sig == syscall.SIGPIPE:
	case sig == syscall.SIGWINCH:
		s.launch.Resize(r.out)
	case (sig == syscall.SIGINT || sig == syscall.SIGQUIT) && fromTerminal():
		// Ctrl-C and Ctrl-\ go to the whole foreground group: the command has
		// its own.
	default:
		s.launch.Signal(sig)
	}
}

// fromTerminal tells whether we are in the foreground of a terminal, where
// keys make signals.
func fromTerminal() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// forward begins to hand signals to the command, that which came early too.
func (s *signalWatch) forward(l *jvm.Launch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launch = l
	if s.ctrlC && !fromTerminal() {
		l.Signal(syscall.SIGINT)
	}
}

// interrupted tells whether Ctrl-C came. From its first call on the command
// has ended, and a further Ctrl-C ends gasm at once.
func (s *signalWatch) interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launch = nil
	return s.ctrlC
}

func (s *signalWatch) stop() {
	signal.Stop(s.ch)
	close(s.ch)
}
