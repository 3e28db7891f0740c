package collect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/external"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

const (
	// startTimeout limits how long gasm waits until perf samples. Usually perf needs 0.1 s, but more on a busy machine
	// with many CPUs.
	startTimeout = 30 * time.Second
	// settled is used for a perf before 5.9, which can't confirm that it samples. When perf's file has not grown for
	// this long, gasm assumes that perf has written the mappings of the process and has enabled its events.
	settled = 200 * time.Millisecond
)

// The reasons why perf does not sample. What perf printed on stderr has the details.
var (
	errPerfEnded     = errors.New("perf has ended")
	errEventsMissing = errors.New("perf left out some of these events")
)

// record starts perf and returns when perf samples. If it returns an error, perf has ended, and its data is removed.
func record(ctx context.Context, tool string, opts Options, events []sampler.Event, h machine.Host) (*Perf, error) {
	p := &Perf{tool: tool, data: filepath.Join(opts.Dir, "perf.data"), events: slices.Clone(events), slow: opts.Slow}
	// Remove the file of an earlier perf. Otherwise startUnconfirmed would take it as a sign that the new perf samples.
	if err := os.Remove(p.data); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	args := p.recordArgs(opts)
	err := p.start(ctx, args)
	if err == nil {
		return p, nil
	}
	if p.process == nil { // perf could not be run
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	full := p.takeBack()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("perf: %w", context.Cause(ctx))
	}
	if refused := p.refused(err, opts.PID, h); refused != nil {
		return nil, refused
	}
	return nil, p.failure(err, args, full)
}

// recordArgs returns the arguments of perf record.
func (p *Perf) recordArgs(opts Options) []string {
	args := []string{
		"record", "-k", "mono", "-F", strconv.Itoa(opts.Frequency), "-e", strings.Join(sampler.Specs(p.events), ","),
		"-B", "-N", "-o", p.data,
		// Follow the process's first thread and all threads and processes that it starts. With -p perf would also
		// follow the process's other threads. These are threads of the Go runtime, and they end when the process execs
		// the command. From then on, perf would poll their events without a pause, and take a core away from the
		// command.
		"--inherit", "-t", strconv.Itoa(opts.PID),
	}
	if opts.Chains {
		args = append(args, "--call-graph", "fp")
	}
	return args
}

// start starts perf and returns when perf samples. perf gets --control if it knows that option.
func (p *Perf) start(ctx context.Context, args []string) error {
	err := p.startConfirmed(ctx, args)
	if errors.Is(err, errPerfEnded) && ctx.Err() == nil && p.unknownOption() {
		err = p.startUnconfirmed(ctx, args)
	}
	if err != nil {
		return err
	}
	return p.readOpened()
}

// takeBack ends a perf that does not sample. It removes perf's file, which perf creates before it opens the events.
// full is true if the disk had no room for more data.
func (p *Perf) takeBack() (full bool) {
	p.process.Kill()
	<-p.process.Done
	p.closeControl()
	full = isFull(filepath.Dir(p.data))
	os.Remove(p.data)
	return full
}

// refused returns an error if perf's stderr says that the kernel refused the events. It returns nil if the text is not
// known, or if err has a different cause.
func (p *Perf) refused(err error, pid int, h machine.Host) error {
	if !errors.Is(err, errPerfEnded) && !errors.Is(err, errEventsMissing) {
		return nil
	}
	return refusal(p.process.Stderr.String(), p.events, pid, h)
}

// failure returns the error for a perf that failed although the kernel did not refuse its events.
func (p *Perf) failure(err error, args []string, full bool) error {
	if errors.Is(err, errPerfEnded) {
		complaint := perfComplaint(p.process.Stderr.String())
		if full && complaint == "" { // perf may end without a message
			return fmt.Errorf("perf: its data can't be written: %w; make room in %s", syscall.ENOSPC, filepath.Dir(p.data))
		}
		err = fmt.Errorf("%s: %s", p.process.Cmd.ProcessState, complaint)
	}
	return fmt.Errorf("%s %s: %w", p.tool, strings.Join(args, " "), err)
}

// startConfirmed starts perf with its events off (-D -1), tells it to enable them,
// and waits until perf confirms that.
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
	// Without the option --no-bpf-event, perf would wait for one of its threads when it ends, for up to a second.
	args = append(slices.Clone(args), "--control", "fd:3,4", "-D", "-1", "--no-bpf-event")
	p.process, err = external.Start(ctx, p.tool, args, commands, ackTo)
	// perf has copies of these two files. Close our copies, so that a read from acks ends when perf does.
	commands.Close()
	ackTo.Close()
	p.control, p.acks, p.answers = control, acks, bufio.NewReader(acks)
	if err != nil {
		p.closeControl()
		return err
	}
	deadline := time.Now().Add(startTimeout)
	if err := acks.SetReadDeadline(deadline); err != nil {
		return err
	}
	// If perf has ended, this write fails, and so does the read below, whose error is handled.
	_, _ = control.WriteString("enable\n")
	ack, err := p.answers.ReadString('\n')
	if strings.Contains(ack, "ack") {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("did not start to sample within %s", startTimeout)
	}
	return p.awaitEnd(deadline)
}

// startUnconfirmed starts a perf before 5.9, which has no --control, and waits until perf has written the header and
// the mappings of the process to its file.
func (p *Perf) startUnconfirmed(ctx context.Context, args []string) error {
	p.closeControl()
	var err error
	if p.process, err = external.Start(ctx, p.tool, args); err != nil {
		return err
	}
	deadline := time.Now().Add(startTimeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var size int64
	grown := time.Now()
	for {
		select {
		case <-p.process.Done:
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

// awaitEnd waits until perf has ended. It is called when perf has closed its pipes without a confirmation.
func (p *Perf) awaitEnd(deadline time.Time) error {
	select {
	case <-p.process.Done:
		return errPerfEnded
	case <-time.After(time.Until(deadline)):
		return errors.New("did not confirm that it samples")
	}
}

// unknownOption reports whether perf is so old that it does not know --control or --no-bpf-event.
func (p *Perf) unknownOption() bool {
	_, ok := failure.LineWith(p.process.Stderr.String(), "unknown option")
	return ok
}

func (p *Perf) closeControl() {
	if p.control != nil {
		p.control.Close()
		p.acks.Close()
		p.control = nil
	}
}
