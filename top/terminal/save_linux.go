package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Saved is the state of a terminal before a full screen. A process that is killed with kill -9 can't restore its
// terminal. So gasm top consists of two processes: one shows the full screen, and the other one, which has started it,
// only waits for its end and then restores the Saved state. The shell waits for the waiting process, so the terminal is
// restored before the shell uses it again. If the waiting process itself is killed, the other one gets a signal, and
// ends as after any other signal. But nobody has a reason to kill the waiting process, because it does nothing.
type Saved struct {
	fd    int
	modes unix.Termios
}

// settle is how long the terminal may take to answer the queries that were sent to it.
const settle = 50 * time.Millisecond

// Save returns the state of a terminal. It returns nil if the file is not a terminal.
func Save(f *os.File) *Saved {
	modes, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil
	}
	return &Saved{int(f.Fd()), *modes}
}

// Restore restores the terminal. It also works if this process is in the background. The parameter killed is true if
// the process that showed the full screen may have been killed, so that it could not leave the full screen. Restore
// then leaves it, and discards what the terminal still answers.
func (s *Saved) Restore(killed bool) {
	if s == nil {
		return
	}
	signal.Ignore(syscall.SIGTTOU) // the signal with which the kernel stops background processes that change a terminal
	if killed {
		_, _ = unix.Write(s.fd, []byte(reset)) // if the terminal is gone, there is nothing to restore
		time.Sleep(settle)                     // the terminal's late answers are discarded below
	}
	request := uint(unix.TCSETSW)
	if killed {
		request = unix.TCSETSF
	}
	_ = unix.IoctlSetTermios(s.fd, request, &s.modes)
}
