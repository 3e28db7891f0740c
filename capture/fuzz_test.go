package capture

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// For any capture.json, the Description lists no JVM twice and keeps to the limits. When it is written and read again,
// it is the same.
func FuzzDescription(f *testing.F) {
	golden, err := os.ReadFile("testdata/capture.json")
	require.NoError(f, err)
	f.Add(golden)
	f.Add([]byte(`{"schema":1,"jvms":[{"pid":7,"log":"a"},{"pid":7},{"pid":-1},{"pid":8,"log":"a"}]}`))
	f.Add([]byte(`{"schema":1,"trials":[{"name":"a","windows":[{"pid":1,"start_mono_ns":9,"end_mono_ns":1}]},null]}`))
	f.Add([]byte(`{"jvms":{},"notes":[1],"clocks":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parseDescription(text)
		if err != nil {
			return
		}
		assert.LessOrEqual(t, len(d.JVMs), maxJVMs)
		assert.LessOrEqual(t, len(d.Trials), maxTrials)
		jvms, note := distinctJVMs(d.JVMs)
		pids := map[int]bool{}
		for _, j := range jvms {
			assert.False(t, pids[j.PID] || j.PID <= 0, "JVM %d", j.PID)
			pids[j.PID] = true
		}
		assert.Equal(t, len(jvms) < len(d.JVMs), note != "")
		written, err := json.Marshal(d)
		require.NoError(t, err)
		again, err := parseDescription(written)
		require.NoError(t, err)
		rewritten, err := json.Marshal(again)
		require.NoError(t, err)
		assert.Equal(t, string(written), string(rewritten))
	})
}
