package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/capture"
)

// A heldCommand is the command's process. It is made in three steps: [hold] starts
// gasm's own program as the holder (hold.go), which waits; [heldCommand.Release] lets
// it exec the command; [heldCommand.Wait] waits for the command's end. The process id
// stays the same.
type heldCommand struct {
	cmd    *exec.Cmd
	gate   *os.File      // the held process waits for a byte from it
	result *os.File      // the held process writes here why it could not exec
	copied chan struct{} // closed when the command's stdout is at its end
	out    *os.File      // gasm's end of the command's stdout
	// idleSince is when the reading of stdout began to wait, 0 while output is
	// on its way.
	idleSince atomic.Int64
}

// heldOptions say how a command runs. It gets Stdin and Stderr as they are.
type heldOptions struct {
	Command       []string
	Java          javaFlags
	Stdin, Stderr *os.File
	// Stdout gets what the command prints, after Watch has seen it.
	Stdout *os.File
	Watch  *outputWatch
}

// hold makes the command's process and holds it in front of its exec. The error is a
// *CommandError where the command is to blame.
func hold(opts heldOptions) (*heldCommand, error) {
	path, err := lookUp(opts.Command[0])
	if err != nil {
		return nil, &CommandError{opts.Command[0], err}
	}
	h, ends, err := connect(opts.Stdout)
	defer func() { closeFiles(ends.gate, ends.result, ends.stdout) }() // the command has its own
	if err == nil {
		err = h.start(path, opts, ends)
	}
	if err != nil {
		closeFiles(h.gate, h.result, h.out)
		return nil, fmt.Errorf("launching %s: %w", opts.Command[0], err)
	}
	go h.copyOutput(opts.Stdout, opts.Watch)
	return h, nil
}

// lookUp finds the command's program file as a shell would.
func lookUp(command string) (string, error) {
	path, err := exec.LookPath(command)
	var execErr *exec.Error
	if errors.As(err, &execErr) {
		err = execErr.Err
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err // the path is the command again
	}
	return path, err
}

// commandEnds are the command's ends of the pipes between it and gasm.
type commandEnds struct{ gate, result, stdout *os.File }

// connect makes a command with its pipes. After an error, the pipes that were made
// are in h and ends.
func connect(stdout *os.File) (h *heldCommand, ends commandEnds, err error) {
	h = &heldCommand{copied: make(chan struct{})}
	if ends.gate, h.gate, err = os.Pipe(); err != nil {
		return h, ends, err
	}
	if h.result, ends.result, err = os.Pipe(); err != nil {
		return h, ends, err
	}
	h.out, ends.stdout, err = outputFor(stdout)
	return h, ends, err
}

// start makes the process that will become the command.
func (h *heldCommand) start(path string, opts heldOptions, ends commandEnds) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding gasm's own program file: %w", err)
	}
	h.cmd = exec.Command(self, append([]string{holdArg, path}, opts.Command...)...)
	h.cmd.Env = opts.Java.addTo(os.Environ())
	h.cmd.Stdin, h.cmd.Stdout = opts.Stdin, ends.stdout
	h.cmd.ExtraFiles = []*os.File{ends.gate, ends.result, opts.Stderr} // gateFD, resultFD and stderrFD
	return h.cmd.Start()
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// PID is the command's process id, the same before and after Release.
func (h *heldCommand) PID() int { return h.cmd.Process.Pid }

// Release lets the held process become the command. The error is a
// *CommandError when it can't; Wait is not needed then.
func (h *heldCommand) Release() error {
	defer h.result.Close()
	_, err := h.gate.Write([]byte{1})
	h.gate.Close()
	if err != nil {
		h.end()
		return fmt.Errorf("launching %s: %w", h.cmd.Args[3], err)
	}
	// The child holds the only writing end, which a successful exec closes.
	text, _ := io.ReadAll(h.result)
	if len(text) == 0 {
		return nil
	}
	h.end()
	errno, _ := strconv.Atoi(string(text))
	if syscall.Errno(errno) == syscall.ENOENT {
		return &CommandError{h.cmd.Args[3], errNoInterpreter}
	}
	return &CommandError{h.cmd.Args[3], syscall.Errno(errno)}
}

// stoppedBy is the signal that stopped a process which did not become the command; 0 when
// none did.
func (h *heldCommand) stoppedBy() syscall.Signal {
	status, ok := h.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && stops(status.Signal()):
		return status.Signal()
	case ok && status.ExitStatus() == 128+int(syscall.SIGQUIT): // see Hold
		return syscall.SIGQUIT
	}
	return 0
}

// Abandon ends a held process that is not to become the command.
func (h *heldCommand) Abandon() {
	h.gate.Close()
	h.result.Close()
	h.end()
}

// end cleans up behind a process that did not become the command.
func (h *heldCommand) end() {
	_ = h.cmd.Wait() // that it failed is known
	<-h.copied
	h.out.Close()
}

// Signal sends a signal to the command.
func (h *heldCommand) Signal(sig os.Signal) { _ = h.cmd.Process.Signal(sig) }

// Wait waits for the command to end and for the rest of its output, and gives its
// exit code: 128 + n when signal n killed it. Background processes that the command
// left behind may still hold its stdout. They are waited for only while they print.
func (h *heldCommand) Wait() int {
	_ = h.cmd.Wait() // how it ended is in ProcessState
	h.drain()
	h.out.Close()
	state := h.cmd.ProcessState
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// drain waits for the rest of the output: to its end, or until nothing has come
// for a second.
func (h *heldCommand) drain() {
	for {
		select {
		case <-h.copied:
			return
		case <-time.After(50 * time.Millisecond):
			if idle := h.idleSince.Load(); idle != 0 && capture.MonoNanos()-idle > int64(time.Second) {
				return
			}
		}
	}
}

// copyOutput passes the command's stdout on. The output watch sees it first, because
// the time of a line is the time of its arrival.
func (h *heldCommand) copyOutput(to *os.File, watch *outputWatch) {
	defer close(h.copied)
	buf := make([]byte, 1<<16)
	for {
		h.idleSince.Store(capture.MonoNanos())
		n, err := h.out.Read(buf)
		h.idleSince.Store(0)
		if n > 0 {
			if watch != nil {
				watch.See(buf[:n], capture.MonoNanos())
			}
			// When gasm's stdout is closed (gasm … | head), the command must get the
			// same SIGPIPE that it would get without gasm.
			if _, err := to.Write(buf[:n]); err != nil {
				h.out.Close()
				return
			}
		}
		if err != nil {
			return // EOF; EIO from a terminal whose last user is gone
		}
	}
}
