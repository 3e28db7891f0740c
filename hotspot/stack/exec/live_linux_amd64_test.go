package exec

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

func TestMain(m *testing.M) {
	gasmtest.ProtectTmp()
	os.Exit(m.Run())
}

// enoughMethods is how many methods are compiled before a JVM is looked at.
const enoughMethods = 300

// TestLive compares Tables with running JVMs, on each JDK: with G1, and with another collector or with C1 alone.
func TestLive(t *testing.T) {
	gasmtest.NeedTime(t)
	classPath := t.TempDir()
	gasmtest.CompileJava(t, classPath, 11, gasmtest.Testdata("programs", "Library.java"))
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return nmethod.Known(j.Feature) })
	require.NotEmpty(t, jdks)
	others := [...]string{"-XX:TieredStopAtLevel=1", "-XX:+UseZGC"}
	for i, jdk := range jdks {
		for _, flag := range []string{"-XX:+UseG1GC", others[i%len(others)]} {
			t.Run(jdk.Name()+" "+flag, func(t *testing.T) {
				cmd := exec.Command(jdk.Java(), "-XX:+UnlockExperimentalVMOptions", flag, "-Dsec=600", "-cp", classPath, "Library")
				require.NoError(t, cmd.Start())
				defer cmd.Wait()
				defer cmd.Process.Kill()
				vm, copier, cache := openJVM(t, cmd.Process, enoughMethods)
				t.Run("walks", func(t *testing.T) { assert.Positive(t, testWalks(t, cmd.Process.Pid, vm, cache).special) })
				gasmtest.Stop(t, cmd.Process.Pid)
				_, err := cache.Poll(math.MaxInt64)
				require.NoError(t, err)
				t.Run("sizes", func(t *testing.T) { testSizes(t, vm, copier, cache.Blobs()) })
			})
		}
	}
}

// openJVM opens a JVM, and waits until it has that many methods.
func openJVM(t *testing.T, process *os.Process, methods int) (*vmstructs.VM, *nmethod.Copier, *codecache.Cache) {
	t.Helper()
	var vm *vmstructs.VM
	var copier *nmethod.Copier
	var cache *codecache.Cache
	gasmtest.AwaitOf(t, process.Pid, "it has compiled methods", func() bool {
		if cache == nil {
			var err error
			if vm, err = vmstructs.Open(process.Pid); err != nil {
				return false // it is only just starting
			}
			if copier, err = nmethod.NewCopier(vm); err != nil {
				return false
			}
			if cache, err = codecache.New(vm, copier.MethodName); err != nil {
				return false
			}
		}
		if _, err := cache.Poll(1); err != nil {
			return false
		}
		n := 0
		for _, b := range cache.Blobs() {
			if b.Method != nil {
				n++
			}
		}
		return n >= methods
	})
	return vm, copier, cache
}

// A comparison counts what agrees with HotSpot.
type comparison struct {
	share
	calls, agree int // calls with debug info
	leafCalls    int // calls without debug info: of leaf functions, which may come in the middle of pushes
	notEntrant   int
	nanos        time.Duration
}

// isScratch reports whether a blob is a buffer where C2 (compile.cpp in HotSpot) or C1 (Compiler::init_buffer_blob)
// writes code that is copied later. No thread executes it, and a stopped JVM has half-written code there.
func isScratch(b *codecache.Blob) bool {
	return strings.HasPrefix(b.Name, "Compile::") || b.Name == "C1 temporary CodeBuffer"
}

// testSizes executes all code in the code cache. At each call of a method that has debug info, the frame must have the
// size that HotSpot has in the header of the nmethod.
func testSizes(t *testing.T, vm *vmstructs.VM, copier *nmethod.Copier, blobs []*codecache.Blob) {
	byKind := map[printassembly.Kind]*comparison{}
	for _, b := range blobs {
		if isScratch(b) {
			continue
		}
		code, err := vm.Read(nil, b.Lo, b.Hi-b.Lo)
		if err != nil || len(code) == 0 {
			continue
		}
		c, size := liveCode(t, vm, b, code)
		if len(c.Seeds) == 0 { // the rest of a block of many small pieces: nothing of it is executed (Arch.Stub)
			continue
		}
		k := byKind[b.Kind]
		if k == nil {
			k = &comparison{}
			byKind[b.Kind] = k
		}
		start := time.Now()
		table := Analyze(c)
		k.nanos += time.Since(start)
		before := k.share
		k.add(table, c)
		if b.Method != nil {
			k.compare(t, b, table, c, size, debugInfo(t, copier, b))
		}
		if n := k.all - before.all; k.known-before.known < n*9/10 {
			t.Logf("%s: %d of %d known, %d disagree", b.Name, k.known-before.known, n, k.disagree-before.disagree)
		}
	}
	for kind, k := range byKind {
		t.Logf("%v: %+v", kind, *k)
		assert.Greater(t, float64(k.known), 0.8*float64(k.all), "%v", kind)
		if k.calls > 0 {
			assert.Greater(t, k.calls, 1000)
			assert.GreaterOrEqual(t, float64(k.agree), 0.999*float64(k.calls))
		}
	}
}

// liveCode returns the code of a blob, and the size of its frame if that is known.
func liveCode(t *testing.T, vm *vmstructs.VM, b *codecache.Blob, code []byte) (c Code, frameSize int) {
	t.Helper()
	switch {
	case b.Method != nil:
		m := liveMethod(t, vm, b)
		return AMD64.NMethod(b.Lo, code, m), m.FrameSize
	case b.Kind == printassembly.Interpreter:
		return AMD64.Codelet(b.Lo, code, b.Name), 0
	case strings.Contains(b.Name, "I2C/C2I"):
		return AMD64.Adapter(b.Lo, code), 0
	}
	return AMD64.Stub(b.Lo, code, b.Name), 0
}

// liveMethod reads from an nmethod's header what this package needs.
func liveMethod(t *testing.T, vm *vmstructs.VM, b *codecache.Blob) Method {
	t.Helper()
	header, err := vm.Read(nil, b.Method.Address, 512)
	require.NoError(t, err)
	field := func(names ...string) int64 {
		for _, name := range names {
			if f, ok := vm.Field(name); ok {
				v := f.In(header)
				switch f.Size {
				case 2:
					return int64(int16(v))
				case 4:
					return int64(int32(v))
				}
				return int64(v)
			}
		}
		t.Fatalf("there is no field %v", names)
		return 0
	}
	m := Method{FrameSize: int(field("CodeBlob::_frame_size")) * 8,
		FrameComplete: int(field("CodeBlob::_frame_complete_offset")), Native: b.Method.Compiler == ""}
	if field("nmethod::_entry_bci") != -1 {
		m.OSREntry = uint64(field("nmethod::_osr_entry_point"))
	}
	if f, ok := vm.Field("nmethod::_verified_entry_offset"); ok {
		m.VerifiedEntry = b.Lo + f.In(header)
	} else {
		m.VerifiedEntry = uint64(field("nmethod::_verified_entry_point"))
	}
	return m
}

// compare compares the frames at calls with the frame size in the nmethod's header. After a call that never returns
// there may be code with another frame.
func (k *comparison) compare(t *testing.T, b *codecache.Blob, table *Table, c Code, frameSize int,
	described map[uint64]bool) {
	if b.State == codecache.NotEntrant {
		k.notEntrant++
	}
	want := Place{Where: InRegister, Reg: rsp, Offset: int32(frameSize)}
	for _, in := range amd64.Decode(asm.ATT, c.Bytes, c.Lo) {
		if in.Kind != asm.Call {
			continue
		}
		if !described[in.Addr] {
			k.leafCalls++
			continue
		}
		f, ok := table.At(in.Addr)
		k.calls++
		after, returns := table.Return(in.Addr + uint64(in.Len))
		if ok && returns && f.CFA == want && after.CFA == want {
			k.agree++
		} else {
			t.Logf("%s: %#x: %v (%v), want %v", b.Name, in.Addr, f, ok, want)
		}
	}
}

// debugInfo returns the calls of a method at which HotSpot has debug info.
func debugInfo(t *testing.T, copier *nmethod.Copier, b *codecache.Blob) map[uint64]bool {
	t.Helper()
	code, err := copier.Copy(b.Method)
	if errors.Is(err, nmethod.ErrGone) {
		return nil
	}
	require.NoError(t, err)
	text, err := code.AppendTo(nil)
	require.NoError(t, err)
	l, err := printassembly.NewLog(strings.NewReader(string(text)), int64(len(text)), "copy")
	require.NoError(t, err)
	require.Len(t, l.Blobs, 1)
	insts, err := l.Code(&l.Blobs[0], disasm.ATT)
	require.NoError(t, err)
	described := map[uint64]bool{}
	for _, in := range insts {
		if in.OwnFrames {
			described[in.Lo] = true
		}
	}
	return described
}
