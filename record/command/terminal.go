package command

import (
	"os"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// outputFor creates the two ends of the command's stdout or stderr. gasm reads from the first result, and the command
// writes to the second one. If gasm's own stream is a terminal, the command gets a pseudo-terminal of the same size,
// so that it prints colours and flushes its lines as it would without gasm. The pseudo-terminal does not change what
// passes through it.
func outputFor(stdout *os.File) (ours, commands *os.File, err error) {
	if stdout != nil && term.IsTerminal(int(stdout.Fd())) {
		if ours, commands, err = terminalLike(stdout); err == nil {
			return ours, commands, nil
		}
		// Some minimal containers have no pseudo-terminals. Then the command gets a pipe.
	}
	return os.Pipe()
}

func terminalLike(stdout *os.File) (ours, commands *os.File, err error) {
	ours, commands, err = pty.Open()
	if err != nil {
		return nil, nil, err
	}
	// The pseudo-terminal is raw, because the real terminal already turns \n into \r\n.
	if _, err = term.MakeRaw(int(commands.Fd())); err == nil {
		err = pty.InheritSize(stdout, ours)
	}
	// Package pty has called ours.Fd, which puts the file into blocking mode. In that mode, Close would not interrupt a
	// Read.
	if err == nil && ours.SetReadDeadline(time.Time{}) == nil { // true if the Go runtime can poll the file
		err = unix.SetNonblock(int(ours.Fd()), true)
	}
	if err != nil {
		ours.Close()
		commands.Close()
		return nil, nil, err
	}
	return ours, commands, nil
}

// resize gives the command's pseudo-terminals the size of gasm's terminal. It is called after a SIGWINCH.
func (h *Held) resize() {
	for _, p := range h.outputs {
		size, err := unix.IoctlGetWinsize(int(p.to.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			continue // not a terminal
		}
		if ours, err := p.ours.SyscallConn(); err == nil {
			_ = ours.Control(func(fd uintptr) { _ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
		}
	}
}

// HandOn passes a signal that gasm has received on to the running command.
func (h *Held) HandOn(sig syscall.Signal) {
	switch {
	case sig == syscall.SIGPIPE:
	case sig == syscall.SIGWINCH:
		h.resize()
	case (sig == syscall.SIGINT || sig == syscall.SIGQUIT) && fromTerminal():
		// The terminal sends Ctrl-C and Ctrl-\ to all processes in its foreground. So the command has already got the
		// signal.
	default:
		h.signal(sig)
	}
}

// fromTerminal reports whether gasm is in the foreground of a terminal, and so gets signals from keys such as Ctrl-C.
func fromTerminal() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
