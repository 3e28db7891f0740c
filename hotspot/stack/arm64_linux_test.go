package stack

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// armLibrary has a function that signs its return address, and keeps it on the stack.
const armLibrary = `
	.arch armv8.3-a
	.macro function name
	.type \name, %function
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size \name, .-\name
	.endm

	function outermost
	.cfi_undefined x30
	bl middle
	nop
	end outermost

	function middle
	paciasp
	.cfi_negate_ra_state
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	bl leaf
	ldp x29, x30, [sp], #32
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	autiasp
	.cfi_negate_ra_state
	ret
	end middle

	function leaf
	nop
	ret
	end leaf
`

// assemble makes a shared library for aarch64. It returns a mapping of the library, as if this process had mapped it.
func assemble(t *testing.T, text string) native.Mapping {
	t.Helper()
	as := gasmtest.NeedTool(t, "aarch64-linux-gnu-as", "scripts/setup.sh unit installs binutils for aarch64")
	ld := gasmtest.NeedTool(t, "aarch64-linux-gnu-ld", "scripts/setup.sh unit installs binutils for aarch64")
	dir := t.TempDir()
	source, object, library := filepath.Join(dir, "code.s"), filepath.Join(dir, "code.o"), filepath.Join(dir, "libcode.so")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	for _, command := range [][]string{{as, "-o", object, source},
		{ld, "-shared", "-z", "noseparate-code", "-o", library, object}} {
		out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	var stat unix.Stat_t
	require.NoError(t, unix.Stat(library, &stat))
	const lo = 0xffff_9000_0000
	return native.Mapping{PID: os.Getpid(), Lo: lo, Hi: lo + 0x10000, Path: library,
		DevMajor: unix.Major(stat.Dev), DevMinor: unix.Minor(stat.Dev), Inode: stat.Ino}
}

// TestWalkARM64 walks stacks of aarch64, on any machine: a return address in x30, and one on the stack that is signed.
func TestWalkARM64(t *testing.T) {
	m := assemble(t, armLibrary)
	at := symbols(t, m)
	const stackBase, signature = 0xffff_f000_0000, 0x5a << 48
	for _, c := range []struct {
		name    string
		pc, x30 uint64
		stack   []uint64
		want    []string
	}{
		{"leaf", at["leaf"], at["middle"] + 12, []uint64{1, signature | at["outermost"] + 4, 2, 3},
			[]string{"middle", "outermost"}},
		{"signed", at["middle"] + 4, signature | at["outermost"] + 4, nil, []string{"outermost"}},
		{"stored", at["middle"] + 8, 7, []uint64{1, signature | at["outermost"] + 4, 2, 3}, []string{"outermost"}},
		{"outermost", at["outermost"], 7, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			mappings := native.NewResolver()
			mappings.Add(m)
			w, out := NewWalker(shared.NewJVMs()), callstack.NewWriter(io.Discard)
			w.processor = arm64
			state := &perfevent.ThreadState{ABI: perfevent.ABI64}
			state.Regs[perfevent.ARM64PC], state.Regs[perfevent.ARM64SP], state.Regs[perfevent.ARM64LR] = c.pc, stackBase, c.x30
			for _, word := range c.stack {
				state.Stack = binary.LittleEndian.AppendUint64(state.Stack, word)
			}
			w.Walk(out, &perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.User, PID: int32(m.PID),
				MonoNanos: monotonic.Nanos(),
				IP:        c.pc, ThreadState: state}, mappings)
			var names []string
			for _, f := range framesOf(&w.walk) {
				names = append(names, f.Name)
			}
			assert.Equal(t, c.want, names)
			assert.Zero(t, w.walk.mark)
		})
	}
}

// openELF opens the file of a mapping, until the test ends.
func openELF(t *testing.T, m native.Mapping) *elf.File {
	t.Helper()
	f, err := os.Open(m.Path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	e, err := native.NewELF(f)
	require.NoError(t, err)
	return e
}

// symbols returns the addresses of a mapped library's functions.
func symbols(t *testing.T, m native.Mapping) map[string]uint64 {
	t.Helper()
	all, err := openELF(t, m).Symbols()
	require.NoError(t, err)
	at := map[string]uint64{}
	for _, s := range all {
		at[s.Name] = m.Lo + s.Value
	}
	return at
}

// TestEndsWithCall: return addresses are distinguished from other addresses by the call instruction before them.
func TestEndsWithCall(t *testing.T) {
	word := func(x uint32) []byte { return append([]byte{9, 9, 9}, binary.LittleEndian.AppendUint32(nil, x)...) }
	for _, c := range []struct {
		processor *processor
		code      []byte
		want      bool
	}{
		{amd64, []byte{0x90, 0x90, 0xe8, 1, 0, 0, 0}, true},             // call
		{amd64, []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, true}, // call *%rax
		{amd64, []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, false},
		{arm64, word(0x94000010), true},  // bl
		{arm64, word(0x97ffffff), true},  // bl
		{arm64, word(0xd63f0100), true},  // blr x8
		{arm64, word(0xd73f0909), true},  // blraa x8, x9
		{arm64, word(0xd61f0100), false}, // br x8
		{arm64, word(0x14000010), false}, // b
	} {
		assert.Equal(t, c.want, c.processor.endsWithCall(c.code), "% x", c.code)
	}
}

// TestSignalARM64 walks from a signal handler to the code that the signal has interrupted.
func TestSignalARM64(t *testing.T) {
	m := assemble(t, armLibrary)
	at := symbols(t, m)
	vdso := append(make([]byte, 12), sigreturn...)
	require.EqualValues(t, 12, findSigreturn(vdso))
	require.Zero(t, findSigreturn(vdso[:18]))

	const stackBase, interrupted = 0xffff_f000_0000, 0xffff_f000_0300
	words := make([]uint64, 0x400/8)
	for n := range 31 {
		words[signalRegisters/8+n] = uint64(1000 + n)
	}
	words[signalRegisters/8+x30] = at["middle"] + 12
	words[signalRegisters/8+armSP], words[signalPC/8] = interrupted, at["leaf"]
	k := &walk{processor: arm64, mask: 1<<48 - 1}
	k.dump.Base = stackBase
	for _, word := range words {
		k.dump.Data = binary.LittleEndian.AppendUint64(k.dump.Data, word)
	}
	for _, pc := range []uint64{12, 16, 20} {
		assert.True(t, (&library{sigreturn: 12}).inSigreturn(pc), "%d", pc)
	}
	assert.False(t, (&library{sigreturn: 12}).inSigreturn(8))
	assert.False(t, (&library{}).inSigreturn(0))
	k.at.Set(k.sp, stackBase)
	k.at.PC = at["leaf"]
	l := &library{attempts: 1}
	(&Walker{}).take(l, content{segments: native.LoadSegments(openELF(t, m)), sigreturn: at["leaf"] - m.Lo,
		err: cfi.ErrNone})
	require.Equal(t, found, k.unwindLibrary(&mapped{m, l}), "without call frame information, as in the vDSO")
	assert.True(t, k.exact, "the interrupted code was not calling")
	assert.Equal(t, at["leaf"], k.at.PC)
	assert.EqualValues(t, interrupted, k.at.Values[k.sp])
	assert.EqualValues(t, 1029, k.at.Values[k.fp])
	assert.Equal(t, at["middle"]+12, k.at.Values[k.link])

	k.at.Set(k.sp, stackBase+0x200)
	require.Equal(t, cut, k.unwindSignal(), "the registers are behind the end of the copy")
}
