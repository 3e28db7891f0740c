package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/schema"
)

// withSites is a profile with locks, allocations and events of the program's own.
func withSites(t *testing.T) profile.Profile {
	p := dot(t)
	p.Happened = []profile.EventTotal{
		{Kind: event.Own, Name: "com.acme.Request", Count: 12, Nanos: 34_500_000, LongestNanos: 6_100_000, Counts: c(23)},
		{Kind: event.Lock, Count: 7, Nanos: 61_000_000, LongestNanos: 31_000_000, Counts: c(2)},
	}
	p.Locks = []profile.LockSite{
		{Frame: event.Frame{Method: "Workload::work", BCI: 7, Line: 21}, Class: "java.util.concurrent.ConcurrentHashMap$Node", Owner: "worker-", Count: 6, Nanos: 60e6, LongestNanos: 31e6},
		{Class: "A\x1b[31m", Count: 1, Nanos: 1e6, LongestNanos: 1e6},
	}
	p.Allocations = []profile.AllocSite{
		{Frame: event.Frame{Method: "Workload::allocate", BCI: 3, Line: 33}, Class: "byte[]", Events: 120, Bytes: 250_500_000},
		{Frame: event.Frame{Method: "Native::made"}, Class: "int[][]", Events: 1, Bytes: 100_000},
		{Class: "java.lang.String", Events: 1, Bytes: 1},
	}
	return p
}

func TestSites(t *testing.T) {
	gasmtest.Golden(t, "sites.golden", text(t, header(), []profile.Profile{withSites(t)}, options()))
	narrow := options()
	narrow.Width, narrow.TableWidth, narrow.Top = 80, 80, 1
	_, from, _ := strings.Cut(string(text(t, header(), []profile.Profile{withSites(t)}, narrow)), "[Locks]")
	_, from, _ = strings.Cut(from, "\n")
	to, _, ok := strings.Cut(from, "[Account")
	require.True(t, ok)
	for line := range strings.Lines(to) {
		assert.LessOrEqual(t, layout.Width(strings.TrimRight(line, "\n")), 80, line)
	}
	assert.Contains(t, to, "1 more row left out.")
	assert.Contains(t, to, "2 more rows left out.")
}

func TestSitesJSON(t *testing.T) {
	ps := &profile.Profiles{Trials: []profile.Profile{withSites(t)}}
	text, err := json.Marshal(JSON(ps, "test"))
	require.NoError(t, err)
	var rep schema.Report
	require.NoError(t, json.Unmarshal(text, &rep))
	p := &rep.Profiles[0]
	require.Len(t, p.Locks, 2)
	assert.Equal(t, schema.Lock{At: &schema.Frame{Method: "Workload::work", BCI: 7, Line: 21}, Class: "java.util.concurrent.ConcurrentHashMap$Node", Owner: "worker-", Count: 6, TotalMS: 60, LongestMS: 31}, p.Locks[0])
	assert.Nil(t, p.Locks[1].At)
	require.Len(t, p.Allocations, 3)
	assert.Equal(t, int64(250_500_000), p.Allocations[0].Bytes)
	assert.Equal(t, 33, p.Allocations[0].At.Line)
}
