package command

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

// holdArg as the first argument makes gasm's program a holder. The second argument is the number of a file descriptor,
// the third is the path of the command's program file, and the rest is the command with its arguments. The holder waits
// for a byte on the descriptor, and then becomes the command.
//
// The descriptor is called the gate. A byte that is written to it releases the holder. If gasm closes it without
// writing a byte, the holder gives up. The next descriptor is for the result: a successful exec closes it; otherwise
// the holder writes the errno of the exec there, as decimal digits. The descriptor after that is the command's
// stderr. The holder itself has no stderr, because at SIGQUIT (Ctrl-\) the Go runtime would print all stacks there,
// even in the first moments of the program.
const holdArg = "__gasm-hold"

// A sampler follows the holder's first thread, so this thread must call exec and become the command. Locking the thread
// in an init makes main run on it. The Go runtime's other threads end at the exec.
func init() {
	if held() {
		runtime.LockOSThread()
		signal.Notify(quit, syscall.SIGQUIT) // undone by the exec
	}
}

// quit receives SIGQUIT in a holder, from the holder's init on.
var quit = make(chan os.Signal, 1)

func held() bool { return len(os.Args) > 4 && os.Args[1] == holdArg }

// RunHolder must be the first call of main in a program that calls [Start]. In a holder process, which Start has
// created, RunHolder turns the process into the command and does not return. If that fails, it returns isHolder true,
// and main must exit with the code. In any other process, it returns isHolder false.
func RunHolder() (code int, isHolder bool) {
	if !held() {
		return 0, false
	}
	gateFD, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return 1, true // does not happen, because Start passes a number
	}
	resultFD, stderrFD := gateFD+1, gateFD+2
	gate, result := os.NewFile(uintptr(gateFD), "gate"), os.NewFile(uintptr(resultFD), "result")
	opened := make(chan bool, 1)
	go func() {
		n, _ := gate.Read(make([]byte, 1)) // without a byte, gasm has ended or given up
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
	_ = unix.Dup2(stderrFD, 2) // fails if the command has no stderr
	err = syscall.Exec(os.Args[3], os.Args[4:], os.Environ())
	var errno syscall.Errno
	if errors.As(err, &errno) {
		result.WriteString(strconv.Itoa(int(errno)))
	}
	return 127, true
}

// An Error says why a command could not be started.
type Error struct {
	Command string
	Err     error
}

// errNoInterpreter explains the error ENOENT of an exec if the program file does exist.
var errNoInterpreter = errors.New("the interpreter of its #! line, or the loader that it was linked for, is not there")

func (e *Error) Error() string {
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

func (e *Error) Unwrap() error { return e.Err }
