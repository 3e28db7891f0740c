package printassembly

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// DebugInfo must have the same frames for every instruction as its listing. The log was made from Workload.java with
// JDK 25: gasm profile -o DIR -- java -Dsec=2 Workload.java
func TestDebugInfo(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	text := gasmtest.Gunzip(t, "testdata/copied-jdk25.log.gz")
	l, err := NewLog(bytes.NewReader(text), int64(len(text)), "log")
	require.NoError(t, err)
	methods, insts, inlined := 0, 0, 0
	for i := range l.Blobs {
		b := &l.Blobs[i]
		if !b.HasCode {
			continue
		}
		info, err := l.DebugInfo(b, disasm.ATT)
		require.NoError(t, err)
		require.NotNil(t, info, b.Name)
		methods++
		for _, in := range code(t, l, b) {
			insts++
			if len(in.Frames) > 1 {
				inlined++
			}
			assert.Equal(t, in.Frames, info.Frames(in.Lo), "%s at 0x%x", b.Name, in.Lo)
			hi, ok := info.End(in.Lo)
			assert.True(t, ok)
			assert.Equal(t, in.Hi, hi, "%s at 0x%x: %s", b.Name, in.Lo, in.Text)
		}
		assert.Nil(t, info.Frames(b.Lo-1))
		_, ok := info.End(b.Hi + 64)
		assert.False(t, ok)
	}
	assert.Equal(t, 78, methods)
	assert.Greater(t, inlined, 1000)
	t.Log(methods, "methods,", insts, "instructions,", inlined, "of inlined methods")
}

// In code that HotSpot printed itself, debug info depends on the surrounding instructions, so DebugInfo can't read
// it.
func TestDebugInfoOfPrints(t *testing.T) {
	l, err := NewLog(strings.NewReader(copiedLog), int64(len(copiedLog)), "log")
	require.NoError(t, err)
	var had []bool
	for i := range l.Blobs {
		info, err := l.DebugInfo(&l.Blobs[i], disasm.ATT)
		require.NoError(t, err)
		had = append(had, info != nil)
	}
	assert.Equal(t, []bool{true, false, true}, had)
}
