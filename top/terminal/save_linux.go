package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Saved is the state of a terminal before a full screen. A process that kill -9 ends can't put its terminal back. So
// gasm top consists of two processes: one shows the full screen, and the other one, which has started it, only waits for
// its end and then restores the Saved state. If the waiting process is killed, the other one gets a signal, and ends as
// after any other signal. The waiting process does nothing that anyone would kill it for, and is the one that the shell
// waits for. So the terminal is back before the shell uses it again.
type Saved struct {
	fd    int
	modes unix.Termios
}

// settle is how long the terminal may take to send answers to what it was asked.
const settle = 50 * time.Millisecond

// Save returns the state of a terminal. It returns nil if the file is not a terminal.
func Save(f *os.File) *Saved {
	modes, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil
	}
	return &Saved{int(f.Fd()), *modes}
}

// Restore puts the terminal back. It works in the background, too. killed is true if the process with the full screen
// could not do that itself.
func (s *Saved) Restore(killed bool) {
	if s == nil {
		return
	}
	signal.Ignore(syscall.SIGTTOU) // with which the kernel stops processes in the background that change a terminal
	if killed {
		_, _ = unix.Write(s.fd, []byte(reset)) // if the terminal is gone, there is nothing to put back
		time.Sleep(settle)                     // what the terminal still sends is thrown away below
	}
	request := uint(unix.TCSETSW)
	if killed {
		request = unix.TCSETSF
	}
	_ = unix.IoctlSetTermios(s.fd, request, &s.modes)
}
