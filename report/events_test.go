package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/report/tracetest"
)

// Names in lists of events are escaped, and a list that is too long for a table is complete in the other formats.
func TestEventFormats(t *testing.T) {
	events := []event.Event{{PID: 1, Kind: event.Compilation, Name: "A::\x1b[31mb", MonoNanos: 5e9,
		Args: []event.Arg{{Name: "level", Value: "4"}}}}
	for i := range tableRows {
		events = append(events, event.Event{PID: 1, TID: 2, Kind: event.Safepoint, Name: "Cleanup",
			MonoNanos: 5e9 + int64(i+1)*1e6, Nanos: 1e5, WaitNanos: 1e3})
	}
	require.NotEmpty(t, EventFormats)
	for _, f := range EventFormats {
		var b bytes.Buffer
		require.NoError(t, f.Write(&b, events, EventOptions{}))
		if f.Name == "perfetto" {
			trace, err := tracetest.Decode(b.Bytes())
			require.NoError(t, err)
			assert.Equal(t, len(events), len(trace.Slices))
			assert.Equal(t, `A::\x1b[31mb`, trace.Slices[0].Name)
			continue
		}
		assert.NotContains(t, b.String(), "\x1b", f.Name)
		assert.Equal(t, tableRows, strings.Count(b.String(), "Cleanup"), f.Name)
	}
	for _, f := range EventFormats {
		require.NoError(t, f.Write(io.Discard, nil, EventOptions{}), f.Name)
	}
}
