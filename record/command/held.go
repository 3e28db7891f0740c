// Package command runs a command under gasm. It creates the command's process and holds it before the exec, so that a
// sampler can be attached first. Then the command's output passes through gasm, and gasm passes the signals that it
// receives on to the command.
//
// A [Held] command is made in three steps. [Start] starts gasm's own program as a holder, which waits ([RunHolder]).
// [Held.Release] lets the holder exec the command, so the process id stays the same. [Held.Wait] waits for the
// command's end.
//
// The command notices nothing of this. It has gasm's stdin, descriptors, signals and limits. If gasm's stdout is a
// terminal, so is the command's.
package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// A Held is the process of a command. It is created before the exec of the command, and waits there until it is
// released.
type Held struct {
	cmd     *exec.Cmd
	gate    *os.File      // gasm's end of a pipe; the holder waits for a byte from it
	result  *os.File      // gasm's end of a pipe; the holder writes to it why the exec failed
	outputs []*outputCopy // pass on what the command prints
}

// Options say how a command runs.
type Options struct {
	Command []string // what is run; not empty
	Env     []string // the command's environment; nil means gasm's own
	Stdin   *os.File // becomes the command's stdin
	// Stdout gets what the command prints to its stdout, after SeeStdout was called with it. If SeeStderr is not nil,
	// Stderr and SeeStderr do the same for the command's stderr. If SeeStderr is nil, the command writes to Stderr
	// directly.
	Stdout, Stderr *os.File
	// SeeStdout and SeeStderr are called with each piece of output and the time of its arrival (CLOCK_MONOTONIC, in
	// ns). Both may be nil.
	SeeStdout, SeeStderr func(out []byte, monoNanos int64)
	// OneStream matters only if Stdout and Stderr are the same file. If it is true, the command writes to a single
	// stream for both, and SeeStdout is called with all of its output. This preserves the order of the output.
	OneStream bool
}

// Start makes the command's process and holds it before its exec. If the command itself is the cause of an error, for
// example because its program file was not found, the error is an *[Error].
func Start(o Options) (*Held, error) {
	path, err := lookUp(o.Command[0])
	if err != nil {
		return nil, &Error{o.Command[0], err}
	}
	h, ends, err := connect(o)
	defer func() { closeFiles(append(ends.made, ends.gate, ends.result)...) }() // the command has its own copies
	if err == nil {
		err = h.start(path, o, ends)
	}
	if err != nil {
		closeFiles(h.gate, h.result)
		for _, p := range h.outputs {
			p.ours.Close()
		}
		return nil, fmt.Errorf("launching %s: %w", o.Command[0], err)
	}
	for _, p := range h.outputs {
		go p.copy()
	}
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
		err = pathErr.Err // drop the path, because the error's text names the command already
	}
	return path, err
}

// commandEnds are the files that the command's process gets: its ends of the pipes gate and result, its stdout and its
// stderr. If gasm has created a pipe or a pseudo-terminal for the command's output, the command's end of it is also in
// made. Once the command has its own copies, gasm must close gate, result and the files in made.
type commandEnds struct {
	gate, result, stdout, stderr *os.File
	made                         []*os.File
}

// connect makes a Held with its pipes. After an error, h and ends still have the pipes that were made before, so that
// the caller can close them.
func connect(o Options) (h *Held, ends commandEnds, err error) {
	h = &Held{}
	if ends.gate, h.gate, err = os.Pipe(); err != nil {
		return h, ends, err
	}
	if h.result, ends.result, err = os.Pipe(); err != nil {
		return h, ends, err
	}
	if ends.stdout, err = h.pass(o.Stdout, o.SeeStdout, &ends); err != nil {
		return h, ends, err
	}
	switch {
	case o.SeeStderr == nil || !isOpen(o.Stderr):
		ends.stderr = o.Stderr
	case o.OneStream && sameFile(o.Stdout, o.Stderr):
		ends.stderr = ends.stdout
	default:
		ends.stderr, err = h.pass(o.Stderr, o.SeeStderr, &ends)
	}
	return h, ends, err
}

// pass creates an outputCopy that passes output on to one of gasm's streams. It returns the file to which the command
// must write.
func (h *Held) pass(to *os.File, see func([]byte, int64), ends *commandEnds) (commands *os.File, err error) {
	ours, commands, err := outputFor(to)
	if err != nil {
		return nil, err
	}
	h.outputs = append(h.outputs, newOutputCopy(ours, to, see))
	ends.made = append(ends.made, commands)
	return commands, nil
}

// isOpen reports whether one of gasm's own streams is open. gasm may have been started with a closed stdout or stderr.
func isOpen(f *os.File) bool {
	if f == nil {
		return false
	}
	_, err := f.Stat()
	return err == nil
}

// sameFile reports whether two streams lead to the same file, pipe or terminal.
func sameFile(a, b *os.File) bool {
	if !isOpen(a) || !isOpen(b) {
		return false
	}
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// start starts the process that will become the command.
func (h *Held) start(path string, o Options, ends commandEnds) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding gasm's own program file: %w", err)
	}
	files := inherited()
	gateFD := firstInherited + len(files)
	h.cmd = exec.Command(self, append([]string{holdArg, strconv.Itoa(gateFD), path}, o.Command...)...)
	h.cmd.Env = o.Env
	h.cmd.Stdin, h.cmd.Stdout = o.Stdin, ends.stdout
	// This is the order that RunHolder expects.
	held, copies, err := clearOf(highestInherited(), gateFD, []*os.File{ends.gate, ends.result, ends.stderr})
	defer func() { closeFiles(copies...) }()
	if err != nil {
		return err
	}
	h.cmd.ExtraFiles = append(files, held...)
	return h.cmd.Start()
}

// name returns the command as the user wrote it.
func (h *Held) name() string { return h.cmd.Args[4] }

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// PID returns the command's process id. It is the same before and after Release.
func (h *Held) PID() int { return h.cmd.Process.Pid }

// Release lets the held process become the command. After an error, the process has ended, and Wait must not be called.
// If the process could not become the command, the error is an *[Error].
func (h *Held) Release() error {
	defer h.result.Close()
	_, err := h.gate.Write([]byte{1})
	h.gate.Close()
	if err != nil {
		h.end()
		return fmt.Errorf("launching %s: %w", h.name(), err)
	}
	// Only the child holds the writing end of the pipe. A successful exec closes it, and then there is no text.
	text, _ := io.ReadAll(h.result)
	if len(text) == 0 {
		return nil
	}
	h.end()
	errno, _ := strconv.Atoi(string(text))
	if syscall.Errno(errno) == syscall.ENOENT {
		return &Error{h.name(), errNoInterpreter}
	}
	return &Error{h.name(), syscall.Errno(errno)}
}

// Stops reports whether sig is one of the signals that are meant to stop a program: SIGINT, SIGTERM, SIGHUP or SIGQUIT.
func Stops(sig syscall.Signal) bool {
	return sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGQUIT
}

// StoppedBy returns the signal that stopped the process before it became the command, or 0 if no signal did.
func (h *Held) StoppedBy() syscall.Signal {
	status, ok := h.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && Stops(status.Signal()):
		return status.Signal()
	case ok && status.ExitStatus() == 128+int(syscall.SIGQUIT): // see RunHolder
		return syscall.SIGQUIT
	}
	return 0
}

// Abandon ends a held process that will not become the command.
func (h *Held) Abandon() {
	h.gate.Close()
	h.result.Close()
	h.end()
}

// end cleans up after a process that did not become the command.
func (h *Held) end() {
	_ = h.cmd.Wait() // the caller knows already that the process failed
	for _, p := range h.outputs {
		<-p.copied
		p.ours.Close()
	}
}

// signal sends a signal to the command.
func (h *Held) signal(sig os.Signal) { _ = h.cmd.Process.Signal(sig) }

// Wait waits for the command to end and for the rest of its output. It returns the command's exit code, or 128 + n if
// signal n killed the command. If background processes of the command still have its stdout open, Wait waits for them
// only as long as they keep printing.
func (h *Held) Wait() int {
	_ = h.cmd.Wait() // how it ended is in ProcessState
	for _, p := range h.outputs {
		p.drain()
		p.ours.Close()
	}
	state := h.cmd.ProcessState
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// AwaitLineEnd waits until the command's output so far ends with a whole line, but no longer than limit. If gasm then
// prints a message, the message is on a line of its own.
func (h *Held) AwaitLineEnd(limit time.Duration) {
	const pause = 5 * time.Millisecond
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(pause) {
		if !slices.ContainsFunc(h.outputs, (*outputCopy).inLine) {
			return
		}
	}
}
