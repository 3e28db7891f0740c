package exec

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// program runs on JDK 8, too. It uses what interpreted code rarely uses in Library.java: exceptions and method
// handles.
const program = `
import java.lang.invoke.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

public class Busy {
    static int sink;

    static int twice(int n) { return 2 * n; }

    public static void main(String[] args) throws Throwable {
        MethodType type = MethodType.methodType(int.class, int.class);
        MethodHandle twice = MethodHandles.lookup().findStatic(Busy.class, "twice", type);
        Pattern word = Pattern.compile("([a-z]+)(\\d*)");
        for (int n = 0; ; n++) {
            Map<String, Integer> counts = new TreeMap<>();
            Matcher m = word.matcher("abc12 def" + n + " and so on");
            while (m.find()) {
                counts.merge(m.group(1), n, Integer::sum);
            }
            try {
                if (n % 7 == 0) {
                    throw new Exception("n = " + n);
                }
            } catch (Exception e) {
                sink += e.hashCode();
            }
            sink += counts.hashCode() + (int) twice.invokeExact(n)
                    + IntStream.range(0, 50).mapToObj(Integer::toString).collect(Collectors.toList()).hashCode();
        }
    }
}`

// TestWalks walks stacks on each JDK from 8 on, of a program that is compiled and of a program that is interpreted.
func TestWalks(t *testing.T) {
	gasmtest.NeedTime(t)
	classPath := t.TempDir()
	source := filepath.Join(classPath, "Busy.java")
	require.NoError(t, os.WriteFile(source, []byte(program), 0o600))
	gasmtest.CompileJava(t, classPath, 8, source)
	for _, jdk := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		for flag, methods := range map[string]int{"-XX:+UseParallelGC": enoughMethods / 2, "-Xint": 0} {
			t.Run(jdk.Name()+" "+flag, func(t *testing.T) {
				cmd := exec.Command(jdk.Java(), flag, "-cp", classPath, "Busy")
				require.NoError(t, cmd.Start())
				defer cmd.Wait()
				defer cmd.Process.Kill()
				vm, _, cache := openJVM(t, cmd.Process, methods)
				w := testWalks(t, cmd.Process.Pid, vm, cache)
				assert.Equal(t, methods > 0, w.special > 0)
			})
		}
	}
}

// wantedSamples is how many stacks of each JVM are walked.
const wantedSamples = 800

// testWalks stops the thread that executes main at random instructions, and walks its stack. It finds the innermost
// frame by Table.At, and the others by Table.Return. If a frame were wrong, the walk would not arrive at call_stub,
// which has called main.
func testWalks(t *testing.T, pid int, vm *vmstructs.VM, cache *codecache.Cache) *walker {
	t.Helper()
	w := &walker{t: t, vm: vm, cache: cache, tables: map[*codecache.Blob]*Table{}, sizes: map[*codecache.Blob]int{}}
	runtime.LockOSThread() // only the thread that traces another one can read its registers
	defer runtime.UnlockOSThread()
	threads := mainThreads(t, pid)
	for end := time.Now().Add(20 * time.Second); w.samples < wantedSamples && time.Now().Before(end); {
		for _, tid := range threads {
			w.sample(tid)
		}
		time.Sleep(time.Millisecond)
	}
	t.Logf("%d samples, %d walked, %d of them not by the size of the frame", w.samples, w.walked, w.special)
	assert.Greater(t, w.samples, 100)
	assert.GreaterOrEqual(t, float64(w.walked), 0.99*float64(w.samples))
	return w
}

// mainThreads returns the threads whose name is that of the command. One of them executes main.
func mainThreads(t *testing.T, pid int) (tids []int) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	require.NoError(t, err)
	for _, file := range files {
		name, _ := os.ReadFile(file)
		tid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && strings.TrimSpace(string(name)) == "java" {
			tids = append(tids, tid)
		}
	}
	require.NotEmpty(t, tids)
	return tids
}

// A walker walks the stacks of a JVM.
type walker struct {
	t      *testing.T
	vm     *vmstructs.VM
	cache  *codecache.Cache
	polls  int64
	tables map[*codecache.Blob]*Table
	sizes  map[*codecache.Blob]int // of the frames of methods

	stack []byte // a copy of the sample's stack, from the address low upwards
	low   uint64

	samples, walked int
	special         int // samples whose innermost frame does not have the size of a complete frame
}

// sample stops a thread, and walks its stack if it executes generated code.
func (w *walker) sample(tid int) {
	if err := syscall.PtraceAttach(tid); err != nil {
		w.t.Skipf("the JVM can't be traced: %v", err)
	}
	var regs syscall.PtraceRegs
	_, err := syscall.Wait4(tid, nil, 0x40000000, nil) // __WALL
	require.NoError(w.t, err)
	err = syscall.PtraceGetRegs(tid, &regs)
	require.NoError(w.t, err)
	w.polls++
	_, pollErr := w.cache.Poll(w.polls + 10)
	w.low = regs.Rsp
	w.stack, _ = w.vm.Read(w.stack, w.low, 32<<10)
	b := w.cache.Find(regs.Rip)
	if b != nil {
		w.table(b)
	}
	require.NoError(w.t, syscall.PtraceDetach(tid))
	require.NoError(w.t, pollErr)
	if b == nil {
		return
	}
	r := Registers{PC: regs.Rip}
	for n, v := range []uint64{regs.Rax, regs.Rcx, regs.Rdx, regs.Rbx, regs.Rsp, regs.Rbp, regs.Rsi, regs.Rdi,
		regs.R8, regs.R9, regs.R10, regs.R11, regs.R12, regs.R13, regs.R14, regs.R15} {
		r.Set(n, v)
	}
	w.samples++
	if trace, ok := w.walk(r); ok {
		w.walked++
	} else {
		w.t.Logf("not walked: %s", strings.Join(trace, "\n    "))
	}
}

// table returns the Table of a blob.
func (w *walker) table(b *codecache.Blob) *Table {
	if w.tables[b] == nil {
		code, err := w.vm.Read(nil, b.Lo, b.Hi-b.Lo)
		if err != nil {
			return &Table{}
		}
		c, size := liveCode(w.t, w.vm, b, code)
		w.tables[b], w.sizes[b] = Analyze(c), size
	}
	return w.tables[b]
}

func (w *walker) read(addr uint64) (uint64, bool) {
	n := addr - w.low
	if addr < w.low || n+8 > uint64(len(w.stack)) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(w.stack[n:]), true
}

// walk walks a stack to the end of the generated code. It reports whether that was call_stub.
func (w *walker) walk(r Registers) (trace []string, ok bool) {
	for depth := range 300 {
		at := r.PC
		if depth > 0 {
			at-- // a call that never returns may be the last instruction
		}
		b := w.cache.Find(at)
		if b == nil {
			return append(trace, fmt.Sprintf("%#x", r.PC)), false
		}
		f, known := w.frame(b, r.PC, depth == 0)
		trace = append(trace, fmt.Sprintf("%s: %#x (+%d, %v) rsp %#x: %v", b.Name, r.PC, r.PC-b.Lo, b.Kind, r.R[RSP], f))
		if !known {
			return trace, false
		}
		caller, ok := f.Caller(&r, w.read)
		if !ok || caller.R[RSP] < r.R[RSP] {
			return append(trace, fmt.Sprintf("%+v", caller)), false
		}
		if strings.Contains(b.Name, "call_stub") {
			return trace, w.cache.Find(caller.PC) == nil && caller.Known == 1<<RSP|1<<RBP|1<<RBX|0xf000
		}
		r = caller
	}
	return trace, false
}

// frame returns the frame of an instruction.
func (w *walker) frame(b *codecache.Blob, pc uint64, leaf bool) (Frame, bool) {
	table := w.table(b)
	f, ok := table.At(pc)
	if !leaf {
		f, ok = table.Return(pc)
	}
	switch {
	case ok && leaf && b.Method != nil && f.CFA != AMD64.Complete(w.sizes[b]).CFA:
		w.special++
	case ok:
	case b.Method != nil:
		return AMD64.Complete(w.sizes[b]), true
	case b.Kind == printassembly.Interpreter:
		return AMD64.Interpreted(), true
	case strings.Contains(b.Name, "InlineCacheBuffer"):
		return AMD64.NoFrame(), true
	case strings.Contains(b.Name, "DeoptimizationBlob"), strings.Contains(b.Name, "UncommonTrapBlob"):
		return AMD64.ByFramePointer(), true
	}
	return f, ok
}
