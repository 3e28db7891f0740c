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

// A DTrace that loses a race against another one is started again: see isRace.
const (
	tries    = 3
	tryPause = 300 * time.Millisecond // between two tries
)

// textName is the name of the file that DTrace's text goes to.
const textName = "dtrace.txt"

// Options say how DTrace samples.
type Options struct {
	Frequency int    // samples per second and CPU
	Sudo      bool   // run it by sudo -n
	Dir       string // the folder for textName; a file of that name is replaced
	// Slow is called by Stop and Wait with a sentence for the user if DTrace takes long to end. It may
	// be nil.
	Slow func(message string)
	// Script is a program that does not sample, and Text receives what it prints. They replace the
	// Frequency and the Dir.
	Script *Script
	Text   io.Writer
}

// A Script asks DTrace for something other than samples. It prints only what its clauses print.
type Script struct {
	Clauses string
	Options []string // as for -x: "strsize=256"
}

// arguments returns DTrace's arguments for the script. The END probe prints a mark when everything is
// printed, as in [Program].
func (s *Script) arguments() []string {
	args := []string{"-q", "-x", "switchrate=10hz"}
	for _, o := range s.Options {
		args = append(args, "-x", o)
	}
	return append(args, "-n", `BEGIN { printf("`+beginMark+` %d\n", timestamp); } `+s.Clauses+` END { printf("`+endMark+`\n"); }`)
}

// IsMark reports whether a line is the first or the last one that DTrace prints.
func IsMark(line []byte) (first, last bool) {
	return bytes.HasPrefix(line, []byte(beginMark)), bytes.HasPrefix(line, []byte(endMark))
}

// A Tracer is a process of DTrace that samples the whole machine or runs a Script. It is under way or
// has ended.
type Tracer struct {
	tool      string
	frequency int
	sudo      bool
	slow      func(message string) // may be nil
	process   *external.Process
	text      *output
	inTracefs bool         // its probes were found in tracefs
	sudoKill  func() error // sends SIGTERM to a DTrace that runs under sudo; nil without sudo

	stopOnce sync.Once
	stopErr  error
}

// Start starts DTrace and returns when it samples. If the cause of an error is known, the error
// is a *failure.MissingToolError or a *failure.RefusedError. After an error no process is left behind. The end of ctx
// kills DTrace.
func Start(ctx context.Context, opts Options) (*Tracer, error) {
	for try := 1; ; try++ {
		d, err := startOnce(ctx, opts)
		if try == tries || !isRace(err) {
			return d, err
		}
		time.Sleep(tryPause)
	}
}

// isRace reports whether err is that of a DTrace for Linux that started at the moment at which another
// one started or ended. About one in 25 of them finds its own BEGIN probe gone.
func isRace(err error) bool {
	var refused *failure.RefusedError
	return errors.As(err, &refused) && strings.Contains(refused.Stderr, "dtrace:::BEGIN: No such file or directory")
}

// startOnce is Start without a second try.
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
		ctx := context.WithoutCancel(ctx) // DTrace is also stopped after the end of ctx
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
	pipe.Close() // DTrace has a copy. When only that is open, the text ends when DTrace does.
	go d.text.save()

	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case <-d.text.begun:
		d.inTracefs = d.hasUprobes()
		return d, nil
	case <-d.process.Done:
		if err = d.refusal(ctx); err == nil {
			return d, nil // it did sample; Stop returns why it has ended
		}
	case <-timeout.C:
		// On a busy machine DTrace may take that long to end after it has printed why.
		if err = refusal(d.text.start(), d.tool, d.frequency, d.sudo, machine.This()); err != nil {
			break
		}
		err = fmt.Errorf("%s: did not start to sample within %s; see whether 'sudo dtrace -n BEGIN' prints a line", tool, startTimeout)
	}
	d.kill()
	d.text.discard()
	return nil, err
}

// open prepares the process and the output that saves its text. It returns the end of the pipe that
// is the process's stdout.
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

// refusal returns the error of a DTrace that ended before it sampled, or nil if it did sample.
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

// find finds DTrace on PATH, or else at the path elsewhere. Linux has it in /usr/sbin, which is not on
// every user's PATH, or comes there after the folder with SystemTap's script of the same name.
func find(elsewhere string) (string, error) {
	tool, err := exec.LookPath("dtrace")
	if err != nil || isPython(tool) {
		if tool, err := exec.LookPath(elsewhere); err == nil {
			return tool, nil
		}
	}
	return tool, err
}

// isPython reports whether a tool is a script in Python, as SystemTap's dtrace is.
func isPython(tool string) bool {
	f, err := os.Open(tool)
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	return strings.HasPrefix(line, "#!") && strings.Contains(line, "python")
}

// Events returns the one probe that samples: "profile-1001".
func (d *Tracer) Events() []sampler.Event {
	return []sampler.Event{sampler.DTraceEvent(d.frequency)}
}

// Frequency returns how often DTrace samples, per second and CPU. It is always the requested frequency.
func (d *Tracer) Frequency() int { return d.frequency }

// Notes returns what the samples lack, a sentence each.
func (d *Tracer) Notes() []fix.Note {
	if kernelClause {
		return nil
	}
	return []fix.Note{{Text: "dtrace samples user space only: what the kernel does for the program is not in the profile"}}
}

// Lost returns how many samples DTrace reported as dropped.
func (d *Tracer) Lost() int64 { return d.text.messages.drops.Load() }

// TextFile returns the path of DTrace's text, which a sampler.DTraceReader reads. The file is complete
// after Stop. A Script has no file.
func (d *Tracer) TextFile() string { return d.text.file.Name() }

// Stop ends the sampling with one SIGTERM and returns when all samples are in the TextFile. DTrace
// itself ends later: see [Tracer.Wait]. If DTrace failed, the error is a *failure.StoppedError, and the
// samples until then are in the file. A second Stop returns the same error.
func (d *Tracer) Stop() error {
	d.stopOnce.Do(func() { d.stopErr = d.stop() })
	return d.stopErr
}

func (d *Tracer) stop() error {
	asked := !d.text.ended() && !d.process.Ended()
	d.process.Wake() // a stopped DTrace may be in the middle of a write, which has to end before the signal
	d.text.hurry()
	if asked {
		d.text.awaitCatchUp()
		if err := d.terminate(); err != nil {
			time.Sleep(lastPrint) // DTrace prints the samples that it has now
			d.kill()
			return &failure.StoppedError{Tool: "dtrace", Cause: "its last samples may be missing", Err: err,
				Hint: "let sudo run kill without a password (visudo)"}
		}
	}
	inTime := d.text.awaitEnd(func() {
		external.TellSlow(d.slow, "dtrace", slowEnd, fmt.Sprintf("when it has printed no sample for %s it is killed", endTimeout))
	})
	if !inTime {
		d.kill()
	}
	// An error of writing the file matters more than how DTrace ended.
	if err := d.text.err(); err != nil && d.text.file != nil {
		return &failure.StoppedError{Tool: "dtrace", Cause: "the samples could not be written", Err: err,
			Hint: "make room in " + filepath.Dir(d.TextFile())}
	}
	switch {
	case !inTime:
		return &failure.StoppedError{Tool: "dtrace", Cause: fmt.Sprintf("it was killed because SIGTERM did not end it within %s", endTimeout)}
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

// Wait waits for the end of a DTrace that was stopped. On Linux, DTrace needs some seconds to release
// what it holds of the kernel. The TextFile can be read meanwhile. As soon as DTrace holds only what
// the kernel releases by itself, Wait kills it, which takes a tenth of a second.
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

// terminate sends the one SIGTERM. A second one would lose samples.
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

// killBySudo sends SIGTERM to the sudo that runs DTrace, and sudo passes it on. Only root may signal
// that sudo.
func (d *Tracer) killBySudo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := tool.Command(ctx, "sudo", "-n", "kill", "-TERM", strconv.Itoa(d.process.Cmd.Process.Pid))
	if text, err := cmd.CombinedOutput(); err != nil && !d.process.Ended() {
		return fmt.Errorf("sudo -n kill: %w: %s", err, complaintIn(string(text)))
	}
	return nil
}

// kill ends a DTrace that does not end properly. A DTrace that belongs to root can't be killed, but it
// ends when nobody reads its text.
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

// Program returns the program that DTrace runs. arg1 is the PC of a sample in user space, arg0
// that of a sample in the kernel; the other one is 0.
//
// On macOS ufunc() names the functions. On Linux ufunc() costs a third of a core and keeps DTrace
// seconds behind, so gasm names the functions itself. On Linux the program also leaves out DTrace
// itself, which wakes up for each sample: samples of DTrace would keep it awake forever.
//
// The BEGIN probe prints a mark when DTrace samples, the END probe prints one when everything is
// printed.
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
