package browsertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/profile/loops"
)

// The output of another program about a loop opens at a click. The code beside it stays usable.
func TestModelledLoops(t *testing.T) {
	ps := profiles(t, "jdk25-lean-none")
	for i := range ps.Trials[0].HotLoops {
		ps.Trials[0].HotLoops[i].Facts.Modelled = &loops.Model{Tool: "llvm-mca", Verdict: "7 cycles",
			Text: "Total Cycles: 700"}
	}
	file := pageOf(t, ps)
	article := "#" + eval[string](open(t, file, "", look{}), `document.querySelector(".model").closest("article").id`)
	tab := open(t, file, article, look{})
	tab.awaits(`document.documentElement.classList.contains("in-code")`)
	shown := func() bool { return eval[bool](tab, `document.querySelector("`+article+` .model").open`) }
	assert.False(t, shown())
	tab.click(article + " .model summary")
	assert.True(t, shown())
	assert.Equal(t, 1, eval[int](tab, `[...document.querySelectorAll("article")].filter((a) => a.offsetHeight).length`),
		"one listing is shown")
	tab.click(article + " .lp a")
	tab.awaits(`!!document.querySelector("` + article + ` .cur")`)
	assert.NotContains(t, eval[string](tab, `document.querySelector("#where").textContent`), "•")
}

// At the cursor, the side panel says what limits the loop of the instruction.
func TestLoopAtCursor(t *testing.T) {
	ps := profiles(t, "jdk25-lean-none")
	tab := open(t, pageOf(t, ps), "", look{})
	limit := "" // of the hottest loop that has a bound
	for i := range ps.Trials[0].HotLoops {
		if f := ps.Trials[0].HotLoops[i].Facts; f.Innermost && f.Bound != nil {
			limit = f.Limit()
			break
		}
	}
	require.NotEmpty(t, limit)
	tab.do(run(`[...document.querySelectorAll("[id$=-loops] tbody tr")].find((r) => r.textContent.includes(%q)).querySelector("a").click()`, limit))
	tab.awaits(`document.documentElement.classList.contains("in-code")`)
	tab.awaits(`[...document.querySelectorAll("article .jumps")].some((e) => e.offsetHeight && e.textContent.includes("` + limit + `"))`)
}
