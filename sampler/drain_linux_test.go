package sampler

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// startsDrain makes a drain that knows this process's mappings.
func startsDrain(t testing.TB) *drain {
	t.Helper()
	d, err := newDrain(filepath.Join(t.TempDir(), "samples.part"), []string{"cpu-clock"}, eventsOf("cpu-clock"))
	require.NoError(t, err)
	d.attached(os.Getpid())
	t.Cleanup(func() { d.file.Close() })
	return d
}

// heap is how much memory is in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What a drain keeps in memory does not grow with the samples, nor with threads and
// processes that have ended.
func TestDrainMemory(t *testing.T) {
	gasmtest.NeedTime(t)
	d := startsDrain(t)
	pid := int32(os.Getpid())
	code, _, _, _ := runtime.Caller(0)
	threads, ended := int32(0), 0
	samples := func(n int) {
		for i := range n {
			r := perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.User, PID: pid, TID: pid, MonoNanos: int64(i), IP: uint64(code) + uint64(i%64)}
			switch i % 3 {
			case 1:
				r.Mode, r.IP = perfevent.Kernel, kernelStart+uint64(i)*4096
			case 2:
				r.IP = 0x1000 // nothing is mapped there
			}
			d.take(&r)
			if i%100 == 0 { // a process with a thread of its own comes and goes
				threads++
				child := 1<<22 + threads%(1<<20)
				d.take(&perfevent.Record{Kind: perfevent.Fork, PID: child, PPID: pid, TID: child, PTID: pid})
				d.take(&perfevent.Record{Kind: perfevent.Comm, PID: child, TID: child, Name: "thread " + strconv.Itoa(int(threads))})
				d.take(&perfevent.Record{Kind: perfevent.Exit, PID: child, TID: child})
				ended = d.forgetEnded(ended)
			}
		}
	}
	samples(100_000)
	before := heap()
	const more = 1_000_000
	samples(more)
	grown := heap() - before
	t.Logf("%d bytes more in memory after %d samples", grown, more)
	assert.Less(t, grown, int64(more/10))
	require.NoError(t, d.end())
	info, err := os.Stat(d.file.Name())
	require.NoError(t, err)
	assert.Greater(t, info.Size(), int64(50*more), "they are in the file")
}

// BenchmarkDrain takes samples of user code and of the kernel.
func BenchmarkDrain(b *testing.B) {
	d := startsDrain(b)
	pid := int32(os.Getpid())
	code, _, _, _ := runtime.Caller(0)
	r := perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.User, PID: pid, TID: pid}
	kernel := perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.Kernel, PID: pid, TID: pid, IP: kernelStart + 1<<30}
	d.take(&kernel) // reads the kernel's symbols
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r.IP, r.MonoNanos = uint64(code)+uint64(n%64), int64(n)
		d.take(&r)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}
