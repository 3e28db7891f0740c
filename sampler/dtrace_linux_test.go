package sampler

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func needDTrace(t *testing.T) {
	t.Helper()
	if err := dtraceWorks(); err != nil {
		t.Skipf("dtrace can't sample here: %v", err)
	}
}

// What is tested is what we make of DTrace, not whether this host has it.
var dtraceWorks = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "dtrace", "-n", "BEGIN { exit(0); } profile-997 /arg1/ { trace(pid); }").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

func startDTrace(t *testing.T, opts DTraceOptions) *DTrace {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	d, err := StartDTrace(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Stop()
		d.process.kill()
		d.Wait()
	})
	return d
}

// readSamples gives the samples of the text, by process, and checks that there
// is nothing else in it but, where cut is allowed, a bad last line.
func readSamples(t *testing.T, path string, cut bool) map[int][]Sample {
	t.Helper()
	byPID := make(map[int][]Sample)
	var bad []SyntaxError
	for _, record := range readDTrace(t, string(readText(t, path))) {
		switch rec := record.(type) {
		case Sample:
			byPID[rec.PID] = append(byPID[rec.PID], rec)
			if len(bad) > 0 {
				t.Errorf("more after a bad line: %v", &bad[0])
			}
		case SyntaxError:
			bad = append(bad, rec)
		}
	}
	if len(bad) > 1 || len(bad) == 1 && !cut {
		t.Errorf("bad lines: %v", bad)
	}
	return byPID
}

// noDTraceLeft checks that no process is left that has to do with a DTrace of the
// frequency. Each test has a frequency of its own.
func noDTraceLeft(t *testing.T, frequency int) {
	t.Helper()
	left := func() (found []string) {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range lines {
			line, err := os.ReadFile(path)
			if err == nil && bytes.Contains(line, []byte(" profile-"+strconv.Itoa(frequency)+" /")) {
				found = append(found, fmt.Sprintf("%s: %.60q", path, line))
			}
		}
		return found
	}
	for deadline := time.Now().Add(15 * time.Second); len(left()) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("left behind: %q", left())
			return
		}
	}
}

// cpuTime is what the process has used up, to a hundredth of a second.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name before it may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		t.Fatalf("%s: %v %v", stat, err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// foreignTime is what interrupts and the hypervisor took from all processes: it
// is no process's CPU time, but a sample may fall into it.
func foreignTime(t *testing.T) time.Duration {
	t.Helper()
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	var sum time.Duration
	for _, field := range strings.Fields(string(stat))[6:9] { // irq, softirq, steal
		ticks, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}

func TestDTraceLive(t *testing.T) {
	needDTrace(t)
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	// A text that is there is replaced.
	if err := os.WriteFile(filepath.Join(dir, DTraceFile), bytes.Repeat([]byte("old\n"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	const frequency = 1003
	began := time.Now()
	d := startDTrace(t, DTraceOptions{Frequency: frequency, Dir: dir})
	t.Logf("start took %v", time.Since(began))
	if d.Event() != "profile-1003" || d.TextFile() != filepath.Join(dir, DTraceFile) || len(d.Notes()) > 0 {
		t.Errorf("event %s, text %s, notes %q", d.Event(), d.TextFile(), d.Notes())
	}
	x, system := hold(t, busy), hold(t, "exec dd if=/dev/zero of=/dev/null bs=1M")
	own := d.process.cmd.Process.Pid
	ownCPU, begin, foreign := cpuTime(t, own), monotonic(), foreignTime(t)
	x.release(t)
	system.release(t)
	time.Sleep(3 * time.Second)
	ownCPU = cpuTime(t, own) - ownCPU
	used, usedSystem := cpuTime(t, x.pid()), cpuTime(t, system.pid())
	foreign = foreignTime(t) - foreign
	asked := monotonic()
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	took := time.Duration(monotonic() - asked)
	t.Logf("Stop took %v", took)
	if took > 10*time.Second {
		t.Errorf("Stop took %v", took)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	length := time.Duration(asked - begin)
	t.Logf("dtrace's CPU time: %v in %v", ownCPU, length)
	if ownCPU > length*3/10 {
		t.Errorf("dtrace itself took %v in %v", ownCPU, length)
	}

	byPID := readSamples(t, d.TextFile(), false)
	check := func(name string, pid int, used time.Duration) {
		t.Helper()
		got, want := float64(len(byPID[pid])), used.Seconds()*frequency
		t.Logf("%s: %.0f samples in %v of CPU time, %v for nobody", name, got, used, foreign)
		if got < 0.85*want-50 || got > 1.15*want+50+foreign.Seconds()*frequency {
			t.Errorf("%s: %.0f samples, want %.0f", name, got, want)
		}
	}
	check("busy", x.pid(), used)
	check("dd", system.pid(), usedSystem)
	if n := len(byPID[own]); n > 0 {
		t.Errorf("%d samples of dtrace", n)
	}
	kernel := 0
	for _, s := range byPID[system.pid()] {
		if s.Kernel() {
			kernel++
		}
	}
	if kernel < len(byPID[system.pid()])/2 {
		t.Errorf("%d of %d samples of dd in the kernel", kernel, len(byPID[system.pid()]))
	}
	user := 0
	for _, s := range byPID[x.pid()] {
		if !s.Kernel() {
			user++
		}
	}
	if user < len(byPID[x.pid()])/4 {
		t.Errorf("%d of %d samples of a loop in user space", user, len(byPID[x.pid()]))
	}

	// The clock is ours, and nothing between release and Stop is missing.
	times := make([]int64, 0, len(byPID[x.pid()]))
	for _, s := range byPID[x.pid()] {
		if s.MonoNanos >= begin { // the shell's own start is before
			times = append(times, s.MonoNanos)
		}
	}
	slices.Sort(times)
	first, last := times[0], times[len(times)-1]
	t.Logf("samples from %v after the release to %v before Stop", time.Duration(first-begin), time.Duration(asked-last))
	if first > begin+int64(500*time.Millisecond) || last > asked+int64(took) || last < asked-int64(500*time.Millisecond) {
		t.Errorf("samples from %d to %d, released at %d, stopped at %d", first, last, begin, asked)
	}
	if d.Lost() != 0 {
		t.Errorf("%d samples lost", d.Lost())
	}

	for _, held := range []*target{x, system} { // DTrace's end needs the CPUs
		syscall.Kill(-held.pid(), syscall.SIGKILL)
	}
	d.Wait()
	t.Logf("DTrace ended %v after Stop began", time.Duration(monotonic()-asked))
	noDTraceLeft(t, frequency)
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before+1 })
	// Nothing came after Stop.
	if again := readSamples(t, d.TextFile(), false); len(again[x.pid()]) != len(byPID[x.pid()]) {
		t.Errorf("%d samples when Stop returned, %d in the end", len(byPID[x.pid()]), len(again[x.pid()]))
	}
}

// More processes than CPUs: DTrace must neither fall behind nor take their time.
func TestDTraceLoaded(t *testing.T) {
	needDTrace(t)
	d := startDTrace(t, DTraceOptions{Frequency: 1997})
	x := hold(t, strings.Repeat(`(`+busy+`) & `, 3*runtime.NumCPU())+"wait")
	own := d.process.cmd.Process.Pid
	x.release(t)
	begin, cpu := time.Now(), cpuTime(t, own)
	time.Sleep(3 * time.Second)
	length := time.Since(begin)
	cpu = cpuTime(t, own) - cpu
	asked := monotonic()
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	took := time.Duration(monotonic() - asked)
	syscall.Kill(-x.pid(), syscall.SIGKILL)
	n, last := 0, int64(0)
	for _, samples := range readSamples(t, d.TextFile(), false) {
		for _, s := range samples {
			n++
			last = max(last, s.MonoNanos)
		}
	}
	t.Logf("%d samples in %v, %v of CPU time, Stop took %v, the last sample %v before it, %d lost",
		n, length, cpu, took, time.Duration(asked-last), d.Lost())
	want := length.Seconds() * 1997 * float64(runtime.NumCPU())
	if float64(n) < 0.8*want || last < asked-int64(500*time.Millisecond) || d.Lost() > 0 {
		t.Errorf("%d samples, want %.0f; the last %v before Stop; %d lost", n, want, time.Duration(asked-last), d.Lost())
	}
	if cpu > length*3/10 {
		t.Errorf("dtrace itself took %v in %v", cpu, length)
	}
}
