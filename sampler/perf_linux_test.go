package sampler

import (
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
	"testing"
	"time"
	"unsafe"
)

// busy is a shell loop that ends when the test kills it.
const busy = `while :; do :; done`

func needPerf(t *testing.T) {
	t.Helper()
	if err := perfWorks(); err != nil {
		t.Skipf("perf can't sample here: %v", err)
	}
}

// What is tested is what we make of perf, not whether this host allows it.
var perfWorks = sync.OnceValue(func() error {
	out, err := exec.Command("perf", "record", "-e", "cpu-clock:u", "-o", "/dev/null", "true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only for root")
	}
}

// A target is a shell that is held until release.
type target struct {
	cmd  *exec.Cmd
	gate io.WriteCloser
}

func hold(t *testing.T, script string) *target {
	t.Helper()
	return holdAs(t, script, nil)
}

func holdAs(t *testing.T, script string, user *syscall.Credential) *target {
	t.Helper()
	cmd := exec.Command("sh", "-c", "read -r go; "+script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: user}
	gate, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	return &target{cmd: cmd, gate: gate}
}

func (x *target) pid() int { return x.cmd.Process.Pid }

func (x *target) release(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(x.gate, "go\n"); err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, opts Options) *Perf {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	if opts.Frequency == 0 {
		opts.Frequency = 999
	}
	p, err := StartPerf(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p
}

// samples returns how many samples each process has.
func samples(t *testing.T, p *Perf) map[int]int {
	t.Helper()
	var text bytes.Buffer
	if err := p.WriteText(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	n := make(map[int]int)
	for _, record := range readPerf(t, text.String()) {
		switch rec := record.(type) {
		case Sample:
			n[rec.PID]++
			if rec.MonoNanos <= 0 {
				t.Fatalf("a sample without a time: %+v", rec)
			}
		case SyntaxError:
			t.Fatal(&rec)
		}
	}
	return n
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

// noneLeft checks that no perf of ours is left behind, as a process or a zombie.
func noneLeft(t *testing.T, dir string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		if line, err := os.ReadFile(stat); err == nil && bytes.Contains(line, []byte(filepath.Join(dir, "perf.data"))) {
			t.Errorf("left behind: %q", line)
		}
	}
}

func TestPerfLive(t *testing.T) {
	needPerf(t)
	before := runtime.NumGoroutine()
	// A child is sampled that outlives its parent.
	x := hold(t, `(`+busy+`) & sleep 0.3; exec sh -c '`+busy+`'`)
	dir := t.TempDir()
	// A recording that is there is replaced.
	if err := os.WriteFile(filepath.Join(dir, "perf.data"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p := start(t, Options{PID: x.pid(), Events: []string{"cpu-clock"}, Dir: dir})
	t.Logf("start took %v", time.Since(began))
	if p.Event() != "cpu-clock" || p.DataFile() != filepath.Join(dir, "perf.data") {
		t.Errorf("event %s, data %s", p.Event(), p.DataFile())
	}
	released := monotonic()
	x.release(t)
	time.Sleep(time.Second)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	n := samples(t, p)
	busiest := 0
	for pid, count := range n {
		if pid != x.pid() {
			busiest = max(busiest, count)
		}
	}
	if n[x.pid()] < 10 || busiest < 10 {
		t.Errorf("samples by pid of the target %d and its child: %v", x.pid(), n)
	}
	noneLeft(t, dir)
	// One more is that of the target's context.
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before+1 })

	// Nothing after the release is missed, and the clock is ours.
	var text bytes.Buffer
	if err := p.WriteText(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	first := readPerf(t, text.String())[0].(Sample)
	if late := time.Duration(first.MonoNanos - released); late < 0 || late > 100*time.Millisecond {
		t.Errorf("the first sample is %v after the release", late)
	}
}

// The best event there is: what it is depends on the machine, but the user
// learns it.
func TestPerfBestEvent(t *testing.T) {
	needPerf(t)
	x := hold(t, busy)
	p := start(t, Options{PID: x.pid()})
	x.release(t)
	time.Sleep(200 * time.Millisecond)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := p.WriteText(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	sampled := readPerf(t, text.String())[0].(Sample).Event
	if asked := parseEvent(p.Event()).name; asked != sampled {
		t.Errorf("told of %s, sampled %s", asked, sampled)
	}
	if _, noted := lineWith(strings.Join(p.Notes(), "\n"), "no hardware cycles counter"); noted != (sampled == "cpu-clock") {
		t.Errorf("sampled %s, notes %q", sampled, p.Notes())
	}
}

func TestPerfEvents(t *testing.T) {
	needPerf(t)
	check := func(want string, events ...string) {
		t.Helper()
		p := start(t, Options{PID: hold(t, busy).pid(), Events: events})
		if p.Event() != want {
			t.Errorf("%v: got %s, want %s", events, p.Event(), want)
		}
		if len(p.Notes()) > 0 {
			t.Errorf("%v: notes %q", events, p.Notes())
		}
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}
	check("cpu-clock:u", "cpu-clock:u")
	check("cpu-clock:u,page-faults:u", "cpu-clock:u", "page-faults:u")
}

func TestPerfTargetEnds(t *testing.T) {
	needPerf(t)
	x := hold(t, busy)
	p := start(t, Options{PID: x.pid(), Events: []string{"cpu-clock"}})
	x.release(t)
	time.Sleep(300 * time.Millisecond)
	if err := x.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	x.cmd.Wait()
	eventually(t, "perf ends with what it samples", p.process.ended)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if n := samples(t, p); n[x.pid()] < 10 {
		t.Errorf("samples by pid: %v", n)
	}
}

func TestPerfKilled(t *testing.T) {
	needPerf(t)
	x := hold(t, busy)
	p := start(t, Options{PID: x.pid(), Events: []string{"cpu-clock"}, Frequency: 20000})
	x.release(t)
	// Until then all samples are in the ring buffer.
	eventually(t, "perf writes", func() bool {
		info, err := os.Stat(p.DataFile())
		return err == nil && info.Size() > 100<<10
	})
	if err := p.process.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.process.done
	err := p.Stop()
	var stopped *StoppedError
	if !errors.As(err, &stopped) || err.Error() != "perf: stopped too early: signal: killed" {
		t.Errorf("got %v", err)
	}
	if n := samples(t, p); n[x.pid()] < 1000 {
		t.Errorf("samples by pid: %v", n)
	}
	if x.cmd.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("the target has ended with perf")
	}
}

func TestPerfKilledEarly(t *testing.T) {
	needPerf(t)
	x := hold(t, busy)
	p := start(t, Options{PID: x.pid(), Events: []string{"cpu-clock"}})
	if err := os.Truncate(p.DataFile(), 50); err != nil {
		t.Fatal(err)
	}
	if err := p.process.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.process.done
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "no header") {
		t.Errorf("Stop: %v", err)
	}
	if err := p.WriteText(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "perf.data") {
		t.Errorf("WriteText: %v", err)
	}
}

func TestPerfDiskFull(t *testing.T) {
	needPerf(t)
	needRoot(t)
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", dir).Run(); err != nil {
		t.Skipf("can't mount a small file system: %v", err)
	}
	defer exec.Command("umount", dir).Run()
	x := hold(t, busy)
	p := start(t, Options{PID: x.pid(), Events: []string{"cpu-clock"}, Frequency: 20000, Dir: dir})
	x.release(t)
	eventually(t, "perf ends on a full disk", p.process.ended)
	err := p.Stop()
	if err == nil || !strings.Contains(err.Error(), "No space left on device; make room in "+dir) {
		t.Errorf("got %v", err)
	}
	if n := samples(t, p); n[x.pid()] < 100 {
		t.Errorf("samples by pid: %v", n)
	}
	// The text goes to the same disk.
	f, err := os.Create(filepath.Join(dir, "samples.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.WriteText(t.Context(), f); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("WriteText: %v", err)
	}
}

func TestPerfCancel(t *testing.T) {
	needPerf(t)
	x := hold(t, busy)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := StartPerf(ctx, Options{PID: x.pid(), Events: []string{"cpu-clock"}, Frequency: 999, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-p.process.done
	if err := p.Stop(); err == nil {
		t.Error("Stop tells nothing of a perf that was cancelled")
	}
	noneLeft(t, dir)

	if _, err := StartPerf(ctx, Options{PID: x.pid(), Events: []string{"cpu-clock"}, Frequency: 999, Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := p.WriteText(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("WriteText: %v", err)
	}
	noneLeft(t, dir)
}

func TestPerfFrequencyLimit(t *testing.T) {
	needPerf(t)
	limit, ok := sysctlInt("kernel/perf_event_max_sample_rate")
	if !ok {
		t.Skip("no perf_event_max_sample_rate")
	}
	p := start(t, Options{PID: hold(t, busy).pid(), Events: []string{"cpu-clock:u"}, Frequency: 10 * limit})
	want := "sudo sysctl kernel.perf_event_max_sample_rate=" + strconv.Itoa(10*limit)
	if notes := p.Notes(); len(notes) != 1 || !strings.Contains(notes[0], want) {
		t.Errorf("notes %q, want one with %s", notes, want)
	}
}

// monotonic returns CLOCK_MONOTONIC in nanoseconds.
func monotonic() int64 {
	var now syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		panic(errno)
	}
	return now.Nano()
}
