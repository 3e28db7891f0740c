package record

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

// A heldCommand is the command's process. It is made in three steps: [hold] starts
// gasm's own program as the holder (hold.go), which waits; [heldCommand.Release] lets
// it exec the command; [heldCommand.Wait] waits for the command's end. The process id
// stays the same.
type heldCommand struct {
	cmd      *exec.Cmd
	gate     *os.File   // the held process waits for a byte from it
	result   *os.File   // the held process writes here why it could not exec
	passages []*passage // of what it prints
}

// heldOptions say how a command runs. It gets Stdin as it is.
type heldOptions struct {
	Command []string
	Java    javaFlags
	Stdin   *os.File
	// Stdout gets what the command prints, after Watch has seen it. With WatchStderr so does
	// Stderr; else the command has Stderr as it is.
	Stdout, Stderr *os.File
	Watch          *outputWatch
	WatchStderr    bool
}

// hold makes the command's process and holds it in front of its exec. The error is a
// *CommandError where the command is to blame.
func hold(opts heldOptions) (*heldCommand, error) {
	path, err := lookUp(opts.Command[0])
	if err != nil {
		return nil, &CommandError{opts.Command[0], err}
	}
	h, ends, err := connect(opts)
	defer func() { closeFiles(append(ends.made, ends.gate, ends.result)...) }() // the command has its own
	if err == nil {
		err = h.start(path, opts, ends)
	}
	if err != nil {
		closeFiles(h.gate, h.result)
		for _, p := range h.passages {
			p.ours.Close()
		}
		return nil, fmt.Errorf("launching %s: %w", opts.Command[0], err)
	}
	for _, p := range h.passages {
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
		err = pathErr.Err // the path is the command again
	}
	return path, err
}

// commandEnds are the command's ends of the pipes between it and gasm, and its stdout and
// stderr, of which those in made were made for it.
type commandEnds struct {
	gate, result, stdout, stderr *os.File
	made                         []*os.File
}

// connect makes a command with its pipes. After an error, the pipes that were made
// are in h and ends.
func connect(opts heldOptions) (h *heldCommand, ends commandEnds, err error) {
	h = &heldCommand{}
	if ends.gate, h.gate, err = os.Pipe(); err != nil {
		return h, ends, err
	}
	if h.result, ends.result, err = os.Pipe(); err != nil {
		return h, ends, err
	}
	seeOut, seeErr := opts.Watch.seers()
	if ends.stdout, err = h.pass(opts.Stdout, seeOut, &ends); err != nil {
		return h, ends, err
	}
	switch {
	case !opts.WatchStderr || !isOpen(opts.Stderr):
		ends.stderr = opts.Stderr
	case sameFile(opts.Stdout, opts.Stderr) && opts.Watch.ofBoth():
		ends.stderr = ends.stdout // so the order of what it prints stays as it is
	default:
		ends.stderr, err = h.pass(opts.Stderr, seeErr, &ends)
	}
	return h, ends, err
}

// pass makes a passage to a stream of gasm's, and gives the command's end of it.
func (h *heldCommand) pass(to *os.File, see func([]byte, int64), ends *commandEnds) (commands *os.File, err error) {
	ours, commands, err := outputFor(to)
	if err != nil {
		return nil, err
	}
	h.passages = append(h.passages, newPassage(ours, to, see))
	ends.made = append(ends.made, commands)
	return commands, nil
}

// isOpen tells whether gasm was started with a stream.
func isOpen(f *os.File) bool {
	if f == nil {
		return false
	}
	_, err := f.Stat()
	return err == nil
}

// sameFile tells whether two streams lead to the same file, pipe or terminal.
func sameFile(a, b *os.File) bool {
	if !isOpen(a) || !isOpen(b) {
		return false
	}
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// start makes the process that will become the command.
func (h *heldCommand) start(path string, opts heldOptions, ends commandEnds) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding gasm's own program file: %w", err)
	}
	files := inherited()
	gateFD := firstInherited + len(files)
	h.cmd = exec.Command(self, append([]string{holdArg, strconv.Itoa(gateFD), path}, opts.Command...)...)
	h.cmd.Env = opts.Java.addTo(os.Environ())
	h.cmd.Stdin, h.cmd.Stdout = opts.Stdin, ends.stdout
	held, copies, err := clearOf(highestInherited(), gateFD, []*os.File{ends.gate, ends.result, ends.stderr}) // as Hold has them
	defer func() { closeFiles(copies...) }()
	if err != nil {
		return err
	}
	h.cmd.ExtraFiles = append(files, held...)
	return h.cmd.Start()
}

// name is the command's, as the user wrote it.
func (h *heldCommand) name() string { return h.cmd.Args[4] }

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
		return fmt.Errorf("launching %s: %w", h.name(), err)
	}
	// The child holds the only writing end, which a successful exec closes.
	text, _ := io.ReadAll(h.result)
	if len(text) == 0 {
		return nil
	}
	h.end()
	errno, _ := strconv.Atoi(string(text))
	if syscall.Errno(errno) == syscall.ENOENT {
		return &CommandError{h.name(), errNoInterpreter}
	}
	return &CommandError{h.name(), syscall.Errno(errno)}
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
	for _, p := range h.passages {
		<-p.copied
		p.ours.Close()
	}
}

// Signal sends a signal to the command.
func (h *heldCommand) Signal(sig os.Signal) { _ = h.cmd.Process.Signal(sig) }

// Wait waits for the command to end and for the rest of its output, and gives its
// exit code: 128 + n when signal n killed it. Background processes that the command
// left behind may still hold its stdout. They are waited for only while they print.
func (h *heldCommand) Wait() int {
	_ = h.cmd.Wait() // how it ended is in ProcessState
	for _, p := range h.passages {
		p.drain()
		p.ours.Close()
	}
	state := h.cmd.ProcessState
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// awaitLineEnd waits until all that the command has printed ends with a whole line, but not
// longer than limit: what gasm says then stands on a line of its own.
func (h *heldCommand) awaitLineEnd(limit time.Duration) {
	const pause = 5 * time.Millisecond
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(pause) {
		if !slices.ContainsFunc(h.passages, (*passage).inLine) {
			return
		}
	}
}
