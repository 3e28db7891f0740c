package doctor

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// checkNative tries gasm's own sampler, first as `gasm profile` uses it by default, and then with each of triedEvents.
func checkNative(ctx context.Context, dir string) samplerResult {
	best, trials := tryEach(func(events []sampler.Event, busy bool) trial { return tryNative(ctx, dir, events, busy) })
	sampling, result := best.check("native")
	result.checks = append([]Finding{sampling}, result.checks...)
	if best.err == nil {
		if rate := collect.ChooseRate(nil, false); rate.Cost > 0 {
			result.checks = append(result.checks, checkRate("native", rate))
		}
	}
	k := thisKernel()
	result.checks = append(result.checks, checkEvents("native", trials, k.virtual))
	result.checks = append(result.checks, checkKernelSettings(k, best.err == nil, best.notes)...)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		result.checks = append(result.checks, checkOpenFiles(limit.Max, runtime.NumCPU()))
	}
	if best.err == nil {
		result.checks = append(result.checks, checkBuffers(best.buffers, runtime.NumCPU(), memoryLimit()))
	}
	return result
}

// tryNative starts gasm's own sampler and stops it again. If events is empty, it samples the best available event. If
// busy is true, the target works for a moment, and its samples are counted.
func tryNative(ctx context.Context, dir string, events []sampler.Event, busy bool) trial {
	return onTarget(dir, func(dir string, child *target) trial { return sampleNative(ctx, dir, child, events, busy) })
}

func sampleNative(ctx context.Context, dir string, child *target, events []sampler.Event, busy bool) (t trial) {
	n, err := collect.StartNative(collect.Options{Events: events, Frequency: collect.DefaultFrequency, PID: child.pid(),
		Dir: dir})
	if err != nil {
		return trial{err: err}
	}
	if busy {
		t.work(ctx, child)
	}
	t.err = n.Stop(ctx)
	t.event, t.notes, t.buffers = n.Events()[0].Spec, n.Notes(), n.Buffers()
	if !busy || t.err != nil {
		return t
	}
	f, err := os.Open(n.TextFile())
	if err != nil {
		t.err = err
		return t
	}
	defer f.Close()
	t.samples, t.err = countSamples(bufio.NewReader(f))
	return t
}

// checkOpenFiles judges the limit of open files. To sample a command, gasm opens a file for each event and CPU. To
// sample a running process, it opens a file for each event, CPU and thread.
func checkOpenFiles(limit uint64, cpus int) Finding {
	c := Finding{"native", "open files", OK, "", ""}
	const usual = 100 // gasm has about this many other files open
	threads := (int64(min(limit, 1<<40)) - usual) / int64(cpus)
	c.Text =
		fmt.Sprintf("%d allowed: enough for a command, which takes %d for each event, and for a running process with %d threads", limit, cpus, max(threads, 0))
	switch {
	case threads < 1:
		c.Status, c.Fix = Problem, fmt.Sprintf("ulimit -Hn %d (as root, or in /etc/security/limits.conf)", 65536)
		c.Text = fmt.Sprintf("%d allowed: too few for %d CPUs, because each CPU takes one for each event", limit, cpus)
	case threads < 500:
		c.Status, c.Fix = Note, "ulimit -Hn 1048576 (as root, or in /etc/security/limits.conf)"
	}
	return c
}

// bestBuffers is the size of the kernel's buffer for one CPU, in bytes, if no limit makes it smaller.
const bestBuffers = 512 << 10

// checkBuffers judges the size of the kernel's buffers. buffers is their total size for all CPUs, in bytes. limit is
// the memory limit of this container or cgroup in bytes, or 0 if there is none.
func checkBuffers(buffers, cpus int, limit int64) Finding {
	c := Finding{"native", "buffers", OK, fmt.Sprintf("%d KiB for %d CPUs", buffers>>10, cpus), ""}
	if limit > 0 {
		c.Text += fmt.Sprintf(", in a cgroup of %d MiB", limit>>20)
	}
	switch {
	case buffers < cpus*bestBuffers:
		c.Status, c.Fix = Note, "sudo sysctl kernel.perf_event_mlock_kb=516"
		c.Text += ": smaller than usual, because this user may lock no more memory; samples may be lost on a busy machine"
	case limit > 0 && int64(buffers) > limit/4:
		c.Status, c.Fix = Note, "raise the memory limit of the container"
		c.Text += ", of which they take more than a quarter"
	}
	return c
}

// memoryLimit returns the memory limit of this process's cgroup in bytes, or 0 if there is none.
func memoryLimit() int64 {
	for line := range strings.Lines(readTrimmed("/proc/self/cgroup")) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		if limit, err := strconv.ParseInt(readTrimmed(filepath.Join("/sys/fs/cgroup", group, "memory.max")), 10,
			64); err == nil {
			return limit
		}
	}
	// In a container, this file has the limit of the container.
	limit, err := strconv.ParseInt(readTrimmed("/sys/fs/cgroup/memory.max"), 10, 64)
	if err != nil {
		return 0
	}
	return limit
}
