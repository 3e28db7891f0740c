package diff

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
)

// Any report that can be read can be compared and written. Compared with itself, its frames
// have not changed.
func FuzzReadJSON(f *testing.F) {
	var small bytes.Buffer
	require.NoError(f, report.WriteJSON(&small,
		&profile.Profiles{Capture: capture.Description{Events: []string{"cycles"}}}, report.Options{}))
	f.Add(small.Bytes())
	f.Add([]byte(`{"schema":1,"capture":{"events":["cycles"]},"profiles":[{"trial":"b","jvms":[{"counts":{"cycles":50}},{"counts":{"cycles":50}}],
"account":{"cycles":{"profiled":100}},"methods":[{"source":"c2, level 4, osr","name":"A::a","counts":{"cycles":90},"per_jvm":[{"cycles":40},{"cycles":50}]}],
"frames":[{"method":"A::a","counts":{"cycles":90}}],"native":[{"module":"kernel","symbol":"","counts":{"cycles":10}}],
"regions":[{"source":"c2, level 4","method":"A::a","compile_id":7,"lo":"0x1000","hi":"0x1008","counts":{"cycles":90},"lines":[
{"addr":"0x1000","text":"add %eax,%ebx","counts":{"cycles":40},"frames":[{"method":"A::a","line":3}],"comments":["{oop(x)}"]},
{"addr":"0x1004","text":"jl 0x1000","counts":{"cycles":50}}]}]}]}`))
	// A report that another program wrote can have one frame twice.
	f.Add([]byte(`{"schema":1,"capture":{},"profiles":[{"account":{"cycles":{"profiled":100}},
"frames":[{"method":"A::a"},{"method":"A::a","counts":{"cycles":10}}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ReadJSON(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		r := Compare(s, s, options())
		require.NoError(t, r.WriteText(io.Discard, TextOptions{Top: 2, Look: layout.Look{Width: 40}}))
		for _, c := range r.Trials {
			for _, row := range c.Frames {
				assert.Zero(t, row.Change)
			}
		}
	})
}
