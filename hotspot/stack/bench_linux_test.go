package stack

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// BenchmarkWalk walks the stacks of two thousand samples of Expressions.java again and again. They have 30 frames on
// average. It reports the CPU time of a walk, which does not depend on what else the machine does.
func BenchmarkWalk(b *testing.B) {
	gasmtest.NeedNative(b)
	jdks := gasmtest.NeedJDKs(b, func(j gasmtest.JDK) bool { return j.Feature >= 11 })
	records, mappings := deepSamples(b, jdks[len(jdks)-1].Java(), 2000)
	w, out := NewWalker(shared.NewJVMs()), callstack.NewWriter(io.Discard)
	frames, whole := 0, 0
	for i := range records { // this reads what is read only once
		w.Walk(out, &records[i], mappings)
		frames += len(w.walk.frames)
		if w.walk.mark == 0 {
			whole++
		}
	}
	require.Greater(b, float64(whole), 0.99*float64(len(records)))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	began, n := threadTime(b), 0
	for b.Loop() {
		w.Walk(out, &records[n%len(records)], mappings)
		n++
	}
	b.ReportMetric(float64(threadTime(b)-began)/float64(n), "cpu-ns/walk")
	b.ReportMetric(float64(frames)/float64(len(records)), "frames")
}

// threadTime returns the CPU time of the calling thread.
func threadTime(b *testing.B) time.Duration {
	var u unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_THREAD, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// deepSamples runs Expressions.java until the end of the benchmark. When the program has run for a while, deepSamples
// takes as many of its samples as wanted.
func deepSamples(b *testing.B, java string, wanted int) (records []perfevent.Record, mappings *native.Resolver) {
	b.Helper()
	classes := b.TempDir()
	gasmtest.CompileJava(b, classes, 8, gasmtest.Testdata("programs", "Expressions.java"))
	cmd := exec.Command(java, "-cp", classes, "Expressions")
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	pid := cmd.Process.Pid
	clock := perfevent.Event{Name: "cpu-clock", Type: unix.PERF_TYPE_SOFTWARE,
		Config: [3]uint64{unix.PERF_COUNT_SW_CPU_CLOCK}}
	var set *perfevent.Set
	o := perfevent.Options{Events: []perfevent.Event{clock}, Frequency: 997, Stacks: perfevent.MaxStack,
		DrainEvery: 20 * time.Millisecond}
	set, err = perfevent.OpenRunning([]int{pid}, o)
	require.NoError(b, err, &stderr)
	defer set.Close()
	seen, evaluating := 0, map[int32]bool{}
	take := func(r *perfevent.Record) {
		if r.Kind != perfevent.Sample || r.ThreadState == nil || r.Mode != perfevent.User {
			return
		}
		name, known := evaluating[r.TID]
		if !known {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, r.TID))
			name = string(bytes.TrimSpace(comm)) == "evaluating"
			evaluating[r.TID] = name
		}
		if seen++; !name || seen < 4*wanted || len(records) >= wanted { // the first ones: their code is soon replaced
			return
		}
		copied := *r
		copied.ThreadState = &perfevent.ThreadState{ABI: r.ABI, Regs: r.Regs, Stack: slices.Clone(r.Stack)}
		records = append(records, copied)
	}
	for len(records) < wanted {
		set.Wait(20 * time.Millisecond)
		set.Drain(false, take)
	}
	mappings = native.NewResolver()
	maps, err := native.ReadMaps(pid)
	require.NoError(b, err)
	mappings.Add(maps...)
	return records, mappings
}
