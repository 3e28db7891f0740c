package collect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// start starts perf, and stops it at the end of the test.
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

// recorded returns the samples of a recording that has ended.
func recorded(t *testing.T, p *Perf) (samples []sampler.Sample) {
	t.Helper()
	var text bytes.Buffer
	if err := p.WriteText(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	for _, record := range readPerf(t, text.String()) {
		switch rec := record.(type) {
		case sampler.Sample:
			samples = append(samples, rec)
			if rec.MonoNanos <= 0 {
				t.Fatalf("a sample without a time: %+v", rec)
			}
		case sampler.SyntaxError:
			t.Fatal(&rec)
		}
	}
	return samples
}

// byPID returns how many samples each process has.
func byPID(samples []sampler.Sample) map[int]int {
	n := make(map[int]int)
	for _, s := range samples {
		n[s.PID]++
	}
	return n
}

// noneLeft checks that no perf is left that records into the folder dir.
func noneLeft(t *testing.T, dir string) {
	t.Helper()
	if left := collecttest.ProcessesWith(t, filepath.Join(dir, "perf.data")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestPerfLive(t *testing.T) {
	gasmtest.NeedPerf(t)
	late := gasmtest.Lateness(t)
	before := runtime.NumGoroutine()
	// The script's first process starts a child and becomes another program, as a launcher of a JVM
	// does. Both are sampled.
	x := collecttest.Hold(t, `(`+collecttest.Busy+`) & sleep 0.3; exec sh -c '`+collecttest.Busy+`'`)
	dir := t.TempDir()
	// An older recording is replaced.
	if err := os.WriteFile(filepath.Join(dir, "perf.data"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Dir: dir})
	t.Logf("start took %v", time.Since(began))
	if specsOf(p) != "cpu-clock" || p.DataFile() != filepath.Join(dir, "perf.data") {
		t.Errorf("events %s, data %s", specsOf(p), p.DataFile())
	}
	released := monotonic.Nanos()
	x.Release(t)
	time.Sleep(time.Second)
	began = time.Now()
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("Stop took %v", time.Since(began))
	if err := p.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	samples := recorded(t, p)
	n := byPID(samples)
	busiest := 0
	for pid, count := range n {
		if pid != x.PID() {
			busiest = max(busiest, count)
		}
	}
	// At 999 Hz, 10 samples need only 10 ms of CPU time within the second, even on a busy machine.
	if n[x.PID()] < 10 || busiest < 10 {
		t.Errorf("samples by pid of the target %d and its child: %v", x.PID(), n)
	}
	noneLeft(t, dir)
	// The target's context has one more goroutine.
	collecttest.Eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before+1 })

	// The samples' times are on this process's clock, and begin with the release. On an idle machine, the shell
	// starts to work within 1 ms after the release. On a busy one, the held process and the shell have to be woken up
	// first.
	if first := time.Duration(samples[0].MonoNanos - released); first < 0 || first > 100*time.Millisecond+2*late() {
		t.Errorf("the first sample is %v after the release", first)
	}
}

func TestPerfTargetEnds(t *testing.T) {
	gasmtest.NeedPerf(t)
	x := collecttest.Hold(t, collecttest.Busy)
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock")})
	x.Release(t)
	x.Works(t)
	if err := x.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	x.Cmd.Wait()
	collecttest.Eventually(t, "perf ends with what it samples", p.process.Ended)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if n := byPID(recorded(t, p)); n[x.PID()] < 10 {
		t.Errorf("samples by pid: %v", n)
	}
}

func TestPerfKilled(t *testing.T) {
	gasmtest.NeedPerf(t)
	x := collecttest.Hold(t, collecttest.Busy)
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 20000})
	x.Release(t)
	// perf writes the content of its ring buffer to the file when half of the buffer is full. If perf is killed, what
	// is in the buffer is lost.
	collecttest.Eventually(t, "perf writes", func() bool {
		info, err := os.Stat(p.DataFile())
		return err == nil && info.Size() > 100<<10
	})
	if err := p.process.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.process.Done
	err := p.Stop()
	var stopped *failure.StoppedError
	if !errors.As(err, &stopped) || err.Error() != "perf: stopped too early: signal: killed" {
		t.Errorf("got %v", err)
	}
	// A sample takes 40 bytes, so the 100 kB have room for more than 1000.
	if n := byPID(recorded(t, p)); n[x.PID()] < 1000 {
		t.Errorf("samples by pid: %v", n)
	}
	x.Alive(t)
}

func TestPerfKilledEarly(t *testing.T) {
	gasmtest.NeedPerf(t)
	x := collecttest.Hold(t, collecttest.Busy)
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock")})
	if err := os.Truncate(p.DataFile(), 50); err != nil {
		t.Fatal(err)
	}
	if err := p.process.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.process.Done
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "no header") {
		t.Errorf("Stop: %v", err)
	}
	if err := p.WriteText(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "perf.data") {
		t.Errorf("WriteText: %v", err)
	}
}

func TestPerfDiskFull(t *testing.T) {
	gasmtest.NeedPerf(t)
	dir := gasmtest.NeedSmallDisk(t, "256k")
	x := collecttest.Hold(t, collecttest.Busy)
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 20000, Dir: dir})
	x.Release(t)
	collecttest.Eventually(t, "perf ends on a full disk", p.process.Ended)
	err := p.Stop()
	if err == nil || !strings.Contains(err.Error(), "No space left on device; make room in "+dir) {
		t.Errorf("got %v", err)
	}
	if n := byPID(recorded(t, p)); n[x.PID()] < 100 {
		t.Errorf("samples by pid: %v", n)
	}
	// The text is written to the same full disk.
	f, err := os.Create(filepath.Join(dir, "samples.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.WriteText(t.Context(), f); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("WriteText: %v", err)
	}
}

// TestPerfNoRoom checks that gasm reports a full disk if there is no room for the first page of perf's data. perf
// then ends without a message.
func TestPerfNoRoom(t *testing.T) {
	gasmtest.NeedPerf(t)
	dir := gasmtest.NeedSmallDisk(t, "4k")
	if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := StartPerf(t.Context(), Options{PID: collecttest.Hold(t, collecttest.Busy).PID(),
		Events: eventsOf("cpu-clock"), Frequency: 999, Dir: dir})
	if want := "perf: its data can't be written: no space left on device; make room in " + dir; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	noneLeft(t, dir)
}

func TestPerfCancel(t *testing.T) {
	gasmtest.NeedPerf(t)
	x := collecttest.Hold(t, collecttest.Busy)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := StartPerf(ctx, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 999, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-p.process.Done
	if err := p.Stop(); err == nil {
		t.Error("Stop returns no error for a perf that was cancelled")
	}
	noneLeft(t, dir)

	if _, err := StartPerf(ctx, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 999,
		Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := p.WriteText(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("WriteText: %v", err)
	}
	noneLeft(t, dir)
}

func TestPerfFrequencyLimit(t *testing.T) {
	gasmtest.NeedPerf(t)
	limit, ok := machine.Sysctl("kernel/perf_event_max_sample_rate")
	if !ok {
		t.Fatal("perf works, and the kernel has no perf_event_max_sample_rate")
	}
	p := start(t, Options{PID: collecttest.Hold(t, collecttest.Busy).PID(), Events: eventsOf("cpu-clock:u"),
		Frequency: 10 * limit})
	want := RaiseLimit(10 * limit)
	if notes := p.Notes(); len(notes) != 1 || !strings.Contains(notes[0].String(), want) {
		t.Errorf("notes %q, want one with %s", notes, want)
	}
	if p.Frequency() != limit {
		t.Errorf("sampled at %d Hz, want %d", p.Frequency(), limit)
	}
}
