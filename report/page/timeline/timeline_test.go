package timeline

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/history"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// TestDraw checks that a time line has all samples, the windows, the slices and the lanes.
func TestDraw(t *testing.T) {
	ps := &profile.Profiles{}
	ps.Capture.JVMs = []capture.JVM{{PID: 7, Main: "<Main>", Fork: 2}}
	ps.Capture.Trials = []capture.Trial{{Name: "t", Windows: []capture.Window{{PID: 7,
		Span: capture.Span{FromMonoNanos: 3e9, ToMonoNanos: 5e9}},
		{PID: 7, Span: capture.Span{FromMonoNanos: 6e9, ToMonoNanos: 7e9}}}}}
	ps.History = &history.History{FromMonoNanos: 1e9, StepNanos: 1e9, Bins: 10,
		JVMs: []history.JVM{{PID: 7, Bins: make([]history.Counts, 10)}}}
	ps.History.JVMs[0].Bins[2][history.RanC2] = 4
	ps.History.JVMs[0].Bins[2][history.RanGC] = 4
	ps.History.JVMs[0].Bins[9][history.NotCounted] = 2
	p := &profile.Profile{Trial: "t", PIDs: []int{7}, Slices: []tally.Counts{{1}}}
	text := string(Draw(ps, p))
	assert.Contains(t, text, "&lt;Main&gt;")
	assert.Contains(t, text, "<span>0.0 s</span><span>10.0 s after the first sample</span>", "its start is not known")
	assert.Contains(t, text, `<rect class="win" x="2.00" y="0" width="2.00"`)
	assert.Contains(t, text, `<rect class="win" x="5.00" y="0" width="1.00"`)
	var slices []string
	for _, m := range regexp.MustCompile(`class="slice" d="M([0-9.]+) `).FindAllStringSubmatch(text, -1) {
		slices = append(slices, m[1])
	}
	assert.Equal(t, []string{"2.60", "3.20", "3.80", "5.40"}, slices)
	assert.Contains(t, text, `<path class="f-c2" d="M2 24.0h1v24.0h-1z"/>`)
	assert.Contains(t, text, `<path class="f-kernel" d="M2 0.0h1v24.0h-1z"/>`)
	assert.Contains(t, text, `<path class="f-out" d="M9 36.0h1v12.0h-1z"/>`)
	assert.Empty(t, Draw(&profile.Profiles{}, p))
	shares := make([]float64, 10)
	shares[4] = 0.5
	ps.History.JVMs[0].Lanes = []history.Lane{{Kind: event.Safepoint, Shares: make([]float64, 10)},
		{Kind: event.Own, Shares: shares}}
	ps.Capture.JVMs[0].StartMonoNanos = 1.01e9
	assert.Contains(t, string(Draw(ps, p)), "<span>0.0 s</span><span>10.0 s after its start</span>")
	ps.Capture.JVMs[0].StartMonoNanos = 0.75e9
	text = string(Draw(ps, p))
	assert.Contains(t, text, "<span>0.2 s</span><span>10.2 s after its start</span>")
	assert.Contains(t, text, `viewBox="0 0 10 58"`)
	assert.Contains(t, text,
		`<g class="f-c2"><title>the program&#39;s own events</title><rect x="4" y="54" width="1" height="4" fill-opacity="0.62"/></g>`)
	assert.Contains(t, text, `from the top: safepoints, the program&#39;s own events.`)
}
