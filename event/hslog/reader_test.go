package hslog

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

// text returns the records that a Reader finds in a log, one on each line.
func text(in string) string {
	var out []string
	r := NewReader(strings.NewReader(in), "log", 7)
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *event.Event:
			line := fmt.Sprintf("%s %s %d+%d", rec.Kind, rec.Name, rec.MonoNanos, rec.Nanos)
			if rec.WaitNanos > 0 {
				line += fmt.Sprintf(" wait %d", rec.WaitNanos)
			}
			for _, a := range rec.Args {
				line += fmt.Sprintf(", %s %s", a.Name, a.Value)
			}
			out = append(out, line)
		case *SyntaxError:
			out = append(out, rec.Error())
		}
	}
	if r.Err() != nil {
		out = append(out, "error: "+r.Err().Error())
	}
	return strings.Join(out, "\n")
}

func TestReader(t *testing.T) {
	const noDecorations = "HotSpot's decorations tn and tg (a time in nanoseconds, and tags) are missing: -Xlog:gc,gc+start,safepoint:file=FILE:tn,ti,tg has them"
	for _, c := range []struct{ name, in, want string }{
		{"a pause", "[1000000ns][9][gc,start ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)\n" +
			"[4000000ns][9][gc       ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 2.345ms\n",
			"gc Pause Young (Normal) 1000000+2345000, cause G1 Evacuation Pause, heap 24M->4M(256M)"},
		{"without its start", "[4000000ns][9][gc] GC(0) Pause Young (Allocation Failure) 24M->4M(256M) 2.345ms\n",
			"gc Pause Young 1655000+2345000, cause Allocation Failure, heap 24M->4M(256M)"},
		{"parentheses in the cause", "[9000000ns][9][gc] GC(0) Pause Full (System.gc()) 2M->1M(8M) 5.000ms\n",
			"gc Pause Full 4000000+5000000, cause System.gc(), heap 2M->1M(8M)"},
		{"no cause", "[2000000ns][9][gc,start] GC(5) Pause Remark\n[3000000ns][9][gc] GC(5) Pause Remark 24M->24M(256M) 0.812ms\n",
			"gc Pause Remark 2000000+812000, heap 24M->24M(256M)"},
		{"one in another", "[1000ns][9][gc,start] GC(3) Pause Young (Allocation Failure)\n[2000ns][9][gc,start] GC(4) Pause Full (Allocation Failure)\n" +
			"[6000ns][9][gc] GC(4) Pause Full (Allocation Failure) 9M->1M(9M) 0.004ms\n[7000ns][9][gc] GC(3) Pause Young (Allocation Failure) 9M->1M(9M) 0.006ms\n",
			"gc Pause Full 2000+4000, cause Allocation Failure, heap 9M->1M(9M)\ngc Pause Young 1000+1000, cause Allocation Failure, heap 9M->1M(9M)"},
		{"a concurrent cycle", "[1000ns][9][gc] GC(1) Concurrent Mark Cycle\n[9000ns][9][gc] GC(1) Concurrent Mark Cycle 0.008ms\n",
			"gc-concurrent Concurrent Mark Cycle 1000+8000"},
		{"ZGC, whose end has no time", "[1000ns][9][gc,start] GC(0) Garbage Collection (Warmup)\n[3000ns][9][gc] GC(0) Garbage Collection (Warmup) 106M(10%)->90M(9%)\n",
			"gc-concurrent Garbage Collection 1000+2000, cause Warmup, heap 106M(10%)->90M(9%)"},
		{"generational ZGC", "[1000ns][9][gc,start] GC(0) Major Collection (Warmup)\n[9000000ns][9][gc,phases] GC(0) Y: Pause Mark Start 0.012ms\n" +
			"[1000002000ns][9][gc] GC(0) Major Collection (Warmup) 106M(10%)->90M(9%) 1.000s\n",
			"gc Pause Mark Start 8988000+12000\ngc-concurrent Major Collection 1000+1000000000, cause Warmup, heap 106M(10%)->90M(9%)"},
		{"a pause of no time", "[9000ns][9][gc,phases] GC(0) Pause Mark End 0.000ms\n", "gc Pause Mark End 9000+0"},
		{"parts of a pause", "[9000ns][9][gc,phases] GC(0)   Pause Something 0.001ms\n[9000ns][9][gc,phases] GC(0)   Evacuate Collection Set: 1.4ms\n", ""},
		{"other messages", "[1000ns][9][gc] Using G1\n[1000ns][9][gc,heap] GC(0) Eden regions: 23->0(20)\n[1000ns][9][safepoint] Leaving safepoint region\n\n", ""},
		{"a safepoint of JDK 17", "[1000000ns][9][safepoint   ] Safepoint \"G1CollectForAllocation\", Time since last: 96381 ns, Reaching safepoint: 1432 ns, Cleanup: 2101 ns, At safepoint: 98123 ns, Total: 101656 ns\n",
			"safepoint G1CollectForAllocation 898344+101656 wait 1432"},
		{"a safepoint of JDK 25", "[1000000ns][9][safepoint   ] Safepoint \"Cleanup\", Time since last: 1000245381 ns, Reaching safepoint:      1432 ns, At safepoint: 98123 ns, Leaving safepoint: 10 ns, Total: 101656 ns, Threads: 0 runnable, 11 total\n",
			"safepoint Cleanup 898344+101656 wait 1432"},
		{"a safepoint of JDK 11", "[7758500ns][9][safepoint] Application time: 0.1203145 seconds\n[7770000ns][9][safepoint] Entering safepoint region: RevokeBias\n[3ns][9][safepoint] Leaving safepoint region\n" +
			"[9000000ns][9][safepoint] Total time for which application threads were stopped: 0.0012345 seconds, Stopping threads took: 0.0000123 seconds\n",
			"safepoint RevokeBias 7758500+1241500 wait 19300"},
		{"a safepoint of JDK 11 without its first line", "[7770000ns][9][safepoint] Entering safepoint region: RevokeBias\n" +
			"[9000000ns][9][safepoint] Total time for which application threads were stopped: 0.0012345 seconds, Stopping threads took: 0.0000123 seconds\n",
			"safepoint RevokeBias 7765500+1234500 wait 12300"},
		{"a VM operation", "[5000ns][9][vmoperation] begin VM_Operation (0x00007f1e2c5fd5b0): HandshakeAllThreads, mode: no safepoint, requested by thread 0x00007f1e54027000\n" +
			"[7000ns][9][vmoperation] end VM_Operation (0x00007f1e2c5fd5b0): HandshakeAllThreads, mode: no safepoint, requested by thread 0x00007f1e54027000\n",
			"vm-operation HandshakeAllThreads 5000+2000, mode no safepoint"},
		{"compilations", "[5000ns][9][jit,compilation]   71   %     4       Spin::spin @ 12 (38 bytes)\n[6000ns][9][jit,compilation]   72       3       java.lang.String::hashCode (60 bytes)\n" +
			"[7000ns][9][jit,compilation]   71   %     4       Spin::spin @ 12 (38 bytes)   made not entrant\n",
			"compile Spin::spin 5000+0, id 71, level 4, osr true, bytecode 38\ncompile java.lang.String::hashCode 6000+0, id 72, level 3, bytecode 60\ndiscard Spin::spin 7000+0, id 71, level 4, osr true"},
		{"why code was discarded (JDK 25), and a native wrapper",
			"[5000ns][9][jit,compilation]   71       4       Spin::spin (38 bytes)   made not entrant: uncommon trap\n[5000ns][9][jit,compilation]   72       4       Spin::made (38 bytes)   made zombie\n" +
				"[5500ns][9][jit,compilation]   74 %     4       Spin::made @ 3 (38 bytes)   blocked\n[5500ns][9][jit,compilation]   75       4       Spin::made (38 bytes)   COMPILE SKIPPED: out of nodes (not retryable)\n" +
				"[5600ns][9][jit,compilation]   76     n 0       java.lang.invoke.MethodHandle::linkToStatic(L)L (native)   (static)\n" +
				"[6000ns][9][jit,compilation]   73     n 0       java.lang.Thread::currentThread (native)   (static)\n",
			"discard Spin::spin 5000+0, id 71, level 4, reason uncommon trap\ncompile java.lang.invoke.MethodHandle::linkToStatic(L)L 5600+0, id 76, level 0, native true\ncompile java.lang.Thread::currentThread 6000+0, id 73, level 0, native true"},
		{"more decorations, in another order",
			"[0.123s][info][gc         ][9][1000000ns] GC(0) Pause Young (Normal) (x) 1M->1M(2M) 0.001ms\n",
			"gc Pause Young (Normal) 999000+1000, cause x, heap 1M->1M(2M)"},
		{"a last line without its end", "[1000ns][9][gc,start] GC(0) Pause Young (a)\n[2000ns][9][gc] GC(0) Pause Yo", ""},
		{"no decorations", "GC(0) Pause Young\n", "log:1: " + noDecorations},
		{"JDK's usual decorations", "[0.012s][info][gc] GC(0) Pause Young (Normal) 1.0ms\n", "log:1: " + noDecorations},
		{"a time that can't be", "[99999999999999999999ns][9][gc] GC(0) Pause\n", "log:1: " + noDecorations},
		{"a safepoint longer than the JVM",
			"[1000ns][9][safepoint] Safepoint \"X\", Time since last: 1 ns, Reaching safepoint: 1 ns, Total: 2000 ns\n",
			"log:1: the times of a safepoint are impossible"},
		{"a wait longer than the safepoint",
			"[9000ns][9][safepoint] Safepoint \"X\", Reaching safepoint: 3 ns, Total: 2 ns\n",
			"log:1: the times of a safepoint are impossible"},
		{"a safepoint without times", "[9000ns][9][safepoint] Safepoint \"X\", Reaching safepoint: 3 ns\n",
			"log:1: a safepoint without the times Reaching safepoint and Total"},
		{"a safepoint without the wait", "[9000ns][9][safepoint] Safepoint \"X\", Total: 3 ns\n",
			"log:1: a safepoint without the times Reaching safepoint and Total"},
		{"a safepoint without a name", "[9000ns][9][safepoint] Safepoint \"X, Reaching safepoint: 3 ns, Total: 3 ns\n",
			"log:1: the name of a safepoint has no end"},
		{"a safepoint that was all wait, and all of the JVM",
			"[9000ns][9][safepoint] Safepoint \"X\", Reaching safepoint: 9000 ns, Total: 9000 ns\n",
			"safepoint X 0+9000 wait 9000"},
		{"times that are not times", "[9000ns][9][safepoint] Safepoint \"X\", Reaching safepoint: 3 ms, Total: 3 ns\n[9000ns][9][safepoint] Safepoint \"X\", Reaching safepoint: 3 ns, Total: 99999999999999999999 ns\n",
			"log:1: a safepoint without the times Reaching safepoint and Total\nlog:2: a safepoint without the times Reaching safepoint and Total"},
		{"a cut safepoint of JDK 11", "[9000ns][9][safepoint] Total time for which application threads were stopped: 0.0012345\n" +
			"[9000000ns][9][safepoint] Total time for which application threads were stopped: 0.0012345 seconds\n" +
			"[9000000ns][9][safepoint] Total time for which application threads were stopped: 0.0012345 seconds, Stopping threads took: 0.0000123\n",
			"log:1: a safepoint without its time\nlog:2: a safepoint without the time that stopping threads took\nlog:3: a safepoint without the time that stopping threads took"},
		{"a safepoint whose region is not logged again",
			"[2ns][9][safepoint] Entering safepoint region: A\n[5000ns][9][safepoint] Total time for which application threads were stopped:    0.000001 seconds, Stopping threads took: 0.0 seconds\n" +
				"[9000ns][9][safepoint] Total time for which application threads were stopped: 0.000001 seconds, Stopping threads took: 0.0 seconds\n",
			"safepoint A 4000+1000\nsafepoint  8000+1000"},
		{"VM operations beside each other",
			"[5000ns][9][vmoperation] begin VM_Operation (0x1): A, mode: no safepoint, requested by thread 0x3\n[6000ns][9][vmoperation] begin VM_Operation (0x2): B, mode: safepoint, requested by thread 0x3\n" +
				"[7000ns][9][vmoperation] end VM_Operation (0x1): A, mode: no safepoint, requested by thread 0x3\n[9000ns][9][vmoperation] end VM_Operation (0x2): B, mode: safepoint, requested by thread 0x3\n" +
				"[9500ns][9][vmoperation] end VM_Operation (0x2): B, mode: safepoint, requested by thread 0x3\n",
			"vm-operation A 5000+2000, mode no safepoint\nvm-operation B 6000+3000, mode safepoint"},
		{"a collection beside an operation of the same number",
			"[1000ns][9][vmoperation] begin VM_Operation (0x1): A, mode: safepoint, requested by thread 0x3\n[2000ns][9][gc,start] GC(1) Pause Full (a)\n" +
				"[5000ns][9][vmoperation] end VM_Operation (0x1): A, mode: safepoint, requested by thread 0x3\n",
			"vm-operation A 1000+4000, mode safepoint"},
		{"a compilation without a time", "[5000ns][9][jit,compilation]   71       4       Spin::spin\n",
			"compile Spin::spin 5000+0, id 71, level 4"},
		{"a compiled method with blanks and parentheses in its name",
			"[5000ns][9][jit,compilation]   71 %     3       T::returns 1 (one) @ 2 (38 bytes)\n" +
				"[6000ns][9][jit,compilation]   71 %     3       T::returns 1 (one) @ 2 (38 bytes)   made not entrant\n",
			"compile T::returns 1 (one) 5000+0, id 71, level 3, osr true, bytecode 38\ndiscard T::returns 1 (one) 6000+0, id 71, level 3, osr true"},
		{"a long line", "[9000ns][9][gc] GC(0) Pause " + strings.Repeat("x", 2*longestLine) +
			"\n[4000000ns][9][gc] GC(0) Pause Full (a) 1.000ms\n",
			"log:1: the line is too long\ngc Pause Full 3000000+1000000, cause a"},
	} {
		assert.Equal(t, c.want, text(c.in), c.name)
	}
}

// TestThread checks how a Reader finds the thread's id among the decorations: it is a number that is not the time and
// is not too large for a thread id.
func TestThread(t *testing.T) {
	for in, want := range map[string]int{"[9000ns][4711][gc]": 4711, "[4711][9000ns][info][gc]": 4711,
		"[9000ns][2147483647][gc]": 1<<31 - 1,
		"[9000ns][2147483648][gc]": 0, "[9000ns][gc]": 0, "[9000ns][12x][gc]": 0, "[9000ns][0.5s][17][gc]": 17} {
		r := NewReader(strings.NewReader(in+" GC(0) Pause Full (a) 0.001ms\n"), "log", 7)
		require.True(t, r.Scan(), in)
		e, ok := r.Record().(*event.Event)
		require.True(t, ok, in)
		assert.Equal(t, []int64{7, int64(want), 8000}, []int64{int64(e.PID), int64(e.TID), e.MonoNanos}, in)
	}
	r := NewReader(iotest.ErrReader(io.ErrClosedPipe), "log", 7)
	assert.False(t, r.Scan())
	assert.EqualError(t, r.Err(), "reading log: io: read/write on closed pipe")
}

// TestOpenIsBounded checks that collections and operations that begin and never end do not take more and more memory.
func TestOpenIsBounded(t *testing.T) {
	var in strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&in, "[1ns][9][gc,start] GC(%d) Pause Young (a)\n", i)
	}
	r := NewReader(strings.NewReader(in.String()), "log", 7)
	for r.Scan() {
		t.Fatal("nothing ends")
	}
	assert.LessOrEqual(t, len(r.open), mostOpen)
}

// TestNoAllocations checks that a line that is not an event allocates no memory.
func TestNoAllocations(t *testing.T) {
	const lines = 1000
	in :=
		strings.Repeat("[1000ns][9][gc,heap    ] GC(0) Eden regions: 23->0(20)\n[1000ns][9][safepoint] Application time: 0.1203145 seconds\n", lines)
	allocated := testing.AllocsPerRun(5, func() {
		r := NewReader(strings.NewReader(in), "log", 7)
		for r.Scan() {
			t.Fatal("no event is there")
		}
	})
	assert.Less(t, allocated, 20.0, "of %d lines", 2*lines)
}

func TestFlag(t *testing.T) {
	assert.Equal(t, "-Xlog:gc,gc+start,safepoint:file=/d/ev-%p.log:tn,ti,tg",
		Flag([]event.Kind{event.Safepoint, event.GC}, "/d/ev-%p.log"))
	assert.Equal(t, "-Xlog:jit+compilation=debug:file=f:tn,ti,tg", Flag([]event.Kind{event.Compilation}, "f"))
	require.NoError(t, CheckFolder("/tmp/gasm-1/0123"))
	for _, dir := range []string{"/a:b", "/a,b", "/100%p", "/a\"b"} {
		assert.ErrorContains(t, CheckFolder(dir), "set TMPDIR", dir)
	}
}

// FuzzReader reads arbitrary text. The times and durations of the events must be possible.
func FuzzReader(f *testing.F) {
	for _, name := range testLogs(f) {
		in, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(strings.NewReader(string(in)), "fuzz", 7)
		n := 0
		for r.Scan() {
			e, ok := r.Record().(*event.Event)
			if !ok {
				continue
			}
			n++
			assert.Equal(t, 7, e.PID)
			assert.NotEmpty(t, e.Kind)
			assert.GreaterOrEqual(t, e.MonoNanos, int64(0))
			assert.GreaterOrEqual(t, e.Nanos, int64(0))
			assert.LessOrEqual(t, e.WaitNanos, e.Nanos)
			assert.Positive(t, e.EndMonoNanos()+1, "no overflow")
		}
		assert.NoError(t, r.Err())
		assert.LessOrEqual(t, n, r.Lines())
	})
}

// testLogs returns the paths of the committed logs of real JVMs.
func testLogs(tb testing.TB) []string {
	paths, err := filepath.Glob("testdata/*.log")
	require.NoError(tb, err)
	require.NotEmpty(tb, paths)
	return paths
}
