package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// startsDrain returns a drain that knows this process's mappings.
func startsDrain(t testing.TB) *drain {
	t.Helper()
	d, err := newDrain(filepath.Join(t.TempDir(), "samples.part"), []string{"cpu-clock"}, eventsOf("cpu-clock"))
	require.NoError(t, err)
	d.attached(t.Context(), os.Getpid())
	t.Cleanup(func() { d.file.Close() })
	return d
}

// heap returns how much memory is in use on Go's heap, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// peakMemory returns the largest amount of memory that this process had since resetPeak, in bytes.
func peakMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	_, err = fmt.Sscan(text, &kilobytes)
	require.NoError(t, err)
	return kilobytes << 10
}

// resetPeak makes the kernel forget the largest amount of memory that this process has had. It returns the present
// amount.
func resetPeak(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	require.NoError(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
	return peakMemory(t)
}

// TestDrainMemory checks that the memory of a drain grows neither with the number of samples, nor with the threads
// and processes that have ended, and that the drain writes no other file.
func TestDrainMemory(t *testing.T) {
	gasmtest.NeedTime(t)
	d := startsDrain(t)
	pid := int32(os.Getpid())
	code, _, _, _ := runtime.Caller(0)
	threads := int32(0)
	samples := func(n int) {
		for i := range n {
			r := perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.User, PID: pid, TID: pid, MonoNanos: int64(i),
				IP: uint64(code) + uint64(i%64)}
			switch i % 3 {
			case 1:
				r.Mode, r.IP = perfevent.Kernel, sampler.KernelStart+uint64(i)*4096
			case 2:
				r.IP = 0x1000 // nothing is mapped there
			}
			d.take(&r)
			if i%100 == 0 { // a process with another thread starts and ends
				threads++
				child := 1<<22 + threads%(1<<20)
				d.take(&perfevent.Record{Kind: perfevent.Fork, PID: child, PPID: pid, TID: child, PTID: pid})
				d.take(&perfevent.Record{Kind: perfevent.Comm, PID: child, TID: child,
					Name: "thread " + strconv.Itoa(int(threads))})
				d.take(&perfevent.Record{Kind: perfevent.Exit, PID: child, TID: child})
				d.looked()
			}
		}
	}
	samples(100_000)
	d.flush()
	info, err := d.file.Stat()
	require.NoError(t, err)
	assert.Equal(t, info.Size(), d.written)
	files, err := os.ReadDir(filepath.Dir(d.file.Name()))
	require.NoError(t, err)
	assert.Len(t, files, 1)

	more := 10_000_000
	if gasmtest.RaceDetector {
		more /= 20 // each round takes 20 times as long
	}
	d.file.Close()
	d.file, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0) // otherwise a gigabyte would be written
	require.NoError(t, err)
	inHeap, before, text := heap(), resetPeak(t), d.written
	samples(more)
	peak := peakMemory(t) - before
	grown := heap() - inHeap
	t.Logf("%d samples more, with %d bytes of text: %d bytes more in the heap, at most %d more of the process", more,
		d.written-text, grown, peak)
	// The heap need not be as small as before, because the table of threads may have grown.
	assert.Less(t, grown, int64(100<<10))
	// Go collects garbage only after the heap has grown to twice its size, and by at least 4 MB. The text of the
	// samples is a gigabyte.
	assert.Less(t, peak, 2*inHeap+8<<20)
	require.NoError(t, d.end())
	assert.Greater(t, d.written-text, int64(50*more))
}

// BenchmarkDrain handles samples of user code and of the kernel.
func BenchmarkDrain(b *testing.B) {
	d := startsDrain(b)
	pid := int32(os.Getpid())
	code, _, _, _ := runtime.Caller(0)
	r := perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.User, PID: pid, TID: pid}
	kernel := perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.Kernel, PID: pid, TID: pid,
		IP: sampler.KernelStart + 1<<30}
	d.take(&kernel) // this reads the kernel's symbols
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r.IP, r.MonoNanos = uint64(code)+uint64(n%64), int64(n)
		d.take(&r)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}
