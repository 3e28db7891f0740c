package collect

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler"
)

// A pausing is a sampler that can pause.
type pausing interface {
	Pause() error
	Resume() error
	Stop() error
}

// TestPause checks that no sample is taken in a pause, and that a program that has started meanwhile is
// sampled afterwards, under its own name.
func TestPause(t *testing.T) {
	samplers := map[string]func(t *testing.T, x *target) (s pausing, samples func() []sampler.Sample){
		"native": func(t *testing.T, x *target) (pausing, func() []sampler.Sample) {
			n := startsNative(t, Options{PID: x.pid(), Events: eventsOf("cpu-clock"), Pauses: true})
			return n, func() []sampler.Sample { samples, _ := written(t, n); return samples }
		},
		"perf": func(t *testing.T, x *target) (pausing, func() []sampler.Sample) {
			gasmtest.NeedPerf(t)
			p := start(t, Options{PID: x.pid(), Events: eventsOf("cpu-clock"), Frequency: 999, Pauses: true})
			return p, func() []sampler.Sample {
				assert.True(t, p.named, "perf's events are disabled by name: %s", p.process.stderr.String())
				return recorded(t, p)
			}
		},
		"dtrace": func(t *testing.T, x *target) (pausing, func() []sampler.Sample) {
			gasmtest.NeedDTrace(t)
			d := startDTrace(t, DTraceOptions{Frequency: 971})
			return d, func() (all []sampler.Sample) {
				for _, samples := range readSamples(t, d.TextFile(), false) {
					all = append(all, samples...)
				}
				return all
			}
		},
	}
	for name, begin := range samplers {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			paused, pidFile := filepath.Join(folder, "paused"), filepath.Join(folder, "pid")
			x := hold(t, execs(`(until [ -e `+paused+` ]; do sleep 0.1; done; exec sha1sum /dev/zero) & echo $! >`+pidFile+`; `+busy))
			s, samples := begin(t, x)
			x.release(t)
			x.works(t)
			require.NoError(t, s.Pause())
			require.NoError(t, s.Pause(), "a second Pause")
			from := monotonic.Nanos()
			require.NoError(t, os.WriteFile(paused, nil, 0o600))
			hasher, err := strconv.Atoi(readTrimmed(pidFile))
			require.NoError(t, err)
			eventually(t, "the other program starts", func() bool { return readTrimmed(fmt.Sprintf("/proc/%d/comm", hasher)) == "sha1sum" })
			time.Sleep(500 * time.Millisecond)
			resumed := monotonic.Nanos()
			require.NoError(t, s.Resume())
			t.Logf("Resume took %v", time.Duration(monotonic.Nanos()-resumed))
			x.works(t)
			works(t, hasher)
			require.NoError(t, s.Stop())
			require.NoError(t, s.Pause(), "after the end")

			before, after, first, hashing := 0, 0, int64(math.MaxInt64), 0
			for _, sample := range samples() {
				switch at := sample.MonoNanos; {
				case at < from:
					before++
				case at < resumed:
					t.Errorf("a sample %v after Pause, %v before Resume", time.Duration(at-from), time.Duration(resumed-at))
				default:
					after++
					if sample.PID == x.pid() || name != "dtrace" {
						first = min(first, at)
					}
					if sample.Thread == "sha1sum" {
						hashing++
					}
				}
			}
			t.Logf("%d samples before, %d after, the first one %v after Resume was called", before, after, time.Duration(first-resumed))
			// Each process worked for 100 ms.
			assert.True(t, before >= 10 && after >= 10, "samples before and after the pause: %d, %d", before, after)
			if name != "dtrace" { // its samples have no names of threads
				assert.GreaterOrEqual(t, hashing, 10, "samples of the program that started in the pause")
			}
		})
	}
}

// TestDTracePauseText checks that a paused DTrace leaves out the lines of samples by their own times,
// wherever the text is cut, and keeps all else.
func TestDTracePauseText(t *testing.T) {
	line := func(at int64) string {
		return fmt.Sprintf("  1   3977   :profile-1001 3356 0x7fbffc6bc568 %d\n", at)
	}
	text := &dtraceText{pauses: []pausedTime{{100, 200}, {300, math.MaxInt64}}}
	all := "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN gasm: begin 5\n" +
		line(99) + line(100) + line(250) + line(150) + line(200) + line(199) + line(300) + line(299) + line(1e9) + "  0      2  :END gasm: end\n"
	want := "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN gasm: begin 5\n" +
		line(99) + line(250) + line(200) + line(299) + "  0      2  :END gasm: end\n"
	for n := 1; n < len(all); n += 7 {
		text.line = nil
		var kept strings.Builder
		for rest := all; rest != ""; rest = rest[min(n, len(rest)):] {
			kept.Write(text.withoutPauses([]byte(rest[:min(n, len(rest))])))
		}
		require.Equal(t, want, kept.String(), "in pieces of %d bytes", n)
	}
	text.line = nil
	assert.Empty(t, text.withoutPauses([]byte("  1   3977   :profile-1001 33")))
	assert.Equal(t, "  1   3977   :profile-1001 33", string(text.line), "the rest of a DTrace that was killed")
}
