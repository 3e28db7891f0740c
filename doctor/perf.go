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

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// checkPerf tries perf, first as `gasm profile` uses it by default, and then with each of triedEvents.
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
	var missing *failure.MissingToolError
	if errors.As(best.err, &missing) {
		result.checks[0].Status = Problem // Ubuntu's script /usr/bin/perf exists, but not the perf for this kernel
	} else {
		result.checks = append(result.checks, checkEvents("perf", trials, thisKernel().virtual))
	}
	return result
}

// noPerf returns the result for a machine without perf on PATH. It calls StartPerf, because the error of StartPerf says
// how to install perf.
func noPerf(ctx context.Context, dir string) samplerResult {
	_, err := collect.StartPerf(ctx, collect.Options{PID: os.Getpid(), Frequency: collect.DefaultFrequency, Dir: dir})
	cause, todo := explain(err)
	return samplerResult{
		cause: "perf: " + cause, fix: todo,
		checks: []Finding{{"perf", "found", Problem, cause, todo}},
	}
}

// tryPerf starts perf and stops it again. If events is empty, perf samples the best available event. If busy is true,
// the target works for a moment, and its samples are counted. On some virtual machines, a counter can be opened but
// never takes a sample.
func tryPerf(ctx context.Context, dir string, events []sampler.Event, busy bool) trial {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	return onTarget(dir, func(dir string, child *target) trial { return samplePerf(ctx, dir, child, events, busy) })
}

func samplePerf(ctx context.Context, dir string, child *target, events []sampler.Event, busy bool) (t trial) {
	p, err := collect.StartPerf(ctx, collect.Options{Events: events, Frequency: collect.DefaultFrequency, PID: child.pid(),
		Dir: dir})
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

// textOf returns a reader of a recording's samples, as text in the format of perf script.
func textOf(ctx context.Context, p *collect.Perf) io.Reader {
	r, w := io.Pipe()
	go func() { w.CloseWithError(p.WriteText(ctx, w)) }()
	return r
}

// countSamples returns the number of samples in a recording's text.
func countSamples(text io.Reader) (n int, err error) {
	reader := sampler.NewPerfReader(text, "the samples")
	for reader.Scan() {
		if _, ok := reader.Record().(*sampler.Sample); ok {
			n++
		}
	}
	return n, reader.Err()
}

// explain returns the cause of a sampler's error, in one line, and what the user can do about it.
func explain(err error) (cause, todo string) {
	cause, todo = fix.Parts(err)
	return firstLine(cause), todo
}

// perfVersion returns "6.1.187" for "perf version 6.1.187", and "" for any other text.
func perfVersion(text string) string {
	_, version, _ := strings.Cut(firstLine(text), "perf version ")
	return version
}

// firstLine returns the first line that is not empty.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// verb returns the singular or the plural of a verb, depending on n.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
