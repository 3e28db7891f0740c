package jvm

import (
	"os"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// outputFor makes the two ends of the command's stdout: ours to read from, and
// the command's to write to. Where our own stdout is a terminal, the command
// gets one too (a pseudo-terminal of the same size, which changes nothing in
// what passes), so that it prints colours and flushes lines as it would alone.
func outputFor(stdout *os.File) (ours, commands *os.File, err error) {
	if stdout != nil && term.IsTerminal(int(stdout.Fd())) {
		if ours, commands, err = terminalLike(stdout); err == nil {
			return ours, commands, nil
		}
		// No pseudo-terminals here (a minimal container): a pipe will do.
	}
	return os.Pipe()
}

func terminalLike(stdout *os.File) (ours, commands *os.File, err error) {
	ours, commands, err = pty.Open()
	if err != nil {
		return nil, nil, err
	}
	// Raw: the real terminal turns \n into \r\n already.
	if _, err = term.MakeRaw(int(commands.Fd())); err == nil {
		err = pty.InheritSize(stdout, ours)
	}
	// Fd has put it into blocking mode, where Close does not end a Read.
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

// Resize tells the command's terminal the size of ours; for SIGWINCH.
func (l *Launch) Resize(stdout *os.File) {
	size, err := unix.IoctlGetWinsize(int(stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return // no terminal
	}
	if out, err := l.out.SyscallConn(); err == nil {
		_ = out.Control(func(fd uintptr) { _ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
	}
}
