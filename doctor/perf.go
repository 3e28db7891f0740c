package doctor

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/sampler"
)

// perfEvents are the events that are tried, the best first.
var perfEvents = []string{"cycles:P", "cycles", "instructions", "cpu-clock"}

// checkPerf tries perf in the way in which `gasm profile` without flags uses it, and then
// with each of the events.
func checkPerf(ctx context.Context, dir string) samplerResult {
	path, err := exec.LookPath("perf")
	if err != nil {
		return noPerf(ctx, dir)
	}
	version, said, err := run(ctx, path, "--version")
	version = perfVersion(version)
	if err != nil || version == "" {
		version = "unknown: " + cmp.Or(firstLine(said), fmt.Sprint(err))
	}
	found := Finding{"perf", "found", OK, path + ", version " + version, ""}

	// One after the other, because all recordings of a user share one limit of locked
	// memory (perf_event_mlock_kb).
	best := tryPerf(ctx, dir, nil, true)
	trials := make([]perfTrial, len(perfEvents))
	for i, event := range perfEvents {
		if trials[i] = best; best.event != event {
			trials[i] = tryPerf(ctx, dir, []sampler.Event{sampler.ParseEvent(event)}, false)
		}
	}

	k := thisKernel()
	sampling, result := best.check()
	result.checks = append([]Finding{found, sampling}, result.checks...)
	if best.err == nil {
		if rate := sampler.ChooseRate(nil); rate.Cost > 0 {
			result.checks = append(result.checks, checkRate(rate))
		}
	}
	var missing *sampler.MissingToolError
	if errors.As(best.err, &missing) {
		result.checks[0].Status = Problem // Ubuntu's /usr/bin/perf, without the perf of this kernel
	} else {
		result.checks = append(result.checks, checkEvents(trials, k.virtual))
	}
	result.checks = append(result.checks, checkKernelSettings(k, best.err == nil, best.notes)...)
	return result
}

// noPerf is the result where perf is not on PATH. The sampler's error says what installs
// it.
func noPerf(ctx context.Context, dir string) samplerResult {
	_, err := sampler.StartPerf(ctx, sampler.Options{PID: os.Getpid(), Frequency: sampler.DefaultFrequency, Dir: dir})
	cause, mend := explain(err)
	return samplerResult{
		cause: "perf: " + cause, mend: mend,
		checks: append([]Finding{{"perf", "found", Problem, cause, mend}}, checkKernelSettings(thisKernel(), false, nil)...),
	}
}

// A perfTrial is what came of a recording of a target.
type perfTrial struct {
	event   string // the event that perf sampled
	notes   []string
	samples int     // of a busy target
	seconds float64 // for which the target was busy
	err     error
}

// tryPerf starts perf for the events, or for the best event there is, and stops it again.
// With busy, the target works for a moment, and its samples are counted: there are virtual
// machines on which a counter can be opened but never fires.
func tryPerf(ctx context.Context, dir string, events []sampler.Event, busy bool) (t perfTrial) {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	dir, err := os.MkdirTemp(dir, "perf-")
	if err != nil {
		return perfTrial{err: err}
	}
	child, err := startTarget()
	if err != nil {
		return perfTrial{err: err}
	}
	defer child.end()
	p, err := sampler.StartPerf(ctx, sampler.Options{Events: events, Frequency: sampler.DefaultFrequency, PID: child.pid(), Dir: dir})
	if err != nil {
		return perfTrial{err: err}
	}
	if busy {
		begin := time.Now()
		child.release()
		pause(ctx, 150*time.Millisecond)
		t.seconds = time.Since(begin).Seconds()
	}
	t.err = p.Stop()
	t.event, t.notes = p.Events()[0].Spec, p.Notes()
	if busy && t.err == nil {
		t.samples, t.err = countSamples(ctx, p)
	}
	return t
}

// pause waits for a time, or for the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// countSamples counts the samples of a recording.
func countSamples(ctx context.Context, p *sampler.Perf) (n int, err error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(p.WriteText(ctx, w)) }()
	reader := sampler.NewPerfReader(bufio.NewReader(r), "perf")
	for reader.Scan() {
		if _, ok := reader.Record().(*sampler.Sample); ok {
			n++
		}
	}
	return n, reader.Err()
}

// check judges the trial of the event that `gasm profile` takes by default.
func (t *perfTrial) check() (Finding, samplerResult) {
	c := Finding{Area: "perf", Name: "sampling"}
	if t.err != nil {
		cause, mend := explain(t.err)
		c.Status, c.Text, c.Mend = Problem, cause, mend
		return c, samplerResult{cause: "perf: " + cause, mend: mend}
	}
	if t.samples == 0 {
		c.Status, c.Text = Problem, fmt.Sprintf("%s opens, but no sample came of %.1f s of work", t.event, t.seconds)
		if t.event != "cpu-clock" {
			c.Mend = "gasm profile --event cpu-clock ..."
		}
		return c, samplerResult{cause: "perf: " + c.Text, mend: c.Mend}
	}
	c.Status, c.Text = OK, fmt.Sprintf("takes %s; %d samples came of a busy process", t.event, t.samples)
	return c, samplerResult{works: true, event: t.event}
}

// checkRate tells what a sample costs, and how often `gasm profile` therefore samples.
func checkRate(rate sampler.Rate) Finding {
	c := Finding{Area: "perf", Name: "sample cost", Status: OK,
		Text: fmt.Sprintf("a sample's interrupt takes %.1f us: %d samples a second by default, %.1f %% of the time",
			rate.Cost.Seconds()*1e6, rate.Hertz, 100*rate.Share(rate.Hertz))}
	if rate.Hertz < sampler.DefaultFrequency {
		c.Text += fmt.Sprintf(" (--frequency %d would take %.1f %%)",
			sampler.DefaultFrequency, 100*rate.Share(sampler.DefaultFrequency))
	}
	return c
}

// checkEvents judges the trials of perfEvents, one of each. virtual tells that this is a
// virtual machine.
func checkEvents(trials []perfTrial, virtual bool) Finding {
	c := Finding{Area: "perf", Name: "events", Status: OK}
	var opened, refused []string
	var err error    // of the first event that was refused for another reason than hardware
	counters := true // no event was refused for want of hardware counters
	for i, t := range trials {
		if t.err == nil && t.event == perfEvents[i] {
			opened = append(opened, perfEvents[i])
			continue
		}
		refused = append(refused, perfEvents[i])
		var r *sampler.RefusedError
		if t.err == nil || errors.As(t.err, &r) && r.Reason == sampler.ReasonUnsupportedEvent {
			counters = false
		} else if err == nil {
			err = t.err
		}
	}
	switch {
	case len(opened) == 0:
		c.Status, c.Text = Problem, "none of "+strings.Join(perfEvents, ", ")+" opens"
	case len(refused) == 0:
		c.Text = strings.Join(opened, ", ") + " open"
	default:
		c.Status = Note
		c.Text = fmt.Sprintf("%s %s; not %s", strings.Join(opened, ", "), verb(len(opened), "opens", "open"), strings.Join(refused, ", "))
	}
	switch {
	case err != nil && len(opened) > 0:
		cause, mend := explain(err)
		c.Text, c.Mend = c.Text+": "+cause, mend
	case !counters && slices.Contains(opened, "cycles"):
		// Precise sampling, or a single event, is all that this machine lacks.
	case !counters && virtual:
		c.Text += ": a virtual machine without a PMU. cpu-clock works, but PCs are late where interrupts were off"
		c.Mend = "qemu -cpu host,pmu=on (in a cloud: a bare-metal instance)"
	case !counters:
		c.Text += ": no hardware counters. cpu-clock works, but PCs are late where interrupts were off"
	}
	return c
}

// explain gives the cause and the mending command of a sampler's error.
func explain(err error) (cause, mend string) {
	var missing *sampler.MissingToolError
	var refused *sampler.RefusedError
	var stopped *sampler.StoppedError
	switch {
	case errors.As(err, &missing):
		return missing.Cause, strings.TrimPrefix(missing.Hint, "install it: ")
	case errors.As(err, &refused):
		return refused.Cause, refused.Hint
	case errors.As(err, &stopped):
		return "stopped too early: " + stopped.Cause, stopped.Hint
	case err == nil:
		return "", ""
	}
	return firstLine(err.Error()), ""
}

// perfVersion is "6.1.187" of "perf version 6.1.187"; "" of any other text.
func perfVersion(text string) string {
	_, version, _ := strings.Cut(firstLine(text), "perf version ")
	return version
}

// firstLine is the first line that is not empty.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// verb is the form of a verb that fits n things.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
