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
)

const (
	// startTimeout is how long perf may take until it samples. It needs 0.1 s, and
	// more on a loaded machine with many CPUs.
	startTimeout = 30 * time.Second
	// settled is for a perf before 5.9, which can't say that it samples. When its
	// file has not grown for this long, perf has written the maps of the process and
	// enables its events.
	settled = 200 * time.Millisecond
)

// Why record takes back a perf that it has started. What perf printed on stderr
// tells more.
var (
	errPerfEnded     = errors.New("perf has ended")
	errEventsMissing = errors.New("perf left out some of these events")
)

// record starts perf and returns when it samples. perf gets --control if it knows
// that option.
func record(ctx context.Context, tool string, opts Options, events []sampler.Event, h host) (*Perf, error) {
	p := &Perf{tool: tool, data: filepath.Join(opts.Dir, "perf.data"), events: slices.Clone(events), slow: opts.Slow}
	args := []string{
		"record", "-k", "mono", "-F", strconv.Itoa(opts.Frequency), "-e", strings.Join(sampler.Specs(events), ","),
		"-B", "-N", "-o", p.data,
		// Follow the process's first thread and all that it starts. With -p perf would
		// also follow the process's other threads, those of the Go runtime, which end
		// when the held process becomes the command. For the rest of the run perf would
		// poll what is left of them without a pause and take a core away from the
		// command.
		"--inherit", "-t", strconv.Itoa(opts.PID),
	}
	// startUnconfirmed would take an older file for a sign that perf samples.
	if err := os.Remove(p.data); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err := p.startConfirmed(ctx, args)
	if errors.Is(err, errPerfEnded) && ctx.Err() == nil && p.unknownOption() {
		err = p.startUnconfirmed(ctx, args)
	}
	if err == nil {
		err = p.readOpened()
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
	full := isFull(opts.Dir)
	os.Remove(p.data) // perf creates it before it opens the events
	if ctx.Err() != nil {
		return nil, fmt.Errorf("perf: %w", context.Cause(ctx))
	}
	text := p.process.stderr.String()
	if errors.Is(err, errPerfEnded) || errors.Is(err, errEventsMissing) {
		if refused := refusal(text, events, opts.PID, h); refused != nil {
			return nil, refused
		}
	}
	if errors.Is(err, errPerfEnded) && full && perfComplaint(text) == "" { // perf may end without a word
		return nil, fmt.Errorf("perf: its data can't be written: %w; make room in %s", syscall.ENOSPC, opts.Dir)
	}
	if errors.Is(err, errPerfEnded) {
		err = fmt.Errorf("%s: %s", p.process.cmd.ProcessState, perfComplaint(text))
	}
	return nil, fmt.Errorf("%s %s: %w", tool, strings.Join(args, " "), err)
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
	// perf's thread for BPF events would delay perf's end by up to a second.
	args = append(slices.Clone(args), "--control", "fd:3,4", "-D", "-1", "--no-bpf-event")
	p.process, err = startProcess(ctx, p.tool, args, commands, ackTo)
	// perf has copies of these two. Without ours, acks ends when perf does.
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
	// If perf has ended this fails, and so does the read below.
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
		p.acks.Close()
		p.control = nil
	}
}
