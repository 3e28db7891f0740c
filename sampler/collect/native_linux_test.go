package collect

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// startsNative starts native sampling, and stops it at the end of the test.
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
	t.Cleanup(func() { _ = n.Stop(t.Context()) })
	return n
}

// written returns the samples of a recording that has ended, and how many were lost.
func written(t *testing.T, n *Native) (samples []sampler.Sample, lost int64) {
	t.Helper()
	text, err := os.ReadFile(n.TextFile())
	require.NoError(t, err)
	for _, record := range readPerf(t, string(text)) {
		switch rec := record.(type) {
		case sampler.Sample:
			samples = append(samples, rec)
		case sampler.Lost:
			lost += rec.Count
		case sampler.SyntaxError:
			t.Fatal(&rec)
		}
	}
	return samples, lost
}

// openFiles returns how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

func TestNativeLive(t *testing.T) {
	gasmtest.NeedNative(t)
	// The program starts a child and becomes another program, as a launcher of a JVM does.
	x := collecttest.Hold(t, collecttest.Execs(`(`+collecttest.Busy+`) & sleep 0.3; exec sh -c "`+collecttest.Busy+`"`))
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	dir := t.TempDir()
	old := filepath.Join(dir, "samples.part") // the file of an earlier recording, which is replaced
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	began := time.Now()
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Dir: dir})
	t.Logf("start took %v", time.Since(began))
	assert.Equal(t, []string{"cpu-clock"}, sampler.Specs(n.Events()))
	released := monotonic.Nanos()
	x.Release(t)
	time.Sleep(time.Second)
	began = time.Now()
	require.NoError(t, n.Stop(t.Context()))
	t.Logf("Stop took %v", time.Since(began))
	require.NoError(t, n.Stop(t.Context()), "a second Stop")
	assert.Empty(t, n.Notes())
	assert.Equal(t, old, n.TextFile())

	samples, lost := written(t, n)
	assert.Zero(t, lost)
	count := byPID(samples)
	busiest := 0
	for pid, c := range count {
		if pid != x.PID() {
			busiest = max(busiest, c)
		}
	}
	// At 999 Hz, 10 samples need only 10 ms of CPU time within the second, even on a busy machine.
	assert.True(t, count[x.PID()] >= 10 && busiest >= 10, "samples by pid of the target %d and its child: %v", x.PID(),
		count)
	x.Alive(t)
	collecttest.Eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	assert.Equal(t, files, openFiles(t), "open files")

	// The times of the samples are on the clock of this process. They ascend, and the first is after the exec.
	for i, s := range samples {
		assert.True(t, i == 0 || s.MonoNanos >= samples[i-1].MonoNanos, "sample %d is older than the one in front of it", i)
		assert.Contains(t, []string{"sh", "sleep"}, s.Thread)
	}
	// The delay was 290 ms on a machine with 18 busy processes. The times of another clock would be further away.
	late := time.Duration(samples[0].MonoNanos - released)
	assert.True(t, late >= 0 && late < 5*time.Second, "the first sample is %v after the release", late)
}

// TestNativeIsLikePerf lets perf sample the same process at the same time. Both must have the same shares, names and
// modules.
func TestNativeIsLikePerf(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedPerf(t)
	// The processes read a file and search it, so there are samples of user code in two programs and of the kernel.
	x :=
		collecttest.Hold(t, collecttest.Execs(`exec sh -c "while :; do head -c 3000000 /dev/zero | sha1sum >/dev/null; grep -c xyz /proc/kallsyms >/dev/null; done"`))
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 1001})
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 1001})
	x.Release(t)
	gasmtest.AwaitOf(t, x.PID(), "its children have worked for 2 s", func() bool {
		used, _ := gasmtest.ChildrenTime(x.PID())
		return used >= 2*time.Second
	})
	require.NoError(t, n.Stop(t.Context()))
	require.NoError(t, p.Stop())
	ours, lost := written(t, n)
	assert.Zero(t, lost)
	require.Greater(t, len(ours), 1000, "in 2 s at 1001 Hz")
	// perf begins earlier than native sampling, and ends later.
	theirs := slices.DeleteFunc(recorded(t, p), func(s sampler.Sample) bool {
		return s.MonoNanos < ours[0].MonoNanos || s.MonoNanos > ours[len(ours)-1].MonoNanos
	})

	compare := func(what string, key func(s *sampler.Sample) string) {
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
			// The difference between two counts a and b of the same thing has the error sqrt(a+b). A difference of
			// five errors happens by chance once in a million. The two timers fire at different moments. Each of them
			// also samples the interrupt of the other one, which adds 2 %.
			error := 5*math.Sqrt(c.ours+c.theirs) + 0.02*c.theirs
			assert.InDelta(t, c.theirs, c.ours, error, "%s %s", what, name)
		}
		t.Logf("%s: %d", what, len(all))
	}
	compare("all", func(*sampler.Sample) string { return "" })
	compare("thread", func(s *sampler.Sample) string { return s.Thread })
	compare("module", func(s *sampler.Sample) string { return s.Module })
	first := kernelAliases(t)
	compare("function", func(s *sampler.Sample) string {
		if s.Symbol == "" || !s.Kernel() {
			return s.Module // perf gives the code between two functions the name of the first one
		}
		return s.Module + " " + first[s.Symbol]
	})
}

// kernelAliases returns, for each of the kernel's names, the first name of its address.
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

// comparedWithTime compares the number of samples, including lost ones, with the CPU time, at 999 Hz. A number of n
// samples has an error of sqrt(n). In a virtual machine, where the timer is late, their interrupts take 2 % of the
// time.
func comparedWithTime(t *testing.T, samples int, lost int64, cpu time.Duration) {
	t.Helper()
	expected := cpu.Seconds() * 999
	t.Logf("%d samples and %d lost, %.0f expected", samples, lost, expected)
	assert.InDelta(t, expected, float64(samples)+float64(lost), 5*math.Sqrt(expected)+0.02*expected)
}

// TestNativeThreads samples threads that start and end all the time, 500 of them at once. perf samples them too, for
// comparison: a thread's timer begins with the thread, so short threads have fewer samples than expected from their
// time.
func TestNativeThreads(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedPerf(t)
	self, err := os.Executable()
	require.NoError(t, err)
	x := collecttest.Hold(t, "export "+helperEnv+"=threads; exec '"+self+"' 500")
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock")})
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock")})
	x.Release(t)
	time.Sleep(3 * time.Second)
	require.NoError(t, n.Stop(t.Context()))
	samples, lost := written(t, n)
	require.NoError(t, p.Stop())
	theirs := 0
	for _, s := range recorded(t, p) {
		if s.MonoNanos <= samples[len(samples)-1].MonoNanos && s.Thread != "sh" { // perf began before the exec
			theirs++
		}
	}
	t.Logf("%d samples and %d lost; %d of perf", len(samples), lost, theirs)
	assert.InDelta(t, theirs, len(samples)+int(lost), 5*math.Sqrt(2*float64(theirs)))
	threads := map[int]bool{}
	for _, s := range samples {
		threads[s.TID] = true
		if s.Thread != "sh" || s.TID != x.PID() { // during the exec
			assert.Equal(t, "collect.test", s.Thread)
		}
	}
	t.Logf("%d threads", len(threads))
	assert.Greater(t, len(threads), 20)
	assert.Equal(t, files, openFiles(t))
	// two are perf's
	collecttest.Eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
}

// TestNativeProcesses samples processes that start and end all the time.
func TestNativeProcesses(t *testing.T) {
	gasmtest.NeedNative(t)
	const runs = 200
	x :=
		collecttest.Hold(t, collecttest.Execs(`i=0; while [ $i -lt 200 ]; do ls / >/dev/null; i=$((i+1)); done; sleep 1000.$$`))
	files := openFiles(t)
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("page-faults"), Frequency: 19999})
	x.Release(t)
	asleep := func() bool {
		return len(collecttest.ProcessesWith(t, fmt.Sprintf("sleep\x001000.%d\x00", x.PID()))) > 0
	}
	collecttest.Eventually(t, "all have run", asleep)
	require.NoError(t, n.Stop(t.Context()))
	samples, _ := written(t, n)
	listed := map[int]bool{}
	for _, s := range samples {
		if s.Thread == "ls" {
			listed[s.PID] = true
		}
	}
	assert.Len(t, listed, runs, "processes with page faults")
	assert.Equal(t, files, openFiles(t))
}

// TestNativeDaemon checks that a daemon that outlives the command is sampled until the end of the sampling, and
// continues after it.
func TestNativeDaemon(t *testing.T) {
	gasmtest.NeedNative(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	x :=
		collecttest.Hold(t, collecttest.Execs(`setsid sh -c "exec >/dev/null 2>&1; `+collecttest.Busy+`" & echo $! >`+pidFile))
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock")})
	x.Release(t)
	require.NoError(t, x.Cmd.Wait())
	daemon, err := strconv.Atoi(machine.ReadTrimmed(pidFile))
	require.NoError(t, err)
	process, err := os.FindProcess(daemon)
	require.NoError(t, err)
	defer process.Kill()
	collecttest.Works(t, daemon)
	require.NoError(t, n.Stop(t.Context()))
	samples, _ := written(t, n)
	assert.Greater(t, byPID(samples)[daemon], 10)
	assert.NoError(t, process.Signal(syscall.Signal(0)), "the daemon lives on")
}

// TestNativeKilled checks that nothing is left if a process that samples is killed, because the kernel then ends its
// events.
func TestNativeKilled(t *testing.T) {
	gasmtest.NeedNative(t)
	x := collecttest.Hold(t, collecttest.Execs(collecttest.Busy))
	cmd := exec.Command("/proc/self/exe", "cpu-clock", strconv.Itoa(x.PID()), t.TempDir(), "wait")
	cmd.Env = append(os.Environ(), helperEnv+"=native")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "sampling" {
	}
	x.Release(t)
	x.Works(t)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	x.Alive(t)
	// Another process can then sample the same program, and gets all samples.
	n, err := AttachNative(t.Context(), Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 999,
		Dir: t.TempDir()})
	require.NoError(t, err)
	from, began := processTime(t, x.PID()), monotonic.Nanos()
	time.Sleep(time.Second)
	cpu, ended := processTime(t, x.PID())-from, monotonic.Nanos()
	require.NoError(t, n.Stop(t.Context()))
	samples, lost := written(t, n)
	samples = slices.DeleteFunc(samples, func(s sampler.Sample) bool {
		return s.MonoNanos < began ||
			s.MonoNanos >= ended
	})
	comparedWithTime(t, len(samples), lost, cpu)
}

// TestLookOften checks that the pauses are short while LookOften is in effect, and as long as usual afterwards.
func TestLookOften(t *testing.T) {
	x := collecttest.Hold(t, collecttest.Execs(collecttest.Busy))
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock")})
	assert.Equal(t, longestDrain, n.often.limit(longestDrain))
	n.LookOften(time.Hour)
	assert.Equal(t, shortPause, n.often.limit(longestDrain))
	assert.Equal(t, time.Millisecond, n.often.limit(time.Millisecond))
	n.often.end.Store(0)
	assert.Equal(t, longestDrain, n.often.limit(longestDrain))
	x.Release(t)
	require.NoError(t, n.Stop(t.Context()))
}

// TestNativeStream checks that a stream has the same samples, and that a receiver who does not read it
// misses some.
func TestNativeStream(t *testing.T) {
	late := gasmtest.Lateness(t)
	x := collecttest.Hold(t, collecttest.Execs(collecttest.Busy))
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock")})
	all, few := n.Subscribe(1<<16, 20*time.Millisecond), n.Subscribe(10, time.Second)
	x.Release(t)
	var streamed []sampler.Sample
	next := func(wait time.Duration) (told time.Duration, ok bool) {
		select {
		case s := <-all.C:
			streamed = append(streamed, s)
			return time.Duration(monotonic.Nanos() - s.MonoNanos), true
		case <-time.After(wait):
			return 0, false
		}
	}
	// A sample is taken out of the kernel's buffer up to 20 ms after the last reading. The program, the goroutine
	// that reads and this goroutine must be woken up for it. Samples before the first kernel sample wait longer,
	// because gasm then reads the kernel's symbols, which takes a second with the race detector.
	soonest := time.Hour
	for range 10 {
		for n, rest := 0, true; rest && n < 1000; n++ { // one reading returns samples without a pause between them
			_, rest = next(5 * time.Millisecond)
		}
		told, ok := next(time.Minute)
		require.True(t, ok, "no sample is delivered while the program runs")
		soonest = min(soonest, told)
	}
	assert.Less(t, soonest, shortestDrain+3*late())
	require.NoError(t, n.Stop(t.Context()))
	samples, _ := written(t, n)
	for s := range all.C {
		streamed = append(streamed, s)
	}
	assert.Equal(t, samples, streamed)
	assert.Zero(t, all.Dropped())
	assert.Len(t, few.C, 10)
	assert.EqualValues(t, len(samples)-10, few.Dropped())
}

// TestNativeDiskFull checks that samples lost to a full disk are not counted as lost, but reported in
// an error.
func TestNativeDiskFull(t *testing.T) {
	gasmtest.NeedNative(t)
	dir := gasmtest.NeedSmallDisk(t, "64k")
	x := collecttest.Hold(t, collecttest.Execs(collecttest.Busy))
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 9999, Dir: dir})
	x.Release(t)
	collecttest.Eventually(t, "the disk is full", func() bool {
		var disk unix.Statfs_t
		require.NoError(t, unix.Statfs(dir, &disk))
		return disk.Bavail == 0
	})
	x.Works(t)
	err := n.Stop(t.Context())
	var stopped *failure.StoppedError
	require.ErrorAs(t, err, &stopped)
	assert.ErrorIs(t, err, syscall.ENOSPC)
	assert.EqualError(t, err, "native sampling: stopped too early: the samples could not be written: write "+n.TextFile()+
		": no space left on device; make room in "+dir)
	samples, _ := written(t, n)
	assert.Greater(t, len(samples), 100, "those until then")
	x.Alive(t)
}
