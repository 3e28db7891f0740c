package stack

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/stack/exec"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/printassembly"
)

// TestInterpreterFrame finds the callers of interpreter frames.
func TestInterpreterFrame(t *testing.T) {
	const base, fp = 0x7000, 0x7010
	const signature = 0x33 << 48
	for _, c := range []struct {
		name      string
		processor *processor
		sender    uint64 // the caller's stack pointer that the frame contains
		ra        uint64
		want      step
		sp        uint64
	}{
		{"arguments above", amd64, fp + 0x40, 0x1234, found, fp + 0x40},
		{"below the frame", amd64, fp - 0x40, 0x1234, failed, 0},
		{"arguments above", arm64, fp + 0x40, signature | 0x1234, found, fp + 0x40},
		{"space of the caller", arm64, fp - 0x40, signature | 0x1234, found, fp + 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &walk{processor: c.processor, jvm: &jvm{}, mask: 1<<48 - 1}
			k.dump.Base = base
			for _, word := range []uint64{0, c.sender, 0x7100, c.ra} { // from base to fp+8
				k.dump.Data = binary.LittleEndian.AppendUint64(k.dump.Data, word)
			}
			k.at.Set(k.sp, base)
			k.at.Set(k.fp, fp)
			assert.Equal(t, c.want, k.unwindByFP(&code{rule: interpreter}))
			if c.want == found {
				want := cfi.Registers{PC: 0x1234}
				want.Set(k.sp, c.sp)
				want.Set(k.fp, 0x7100)
				assert.Equal(t, want, k.at)
			}
		})
	}
}

// TestPushedARM64: before a method of aarch64 calls a C function, it pushes registers, so its frame is larger than
// HotSpot says. When it calls Java code, its frame has the size that HotSpot says.
func TestPushedARM64(t *testing.T) {
	const lo, base = 0x1000, 0x7000
	var code []byte
	for _, x := range []uint32{
		0xa9bf7bfd, // stp x29, x30, [sp, #-16]!
		0xa9bf33e8, // stp x8, x12, [sp, #-16]!
		0xd63f0100, // blr x8
		0xa8c133e8, // ldp x8, x12, [sp], #16
		0xa8c17bfd, // ldp x29, x30, [sp], #16
		0xd65f03c0, // ret
	} {
		code = binary.LittleEndian.AppendUint32(code, x)
	}
	table := exec.Analyze(exec.ARM64.NMethod(lo, code, exec.Method{FrameSize: 16, FrameComplete: 4}))
	c := newTestCode(lo, code, table)
	for native, want := range map[bool][2]uint64{true: {0x4444, base + 32}, false: {0x2222, base + 16}} {
		k := &walk{processor: arm64, jvm: &jvm{}, mask: 1<<48 - 1, native: native}
		k.dump.Base = base
		for _, word := range []uint64{0x1111, 0x2222, 0x3333, 0x4444} {
			k.dump.Data = binary.LittleEndian.AppendUint64(k.dump.Data, word)
		}
		k.at.PC = lo + 12
		k.at.Set(k.sp, base)
		assert.Equal(t, found, k.unwindCode(c))
		assert.Equal(t, want, [2]uint64{k.at.PC, k.at.Values[k.sp]}, "%v", native)
	}
}

func newTestCode(lo uint64, bytes []byte, table *exec.Table) *code {
	blob := &codecache.Blob{Lo: lo, Hi: lo + uint64(len(bytes)), Method: &printassembly.Installed{}}
	return &code{Blob: blob, rule: byFrameSize, known: true, frameSize: 16, executed: true, table: table}
}
