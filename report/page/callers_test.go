package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/report/page/sources"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/sampler"
)

// The page has the code of methods that only call the hot code, so that a frame of the flame graph above 1 % leads to
// the code at its call.
func TestCallersAreListed(t *testing.T) {
	dir := t.TempDir()
	reporttest.WriteStacks(t, dir)
	o := choice.DefaultOptions()
	o.Listings, o.SkipLines, o.Stacks, o.Parts = 1_000_000, true, true, true
	c, err := capture.Open(dir)
	require.NoError(t, err)
	defer c.Close()
	ps, err := profile.Of(c, o)
	require.NoError(t, err)
	p := &ps.Trials[0]
	var callers []int
	for i := range p.Listings {
		l := &p.Listings[i]
		if l.Counts[0] > 0 {
			assert.Empty(t, callers, "they come last")
			continue
		}
		callers = append(callers, l.CompileID)
		assert.Len(t, l.Other, len(l.Lines), l.Method)
		assert.Len(t, l.Parts.Lines, len(l.Lines), l.Method)
		assert.Equal(t, p.PIDs, l.PIDs, l.Method)
	}
	called, all := calledBy(t, c)
	require.Equal(t, p.Accounts[0].Profiled, all, "each sample of the capture is in the profile")
	const handle = 13 // com.acme.Server::handle
	assert.Equal(t, []int{handle}, callers)
	assert.Greater(t, called[handle], int(all/100))

	at := newPlaces(p, 0)
	last := len(p.Listings) - 1
	view := (&builder{in: Input{Profiles: ps}, listing: last, sources: sources.New(nil, nil, nil)}).code(p,
		&schema.Profile{}, &p.Listings[last], at, []int64{all})
	assert.Empty(t, view.Share)
	assert.EqualValues(t, called[handle], view.Total.Raw)
	r := callsOf(t, ps, 0)
	calls := 0
	for i, path := range r.paths {
		if frame := r.data.Nodes[2*i]; strings.HasSuffix(path, "com.acme.Router::route") {
			calls++
			assert.Equal(t, fmt.Sprintf("c%d-b", last), r.data.Places[r.data.Frames[5*frame+4]-1], "the call, at 0x500b")
		}
	}
	assert.NotZero(t, calls)
}

// calledBy returns, for each compile id, the number of samples that have this method on their stacks, and the number of
// all samples.
func calledBy(t *testing.T, c *capture.Capture) (counts map[int]int, all int64) {
	t.Helper()
	tree, _ := c.ReadStacks()
	r, err := c.Samples()
	require.NoError(t, err)
	defer r.Close()
	counts = map[int]int{}
	for r.Scan() {
		s, ok := r.Record().(*sampler.Sample)
		if !ok {
			continue
		}
		all++
		ids := map[int]bool{}
		for f := range tree.Frames(s.Stack) {
			if f.Kind == callstack.Compiled {
				ids[f.CompileID] = true
			}
		}
		for id := range ids {
			counts[id]++
		}
	}
	require.NoError(t, r.Err())
	return counts, all
}
