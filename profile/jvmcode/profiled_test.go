package jvmcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// TestProfiled: JDK 8 numbers OSR code separately, so two pieces of code may have the same compile id.
func TestProfiled(t *testing.T) {
	const text = `<hotspot_log version='160 1' process='7' time_ms='1'>
<method_profile id='1' method='In::both' class_check='1'/>
<method_profile id='2' method='In::osr' unstable_if='2'/>
<profiles compile_id='5' ids='1'/>
<profiles compile_id='5' osr='1' ids='2 1'/>
`
	l, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), "log")
	require.NoError(t, err)
	for i, key := range []printassembly.CodeKey{{ID: 5}, {ID: 5, OSR: true}, {ID: 6, OSR: true}} {
		lo := uint64(0x1000 * (i + 1))
		l.Blobs = append(l.Blobs, printassembly.Blob{Kind: printassembly.NMethod, ID: key.ID, OSR: key.OSR, Compiler: "c2",
			Name: []string{"A::plain", "B::osr", "B::osr"}[i], Lo: lo, Hi: lo + 0x100})
	}
	var jvms JVMs
	jvms.Add(capture.JVM{PID: 7, Log: l})
	r := NewReader(&jvms, disasm.Intel, func(string, ...any) {})
	for i, want := range [][]string{{"In::both class_check 1"}, {"In::osr unstable_if 2", "In::both class_check 1"}, nil} {
		var traps []string
		for _, m := range r.Profiled(Ref{0, i}).Traps {
			traps = append(traps, m.Method+" "+m.String())
		}
		assert.Equal(t, want, traps, "blob %d", i)
	}
	assert.True(t, jvms.List[0].hasCallers("In::both"), "A::plain and B::osr")
	assert.False(t, jvms.List[0].hasCallers("In::osr"))
}
