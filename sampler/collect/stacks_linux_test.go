package collect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// userFrame returns a frame at the program counter that a thread has in user space.
func userFrame(r *perfevent.Record) callstack.Frame {
	return callstack.Frame{Kind: callstack.Native, PC: r.ProgramCounter(), BCI: callstack.Unknown, Line: callstack.Unknown,
		Name: "user"}
}

// readStacks reads a file of call stacks.
func readStacks(t *testing.T, path string) *callstack.Tree {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	tree, err := callstack.Read(f, path)
	require.NoError(t, err)
	return tree
}

// readSamples returns the samples of a text.
func readSamples(t *testing.T, path string) (samples []sampler.Sample) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, record := range readPerf(t, string(text)) {
		if s, ok := record.(sampler.Sample); ok {
			samples = append(samples, s)
		}
	}
	return samples
}

// A sampleKey identifies a sample.
type sampleKey struct {
	nanos int64
	tid   int
}

// TestNativeStacks checks that each sample of a real process has the stack that Walk has returned, below the functions
// of the kernel.
func TestNativeStacks(t *testing.T) {
	gasmtest.NeedNative(t)
	x := collecttest.Hold(t, collecttest.Execs(`while :; do head -c 300000 /dev/zero | sha1sum >/dev/null; done`))
	found := map[sampleKey]callstack.ID{}
	last, kernel, named := int64(0), 0, 0
	enough := make(chan struct{})
	dir := t.TempDir()
	began := used(t, unix.RUSAGE_SELF)
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Dir: dir,
		Walk: func(w *callstack.Writer, r *perfevent.Record, libraries *native.Resolver) callstack.ID {
			if r.MonoNanos < last {
				t.Error("a sample came before an earlier one")
			}
			last = r.MonoNanos
			if len(r.Stack) == 0 || r.ABI == perfevent.NoABI { // this happens during an exec and at the end of a process
				return 0
			}
			if m, ok := libraries.Mapping(int(r.PID), r.ProgramCounter()); ok && strings.HasPrefix(m.Path, "/") {
				named++
			}
			if r.Mode == perfevent.Kernel {
				kernel++
			}
			id := w.Push(w.Push(0, callstack.Frame{Kind: callstack.Cut, BCI: callstack.Unknown, Line: callstack.Unknown}),
				userFrame(r))
			found[sampleKey{r.MonoNanos, int(r.TID)}] = id
			if len(found) == 500 {
				close(enough)
			}
			return id
		}})
	assert.Equal(t, filepath.Join(dir, "stacks.part"), n.StacksFile())
	assert.Greater(t, n.StackSize(), 8000)
	x.Release(t)
	<-enough
	require.NoError(t, n.Stop(t.Context()))
	assert.Empty(t, n.Notes())
	samples, _ := written(t, n)
	tree := readStacks(t, n.StacksFile())
	t.Logf("%d samples, %d in the kernel, %d in a file; %d stacks; %v of CPU time", len(samples), kernel, named,
		tree.Len(), used(t, unix.RUSAGE_SELF)-began)
	assert.Greater(t, named, len(found)/2)

	byKernel := 0
	for _, s := range samples {
		want, walked := found[sampleKey{s.MonoNanos, s.TID}]
		delete(found, sampleKey{s.MonoNanos, s.TID})
		got, calls := s.Stack, 0
		for f, caller := tree.Frame(got); f != nil && f.Kind == callstack.Kernel; f, caller = tree.Frame(got) {
			assert.GreaterOrEqual(t, f.PC, uint64(sampler.KernelStart))
			assert.Equal(t, "kernel", f.Module)
			assert.NotEmpty(t, f.Name)
			got = caller
			calls++
		}
		assert.Equal(t, want, got, "%+v", s)
		assert.True(t, calls == 0 || s.Kernel(), "%+v", s)
		if calls > 0 && walked {
			byKernel++
		}
	}
	assert.Empty(t, found, "samples that are not in the text")
	if n.set.UserOnly(0) {
		assert.Zero(t, byKernel)
	} else {
		assert.Greater(t, byKernel, kernel*9/10) // the others are in the code at the entry to the kernel
	}
}

// TestNativeWithoutStacks checks that no stacks are recorded if nobody wants them.
func TestNativeWithoutStacks(t *testing.T) {
	dir := t.TempDir()
	n := startsNative(t, Options{PID: collecttest.Hold(t, collecttest.Busy).PID(), Events: eventsOf("cpu-clock"),
		Dir: dir})
	require.NoError(t, n.Stop(t.Context()))
	assert.Empty(t, n.StacksFile())
	assert.Zero(t, n.StackSize())
	assert.NoFileExists(t, filepath.Join(dir, "stacks.part"))
}

// TestNativeStacksOfNobody records stacks as a user other than root, who may lock only little memory.
func TestNativeStacksOfNobody(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedRoot(t)
	own := collecttest.HoldAs(t, collecttest.Busy, collecttest.Nobody)
	own.Release(t)
	out := nativeAsNobody(t, "cpu-clock", own.PID(), "stacks")
	if strings.Contains(out, "reason") {
		t.Skipf("nobody may not sample here: %s", out)
	}
	var size int
	_, text, _ := strings.Cut(out, "stacks of ")
	_, err := fmt.Sscan(text, &size)
	require.NoError(t, err, out)
	assert.True(t, size >= 8<<10, out)
	assert.Contains(t, text, "in stacks.part\n")
	assert.Equal(t, size < 32<<10, strings.Contains(out,
		fmt.Sprintf("note deep call stacks are cut: there is room for %d KiB", size>>10)), out)
	assert.NotContains(t, out, "stop ")
}

// TestLeastStack checks that nothing is recorded if there is too little room for stacks, and that TryStacks returns
// the same error.
func TestLeastStack(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedRoot(t)
	assert.NoError(t, TryStacks(Options{Events: eventsOf("cpu-clock"), Frequency: 99, LeastStack: 1 << 10}))
	var refused *failure.RefusedError
	require.ErrorAs(t, TryStacks(Options{Events: eventsOf("nosuchevent"), Frequency: 99}), &refused)
	assert.Equal(t, failure.ReasonUnknownEvent, refused.Reason)

	own := collecttest.HoldAs(t, collecttest.Busy, collecttest.Nobody)
	own.Release(t)
	out := nativeAsNobody(t, "cpu-clock", own.PID(), "least")
	if !strings.Contains(out, "room for only") {
		t.Skipf("nobody may not sample here, or lock much memory: %s", out)
	}
	text := `native sampling: there is room for only \d+ KiB of a call stack in the kernel's buffers; ` +
		regexp.QuoteMeta(moreRoom)
	assert.Regexp(t, fmt.Sprintf("^try %s\nreason %d\nerror %s\n$", text, failure.ReasonLimit, text), out)
}

// fakeSample returns a sample with a call chain in the kernel.
func fakeSample(nanos int, mode perfevent.Mode, ip uint64, chain ...uint64) *perfevent.Record {
	pid := int32(os.Getpid())
	return &perfevent.Record{Kind: perfevent.Sample, Mode: mode, PID: pid, TID: pid, MonoNanos: int64(nanos), IP: ip,
		ThreadState: &perfevent.ThreadState{ABI: perfevent.ABI64, Stack: []byte{1}, Chain: chain}}
}

// startsStacks returns a drain that records stacks. Each sample has a new stack of one frame.
func startsStacks(t testing.TB, path string) (d *drain, walks *int) {
	t.Helper()
	d = startsDrain(t)
	walks = new(int)
	var err error
	d.stacks, err = newStacks(path, Options{Walk: func(w *callstack.Writer, r *perfevent.Record,
		_ *native.Resolver) callstack.ID {
		*walks++
		return w.Push(0, callstack.Frame{Kind: callstack.Native, PC: uint64(*walks), BCI: callstack.Unknown,
			Line: callstack.Unknown})
	}})
	require.NoError(t, err)
	t.Cleanup(func() { d.stacks.file.Close() })
	return d, walks
}

func TestKernelFrames(t *testing.T) {
	d, _ := startsStacks(t, filepath.Join(t.TempDir(), "stacks.part"))
	d.kernel =
		newKernelSymbols(strings.NewReader("ffffffff81000000 T entry\nffffffff81000100 T vfs_read\nffffffff81000200 T memcpy\nffffffff81000300 T last\n"))
	// The call is the last instruction of vfs_read, so the return address is already the beginning of memcpy.
	d.take(fakeSample(1, perfevent.Kernel, sampler.KernelStart+1, 0xffffffff81000200, 0xffffffff81000010))
	d.take(fakeSample(2, perfevent.User, 0x1000, 0xffffffff81000200))
	d.take(fakeSample(3, perfevent.Kernel, sampler.KernelStart+1))
	d.take(fakeSample(4, perfevent.Kernel, sampler.KernelStart+1, 0x10)) // no function
	d.take(&perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.Kernel, MonoNanos: 5})
	require.NoError(t, d.end())
	tree := readStacks(t, d.stacks.file.Name())
	var got []string
	for _, s := range readSamples(t, d.file.Name()) {
		text := ""
		for f := range tree.Frames(s.Stack) {
			text += fmt.Sprintf("%s %s %s %x %d %d;", f.Kind, f.Module, f.Name, f.PC, f.BCI, f.Line)
		}
		got = append(got, text)
	}
	assert.Equal(t, []string{
		"kernel kernel vfs_read ffffffff81000200 -1 -1;kernel kernel entry ffffffff81000010 -1 -1;native   1 -1 -1;",
		"native   2 -1 -1;",
		"native   3 -1 -1;",
		"kernel kernel  10 -1 -1;native   4 -1 -1;",
		"",
	}, got)
}

// TestKernelCalls checks that the same functions of the kernel get the same frames, and that only a limited number of
// calls is remembered.
func TestKernelCalls(t *testing.T) {
	s, err := newStacks(filepath.Join(t.TempDir(), "stacks.part"),
		Options{Walk: func(w *callstack.Writer, r *perfevent.Record, _ *native.Resolver) callstack.ID { return 0 }})
	require.NoError(t, err)
	defer s.close()
	names := func() *kernelSymbols { return &kernelSymbols{} }
	first := s.of(fakeSample(0, perfevent.Kernel, 0, 2, 1), nil, names)
	assert.EqualValues(t, 2, first)
	for i := range 2 * maxKernelCalls {
		s.of(fakeSample(0, perfevent.Kernel, 0, uint64(i+3), 1), nil, names)
	}
	assert.LessOrEqual(t, len(s.calls), maxKernelCalls)
	assert.Equal(t, first, s.of(fakeSample(0, perfevent.Kernel, 0, 2, 1), nil, names))
}

// TestStacksFirst checks that at any time, the stack of each sample in the samples' file is already in the file of
// stacks.
func TestStacksFirst(t *testing.T) {
	d, _ := startsStacks(t, filepath.Join(t.TempDir(), "stacks.part"))
	looks, last := 0, int64(0)
	for i := range 20_000 {
		d.take(fakeSample(i, perfevent.User, 0x1000))
		if i%701 == 0 { // flush more often than the drain does by itself
			d.flush()
		}
		if d.written == last {
			continue
		}
		last = d.written
		if looks++; looks%10 != 0 {
			continue
		}
		samples, tree := readSamples(t, d.file.Name()), readStacks(t, d.stacks.file.Name())
		require.Equal(t, i+1, len(samples)+bytes.Count(d.text.Bytes(), []byte{'\n'}))
		for at, s := range samples {
			require.EqualValues(t, at+1, s.Stack)
			require.LessOrEqual(t, int(s.Stack), tree.Len())
		}
	}
	require.NoError(t, d.end())
	assert.Greater(t, looks, 40)
}

// TestStacksDiskFull checks that no sample is lost if the disk is full of stacks, and that no sample refers to a
// stack that could not be written.
func TestStacksDiskFull(t *testing.T) {
	check := func(path string) {
		t.Helper()
		d, walks := startsStacks(t, path)
		const samples = 20_000
		for i := range samples {
			d.take(fakeSample(i, perfevent.User, 0x1000))
		}
		assert.Less(t, *walks, samples, "Walk is called no more")
		require.NoError(t, d.end())
		tree := &callstack.Tree{}
		if path != "/dev/full" {
			tree = readStacks(t, path)
			assert.Positive(t, tree.Len())
		}
		got := readSamples(t, d.file.Name())
		require.Len(t, got, samples)
		without := 0
		for _, s := range got {
			require.LessOrEqual(t, int(s.Stack), tree.Len())
			if s.Stack == 0 {
				without++
			}
		}
		assert.GreaterOrEqual(t, without, samples-tree.Len())
		notes := d.notes()
		require.Len(t, notes, 1)
		assert.Equal(t, "some samples have no call stacks, because these could not be written: write "+path+": no space left on device", notes[0].Text)
		assert.Equal(t, "make room in "+filepath.Dir(path), notes[0].Fix)
	}
	check("/dev/full")
	check(filepath.Join(gasmtest.NeedSmallDisk(t, "200k"), "stacks.part"))
}

// TestNativeStacksDiskFull writes both files to a disk that gets full.
func TestNativeStacksDiskFull(t *testing.T) {
	gasmtest.NeedNative(t)
	dir := gasmtest.NeedSmallDisk(t, "256k")
	x := collecttest.Hold(t, collecttest.Execs(collecttest.Busy))
	walks := uint64(0)
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 4999, Dir: dir, StackSize: 1024,
		Walk: func(w *callstack.Writer, r *perfevent.Record, _ *native.Resolver) callstack.ID {
			walks++
			return w.Push(0, callstack.Frame{Kind: callstack.Native, PC: walks, BCI: callstack.Unknown, Line: callstack.Unknown})
		}})
	assert.Equal(t, 1024, n.StackSize())
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
	samples, tree := readSamples(t, n.TextFile()), readStacks(t, n.StacksFile())
	assert.Greater(t, len(samples), 100)
	for _, s := range samples {
		require.LessOrEqual(t, int(s.Stack), tree.Len())
	}
	x.Alive(t)
}

// BenchmarkDrainStacks handles samples of the kernel with a call chain of 12 functions.
func BenchmarkDrainStacks(b *testing.B) {
	d, _ := startsStacks(b, filepath.Join(b.TempDir(), "stacks.part"))
	d.stacks.walk = func(w *callstack.Writer, r *perfevent.Record, _ *native.Resolver) callstack.ID { return 0 }
	chain := make([]uint64, 12)
	for i := range chain {
		chain[i] = sampler.KernelStart + uint64(i)*4096
	}
	r := fakeSample(0, perfevent.Kernel, sampler.KernelStart+1<<30, chain...)
	d.take(r) // reads the kernel's symbols
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r.MonoNanos = int64(n)
		d.take(r)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}
