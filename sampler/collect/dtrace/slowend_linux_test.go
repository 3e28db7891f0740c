package dtrace

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
)

// waitLonger increases the time that DTrace may take to end. DTrace gets little CPU time if other processes use all
// CPUs, and even less if the machine is busy with other work.
func waitLonger(t *testing.T) {
	t.Helper()
	usual := endTimeout
	endTimeout = time.Minute
	t.Cleanup(func() { endTimeout = usual })
}

// TestStopped checks that a DTrace that was stopped by SIGSTOP is woken up to end, and loses no samples.
func TestStopped(t *testing.T) {
	gasmtest.NeedDTrace(t)
	x := collecttest.Hold(t, collecttest.Busy)
	d := starts(t, Options{Frequency: 1201})
	x.Release(t)
	time.Sleep(time.Second)
	x.Works(t)
	if err := syscall.Kill(-d.process.Cmd.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	if n := len(readSamples(t, d.TextFile(), false)[x.PID()]); n < 100 {
		t.Errorf("%d samples", n)
	}
	d.Wait()
	noneLeft(t, 1201)
}

// TestDoesNotEnd checks that if DTrace does not end, the user is told so, and then DTrace is killed.
func TestDoesNotEnd(t *testing.T) {
	oldSlow, oldEnd := slowEnd, endTimeout
	slowEnd, endTimeout = 100*time.Millisecond, 1500*time.Millisecond
	t.Cleanup(func() { slowEnd, endTimeout = oldSlow, oldEnd })
	collecttest.FakeTool(t, "dtrace",
		`trap '' TERM; echo '  0      1                           :BEGIN gasm: begin 17'; while :; do sleep 0.05; done`)
	var said []string
	d := starts(t, Options{Frequency: 1213, Slow: func(text string) { said = append(said, text) }})
	stopsWith(t, d, "dtrace: stopped too early: it was killed because SIGTERM did not end it within 1.5s")
	if want :=
		"[dtrace has not ended yet, 100ms after it was asked to; when it has printed no sample for 1.5s it is killed]"; fmt.Sprint(said) != want {
		t.Errorf("said %s, want %s", said, want)
	}
	d.Wait()
	noneLeft(t, 1213)
}
