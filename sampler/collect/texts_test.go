package collect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/sampler"
)

// eventsOf parses events. It returns nil if there are none.
func eventsOf(specs ...string) (events []sampler.Event) {
	for _, spec := range specs {
		events = append(events, sampler.ParseEvent(spec))
	}
	return events
}

// eventsIn parses a list of events separated by commas. No event may contain a comma.
func eventsIn(list string) []sampler.Event {
	if list == "" {
		return nil
	}
	return eventsOf(strings.Split(list, ",")...)
}

// specsOf returns what perf samples, in the form of a list for perf: "cycles:u,page-faults".
func specsOf(p *Perf) string { return strings.Join(sampler.Specs(p.Events()), ",") }

// readPerf returns copies of the records in a text of perf's.
func readPerf(t testing.TB, text string) (records []any) {
	t.Helper()
	r := sampler.NewPerfReader(strings.NewReader(text), "in")
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *sampler.Sample:
			records = append(records, *rec)
		case *sampler.Lost:
			records = append(records, *rec)
		case *sampler.SyntaxError:
			records = append(records, *rec)
		default:
			t.Fatalf("a record is a %T", rec)
		}
	}
	require.NoError(t, r.Err())
	return records
}
