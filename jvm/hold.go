package jvm

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// holdArg as first argument makes the program a holder: it waits on its file
// descriptor 3 and then becomes the command in the arguments behind it.
const holdArg = "__gasm-hold"

const (
	gateFD   = 3 // a byte opens the gate, the end without one means: give up
	resultFD = 4 // closed by a successful exec; an errno in text otherwise
)

// A sampler follows the holder's first thread, so this is the one that must
// become the command: main runs on it from here on. The Go runtime's other
// threads end at the exec.
func init() {
	if held() {
		runtime.LockOSThread()
	}
}

func held() bool { return len(os.Args) > 2 && os.Args[1] == holdArg }

// RunIfHeld is the first call of main. In a process that [Start] made it never
// returns; in any other it does nothing.
func RunIfHeld() {
	if !held() {
		return
	}
	gate, result := os.NewFile(gateFD, "gate"), os.NewFile(resultFD, "result")
	if n, _ := gate.Read(make([]byte, 1)); n == 0 {
		os.Exit(1) // the launcher is gone
	}
	gate.Close()
	syscall.CloseOnExec(resultFD)
	err := syscall.Exec(os.Args[2], os.Args[3:], os.Environ())
	var errno syscall.Errno
	if errors.As(err, &errno) {
		result.WriteString(strconv.Itoa(int(errno)))
	}
	os.Exit(127)
}

// A CommandError tells that a command could not be started at all.
type CommandError struct {
	Command string
	Err     error
}

// errNoInterpreter is what exec's ENOENT means for a file that is there.
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
