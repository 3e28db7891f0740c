package record

import (
	"os"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// outputFor makes the two ends of the command's stdout or stderr: ours to read from, and the
// command's to write to. Where gasm's own one is a terminal, the command gets a
// pseudo-terminal of the same size, so that it prints colours and flushes its lines as
// it would without gasm. The pseudo-terminal changes nothing in what passes through.
func outputFor(stdout *os.File) (ours, commands *os.File, err error) {
	if stdout != nil && term.IsTerminal(int(stdout.Fd())) {
		if ours, commands, err = terminalLike(stdout); err == nil {
			return ours, commands, nil
		}
		// Some minimal containers have no pseudo-terminals. Then it is a pipe.
	}
	return os.Pipe()
}

func terminalLike(stdout *os.File) (ours, commands *os.File, err error) {
	ours, commands, err = pty.Open()
	if err != nil {
		return nil, nil, err
	}
	// Raw, because the real terminal already turns \n into \r\n.
	if _, err = term.MakeRaw(int(commands.Fd())); err == nil {
		err = pty.InheritSize(stdout, ours)
	}
	// Fd has put it into blocking mode, in which Close does not end a Read.
	if err == nil && ours.SetReadDeadline(time.Time{}) == nil { // the runtime can poll it
		err = unix.SetNonblock(int(ours.Fd()), true)
	}
	if err != nil {
		ours.Close()
		commands.Close()
		return nil, nil, err
	}
	return ours, commands, nil
}

// Resize tells the command's terminals the size of ours; for SIGWINCH.
func (h *heldCommand) Resize() {
	for _, p := range h.passages {
		size, err := unix.IoctlGetWinsize(int(p.to.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			continue // no terminal
		}
		if ours, err := p.ours.SyscallConn(); err == nil {
			_ = ours.Control(func(fd uintptr) { _ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
		}
	}
}

// handOn gives the running command a signal that gasm got.
func (h *heldCommand) handOn(sig syscall.Signal) {
	switch {
	case sig == syscall.SIGPIPE:
	case sig == syscall.SIGWINCH:
		h.Resize()
	case (sig == syscall.SIGINT || sig == syscall.SIGQUIT) && fromTerminal():
		// Ctrl-C and Ctrl-\ go to all processes in the terminal's foreground, so
		// the command has its own.
	default:
		h.Signal(sig)
	}
}

// fromTerminal tells whether gasm is in the foreground of a terminal, where keys
// make signals.
func fromTerminal() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
