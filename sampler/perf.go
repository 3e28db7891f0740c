package sampler

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// startTimeout is how long perf may take to say that it samples. It needs
	// 0.1 s, and more on a loaded machine with many CPUs.
	startTimeout = 30 * time.Second
	// settled is how long the file of a perf that can't say so must not have
	// grown: it then has written the maps of the process and enables its events.
	settled = 200 * time.Millisecond
)

// perfFields are the fields that a PerfReader expects.
const perfFields = "comm,pid,tid,time,event,ip,sym,dso"

// bestEvents are tried in this order when the user names none.
var bestEvents = []string{"cycles:P", "cycles", "cpu-clock"}

// Options say what is to be sampled, and how often.
type Options struct {
	// Events are the events as the user named them; nil takes the best there is:
	// cycles:P, then cycles, then cpu-clock.
	Events    []string
	Frequency int    // samples per second and CPU
	PID       int    // the process, held before its exec; its children are followed
	Dir       string // where perf.data goes; one that is there is replaced
}

// A Perf is a recording of perf, at work or ended.
type Perf struct {
	tool    string
	data    string
	events  []string
	notes   []string
	kernel  bool // every event includes the kernel
	hertz   int
	process *process
	control *os.File // nil for a perf without --control

	stopOnce sync.Once
	stopErr  error
}

// StartPerf attaches perf to the process and returns when it samples. The error
// is a *MissingToolError or *RefusedError where the cause is known; no process
// is left behind then. The end of ctx kills perf.
func StartPerf(ctx context.Context, opts Options) (*Perf, error) {
	h := thisHost()
	tool, err := exec.LookPath("perf")
	if err != nil {
		return nil, h.missingPerf("not on PATH")
	}
	// perf lowers the frequency by itself since 4.17; older ones refuse.
	var notes []string
	if limit, ok := sysctlInt("kernel/perf_event_max_sample_rate"); ok && 0 < limit && limit < opts.Frequency {
		notes = append(notes, fmt.Sprintf("sampled at %d Hz, not %d: sudo sysctl kernel.perf_event_max_sample_rate=%d",
			limit, opts.Frequency, opts.Frequency))
		opts.Frequency = limit
	}

	candidates := [][]string{opts.Events}
	if len(opts.Events) == 0 {
		candidates = nil
		for _, event := range bestEvents {
			candidates = append(candidates, []string{event})
		}
	}
	var p *Perf
	var refused *RefusedError // the first candidate's
	for _, events := range candidates {
		p, err = record(ctx, tool, opts, events, h)
		var r *RefusedError
		if !errors.As(err, &r) || !r.Reason.ofEvent() {
			break
		}
		if refused == nil {
			refused = r
		}
	}
	if err != nil {
		return nil, err
	}
	p.notes, p.hertz = notes, opts.Frequency
	p.describe(refused)
	return p, nil
}

// Event returns the events that are sampled, as one asks perf for them:
// "cycles:P", "cpu-clock", "cycles,instructions". Where perf took cpu-clock in
// place of cycles it is cpu-clock.
func (p *Perf) Event() string { return strings.Join(p.events, ",") }

// Notes tells what could not be had, one sentence each, with the command that
// mends it.
func (p *Perf) Notes() []string {
	notes := slices.Clone(p.notes)
	if _, ok := lineWith(p.process.stderr.String(), "kptr_restrict"); ok && p.kernel {
		notes = append(notes, "kernel functions have no names: sudo sysctl kernel.kptr_restrict=0")
	}
	return notes
}

// Frequency returns how often perf samples, per second and CPU: less than asked
// for where the kernel allows less.
func (p *Perf) Frequency() int { return p.hertz }

// DataFile returns the path of perf's recording.
func (p *Perf) DataFile() string { return p.data }

// record starts perf, with --control if perf knows that.
func record(ctx context.Context, tool string, opts Options, events []string, h host) (*Perf, error) {
	p := &Perf{tool: tool, data: filepath.Join(opts.Dir, "perf.data"), events: slices.Clone(events)}
	args := []string{
		"record", "-k", "mono", "-F", strconv.Itoa(opts.Frequency), "-e", p.Event(),
		"-B", "-N", "-o", p.data,
		// The first thread alone, and all that comes of it. With -p perf would
		// also follow the held process's other threads; these end at its exec,
		// and perf polls for what is gone without a pause for the rest of the
		// run: a core that the command lacks.
		"--inherit", "-t", strconv.Itoa(opts.PID),
	}
	// An older file would be taken for a sign that perf samples.
	if err := os.Remove(p.data); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err := p.startConfirmed(ctx, args)
	if errors.Is(err, errPerfEnded) && ctx.Err() == nil && p.unknownOption() {
		err = p.startUnconfirmed(ctx, args)
	}
	if err == nil {
		return p, nil
	}
	if p.process == nil { // never started
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	p.process.kill()
	<-p.process.done
	p.closeControl()
	os.Remove(p.data) // perf creates it before it opens the events
	if ctx.Err() != nil {
		return nil, fmt.Errorf("perf: %w", context.Cause(ctx))
	}
	if text := p.process.stderr.String(); errors.Is(err, errPerfEnded) {
		if refused := refusal(text, events, opts.PID, h); refused != nil {
			return nil, refused
		}
		err = fmt.Errorf("%s: %s", p.process.cmd.ProcessState, perfComplaint(text))
	}
	return nil, fmt.Errorf("%s %s: %w", tool, strings.Join(args, " "), err)
}

// errPerfEnded means that perf's stderr says why it does not sample.
var errPerfEnded = errors.New("perf has ended")

// startConfirmed starts perf with its events off (-D -1), has it enable them and
// waits for its word that it has.
func (p *Perf) startConfirmed(ctx context.Context, args []string) error {
	commands, control, err := os.Pipe()
	if err != nil {
		return err
	}
	acks, ackTo, err := os.Pipe()
	if err != nil {
		commands.Close()
		control.Close()
		return err
	}
	defer acks.Close()
	// Its thread for BPF events would delay perf's end by up to a second.
	args = append(slices.Clone(args), "--control", "fd:3,4", "-D", "-1", "--no-bpf-event")
	p.process, err = startProcess(ctx, p.tool, args, commands, ackTo)
	// perf has its own: when it ends, acks is at its end.
	commands.Close()
	ackTo.Close()
	p.control = control
	if err != nil {
		p.closeControl()
		return err
	}
	deadline := time.Now().Add(startTimeout)
	if err := acks.SetReadDeadline(deadline); err != nil {
		return err
	}
	// A perf that has ended does not take it; the read below tells.
	_, _ = control.WriteString("enable\n")
	ack, err := bufio.NewReader(acks).ReadString('\n')
	if strings.Contains(ack, "ack") {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("did not start to sample within %s", startTimeout)
	}
	return p.awaitEnd(deadline)
}

// startUnconfirmed starts a perf before 5.9, which has no --control, and waits
// until its file has its header and the maps of the process.
func (p *Perf) startUnconfirmed(ctx context.Context, args []string) error {
	p.closeControl()
	var err error
	if p.process, err = startProcess(ctx, p.tool, args); err != nil {
		return err
	}
	deadline := time.Now().Add(startTimeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var size int64
	grown := time.Now()
	for {
		select {
		case <-p.process.done:
			return errPerfEnded
		case now := <-tick.C:
			if info, err := os.Stat(p.data); err == nil && info.Size() != size {
				size, grown = info.Size(), now
			}
			if size > 0 && now.Sub(grown) > settled {
				return nil
			}
			if now.After(deadline) {
				return fmt.Errorf("did not start to sample within %s", startTimeout)
			}
		}
	}
}

// awaitEnd waits for the end of a perf that has closed its descriptors.
func (p *Perf) awaitEnd(deadline time.Time) error {
	select {
	case <-p.process.done:
		return errPerfEnded
	case <-time.After(time.Until(deadline)):
		return errors.New("did not confirm that it samples")
	}
}

// unknownOption tells whether perf is older than --control or --no-bpf-event.
func (p *Perf) unknownOption() bool {
	_, ok := lineWith(p.process.stderr.String(), "unknown option")
	return ok
}

func (p *Perf) closeControl() {
	if p.control != nil {
		p.control.Close()
		p.control = nil
	}
}

// describe finds out what perf got from the kernel: asked for cycles on a
// machine without that counter it takes cpu-clock, and for a user who may not
// see the kernel it leaves that out, both without a word. refused is why a better
// event was not taken, nil if this is the first candidate.
func (p *Perf) describe(refused *RefusedError) {
	opened, err := openedEvents(p.data)
	if err != nil {
		p.notes = append(p.notes, fmt.Sprintf("can't tell whether perf samples something else than %s: %v", p.Event(), err))
	}
	asked := slices.ContainsFunc(p.events, func(text string) bool { return parseEvent(text).userOnly })
	noCycles := p.replaceCycles(opened) || refused != nil && p.Event() == "cpu-clock"
	switch {
	case noCycles:
		p.notes = append(p.notes, "no hardware cycles counter here (virtual machine?): sampled cpu-clock instead; "+
			"a virtual machine needs a virtual PMU (qemu: -cpu host,pmu=on)")
	case refused != nil:
		p.notes = append(p.notes, fmt.Sprintf("PCs may be some instructions late: sampled %s, because %s", p.Event(), refused.Cause))
	}

	isUserOnly := func(e openedEvent) bool { return e.userOnly }
	p.kernel = !slices.ContainsFunc(opened, isUserOnly)
	if !p.kernel && !asked {
		p.notes = append(p.notes, "kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1")
	}
}

// replaceCycles puts cpu-clock in place of cycles if that is what was opened.
func (p *Perf) replaceCycles(opened []openedEvent) bool {
	clocks := 0
	for _, event := range opened {
		if event.cpuClock {
			clocks++
		}
	}
	for _, text := range p.events {
		if parseEvent(text).name == "cpu-clock" {
			clocks--
		}
	}
	if clocks <= 0 {
		return false
	}
	for i, text := range p.events {
		if isCycles(parseEvent(text).name) {
			p.events[i] = "cpu-clock"
		}
	}
	return true
}

// Stop ends the recording with one SIGINT and waits until perf has written all of
// it; the end of the context that perf was started with cuts that short. It is no
// error when perf has ended because everything it followed has. Where perf failed
// in the middle the error is a *StoppedError, and what is on disk is made
// readable. A second Stop returns the same.
func (p *Perf) Stop() error {
	p.stopOnce.Do(func() { p.stopErr = p.stop() })
	return p.stopErr
}

func (p *Perf) stop() error {
	asked := p.process.stop(syscall.SIGINT)
	p.closeControl()
	status := p.process.status()
	switch {
	case status.Exited() && status.ExitStatus() == 0,
		asked && status.Signaled() && status.Signal() == syscall.SIGINT,
		asked && status.Exited() && status.ExitStatus() == 128+int(syscall.SIGINT): // by way of a script
		return p.unfinished()
	}
	text := p.process.stderr.String()
	stopped := &StoppedError{Tool: "perf", Stderr: perfComplaint(text), Err: completePerfData(p.data)}
	stopped.Cause = p.process.cmd.ProcessState.String()
	if !status.Signaled() && stopped.Stderr != "" {
		stopped.Cause = stopped.Stderr
	}
	if strings.Contains(text, "No space left") {
		stopped.Hint = "make room in " + filepath.Dir(p.data)
	}
	return stopped
}

// unfinished is the error of a perf that ended as it should, and could not write
// the end of its data: on a full disk it may do so without a word.
func (p *Perf) unfinished() error {
	f, err := os.Open(p.data)
	if err != nil {
		return nil // WriteText tells
	}
	h, err := readPerfHeader(f)
	f.Close()
	if err != nil || h.dataSize != 0 {
		return nil
	}
	if completePerfData(p.data) != nil {
		return nil // there is nothing in it: WriteText tells
	}
	stopped := &StoppedError{Tool: "perf", Cause: "the end of its data is missing"}
	var disk unix.Statfs_t
	if dir := filepath.Dir(p.data); unix.Statfs(dir, &disk) == nil && disk.Bavail < 16 {
		stopped.Err = syscall.ENOSPC
		stopped.Hint = "make room in " + dir
	}
	return stopped
}

// WriteText writes the recording as the text that a PerfReader reads. It is for
// after Stop, and works after one that failed, too.
func (p *Perf) WriteText(ctx context.Context, w io.Writer) error {
	args := []string{"script", "--ns", "-F", perfFields, "-i", p.data}
	stderr, err := p.script(ctx, append(args, "--show-lost-events"), w)
	if _, unknown := lineWith(stderr, "unknown option `show-lost-events"); err != nil && unknown {
		stderr, err = p.script(ctx, args, w)
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("perf script: %w", context.Cause(ctx))
	}
	if line := perfComplaint(stderr); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return fmt.Errorf("%s %s: %w", p.tool, strings.Join(args, " "), err)
}

// script runs perf script and returns what it printed on stderr.
func (p *Perf) script(ctx context.Context, args []string, w io.Writer) (stderr string, err error) {
	var complaints cappedBuffer
	out := &checkedWriter{w: w}
	cmd := toolCommand(ctx, p.tool, args)
	cmd.Stdout, cmd.Stderr = out, &complaints
	err = cmd.Run()
	if out.err != nil {
		err = out.err // perf itself only knows of a broken pipe
	}
	return complaints.String(), err
}

// A checkedWriter remembers the error of the writer under it. It also keeps a
// file from being given to the process as it is: perf does not check whether
// what it prints was written.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(text []byte) (int, error) {
	n, err := c.w.Write(text)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}
