package stacks

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/wall"
)

// stackLine matches a line that flamegraph.pl, inferno and speedscope accept.
var stackLine = regexp.MustCompile(`^(.*) (\d+)$`)

// collapsed returns the collapsed stacks of profiles, and the sum of their numbers.
func collapsed(t *testing.T, h capture.Description, ps []profile.Profile) (text string, sum int64) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteCollapsed(&b, reporttest.Profiles(h, ps...)))
	for line := range strings.Lines(b.String()) {
		m := stackLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		require.NotNil(t, m, line)
		n, err := strconv.ParseInt(m[2], 10, 64)
		require.NoError(t, err)
		sum += n
	}
	return b.String(), sum
}

// Two trials with one of everything, and a whole capture: the stacks have all samples of the first event.
func TestCollapsed(t *testing.T) {
	h, ps := joined(t)
	text, sum := collapsed(t, h, ps)
	gasmtest.Golden(t, "collapsed.txt", []byte(text))
	assert.Equal(t, ps[0].Accounts[0].Profiled+ps[1].Accounts[0].Profiled, sum)
	_, sum = collapsed(t, h, ps[:1])
	assert.Equal(t, ps[0].Accounts[0].Profiled, sum)
	_, sum = collapsed(t, h, nil)
	assert.Zero(t, sum)
}

// A name can end neither a frame nor a line.
func TestCollapsedNames(t *testing.T) {
	text, _ := collapsed(t, reporttest.Header(), []profile.Profile{{Counters: []string{"cycles"},
		Locations: []profile.Location{
			{Thread: "a;b\nc 7", Source: "c2, level 4", Counts: tally.Counts{3},
				Frames: []printassembly.Frame{{Method: "in;ner\x1b"}, {Method: "outer"}}},
			{Source: "libc.so.6", Name: "f(int) const", Counts: tally.Counts{2}},
			{Source: "kernel", Counts: tally.Counts{0}},
		}}})
	assert.Equal(t, "a:b\\nc 7;outer;in:ner\\x1b 3\nlibc.so.6;f(int) const 2\n", text)
}

// TestWaitRoom checks that the frames of many stacks are left out when too many were written.
func TestWaitRoom(t *testing.T) {
	tree := &callstack.Tree{}
	id := callstack.ID(0)
	for range 3 {
		id = tree.Push(id, callstack.Frame{Kind: callstack.Interpreted, Name: "A::f"})
	}
	w := &waits.Table{Stacks: calltree.NewStacks(tree)}
	for i := range 4 {
		w.Sums = append(w.Sums, waits.Sum{Pool: fmt.Sprint("pool", i), State: wall.Sleep, Stack: id, Nanos: 5})
	}
	room, got := waitRoom(7), map[string]int64{}
	addWaits(got, &room, "", w, true)
	assert.Equal(t, map[string]int64{"pool0;A::f;A::f;A::f;[sleep]": 5, "pool1;A::f;A::f;A::f;[sleep]": 5,
		"pool2;[cut];[sleep]": 5, "pool3;[cut];[sleep]": 5}, got)
}
