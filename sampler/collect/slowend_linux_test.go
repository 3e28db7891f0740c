package collect

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestPerfStopped checks that a stopped sampler is woken up to end, and loses nothing that it has.
func TestPerfStopped(t *testing.T) {
	gasmtest.NeedPerf(t)
	x := hold(t, busy)
	p := start(t, Options{PID: x.pid(), Events: eventsOf("cpu-clock")})
	x.release(t)
	x.works(t)
	if err := p.process.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > slowEnd {
		t.Errorf("took %v", took)
	}
	if n := byPID(recorded(t, p)); n[x.pid()] < 10 {
		t.Errorf("samples by pid: %v", n)
	}
}

func TestDTraceStopped(t *testing.T) {
	gasmtest.NeedDTrace(t)
	x := hold(t, busy)
	d := startDTrace(t, DTraceOptions{Frequency: 1201})
	x.release(t)
	time.Sleep(time.Second)
	x.works(t)
	if err := syscall.Kill(-d.process.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	if n := len(readSamples(t, d.TextFile(), false)[x.pid()]); n < 100 {
		t.Errorf("%d samples", n)
	}
	d.Wait()
	noDTraceLeft(t, 1201)
}

// endSoon shortens the time that a sampler has to end.
func endSoon(t *testing.T) {
	slow, last := slowEnd, lastEnd
	slowEnd, lastEnd = 100*time.Millisecond, 500*time.Millisecond
	t.Cleanup(func() { slowEnd, lastEnd = slow, last })
}

// TestPerfDoesNotEnd checks that a perf that does not end is reported, then killed, and that its
// samples count. The fake perf is a shell that does not end, and whose child, the real perf, does not
// get the signal.
func TestPerfDoesNotEnd(t *testing.T) {
	gasmtest.NeedPerf(t)
	endSoon(t)
	tool := toolPath(t, "perf")
	fakeTool(t, "perf", `[ "$1" = record ] || exec '`+tool+`' "$@"
		trap '' INT
		'`+tool+`' "$@" &
		while :; do wait; sleep 0.1; done`)
	x := hold(t, busy)
	var said []string
	p := start(t, Options{PID: x.pid(), Events: eventsOf("cpu-clock"), Frequency: 20000, Slow: func(text string) { said = append(said, text) }})
	x.release(t)
	eventually(t, "perf writes", func() bool {
		info, err := os.Stat(p.DataFile())
		return err == nil && info.Size() > 100<<10
	})
	err := p.Stop()
	var stopped *StoppedError
	if want := "perf: stopped too early: it was killed because SIGINT did not end it within 500ms"; !errors.As(err, &stopped) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if want := "[perf has not ended yet, 100ms after it was asked to; after 500ms it is killed, and the samples until then are kept]"; fmt.Sprint(said) != want {
		t.Errorf("said %s, want %s", said, want)
	}
	var text bytes.Buffer
	if err := p.WriteText(t.Context(), &text); err != nil || strings.Count(text.String(), "\n") < 1000 {
		t.Errorf("%d lines, %v", strings.Count(text.String(), "\n"), err)
	}
	x.alive(t)
	noneLeft(t, filepath.Dir(p.DataFile()))
}

func TestDTraceDoesNotEnd(t *testing.T) {
	endSoon(t)
	old := endTimeout
	endTimeout = 1500 * time.Millisecond
	t.Cleanup(func() { endTimeout = old })
	fakeTool(t, "dtrace", `trap '' TERM; echo '  0      1                           :BEGIN gasm: begin 17'; while :; do sleep 0.05; done`)
	var said []string
	d := startDTrace(t, DTraceOptions{Frequency: 1213, Slow: func(text string) { said = append(said, text) }})
	stopsWith(t, d, "dtrace: stopped too early: it was killed because SIGTERM did not end it within 1.5s")
	if want := "[dtrace has not ended yet, 100ms after it was asked to; when it has printed no sample for 1.5s it is killed]"; fmt.Sprint(said) != want {
		t.Errorf("said %s, want %s", said, want)
	}
	d.Wait()
	noDTraceLeft(t, 1213)
}
