package sampler

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// startsNative starts native sampling, which is stopped after the test.
func startsNative(t *testing.T, opts Options) *Native {
	t.Helper()
	gasmtest.NeedNative(t)
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	if opts.Frequency == 0 {
		opts.Frequency = 999
	}
	n, err := StartNative(opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Stop() })
	return n
}

// written gives the samples and the lost ones of a recording that has ended.
func written(t *testing.T, n *Native) (samples []Sample, lost int64) {
	t.Helper()
	text, err := os.ReadFile(n.TextFile())
	require.NoError(t, err)
	for _, record := range readPerf(t, string(text)) {
		switch rec := record.(type) {
		case Sample:
			samples = append(samples, rec)
		case Lost:
			lost += rec.Count
		case SyntaxError:
			t.Fatal(&rec)
		}
	}
	return samples, lost
}

// openFiles is how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

// execs makes a script run in a program of its own: native sampling begins at an exec.
func execs(script string) string {
	return "exec sh -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'"
}

func TestNativeLive(t *testing.T) {
	gasmtest.NeedNative(t)
	// The program starts a child and becomes another program, as a launcher of a JVM does.
	x := hold(t, execs(`(`+busy+`) & sleep 0.3; exec sh -c "`+busy+`"`))
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	dir := t.TempDir()
	old := filepath.Join(dir, "samples.part") // an older recording is replaced
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	began := time.Now()
	n := startsNative(t, Options{PID: x.pid(), Events: eventsOf("cpu-clock"), Dir: dir})
	t.Logf("start took %v", time.Since(began))
	assert.Equal(t, []string{"cpu-clock"}, Specs(n.Events()))
	released := monotonic()
	x.release(t)
	time.Sleep(time.Second)
	began = time.Now()
	require.NoError(t, n.Stop())
	t.Logf("Stop took %v", time.Since(began))
	require.NoError(t, n.Stop(), "a second Stop")
	assert.Empty(t, n.Notes())
	assert.Equal(t, old, n.TextFile())

	samples, lost := written(t, n)
	assert.Zero(t, lost)
	count := byPID(samples)
	busiest := 0
	for pid, c := range count {
		if pid != x.pid() {
			busiest = max(busiest, c)
		}
	}
	// At 999 Hz 10 samples are 10 ms of the second, on however busy a machine.
	assert.True(t, count[x.pid()] >= 10 && busiest >= 10, "samples by pid of the target %d and its child: %v", x.pid(), count)
	x.alive(t)
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	assert.Equal(t, files, openFiles(t), "open files")

	// The samples' clock is ours, their times ascend, and they begin with the exec.
	for i, s := range samples {
		assert.True(t, i == 0 || s.MonoNanos >= samples[i-1].MonoNanos, "sample %d is older than the one in front of it", i)
		assert.Contains(t, []string{"sh", "sleep"}, s.Thread)
	}
	late := time.Duration(samples[0].MonoNanos - released)
	assert.True(t, late >= 0 && late < 100*time.Millisecond, "the first sample is %v after the release", late)
}

// perf samples the same process at the same time. Both have the same shares, names and
// modules.
func TestNativeIsLikePerf(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedPerf(t)
	// Reading a file and searching it: user code in two programs, and the kernel.
	x := hold(t, execs(`exec sh -c "while :; do head -c 3000000 /dev/zero | sha1sum >/dev/null; grep -c xyz /proc/kallsyms >/dev/null; done"`))
	p := start(t, Options{PID: x.pid(), Events: eventsOf("cpu-clock"), Frequency: 1001})
	n := startsNative(t, Options{PID: x.pid(), Events: eventsOf("cpu-clock"), Frequency: 1001})
	x.release(t)
	time.Sleep(4 * time.Second)
	require.NoError(t, n.Stop())
	require.NoError(t, p.Stop())
	ours, lost := written(t, n)
	assert.Zero(t, lost)
	theirs := recorded(t, p)
	require.Greater(t, len(ours), 500)

	compare := func(what string, key func(s *Sample) string) {
		t.Helper()
		type counts struct{ ours, theirs float64 }
		all := map[string]counts{}
		for i := range ours {
			c := all[key(&ours[i])]
			all[key(&ours[i])] = counts{c.ours + 1, c.theirs}
		}
		for i := range theirs {
			c := all[key(&theirs[i])]
			all[key(&theirs[i])] = counts{c.ours, c.theirs + 1}
		}
		for name, c := range all {
			// The difference of two counts of one thing has the error sqrt(a+b). Five of
			// these happen by chance once in a million. The two timers fire at different
			// moments, and each samples the other's interrupt: 2 % more.
			error := 5*math.Sqrt(c.ours+c.theirs) + 0.02*c.theirs
			assert.InDelta(t, c.theirs, c.ours, error, "%s %s", what, name)
		}
		t.Logf("%s: %d", what, len(all))
	}
	compare("all", func(*Sample) string { return "" })
	compare("thread", func(s *Sample) string { return s.Thread })
	compare("module", func(s *Sample) string { return s.Module })
	first := kernelAliases(t)
	compare("function", func(s *Sample) string {
		if s.Symbol == "" || !s.Kernel() {
			return s.Module // perf names what is between two functions after the first of them
		}
		return s.Module + " " + first[s.Symbol]
	})
}

// kernelAliases gives for each of the kernel's names the first name of its address.
func kernelAliases(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("/proc/kallsyms")
	require.NoError(t, err)
	at, first := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if at[words[0]] == "" {
			at[words[0]] = words[2]
		}
		first[words[2]] = at[words[0]]
	}
	return first
}
