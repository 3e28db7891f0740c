package jvmcode

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/printassembly"
)

// After a loop without a safepoint, the next safepoint may be in the call of the agent that is made before the method
// returns.
func TestWithoutAgent(t *testing.T) {
	frame := func(method string) printassembly.Frame { return printassembly.Frame{Method: method} }
	work, leave, ended, put :=
		frame("Busy::work"), frame("java.lang.GasmProbes::leaveWindow"), frame("java.lang.GasmProbes::end"),
		frame("java.nio.DirectLongBufferU::put")
	for _, c := range []struct{ chain, want []printassembly.Frame }{
		{[]printassembly.Frame{ended, leave, work}, []printassembly.Frame{work}},
		{[]printassembly.Frame{put, ended, leave, work, work}, []printassembly.Frame{work, work}},
		{[]printassembly.Frame{put, work}, []printassembly.Frame{put, work}},
		{[]printassembly.Frame{leave}, []printassembly.Frame{leave}}, // its own code
		{[]printassembly.Frame{work}, []printassembly.Frame{work}},
	} {
		assert.Equal(t, c.want, withoutAgent(c.chain))
	}
}

func TestIndex(t *testing.T) {
	insts := []printassembly.Instruction{{Lo: 0x10, Hi: 0x13}, {Lo: 0x13, Hi: 0x14}, {Lo: 0x18, Hi: 0x1a}}
	for pc, want := range map[uint64]int{0: -1, 0xf: -1, 0x10: 0, 0x12: 0, 0x13: 1, 0x14: -1, 0x17: -1, 0x18: 2, 0x19: 2,
		0x1a: -1} {
		assert.Equal(t, want, Index(insts, pc), "0x%x", pc)
	}
	assert.Equal(t, -1, Index(nil, 1))
}
