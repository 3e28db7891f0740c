package browsertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An option is one of the choices of threads or of time.
type option struct{ Value, Text string }

func options(p *tab, id string) []option {
	return eval[[]option](p, `[...document.querySelectorAll(%q)].map((o) => ({ value: o.value, text: o.textContent }))`,
		"#"+id+" option")
}

// samplesShown returns the samples in the rows of a table and in the code, by name.
func samplesShown(p *tab, selector string) map[string]int {
	p.t.Helper()
	return eval[map[string]int](p, `(() => {
		const found = {};
		for (const tr of document.querySelectorAll(%q)) {
			if (tr.hidden) continue;
			const name = tr.id || [...tr.cells].slice(1).filter((td) => !td.dataset.n).map((td) => td.textContent).join("|");
			found[name] = (found[name] ?? 0) + [...(tr.cells ?? tr.querySelectorAll("b"))].slice(0, 1).reduce((n, e) => n + +e.textContent.replace(/\D/g, ""), 0);
		}
		return found;
	})()`, selector)
}

// The page can show only the samples of some threads or of some time: all of its numbers then count only these samples.
// The numbers of all choices add up to the whole.
func TestParts(t *testing.T) {
	p := open(t, reportPage(t, "spread"), "", look{})
	p.do(choose("#unit", "raw"))
	const methods, frames = "#p0-methods tbody tr", "#p0-frames tbody tr"
	all := run(`document.querySelector("#only button").click()`)
	whole, wholeFrames := samplesShown(p, methods), samplesShown(p, frames)
	require.Greater(t, len(whole), 10)
	times := options(p, "time")
	slicesOf := slices.DeleteFunc(slices.Clone(times), func(o option) bool { return !strings.Contains(o.Text, "–") })
	require.Greater(t, len(slicesOf), 3)
	sum, sumFrames := map[string]int{}, map[string]int{}
	for _, o := range slicesOf {
		p.do(choose("#time", o.Value))
		assert.Contains(t, p.text("#only"), "Only "+o.Text)
		for name, n := range samplesShown(p, methods) {
			sum[name] += n
		}
		for name, n := range samplesShown(p, frames) {
			sumFrames[name] += n
		}
	}
	assert.Equal(t, whole, sum)
	assert.Equal(t, wholeFrames, sumFrames)
	p.do(all)
	assert.Equal(t, whole, samplesShown(p, methods), "all again")

	// A click on the time line, and a second click with Shift.
	p.do(run(`document.querySelectorAll(".pick")[1].dispatchEvent(new MouseEvent("click", { bubbles: true }))`))
	assert.Equal(t, slicesOf[1].Text, eval[string](p, `document.querySelector("#time").selectedOptions[0].textContent`))
	p.do(run(`document.querySelectorAll(".pick")[3].dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: true }))`))
	assert.Equal(t, 3, eval[int](p, `document.querySelectorAll(".pick.on").length`))
	p.press("T")
	p.do(all)

	// In code, too.
	for i, id := range []string{"t", "T"} {
		p.press("H")
		rows := eval[string](p, shown+".id") + " .r"
		p.press("t", "T")
		p.do(all)
		before := samplesShown(p, "#"+rows)
		sum, blocks := map[string]int{}, 0
		name, choices := "threads", options(p, "threads")
		if i == 1 {
			name, choices = "time", times
		}
		for _, o := range leaves(choices) {
			p.do(choose("#"+name, o.Value))
			for row, n := range samplesShown(p, "#"+rows) {
				sum[row] += n
			}
			blocks +=
				eval[int](p, `[...%s.querySelectorAll("summary b")].reduce((n, b) => n + +b.textContent.replace(/\D/g, ""), 0)`,
					shown)
		}
		assert.Equal(t, before, sum, id)
		total := 0
		for _, n := range before {
			total += n
		}
		assert.Equal(t, total, blocks, "sums of blocks")
		p.do(all)
		p.click("#home")
	}
}

// leaves returns the choices that contain no other choices.
func leaves(all []option) []option {
	return slices.DeleteFunc(slices.Clone(all[1:]), func(o option) bool {
		return slices.ContainsFunc(all, func(other option) bool { return strings.HasPrefix(other.Text, o.Text+": ") })
	})
}
