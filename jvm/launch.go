package jvm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A Launch is a started command.
type Launch struct {
	cmd    *exec.Cmd
	gate   *os.File // its other end is read by the held process
	result *os.File
	copied chan struct{} // closed when stdout is at its end
	out    *os.File      // our end of the command's stdout
	// idleSince is when the reading of stdout began to wait, 0 while output is
	// on its way.
	idleSince atomic.Int64
}

// LaunchOptions say how a command runs. Stdin and Stderr are handed to it as
// they are.
type LaunchOptions struct {
	Command       []string
	CaptureFlags  []string // for every JVM, see printassembly.CaptureFlags
	Stdin, Stderr *os.File
	// Stdout gets what the command prints, after Watch has seen it.
	Stdout *os.File
	Watch  *Watcher
}

// Start makes the command's process and holds it in front of its exec. The
// errors are of type *CommandError where the command is to blame.
func Start(opts LaunchOptions) (*Launch, error) {
	path, err := lookUp(opts.Command[0])
	if err != nil {
		return nil, &CommandError{opts.Command[0], err}
	}
	l, ends, err := connect(opts.Stdout)
	defer func() { closeFiles(ends.gate, ends.result, ends.stdout) }() // the command has its own
	if err == nil {
		err = l.start(path, opts, ends)
	}
	if err != nil {
		closeFiles(l.gate, l.result, l.out)
		return nil, fmt.Errorf("launching %s: %w", opts.Command[0], err)
	}
	go l.copyOutput(opts.Stdout, opts.Watch)
	return l, nil
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

// commandEnds are the command's ends of what connects it with us.
type commandEnds struct{ gate, result, stdout *os.File }

// connect makes a launch with its pipes. After an error some of them are there.
func connect(stdout *os.File) (l *Launch, ends commandEnds, err error) {
	l = &Launch{copied: make(chan struct{})}
	if ends.gate, l.gate, err = os.Pipe(); err != nil {
		return l, ends, err
	}
	if l.result, ends.result, err = os.Pipe(); err != nil {
		return l, ends, err
	}
	l.out, ends.stdout, err = outputFor(stdout)
	return l, ends, err
}

// start makes the process that will become the command.
func (l *Launch) start(path string, opts LaunchOptions, ends commandEnds) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding gasm's own program file: %w", err)
	}
	l.cmd = exec.Command(self, append([]string{holdArg, path}, opts.Command...)...)
	l.cmd.Env = withCaptureFlags(os.Environ(), opts.CaptureFlags)
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = opts.Stdin, ends.stdout, opts.Stderr
	l.cmd.ExtraFiles = []*os.File{ends.gate, ends.result} // gateFD and resultFD
	return l.cmd.Start()
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// withCaptureFlags appends flags to JAVA_TOOL_OPTIONS, behind what is there.
func withCaptureFlags(env, flags []string) []string {
	const name = "JAVA_TOOL_OPTIONS="
	if len(flags) == 0 {
		return env // an empty variable would make each JVM mention it
	}
	quoted := make([]string, len(flags))
	for i, f := range flags {
		quoted[i] = quoteOption(f)
	}
	value := strings.Join(quoted, " ")
	env = slices.Clone(env)
	for i, e := range env {
		if had, ok := strings.CutPrefix(e, name); ok {
			env[i] = name + strings.TrimSpace(had+" "+value)
			return env
		}
	}
	return append(env, name+value)
}

// quoteOption quotes an option with blanks in it as HotSpot's
// Arguments::parse_options_buffer takes it apart: as a shell does, but with
// nothing that escapes.
func quoteOption(f string) string {
	if !strings.ContainsAny(f, " \t\n\v\f\r'\"") {
		return f
	}
	return "'" + strings.ReplaceAll(f, "'", `'"'"'`) + "'"
}

// PID is the command's process id, the same before and after Release.
func (l *Launch) PID() int { return l.cmd.Process.Pid }

// Release lets the held process become the command. The error is a
// *CommandError when it can't; Wait is not needed then.
func (l *Launch) Release() error {
	defer l.result.Close()
	_, err := l.gate.Write([]byte{1})
	l.gate.Close()
	if err != nil {
		l.end()
		return fmt.Errorf("launching %s: %w", l.cmd.Args[3], err)
	}
	// The child holds the only writing end, which a successful exec closes.
	text, _ := io.ReadAll(l.result)
	if len(text) == 0 {
		return nil
	}
	l.end()
	errno, _ := strconv.Atoi(string(text))
	if syscall.Errno(errno) == syscall.ENOENT {
		return &CommandError{l.cmd.Args[3], errNoInterpreter}
	}
	return &CommandError{l.cmd.Args[3], syscall.Errno(errno)}
}

// Abandon ends a held process that is not to become the command.
func (l *Launch) Abandon() {
	l.gate.Close()
	l.result.Close()
	l.end()
}

// end waits for a process that did not become the command.
func (l *Launch) end() {
	_ = l.cmd.Wait() // that it failed is known
	<-l.copied
	l.out.Close()
}

// Signal sends a signal to the command.
func (l *Launch) Signal(sig os.Signal) { _ = l.cmd.Process.Signal(sig) }

// Wait waits for the command to end and for its output, and gives its exit
// code: 128 + n when signal n killed it. Background processes that the command
// left behind may still hold its stdout; they are waited for only while they
// print.
func (l *Launch) Wait() int {
	_ = l.cmd.Wait() // how it ended is in ProcessState
	l.drain()
	l.out.Close()
	state := l.cmd.ProcessState
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// drain waits for the rest of the output: to its end, or until nothing has come
// for a second.
func (l *Launch) drain() {
	for {
		select {
		case <-l.copied:
			return
		case <-time.After(50 * time.Millisecond):
			if idle := l.idleSince.Load(); idle != 0 && MonoNanos()-idle > int64(time.Second) {
				return
			}
		}
	}
}

// copyOutput passes the command's stdout on, and shows it to the watcher first:
// the time of a line is when it arrived.
func (l *Launch) copyOutput(to *os.File, watch *Watcher) {
	defer close(l.copied)
	buf := make([]byte, 1<<16)
	for {
		l.idleSince.Store(MonoNanos())
		n, err := l.out.Read(buf)
		l.idleSince.Store(0)
		if n > 0 {
			if watch != nil {
				watch.See(buf[:n], MonoNanos())
			}
			// A closed stdout (gasm … | head) is news for the command too: it
			// must get the same SIGPIPE that it would get without us.
			if _, err := to.Write(buf[:n]); err != nil {
				l.out.Close()
				return
			}
		}
		if err != nil {
			return // EOF; EIO from a terminal whose last user is gone
		}
	}
}
