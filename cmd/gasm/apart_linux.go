package main

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/top/terminal"
)

// Another user's process can mount a file system of its own. If a thread of gasm then looks at that process's memory or
// files, the file system can hold the thread in the kernel for as long as it likes (package foreign). A gasm process
// with such a thread can't end, not even by kill -9. So gasm looks at other users' processes in a child process. The
// gasm process that the user started waits until the child reports its exit code, and then exits even if the child
// can't end.

// apartEnv is the environment variable that tells a child on which file descriptor it has to report its exit code.
const apartEnv = "GASM_APART"

// apart is the pipe on which a child reports its exit code. It is nil in a gasm process that is not such a child.
var apart *os.File

// ownProcess is true if this process runs gasm's main function, so that its command line can be run again in a child.
// It is false in a test that calls a command directly, because such a process has the command line of the test binary.
var ownProcess bool

// beApart sets ownProcess. If this process is a child that runApart has started, beApart also sets apart. It removes
// apartEnv from the environment, so that the processes that gasm starts do not inherit it.
func beApart() {
	ownProcess = true
	fd, err := strconv.Atoi(os.Getenv(apartEnv))
	if os.Unsetenv(apartEnv); err != nil {
		return
	}
	unix.CloseOnExec(fd)
	apart = os.NewFile(uintptr(fd), "the gasm that waits")
}

// leave ends gasm with an exit code. A child closes its standard streams first. Otherwise, if the child can't end, a
// program that reads gasm's output from a pipe would wait forever.
func leave(code int) {
	if apart != nil {
		for fd := range 3 {
			_ = unix.Close(fd)
		}
		_, _ = apart.Write([]byte{byte(code)}) // fails only if the gasm process that waits was killed
	}
	os.Exit(code)
}

// mayNotEnd reports whether gasm has to look at other processes in a child ([runApart]), because it might never end if
// it did so in this process.
func mayNotEnd() bool { return ownProcess && apart == nil && seesOthers() }

// seesOthers reports whether gasm can look at the memory and files of other users' processes: if it is root, or has
// CAP_SYS_PTRACE.
func seesOthers() bool { return os.Geteuid() == 0 || foreign.MayTrace() }

// endTime is how long a child may take to end after it has reported its exit code. Usually it takes a millisecond.
const endTime = time.Second

// runApart runs the command line of this process in a child. If the child's exit code is not 0, runApart returns an
// *exitError with that code. The child is killed when this process ends.
func runApart(s streams) error { return runChild(s, syscall.SIGKILL, func(bool) {}) }

// runLate is like runApart, for a child that runs for long and does not need to wake up at exact times. Go's scheduler
// has a thread that sleeps for only 20 µs at a time while there is something to do. With exact times, it takes a tenth
// of the CPU time of gasm watch.
func runLate(s streams) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	setTimerSlack(lateWakeUp)
	return runApart(s)
}

// lateWakeUp is how late a child of runLate may wake up. It is short compared with the second between two readings of
// the samples. usualWakeUp is the kernel's default.
const lateWakeUp, usualWakeUp = 4 * time.Millisecond, 50 * time.Microsecond

// setTimerSlack sets how late the kernel may wake up the current thread (prctl(2), PR_SET_TIMERSLACK). The threads and
// processes that the thread starts inherit this. The caller must have locked its goroutine to the thread.
func setTimerSlack(slack time.Duration) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0) // if that fails, gasm only takes more CPU time
}

// runWatched is like runApart, for a child that shows a full screen. When the child has ended, runWatched restores the
// terminal, even if the child was killed. If this process is killed, the child gets SIGTERM.
func runWatched(s streams) error {
	saved := terminal.Save(s.out)
	nameGuard()
	return runChild(s, syscall.SIGTERM, saved.Restore)
}

// nameGuard gives this process a name other than the child's. So "killall -9 gasm" kills only the child, and this
// process can restore the terminal.
func nameGuard() { _ = os.WriteFile("/proc/self/comm", []byte("top-guard"), 0) } // after an error, the name stays

// mayWatch reports whether this process may run its command line again in a child.
func mayWatch() bool { return ownProcess && apart == nil }

// isWatched reports whether this process is the child of runWatched or runApart.
func isWatched() bool { return apart != nil }

// shellHasTerminal reports whether the parent of this process is gone and the shell uses the terminal again. In that
// case, the shell has already set the terminal's modes. The shell takes the terminal back as soon as it notices the
// parent's end, so shellHasTerminal waits a moment for that.
func shellHasTerminal(out *os.File) bool {
	if !isWatched() || os.Getppid() == guardPID {
		return false
	}
	time.Sleep(shellTime)
	group, err := unix.IoctlGetInt(int(out.Fd()), unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}

// shellTime is the time in which a shell notices that a program has ended. Usually it takes a millisecond.
const shellTime = 30 * time.Millisecond

// guardPID is the id of the process that has started this one.
var guardPID = os.Getppid()

// runChild runs the command line of this process in a child. The parameter death is the signal that the child gets when
// this process ends. When the child has reported its exit code or has ended, runChild calls over(killed). The argument
// killed is true if the child ended without a report, for example because it was killed.
func runChild(s streams, death syscall.Signal, over func(killed bool)) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2)
	defer signal.Stop(signals)
	says, said, err := os.Pipe()
	if err != nil {
		return err
	}
	defer says.Close()
	child := exec.Command("/proc/self/exe", os.Args[1:]...)
	child.Args[0] = os.Args[0]
	child.Stdin, child.Stdout, child.Stderr = s.in, s.out, s.err
	child.ExtraFiles = []*os.File{said} // descriptor 3 of the child
	child.Env = append(os.Environ(), apartEnv+"=3")
	endWithThread(child, death)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = child.Start()
	said.Close()
	if err != nil {
		return err
	}
	code, reported, ended := make(chan int, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(reported)
		var b [1]byte
		if n, _ := says.Read(b[:]); n == 1 { // a child that has crashed reports nothing
			code <- int(b[0])
		}
	}()
	go func() {
		_ = child.Wait() // how it ended is in ProcessState
		close(ended)
	}()
	for {
		select {
		case sig := <-signals:
			handOn(child.Process, sig.(syscall.Signal)) // on Unix, all signals are of this type
		case c := <-code:
			over(false)
			select {
			case <-ended:
			case <-time.After(endTime):
				say(s.err, "gasm: gasm's process %d can't end yet: in the kernel, it waits for a file system of the JVM that does not answer; it ends when that file system does", child.Process.Pid)
			}
			return exitOf(c)
		case <-ended:
			<-reported
			select {
			case c := <-code: // the report came just before the end
				over(false)
				return exitOf(c)
			default:
			}
			over(true)
			status, _ := child.ProcessState.Sys().(syscall.WaitStatus)
			if status.Signaled() {
				return exitOf(128 + int(status.Signal()))
			}
			return exitOf(status.ExitStatus())
		}
	}
}

// endWithThread makes the kernel send a signal to a child when the thread that starts the child ends, and so also when
// this process ends. Until the child has ended, the caller must lock its goroutine to that thread.
func endWithThread(cmd *exec.Cmd, sig syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = sig
}

// exitOf returns nil for the exit code 0 of a child, and otherwise an *exitError without a message, because the child
// has printed its message itself.
func exitOf(code int) error {
	if code == 0 {
		return nil
	}
	return &exitError{code: code}
}

// handOn passes a signal on to the child. It does nothing if the child has already got the signal from the terminal,
// which sends SIGINT and SIGQUIT to all processes in its foreground.
func handOn(child *os.Process, sig syscall.Signal) {
	if sig == syscall.SIGINT || sig == syscall.SIGQUIT {
		if tty, err := os.Open("/dev/tty"); err == nil {
			group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
			tty.Close()
			if err == nil && group == unix.Getpgrp() {
				return
			}
		}
	}
	_ = child.Signal(sig) // the child may have ended
}
