package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestFiguresAgainstOwnLog compares pauses, safepoints and compilations from each source of events with HotSpot's own
// log of the same run. It compares the number of events, their durations, the times to safepoint, and the times at
// which code was made. What a source does not report must be unknown.
func TestFiguresAgainstOwnLog(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs11(t, "Figures")
	for _, jdk := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool {
		return withRecorder(j) &&
			(j.Feature == 17 || j.Feature == 25)
	}) {
		t.Run(jdk.Name(), func(t *testing.T) {
			own, compiled := filepath.Join(t.TempDir(), "own.log"), filepath.Join(t.TempDir(), "compiled.log")
			j := startFigures(t, jdk.Java(), "-XX:+UseSerialGC", "-Xmx64m", "-Xmn8m", "-XX:+UnlockDiagnosticVMOptions",
				"-XX:GuaranteedSafepointInterval=0",
				hslog.Flag([]event.Kind{event.GC, event.Safepoint}, own), "-Xlog:jit+compilation=debug:file="+compiled+":um", "-cp",
				classPath, "Figures")
			for _, source := range []string{"log", "jfr", "usdt"} {
				t.Run(source, func(t *testing.T) {
					if source == "usdt" {
						needUSDT(t)
					}
					checkFigures(t, j, source, own, compiled)
				})
			}
		})
	}
}

// A figuresJVM is a JVM that runs the program Figures.
type figuresJVM struct {
	*runningJVM
	in     io.Writer
	phases int // number of phases that have begun so far
}

func startFigures(t *testing.T, java string, args ...string) *figuresJVM {
	t.Helper()
	j := &figuresJVM{runningJVM: &runningJVM{cmd: exec.Command(java, args...), out: newLineWaiter("READY")}}
	j.cmd.Stdout, j.cmd.Stderr = j.out, &j.stderr
	var err error
	j.in, err = j.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, j.cmd.Start())
	t.Cleanup(func() {
		_ = j.cmd.Process.Kill()
		_ = j.cmd.Wait()
	})
	j.out.wait(t)
	return j
}

// phase runs a phase of the program, and returns when it began and ended.
func (j *figuresJVM) phase(t *testing.T) (from, to int64) {
	t.Helper()
	_, err := io.WriteString(j.in, "\n")
	require.NoError(t, err)
	said := regexp.MustCompile(fmt.Sprintf(`PHASE %d from (\d+) to (\d+)\n`, j.phases))
	j.phases++
	var m []string
	require.Eventually(t, func() bool {
		m = said.FindStringSubmatch(j.out.String())
		return m != nil
	}, hangs, 5*time.Millisecond)
	from, err = strconv.ParseInt(m[1], 10, 64)
	require.NoError(t, err)
	to, err = strconv.ParseInt(m[2], 10, 64)
	require.NoError(t, err)
	return from, to
}

// eventSums has the number of events of a kind, and their times in ms.
type eventSums struct {
	count          int
	millis, waited float64
	each           []eventTimes
}

// eventTimes has the duration of an event, and its time to safepoint, in ms.
type eventTimes struct{ millis, waited float64 }

// add adds an event that began in a phase.
func (f *eventSums) add(nanos, wait int64) {
	f.count++
	f.millis += float64(nanos) / 1e6
	f.waited += float64(wait) / 1e6
	f.each = append(f.each, eventTimes{float64(nanos) / 1e6, float64(wait) / 1e6})
}

// checkFigures compares the events that a source reports for a phase of the program with the program's own log.
func checkFigures(t *testing.T, j *figuresJVM, source, own, compiled string) {
	dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
	kinds := "gc,safepoint,compile"
	if source == "log" {
		kinds = "gc,safepoint"
	}
	cmd := exec.Command(binary, "attach", "--events", kinds, "--events-from", source, "-o", dir, "--frequency", "1001",
		"--format", "json", "--report", file, j.pid())
	said := newLineWaiter("sampling pid")
	cmd.Stderr = said
	require.NoError(t, cmd.Start())
	said.wait(t)
	waited := watchWaiting()
	from, to := j.phase(t)
	waiting := waited().Seconds() * 1000
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	_ = cmd.Wait() // it was interrupted
	p := &readReport(t, readFile(t, file)).Profiles[0]

	logged, listed := ownFigures(t, own, from, to), listedFigures(t, dir, from, to)
	for _, kind := range []string{"gc", "safepoint"} {
		got, want := listed[kind], logged[kind]
		t.Logf("%s: %d %s, %.2f ms, %.2f to come to them; log %d, %.2f, %.2f; threads waited for %.0f ms", source, got.count,
			kind, got.millis, got.waited,
			want.count, want.millis, want.waited, waiting)
		assert.Greater(t, want.count, 5)
		require.Equal(t, want.count, got.count, kind)
		// Each source reads the clock at slightly different moments, some µs apart, and Flight Recorder's pauses are
		// 0.1 ms shorter. Between these moments the thread may lose its CPU. That makes the sum of the durations
		// larger, but it happens to only a few events.
		slack := 0.1*float64(want.count) + waiting
		assert.InDelta(t, want.millis, got.millis, slack, kind)
		assert.Less(t, medianOff(got, want, func(x eventTimes) float64 { return x.millis }), 0.5, kind)
		if source == "usdt" {
			assert.Zero(t, got.waited, "USDT does not tell it")
		} else {
			assert.InDelta(t, want.waited, got.waited, slack, kind)
			assert.Less(t, medianOff(got, want, func(x eventTimes) float64 { return x.waited }), 0.1, kind)
		}
	}
	text := runGasm(t, []string{"report", "--skip-asm", dir}).stdout
	assert.Equal(t, source == "usdt", strings.Contains(text, "how long it took to reach them is unknown"), text)
	checkSums(t, p, dir)
	checkMade(t, p, compiled, waiting)
}

// medianOff returns the median of the differences between the times of the same events, in ms.
func medianOff(a, b eventSums, of func(eventTimes) float64) float64 {
	off := make([]float64, len(a.each))
	for i := range off {
		off[i] = math.Abs(of(a.each[i]) - of(b.each[i]))
	}
	slices.Sort(off)
	return off[len(off)/2]
}

// ownFigures returns the sums of the events in HotSpot's own log, by kind.
func ownFigures(t *testing.T, path string, from, to int64) map[string]eventSums {
	t.Helper()
	all := map[string]eventSums{}
	r := hslog.NewReader(bytes.NewReader(readFile(t, path)), path, 1)
	for r.Scan() {
		if e, ok := r.Record().(*event.Event); ok && from <= e.MonoNanos && e.MonoNanos < to {
			f := all[string(e.Kind)]
			f.add(e.Nanos, e.WaitNanos)
			all[string(e.Kind)] = f
		}
	}
	require.NoError(t, r.Err())
	return all
}

// listedFigures returns the sums of the events in a capture, by kind.
func listedFigures(t *testing.T, dir string, from, to int64) map[string]eventSums {
	t.Helper()
	all := map[string]eventSums{}
	for _, e := range listEvents(t, dir) {
		if from <= e.MonoNanos && e.MonoNanos < to {
			f := all[e.Kind]
			f.add(e.Nanos, e.WaitNanos)
			all[e.Kind] = f
		}
	}
	return all
}

// checkSums compares the sums in the report with the list of events. The report has only events that began in the
// window.
func checkSums(t *testing.T, p *schema.Profile, dir string) {
	t.Helper()
	listed := listedFigures(t, dir, 0, math.MaxInt64)
	for _, kind := range []string{"gc", "safepoint"} {
		var sum eventSums
		for _, e := range p.Events {
			if e.Kind == kind {
				sum.count += e.Count
				sum.millis += e.TotalMS
				sum.waited += e.WaitMS
			}
		}
		assert.LessOrEqual(t, sum.count, listed[kind].count)
		assert.GreaterOrEqual(t, sum.count, listed[kind].count-5,
			"those that gasm itself causes before it samples, and after")
		assert.LessOrEqual(t, sum.millis, listed[kind].millis+1e-6)
		assert.LessOrEqual(t, sum.waited, listed[kind].waited+1e-6)
	}
}

// checkMade compares the times at which code was made, according to gasm, with the times at which its compilation
// began, according to HotSpot. Both are times since the JVM's start.
func checkMade(t *testing.T, p *schema.Profile, path string, waiting float64) {
	t.Helper()
	began := map[int]float64{}
	for _, m := range regexp.MustCompile(`(?m)^\[(\d+)ms\] +(\d+) `).FindAllStringSubmatch(string(readFile(t, path)), -1) {
		id, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		millis, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		if _, again := began[id]; !again {
			began[id] = millis
		}
	}
	compared := 0
	for _, c := range p.Compilations {
		if c.MadeBefore || !strings.HasPrefix(c.Method, "Figures::") {
			continue
		}
		at, ok := began[c.CompileID]
		if !assert.True(t, ok, "compile id %d of %s", c.CompileID, c.Method) {
			continue
		}
		compared++
		// gasm finds the code when it reads the code cache the next time, which is some ms later, or up to 2.6 s
		// later if nothing had changed there. The kernel reports a process's start in ticks of 10 ms.
		assert.GreaterOrEqual(t, float64(c.MadeMillis), at-2575-waiting, c.Method)
		assert.LessOrEqual(t, float64(c.MadeMillis), at+1000+waiting, c.Method)
		t.Logf("%s, compile id %d: compiled from %.0f ms on, made at %d", c.Method, c.CompileID, at, c.MadeMillis)
	}
	assert.Positive(t, compared)
	assert.False(t, slices.ContainsFunc(p.Compilations, func(c schema.Compilation) bool {
		return !c.MadeBefore &&
			c.MadeMillis == 0
	}))
}
