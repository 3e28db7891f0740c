package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// Calls that were not inlined are in all reports, with their reasons.
func TestCalls(t *testing.T) {
	ps := reporttest.Profiles(reporttest.Header(), reporttest.Workload(t))
	reporttest.AddCalls(ps)
	written := map[string]string{}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return WriteText(b, ps, Options{}) },
		"JSON": func(b *bytes.Buffer) error { return WriteJSON(b, ps, Options{}) },
		"page": func(b *bytes.Buffer) error { return WriteHTML(b, ps, Options{}) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b), name)
		written[name] = b.String()
	}
	const reason = "hot method too big: 412 bytecodes, FreqInlineSize 325"
	text := written["text"]
	assert.Contains(t, text, "Calls:      of 4 calls in hot code: 1 inlined, 1 refused, 1 virtual, 1 of which nothing is known\n")
	assert.Contains(t, text, "....[Calls Not Inlined in Hot Code].")
	assert.Contains(t, text, "p.Shapes::sum:40 calls p.Shape::area\n")
	assert.Contains(t, text, reason+" (in Workload::dot, compile id")
	assert.Contains(t, text, "-XX:CompileCommand=inline,p.Shape::area\n")
	assert.Contains(t, text, "virtual: receivers while profiled: Circle 50 %, Square 30 %, others 20 %")
	assert.Contains(t, text, "; not inlined: "+reason, "beside the instruction")

	var report schema.Report
	require.NoError(t, json.Unmarshal([]byte(written["JSON"]), &report))
	calls := report.Profiles[0].Calls
	require.NotNil(t, calls)
	assert.Equal(t, []int{1, 1, 1, 1, 1, 1, 2}, []int{calls.Pieces, calls.Early, calls.Inlined, calls.Refused,
		calls.Virtual, calls.Unknown, calls.AllNotInlined})
	require.Len(t, calls.NotInlined, 2)
	first := calls.NotInlined[0]
	assert.Equal(t, []string{"refused", "p.Shape::area", reason}, []string{first.Outcome, first.Callee, first.Reason})
	assert.Equal(t, 412, first.CalleeSize)
	assert.Equal(t, []string{"hot method too big"}, first.Reasons)
	assert.Equal(t, "virtual", calls.NotInlined[1].Outcome)
	assert.Len(t, calls.NotInlined[1].Receivers.Types, 2)
	assert.Equal(t, reason, report.Profiles[0].Regions[0].Lines[1].Call)

	assert.Contains(t, written["page"], "Calls not inlined in hot code")
	assert.Contains(t, written["page"], reason)
}
