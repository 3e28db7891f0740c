package dtrace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/tool"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/external"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// DTrace is started again if it failed only because another DTrace started or ended at the same time (see isRace).
const (
	tries    = 3
	tryPause = 300 * time.Millisecond // between two tries
)

// textName is the name of the file in which DTrace's text is saved.
const textName = "dtrace.txt"

// Options say how DTrace samples.
type Options struct {
	Frequency int    // samples per second and CPU
	Sudo      bool   // run DTrace by sudo -n, which never asks for a password
	Dir       string // the folder for textName; a file of that name is replaced
	// If DTrace takes long to end, Stop and Wait call Slow with a sentence for the user. Slow may
	// be nil.
	Slow func(message string)
	// If Script is not nil, DTrace runs it instead of the sampling program, and writes the script's output to Text.
	// Frequency and Dir are then not used.
	Script *Script
	Text   io.Writer
}

// A Script asks DTrace for something other than samples. It prints only what its clauses print.
type Script struct {
	Clauses string
	Options []string // values of DTrace's option -x, such as "strsize=256"
}

// arguments returns DTrace's arguments for the script. As in [Program], the BEGIN and END probes print marks.
func (s *Script) arguments() []string {
	args := []string{"-q", "-x", "switchrate=10hz"}
	for _, o := range s.Options {
		args = append(args, "-x", o)
	}
	return append(args, "-n", `BEGIN { printf("`+beginMark+` %d\n", timestamp); } `+s.Clauses+` END { printf("`+endMark+`\n"); }`)
}

// IsMark reports whether a line is the mark that DTrace prints first, and whether it is the mark that DTrace prints
// last.
func IsMark(line []byte) (first, last bool) {
	return bytes.HasPrefix(line, []byte(beginMark)), bytes.HasPrefix(line, []byte(endMark))
}

// A Tracer is a DTrace process. It samples the whole machine or runs a Script.
type Tracer struct {
	tool      string
	frequency int
	sudo      bool
	slow      func(message string) // may be nil
	process   *external.Process
	text      *output
	inTracefs bool         // true if DTrace's probes were in tracefs when it began to sample
	sudoKill  func() error // sends SIGTERM to a DTrace that runs under sudo; nil without sudo

	stopOnce sync.Once
	stopErr  error
}

// Start starts DTrace, and returns as soon as DTrace samples. If the cause of an error is known,
// the error is a *failure.MissingToolError or a *failure.RefusedError. After an error, DTrace is no
// longer running. DTrace is killed when ctx is done.
func Start(ctx context.Context, opts Options) (*Tracer, error) {
	for try := 1; ; try++ {
		d, err := startOnce(ctx, opts)
		if try == tries || !isRace(err) {
			return d, err
		}
		time.Sleep(tryPause)
	}
}

// isRace reports whether err means that DTrace did not find its own BEGIN probe. This happens on Linux in about one of
// 25 starts, if another DTrace starts or ends at the same time.
func isRace(err error) bool {
	var refused *failure.RefusedError
	return errors.As(err, &refused) && strings.Contains(refused.Stderr, "dtrace:::BEGIN: No such file or directory")
}

// startOnce is like Start, but tries only once.
func startOnce(ctx context.Context, opts Options) (*Tracer, error) {
	tool, err := Find()
	if err != nil {
		return nil, missing(machine.This(), "not on PATH")
	}
	d := &Tracer{tool: tool, frequency: opts.Frequency, sudo: opts.Sudo, slow: opts.Slow}
	command := []string{tool, "-x", "switchrate=10hz", "-n", Program(opts.Frequency)}
	if opts.Script != nil {
		command = append([]string{tool}, opts.Script.arguments()...)
	}
	if opts.Sudo {
		sudo, err := exec.LookPath("sudo")
		if err != nil {
			return nil, &failure.MissingToolError{Tool: "sudo", Cause: "not on PATH", Hint: "run gasm as root, without --sudo"}
		}
		command = append([]string{sudo, "-n"}, command...)
		ctx := context.WithoutCancel(ctx) // sudo kill must work even after the end of ctx
		d.sudoKill = func() error { return d.killBySudo(ctx) }
	}
	pipe, err := d.open(ctx, command, &opts)
	if err != nil {
		return nil, err
	}
	if err := d.process.Start(); err != nil {
		pipe.Close()
		d.text.discard()
		return nil, fmt.Errorf("%s: %w", command[0], err)
	}
	pipe.Close() // DTrace has its own copy; with gasm's closed, the text ends when DTrace ends
	go d.text.save()

	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case <-d.text.begun:
		d.inTracefs = d.hasUprobes()
		return d, nil
	case <-d.process.Done:
		if err = d.refusal(ctx); err == nil {
			return d, nil // DTrace did sample, and Stop will say why it ended
		}
	case <-timeout.C:
		// DTrace may already have printed why it does not sample. On a busy machine it can take
		// long to end after that.
		if err = refusal(d.text.start(), d.tool, d.frequency, d.sudo, machine.This()); err != nil {
			break
		}
		err = fmt.Errorf("%s: did not start to sample within %s; see whether 'sudo dtrace -n BEGIN' prints a line", tool,
			startTimeout)
	}
	d.kill()
	d.text.discard()
	return nil, err
}

// open prepares the process and the output that saves its text. It returns the writing end of the pipe that is the
// process's stdout. The caller must close it.
func (d *Tracer) open(ctx context.Context, command []string, opts *Options) (pipe *os.File, err error) {
	var file *os.File // nil for a Script
	if opts.Script == nil {
		if file, err = os.OpenFile(filepath.Join(opts.Dir, textName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return nil, err
		}
	}
	out, in, err := os.Pipe()
	d.text = newOutput(out, file)
	if file == nil {
		d.text.to = opts.Text
	}
	if err == nil {
		run := func(path string, args []string) *external.Process { return external.New(ctx, path, args) }
		if d.process, err = newProcess(run, command); err != nil {
			in.Close()
		}
	}
	if err != nil {
		d.text.discard()
		return nil, err
	}
	d.text.paced = opts.Script == nil && narrowPipe(in)
	d.process.Cmd.Stdout = in
	d.process.Cmd.Stderr = &d.text.messages
	return in, nil
}

// refusal returns an error that says why DTrace ended before it sampled. It returns nil if DTrace did sample.
func (d *Tracer) refusal(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("dtrace: %w", context.Cause(ctx))
	}
	text := d.text.start()
	select {
	case <-d.text.begun:
		return nil
	default:
	}
	if err := refusal(text, d.tool, d.frequency, d.sudo, machine.This()); err != nil {
		return err
	}
	complaint := complaintIn(text)
	if complaint == "" {
		complaint = "it does not say why"
	}
	return fmt.Errorf("%s: ended before it sampled (%s): %s", d.tool, d.process.Cmd.ProcessState, complaint)
}

// Find returns the path of the dtrace program that Start runs.
func Find() (string, error) { return find("/usr/sbin/dtrace") }

// find returns the path of DTrace. It looks for dtrace on PATH first. If there is none, or if it is a Python script,
// find tries the path in the parameter elsewhere. On Linux, DTrace is in /usr/sbin. A user's PATH may lack that folder,
// or have it after the folder with SystemTap's Python script, which is also named dtrace.
func find(elsewhere string) (string, error) {
	tool, err := exec.LookPath("dtrace")
	if err != nil || isPython(tool) {
		if tool, err := exec.LookPath(elsewhere); err == nil {
			return tool, nil
		}
	}
	return tool, err
}

// isPython reports whether a tool is a Python script. SystemTap's dtrace is one.
func isPython(tool string) bool {
	f, err := os.Open(tool)
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	return strings.HasPrefix(line, "#!") && strings.Contains(line, "python")
}

// Events returns one event, named after the probe that samples, such as "profile-1001".
func (d *Tracer) Events() []sampler.Event {
	return []sampler.Event{sampler.DTraceEvent(d.frequency)}
}

// Frequency returns how often DTrace samples, per second and CPU. It is always the requested frequency.
func (d *Tracer) Frequency() int { return d.frequency }

// Notes returns a note that samples of the kernel are missing, if DTrace does not take them on this system.
func (d *Tracer) Notes() []fix.Note {
	if kernelClause {
		return nil
	}
	return []fix.Note{{Text: "dtrace samples user space only: what the kernel does for the program is not in the profile"}}
}

// Lost returns how many samples DTrace has dropped so far, as DTrace itself reports. If DTrace runs a Script, it is the
// number of dropped records of the script.
func (d *Tracer) Lost() int64 { return d.text.messages.drops.Load() }

// TextFile returns the path of the file with DTrace's text, which a sampler.DTraceReader reads. The file is complete
// after Stop. TextFile must not be called if DTrace runs a Script, because there is no file then.
func (d *Tracer) TextFile() string { return d.text.file.Name() }

// Stop ends the sampling with one SIGTERM, and returns when all samples are in the TextFile. DTrace itself ends later
// (see [Tracer.Wait]). If DTrace failed, the error is a *failure.StoppedError, and the file has the samples that were
// taken before the failure. Further calls return the same error.
func (d *Tracer) Stop() error {
	d.stopOnce.Do(func() { d.stopErr = d.stop() })
	return d.stopErr
}

func (d *Tracer) stop() error {
	asked := !d.text.ended() && !d.process.Ended()
	// if somebody has stopped DTrace in the middle of a write, it must finish the write before the SIGTERM
	d.process.Wake()
	d.text.hurry()
	if asked {
		d.text.awaitCatchUp()
		if err := d.terminate(); err != nil {
			time.Sleep(lastPrint) // DTrace needs this time to print the samples that it has
			d.kill()
			return &failure.StoppedError{Tool: "dtrace", Cause: "its last samples may be missing", Err: err,
				Hint: "let sudo run kill without a password (visudo)"}
		}
	}
	inTime := d.text.awaitEnd(func() {
		external.TellSlow(d.slow, "dtrace", slowEnd, fmt.Sprintf("when it has printed no sample for %s it is killed",
			endTimeout))
	})
	if !inTime {
		d.kill()
	}
	// If the file could not be written, report that error, however DTrace ended.
	if err := d.text.err(); err != nil && d.text.file != nil {
		return &failure.StoppedError{Tool: "dtrace", Cause: "the samples could not be written", Err: err,
			Hint: "make room in " + filepath.Dir(d.TextFile())}
	}
	switch {
	case !inTime:
		return &failure.StoppedError{Tool: "dtrace",
			Cause: fmt.Sprintf("it was killed because SIGTERM did not end it within %s", endTimeout)}
	case d.text.ended() && asked:
		return nil
	case d.text.ended():
		return &failure.StoppedError{Tool: "dtrace", Cause: "somebody else ended it"}
	}
	<-d.process.Done
	text := d.text.messages.String()
	stopped := &failure.StoppedError{Tool: "dtrace", Stderr: complaintIn(text), Cause: d.process.Cmd.ProcessState.String()}
	if !d.process.Status().Signaled() && stopped.Stderr != "" {
		stopped.Cause = stopped.Stderr
	}
	return stopped
}

// Wait waits until DTrace has ended. It must be called after Stop. On Linux, DTrace needs a few seconds to release its
// probes and buffers in the kernel; the TextFile can be read in the meantime. As soon as DTrace has removed its probes
// from tracefs, Wait kills it, because then the kernel releases the rest within a tenth of a second.
func (d *Tracer) Wait() {
	if d.text.ended() && d.released() {
		d.process.Kill()
	}
	ended := external.AwaitDone(d.process.Done, releaseTimeout, endTimeout, func() {
		if d.slow != nil {
			d.slow(fmt.Sprintf("dtrace still releases what it holds of the kernel; after %s it is killed", releaseTimeout))
		}
	})
	if !ended {
		d.kill()
	}
	<-d.text.saved
}

// terminate sends SIGTERM to DTrace. It must be called only once, because a second SIGTERM would lose samples.
func (d *Tracer) terminate() error {
	defer d.process.Wake()
	if d.sudoKill != nil {
		return d.sudoKill()
	}
	err := d.process.Cmd.Process.Signal(syscall.SIGTERM)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// killBySudo sends SIGTERM to the sudo process that runs DTrace, which passes the signal on. Only root may send signals
// to that process, so gasm runs kill under a second sudo.
func (d *Tracer) killBySudo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := tool.Command(ctx, "sudo", "-n", "kill", "-TERM", strconv.Itoa(d.process.Cmd.Process.Pid))
	if text, err := cmd.CombinedOutput(); err != nil && !d.process.Ended() {
		return fmt.Errorf("sudo -n kill: %w: %s", err, complaintIn(string(text)))
	}
	return nil
}

// kill ends a DTrace that does not end as it should. If DTrace runs as root under sudo, gasm can't kill it. But then
// DTrace ends when it finds that gasm has closed the pipe.
func (d *Tracer) kill() {
	d.process.Kill()
	d.text.abandon()
	select {
	case <-d.process.Done:
	case <-time.After(patience):
	}
}

// kernelClause is true if Program samples the kernel too.
const kernelClause = runtime.GOOS == "linux"

// Program returns the program that DTrace runs to sample. In a sample of user space, arg1 is the PC and arg0 is 0. In a
// sample of the kernel, arg0 is the PC and arg1 is 0.
//
// On macOS, ufunc() names the functions. On Linux, ufunc() takes a third of a core, and DTrace falls behind by seconds,
// so gasm names the functions itself. The program for Linux also leaves out DTrace itself. DTrace wakes up for each
// sample, so samples of DTrace would keep it awake forever.
//
// The BEGIN probe prints a mark when DTrace begins to sample. The END probe prints another mark after all samples.
func Program(frequency int) string {
	const user = `{ printf("%d 0x%lx %d", pid, arg1, timestamp); `
	probe := sampler.DTraceEvent(frequency).Name
	program := `BEGIN { printf("` + beginMark + ` %d", timestamp); } `
	if kernelClause {
		program += probe + " /arg1 && pid != $pid/ " + user + "} " +
			probe + ` /arg0 && pid && pid != $pid/ { printf("%d 0x%lx %d", pid, arg0, timestamp); func(arg0); }`
	} else {
		program += probe + " /arg1/ " + user + "ufunc(arg1); }"
	}
	return program + ` END { printf("` + endMark + `"); }`
}
