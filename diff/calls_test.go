package diff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/report/schema"
)

// stackReport returns the JSON report of the capture with call stacks. If the argument thread is not "", the report has
// only the threads that it chooses.
func stackReport(t *testing.T, thread string) *schema.Report {
	t.Helper()
	c, err := capture.Open(gasmtest.UnpackFolder(t, "stacks"))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	o := choice.DefaultOptions()
	o.Stacks, o.SkipLines = true, true
	o.Threads, err = threads.ParseChoice(thread)
	require.NoError(t, err)
	ps, err := profile.Of(c, o)
	require.NoError(t, err)
	return report.JSON(ps, "v1")
}

// pathSums returns the samples of a report by path: those that end there, and those of calls that are left out.
func pathSums(s *schema.Stacks) map[string]int {
	sums := map[string]int{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		var path []string
		for at := n; at.Parent >= 0; at = &s.Nodes[at.Parent] {
			path = append(path, at.Module+"|"+at.Name+"|"+map[bool]string{true: at.Kinds[0]}[at.Name == ""])
		}
		key := strings.Join(path, "\n")
		for suffix, c := range map[string]schema.Counts{"": n.Self, "\nrest": n.Omitted} {
			if len(c.Values) > 0 && c.Values[0] > 0 {
				sums[key+suffix] += int(c.Values[0])
			}
		}
	}
	return sums
}

// comparedSums returns the same sums for one side of compared calls.
func comparedSums(calls []comparedCall, side func(*comparedCall) *Call) map[string]int {
	sums := map[string]int{}
	for i := range calls {
		var path []string
		for at := &calls[i]; at.Parent >= 0; at = &calls[at.Parent] {
			path = append(path, at.Module+"|"+at.Name+"|"+map[bool]string{true: at.Kind}[at.Name == ""])
		}
		key := strings.Join(path, "\n")
		c := side(&calls[i])
		for suffix, n := range map[string]int64{"": c.Self, "\nrest": c.Omitted} {
			if n > 0 {
				sums[key+suffix] += int(n)
			}
		}
	}
	return sums
}

// The compared tree, and the page too, has the samples of both sides at the right paths.
func TestCalls(t *testing.T) {
	reports := []*schema.Report{stackReport(t, ""), stackReport(t, "app")}
	a, b := FromReport("all", reports[0]), FromReport("app", reports[1])
	calls := compareCalls(a.Trials[0].Calls, b.Trials[0].Calls)
	assert.Equal(t, pathSums(reports[0].Profiles[0].Stacks),
		comparedSums(calls, func(c *comparedCall) *Call { return &c.Call }))
	assert.Equal(t, pathSums(reports[1].Profiles[0].Stacks),
		comparedSums(calls, func(c *comparedCall) *Call { return &c.b }))

	r := Compare(a, b, options())
	room := maxHTMLCalls
	text := r.Trials[0].htmlCalls(&room)
	assert.Equal(t, maxHTMLCalls-len(calls), room)
	assert.Contains(t, writeHTML(t, r), string(text))
	var d callsData
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	assert.Len(t, d.Nodes, 2*len(calls))
	for side, s := range []*Side{a, b} {
		sum := 0
		for _, list := range [][]int{d.Self[side], d.Rest[side]} {
			for i := 3; i < len(list); i += 4 {
				sum += list[i]
			}
		}
		assert.EqualValues(t, s.Trials[0].Samples, sum, s.Name)
	}
	room = len(calls) - 1
	assert.Empty(t, r.Trials[0].htmlCalls(&room), "there is no room")
}

// If a side has several captures, their samples are added.
func TestJoinCalls(t *testing.T) {
	rep := stackReport(t, "")
	one := FromReport("one", rep).Trials[0].Calls
	twice := pathSums(rep.Profiles[0].Stacks)
	for path := range twice {
		twice[path] *= 2
	}
	both, err := Join([]*Side{FromReport("one", rep), FromReport("two", rep)})
	require.NoError(t, err)
	assert.Equal(t, twice, comparedSums(compareCalls(both.Trials[0].Calls, nil),
		func(c *comparedCall) *Call { return &c.Call }))
	assert.Nil(t, joinCalls(one, nil))
	assert.Nil(t, joinCalls(nil, one))
}

// A damaged tree is left out. In an undamaged one, callers come before their callees, and there is one root.
func TestDamagedCalls(t *testing.T) {
	for _, parents := range [][]int{{0}, {-1, -1}, {-1, 1}, {-1, 5}, {3}} {
		s := &schema.Stacks{}
		for _, p := range parents {
			s.Nodes = append(s.Nodes, schema.StackNode{Parent: p})
		}
		assert.Nil(t, callsOf(s, "cycles"), "%v", parents)
	}
	assert.Nil(t, callsOf(nil, "cycles"))
}

// A report with too many calls is refused, like one that exceeds any other limit.
func TestTooManyCalls(t *testing.T) {
	text := fmt.Sprintf(`{"schema": 1, "capture": {}, "profiles": [{"stacks": {"least": 1, "nodes": [%s{}]}}]}`,
		strings.Repeat("{},", maxCalls))
	_, err := ReadJSON(strings.NewReader(text), "x")
	assert.ErrorContains(t, err, fmt.Sprintf("more than %d nodes", maxCalls))
}

// Names are data: no name can end the script that contains it.
func TestHostileCalls(t *testing.T) {
	const evil = "</script><img src=x onerror=alert(1)>\u202e\x1b[31m\u2028"
	a, b := hostileSides("")
	for _, s := range []*Side{a, b} {
		s.Trials[0].Calls = []Call{{Parent: -1}, {Parent: 0, callKey: callKey{evil, evil, evil}, Self: 10, Omitted: 3,
			Others: 2}}
	}
	text := writeHTML(t, Compare(a, b, options()))
	gasmtest.TerminalText(t, indents.ReplaceAllString(text, "\n"), false)
	assert.NotContains(t, text, "<img")
	assert.Equal(t, 5, strings.Count(text, "<script"))
	assert.Equal(t, 5, strings.Count(text, "</script>"))
}
