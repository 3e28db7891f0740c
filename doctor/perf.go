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
	"strings"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

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

	best, trials := tryEach(func(events []sampler.Event, busy bool) trial { return tryPerf(ctx, dir, events, busy) })
	sampling, result := best.check("perf")
	result.checks = append([]Finding{found, sampling}, result.checks...)
	var missing *collect.MissingToolError
	if errors.As(best.err, &missing) {
		result.checks[0].Status = Problem // Ubuntu's /usr/bin/perf, without the perf of this kernel
	} else {
		result.checks = append(result.checks, checkEvents("perf", trials, thisKernel().virtual))
	}
	return result
}

// noPerf is the result where perf is not on PATH. The sampler's error says what installs
// it.
func noPerf(ctx context.Context, dir string) samplerResult {
	_, err := collect.StartPerf(ctx, collect.Options{PID: os.Getpid(), Frequency: collect.DefaultFrequency, Dir: dir})
	cause, mend := explain(err)
	return samplerResult{
		cause: "perf: " + cause, mend: mend,
		checks: []Finding{{"perf", "found", Problem, cause, mend}},
	}
}

// tryPerf starts perf for the events, or for the best event there is, and stops it again.
// With busy, the target works for a moment, and its samples are counted: there are virtual
// machines on which a counter can be opened but never fires.
func tryPerf(ctx context.Context, dir string, events []sampler.Event, busy bool) trial {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	return onTarget(dir, func(dir string, child *target) trial { return samplePerf(ctx, dir, child, events, busy) })
}

func samplePerf(ctx context.Context, dir string, child *target, events []sampler.Event, busy bool) (t trial) {
	p, err := collect.StartPerf(ctx, collect.Options{Events: events, Frequency: collect.DefaultFrequency, PID: child.pid(), Dir: dir})
	if err != nil {
		return trial{err: err}
	}
	if busy {
		t.work(ctx, child)
	}
	t.err = p.Stop()
	t.event, t.notes = p.Events()[0].Spec, p.Notes()
	if busy && t.err == nil {
		t.samples, t.err = countSamples(bufio.NewReader(textOf(ctx, p)))
	}
	return t
}

// textOf gives the samples' text of a recording.
func textOf(ctx context.Context, p *collect.Perf) io.Reader {
	r, w := io.Pipe()
	go func() { w.CloseWithError(p.WriteText(ctx, w)) }()
	return r
}

// countSamples counts the samples of a recording's text.
func countSamples(text io.Reader) (n int, err error) {
	reader := sampler.NewPerfReader(text, "the samples")
	for reader.Scan() {
		if _, ok := reader.Record().(*sampler.Sample); ok {
			n++
		}
	}
	return n, reader.Err()
}

// explain gives the cause and the mending command of a sampler's error.
func explain(err error) (cause, mend string) {
	var missing *collect.MissingToolError
	var refused *collect.RefusedError
	var stopped *collect.StoppedError
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
