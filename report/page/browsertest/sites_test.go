package browsertest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/sites"
)

// A click on a place that allocates shows its callers, and another one hides them. A click on the name of a place whose
// code is in the page leads there.
func TestCallersOfSites(t *testing.T) {
	ps := profiles(t, "sort")
	p := &ps.Trials[0]
	var listed event.Frame // the line of an instruction with samples
	for _, l := range p.Listings[0].Lines {
		if len(l.Frames) > 0 && l.Counts[0] > 0 {
			listed = event.Frame{Method: l.Frames[0].Method, Line: l.Frames[0].Line}
		}
	}
	at := func(method string, line int) event.Frame { return event.Frame{Method: method, Line: line} }
	p.Allocations = []sites.Alloc{
		{Frame: at("acme.Cache::get", 7), Class: "byte[]", Events: 3, Bytes: 3000,
			Stacks: []sites.Stack{{Frames: []event.Frame{at("acme.Cache::get", 7), at("acme.<b>Server</b>::handle", 9)},
				Weight: 2000, Count: 2},
				{Frames: []event.Frame{at("acme.Cache::get", 7), listed}, Cut: true, Weight: 1000, Count: 1}}},
		{Frame: listed, Class: "int[]", Events: 1, Bytes: 8},
	}
	tab := open(t, pageOf(t, ps), "", look{})
	const first = "#p0-allocations tbody tr:first-child"
	shown := func() bool { return eval[bool](tab, `document.querySelector("`+first+` details").open`) }
	assert.False(t, shown())
	tab.click(first + " td:last-child")
	assert.True(t, shown(), "a click anywhere in the row")
	assert.Equal(t, "66.67%- acme.<b>Server</b>::handle:9",
		eval[string](tab, `document.querySelector("`+first+` li").textContent`))
	assert.Equal(t, 3, eval[int](tab, `document.querySelectorAll("`+first+` li").length`))
	tab.click(first + " summary")
	assert.False(t, shown())
	assert.False(t, eval[bool](tab, `document.documentElement.classList.contains("in-code")`),
		"the callers are no place to go")
	tab.click("#p0-allocations tbody tr:nth-child(2) td:last-child")
	tab.awaits(`document.documentElement.classList.contains("in-code")`)
}
