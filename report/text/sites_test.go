package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

func TestSites(t *testing.T) {
	wide := options()
	wide.SiteCallers = 2
	gasmtest.Golden(t, "sites.golden", text(t, reporttest.Header(), []profile.Profile{reporttest.Sites(t)}, wide))
	narrow := wide
	narrow.Width, narrow.TableWidth, narrow.Top = 80, 80, 1
	_, from, _ := strings.Cut(string(text(t, reporttest.Header(), []profile.Profile{reporttest.Sites(t)}, narrow)),
		"[Locks]")
	_, from, _ = strings.Cut(from, "\n")
	to, _, ok := strings.Cut(from, "[Account")
	require.True(t, ok)
	for line := range strings.Lines(to) {
		assert.LessOrEqual(t, layout.Width(strings.TrimRight(line, "\n")), 80, line)
	}
	assert.Contains(t, to, "1 more row left out.")
	assert.Contains(t, to, "2 more rows left out.")
}

// Without sizes, allocations are counted, and nothing says that there were 0.0 MB.
func TestUnknownSizes(t *testing.T) {
	p := reporttest.Sites(t)
	for i := range p.Allocations {
		p.Allocations[i].Bytes = 0
	}
	o := options()
	o.SiteCallers = 1
	got := string(text(t, reporttest.Header(), []profile.Profile{p}, o))
	assert.Contains(t, got, "  share  count\n 98.36%    120  Workload::allocate:33  byte[]\n")
	assert.Contains(t, got, "Shares are of 122 allocations, whose sizes are unknown.")
	assert.Contains(t, got, "place's allocations.")
	assert.NotContains(t, got, "MB")
}

// Places without stacks have no callers.
func TestNoStacks(t *testing.T) {
	p := reporttest.Sites(t)
	p.Parks, p.Allocations = nil, nil
	for i := range p.Locks {
		p.Locks[i].Stacks = nil
	}
	o := options()
	o.SiteCallers = 10
	assert.NotContains(t, string(text(t, reporttest.Header(), []profile.Profile{p}, o)), "Callers of Locks")
}

// Tables of a part of the run say so in their headings, and so does the sum in the overview.
func TestUnrecorded(t *testing.T) {
	p := reporttest.Sites(t)
	for nanos, want := range map[int64]string{0: "", 90e6: "", 13_660e6: " (without the first 13.7 s)"} {
		p.UnrecordedNanos = nanos
		got := string(text(t, reporttest.Header(), []profile.Profile{p}, options()))
		assert.Contains(t, got, "[Locks"+want+"]")
		assert.Contains(t, got, "[Parks"+want+"]")
		assert.Contains(t, got, "[Allocations"+want+"]")
		assert.Contains(t, got, "250.6 MB allocated"+want+", most at")
	}
}
