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
// stopping gasm stops the command and still gives a report. Before the command
// runs a signal to stop means that it is not to run, and after its end that the
// report is not wanted.
type signalWatch struct {
	ch     chan os.Signal
	mu     sync.Mutex
	launch *jvm.Launch // while the command runs
	ended  bool
	ctrlC  bool
	early  syscall.Signal // the first signal to stop before the command ran; 0 without
}

// catchSignals begins to catch. SIGPIPE is caught so that a closed stdout is an
// error that cleans up and not the end of gasm; the command has its default.
func (r *run) catchSignals() *signalWatch {
	s := &signalWatch{ch: make(chan os.Signal, 8)}
	signal.Notify(s.ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGPIPE)
	go func() {
		for sig := range s.ch {
			s.take(sig.(syscall.Signal), r) // they all are, on Unix
		}
	}()
	return s
}

func (s *signalWatch) take(sig syscall.Signal, r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stops := sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP
	again := s.ctrlC
	s.ctrlC = s.ctrlC || sig == syscall.SIGINT
	switch {
	case s.launch != nil:
		s.handOn(sig, r.out)
	case s.ended && stops && (again || sig != syscall.SIGINT):
		// The report is being made: a first Ctrl-C was for the command.
		say(r.err, "gasm: stopped before the report was done; the capture is kept in %s", r.dir)
		os.Exit(128 + int(sig))
	case !s.ended && stops && s.early == 0:
		s.early = sig
	}
}

// handOn gives the running command a signal.
func (s *signalWatch) handOn(sig syscall.Signal, stdout *os.File) {
	switch {
	case sig == syscall.SIGPIPE:
	case sig == syscall.SIGWINCH:
		s.launch.Resize(stdout)
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

// running begins to hand signals to the command. It gives the signal that came
// before, which means that the command is not to run; 0 without.
func (s *signalWatch) running(l *jvm.Launch) syscall.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.early == 0 {
		s.launch = l
	}
	return s.early
}

// over says that the command has ended, or never ran. It gives whether Ctrl-C
// came.
func (s *signalWatch) over() (ctrlC bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launch, s.ended = nil, true
	return s.ctrlC
}

// stoppedEarly gives the signal to stop that came before the command ran.
func (s *signalWatch) stoppedEarly() syscall.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.early
}

// resume takes the keys back that a pager had.
func (s *signalWatch) resume() { signal.Notify(s.ch, syscall.SIGINT, syscall.SIGQUIT) }

func (s *signalWatch) stop() {
	signal.Stop(s.ch)
	close(s.ch)
}
