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
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// TestPerfStopped checks that a perf that was stopped by SIGSTOP is woken up to end, and loses no samples.
func TestPerfStopped(t *testing.T) {
	gasmtest.NeedPerf(t)
	x := collecttest.Hold(t, collecttest.Busy)
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock")})
	x.Release(t)
	x.Works(t)
	if err := p.process.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > slowEnd {
		t.Errorf("took %v", took)
	}
	if n := byPID(recorded(t, p)); n[x.PID()] < 10 {
		t.Errorf("samples by pid: %v", n)
	}
}

// endSoon shortens the time after which a sampler that does not end is killed.
func endSoon(t *testing.T) {
	slow, last := slowEnd, lastEnd
	slowEnd, lastEnd = 100*time.Millisecond, 500*time.Millisecond
	t.Cleanup(func() { slowEnd, lastEnd = slow, last })
}

// TestPerfDoesNotEnd checks that if perf does not end, the user is told so, perf is killed, and its samples count
// nevertheless. The fake perf is a shell that does not end. Its child is the real perf, which does not get the
// signal.
func TestPerfDoesNotEnd(t *testing.T) {
	gasmtest.NeedPerf(t)
	endSoon(t)
	tool := collecttest.ToolPath(t, "perf")
	collecttest.FakeTool(t, "perf", `[ "$1" = record ] || exec '`+tool+`' "$@"
		trap '' INT
		'`+tool+`' "$@" &
		while :; do wait; sleep 0.1; done`)
	x := collecttest.Hold(t, collecttest.Busy)
	var said []string
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 20000,
		Slow: func(text string) { said = append(said, text) }})
	x.Release(t)
	collecttest.Eventually(t, "perf writes", func() bool {
		info, err := os.Stat(p.DataFile())
		return err == nil && info.Size() > 100<<10
	})
	err := p.Stop()
	var stopped *failure.StoppedError
	if want := "perf: stopped too early: it was killed because SIGINT did not end it within 500ms"; !errors.As(err,
		&stopped) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if want :=
		"[perf has not ended yet, 100ms after it was asked to; after 500ms it is killed, and the samples until then are kept]"; fmt.Sprint(said) != want {
		t.Errorf("said %s, want %s", said, want)
	}
	var text bytes.Buffer
	if err := p.WriteText(t.Context(), &text); err != nil || strings.Count(text.String(), "\n") < 1000 {
		t.Errorf("%d lines, %v", strings.Count(text.String(), "\n"), err)
	}
	x.Alive(t)
	noneLeft(t, filepath.Dir(p.DataFile()))
}
