package record

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// holdArg as the first argument makes gasm's program a holder: it waits for a byte on the file descriptor in the second
// one, and then becomes the command in the arguments after it.
//
// The descriptor is the gate: a byte opens it, its end without one means: give up. The next one is the result: it is closed
// by a successful exec, and gets an errno in text otherwise. The one after that is the command's stderr. The holder has none
// itself, because the Go runtime answers SIGQUIT (Ctrl-\) by all stacks from its first instructions on.
const holdArg = "__gasm-hold"

// A sampler follows the holder's first thread, so that thread must become the command.
// Locking it in an init makes main run on it. The Go runtime's other threads end at the
// exec.
func init() {
	if held() {
		runtime.LockOSThread()
		signal.Notify(quit, syscall.SIGQUIT) // undone by the exec
	}
}

// quit gets the holder's SIGQUIT, which is caught from its first moments on.
var quit = make(chan os.Signal, 1)

func held() bool { return len(os.Args) > 4 && os.Args[1] == holdArg }

// Hold must be the first call of main in a program that records. In a process that a
// [Recording] has made as a holder it becomes the command, and returns only when it
// can't: then main must exit with the code. In any other process it is false.
func Hold() (code int, isHolder bool) {
	if !held() {
		return 0, false
	}
	gateFD, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return 1, true // gasm gives a number
	}
	resultFD, stderrFD := gateFD+1, gateFD+2
	gate, result := os.NewFile(uintptr(gateFD), "gate"), os.NewFile(uintptr(resultFD), "result")
	opened := make(chan bool, 1)
	go func() {
		n, _ := gate.Read(make([]byte, 1)) // without a byte, gasm is gone
		opened <- n == 1
	}()
	select {
	case <-quit:
		return 128 + int(syscall.SIGQUIT), true
	case ok := <-opened:
		if !ok {
			return 1, true
		}
	}
	gate.Close()
	syscall.CloseOnExec(resultFD)
	syscall.CloseOnExec(stderrFD)
	_ = unix.Dup2(stderrFD, 2) // fails where the command has no stderr
	err = syscall.Exec(os.Args[3], os.Args[4:], os.Environ())
	var errno syscall.Errno
	if errors.As(err, &errno) {
		result.WriteString(strconv.Itoa(int(errno)))
	}
	return 127, true
}

// A CommandError is the error of a command that could not be started at all.
type CommandError struct {
	Command string
	Err     error
}

// errNoInterpreter is what ENOENT of exec means for a file that exists.
var errNoInterpreter = errors.New("the interpreter of its #! line, or the loader that it was linked for, is not there")

func (e *CommandError) Error() string {
	switch {
	case errors.Is(e.Err, exec.ErrNotFound):
		return "command not found: " + e.Command + " (is it on your PATH?)"
	case errors.Is(e.Err, os.ErrNotExist):
		return "command not found: " + e.Command
	case errors.Is(e.Err, syscall.ENOEXEC):
		return "cannot run " + e.Command + ": it is neither a program nor a script with a #! line"
	case errors.Is(e.Err, os.ErrPermission):
		return "cannot run " + e.Command + ": permission denied (is it executable?)"
	}
	return "cannot run " + e.Command + ": " + e.Err.Error()
}

func (e *CommandError) Unwrap() error { return e.Err }
