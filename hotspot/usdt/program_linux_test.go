package usdt

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rawRegisters is the size in bytes of what a test can pass to a program instead of registers.
const rawRegisters = 12 * 8

// TestFindCaller runs the code of findCaller in the kernel, on frames in this process's memory: with plain
// return addresses, and with signed ones.
func TestFindCaller(t *testing.T) {
	needBPF(t)
	if framePointer >= rawRegisters {
		t.Skipf("a test can't set the frame pointer of %s", runtime.GOARCH)
	}
	plain := struct{ libjvm, stub, above uint64 }{0xffff_90b3_0005, 0xffff_7400_c0de, 0xffff_740a_b0fe}
	for _, c := range []struct {
		name                           string
		libjvm, stub, above, signature uint64
	}{{"plain", plain.libjvm, plain.stub, plain.above, 0}, {"signed", signed.libjvm, signed.stub, signed.above,
		signed.signature}} {
		// Two frames of the library, the frame of a stub, and the frame of what called the stub.
		stack := make([]uint64, 8)
		at := func(i int) uint64 { return uint64(uintptr(unsafe.Pointer(&stack[i]))) }
		copy(stack, []uint64{at(2), c.libjvm, at(4), c.libjvm, at(6), c.stub, 0, c.above})
		got := runFindCaller(t, target{libjvmLo: 0xffff_90b3_0000, libjvmHi: 0xffff_91b3_0000, signature: c.signature}, at(0))
		assert.Equal(t, [2]uint64{plain.stub, plain.above}, got, "%s: %#x", c.name, got)
		runtime.KeepAlive(stack)
	}
}

// runFindCaller runs the code of findCaller with a frame pointer, and returns the two addresses that it
// writes.
func runFindCaller(t *testing.T, of target, frame uint64) (found [2]uint64) {
	t.Helper()
	values, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1})
	require.NoError(t, err)
	defer values.Close()
	code := asm.Instructions{asm.Mov.Reg(registers, asm.R1), asm.LoadMapValue(record, values.FD(), 0)}
	code = append(append(code, findCaller(0, of, 0)...), asm.Mov.Imm(asm.R0, 0), asm.Return())
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "gasm_caller", Type: ebpf.RawTracepoint, KernelVersion: 1,
		License: "Dual BSD/GPL", Instructions: code})
	require.NoError(t, err)
	defer program.Close()
	words := make([]byte, rawRegisters)
	binary.NativeEndian.PutUint64(words[framePointer:], frame)
	_, err = program.Run(&ebpf.RunOptions{Context: words})
	require.NoError(t, err)
	require.NoError(t, values.Lookup(uint32(0), &found))
	return found
}
