package stack

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/cfi"
)

// TestInterpreterFrame finds the callers of interpreter frames.
func TestInterpreterFrame(t *testing.T) {
	const base, fp = 0x7000, 0x7010
	const signature = 0x33 << 48
	for _, c := range []struct {
		name      string
		processor *processor
		sender    uint64 // the caller's stack pointer, as the frame has it
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
