package browsertest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/report/reporttest"
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

// TestAfterWarmUp checks that the choice "after warm-up" has the slices that began when the JVM was warm.
func TestAfterWarmUp(t *testing.T) {
	ps := profiles(t, "spread")
	reporttest.AddWarmUp(ps) // warm 2 s after the first sample
	times := ps.Trials[0].Parts.Slices
	require.Greater(t, len(times), 4)
	for i := range times {
		times[i] = parts.TimeSlice{PID: ps.Trials[0].PIDs[0],
			Span: capture.Span{FromMonoNanos: 5.5e9 + int64(i)*1e9, ToMonoNanos: 6.5e9 + int64(i)*1e9}}
	}
	ps.Capture.JVMs[0].StartMonoNanos = 4.5e9
	p := open(t, pageOf(t, ps), "", look{})
	assert.Contains(t, p.text(".axis"), "0.5 s")
	p.do(choose("#unit", "raw"))
	const methods = "#p0-methods tbody tr"
	sum := map[string]int{}
	warm := ""
	for _, o := range options(p, "time") {
		if o.Text == "after warm-up" {
			warm = o.Value
		}
		from, _, ok := strings.Cut(o.Text, "–")
		if seconds, err := strconv.ParseFloat(from, 64); ok && err == nil && seconds >= 3 { // since its start
			p.do(choose("#time", o.Value))
			for name, n := range samplesShown(p, methods) {
				sum[name] += n
			}
		}
	}
	require.NotEmpty(t, warm)
	p.do(choose("#time", warm))
	assert.Equal(t, sum, samplesShown(p, methods))
}

// TestBackScrolls checks that Back leads to the place in the tables from which the link was followed.
func TestBackScrolls(t *testing.T) {
	p := open(t, reportPage(t, "spread"), "", look{height: 400, width: 1000})
	p.do(run(`document.querySelector("#main").scrollTop = 700`))
	was := eval[float64](p, `document.querySelector("#main").scrollTop`)
	require.Greater(t, was, 300.0)
	p.do(run(`[...document.querySelectorAll("#p0-methods a[href^='#']")].at(-1).click()`))
	p.awaits(`document.documentElement.classList.contains("in-code")`)
	p.do(back())
	p.awaits(`!document.documentElement.classList.contains("in-code")`)
	p.awaits(`Math.abs(document.querySelector("#main").scrollTop - %v) < 2`, was)
}

// leaves returns the choices that contain no other choices.
func leaves(all []option) []option {
	return slices.DeleteFunc(slices.Clone(all[1:]), func(o option) bool {
		return o.Text == "after warm-up" || slices.ContainsFunc(all, func(other option) bool { return strings.HasPrefix(other.Text, o.Text+": ") })
	})
}
