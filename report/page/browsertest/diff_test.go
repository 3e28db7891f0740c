package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/diff"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report"
)

// diffPage returns the page that compares runs of one program on two JDKs.
func diffPage(t *testing.T) (path string) {
	t.Helper()
	var reports []string
	for _, name := range []string{"jdk17-lean-none", "jdk25-lean-none"} {
		flags := []string{"report", "--format", "json", "--hot-threshold", "0.01"}
		reports = append(reports, gasm(t, name+"-json", append(flags, captureFiles(t, name)...)...))
	}
	return gasm(t, "diff", append([]string{"diff", "--format", "html"}, reports...)...)
}

const focused = `(document.activeElement?.closest("details")?.id ?? "")`

func TestDiff(t *testing.T) {
	p := open(t, diffPage(t), "", look{})
	assert.Contains(t, eval[string](p, "document.title"), "gasm diff: ")
	changed := eval[[]string](p, `[...document.querySelectorAll(".block.differs")].map((d) => d.id)`)
	require.Greater(t, len(changed), 3)
	folded := `[...document.querySelectorAll(".block:not([open])")].map((d) => d.id)`
	before := eval[[]string](p, folded)
	assert.NotEmpty(t, before)
	assert.True(t, eval[bool](p, `[...document.querySelectorAll(".block")].every((d) => d.open === (d.classList.contains("differs") && !!d.querySelector(".dl [data-n]")))`))

	p.press("n")
	assert.Equal(t, changed[0], eval[string](p, focused), "n")
	p.press("n", "n", "p")
	assert.Equal(t, changed[1], eval[string](p, focused), "p")
	p.press("f")
	assert.True(t, eval[bool](p, `[...document.querySelectorAll(".block")].every((d) => d.open)`), "f")
	p.press("f")
	assert.Equal(t, before, eval[[]string](p, folded), "f again")

	// A method is a link to its code, and the first link of its blocks is the one that changed most.
	p.click("#t0-methods a")
	p.awaits(`location.hash === "#t0-c0"`)
	p.click("#t0-c0 .note a")
	change := `(e) => Math.abs(parseFloat(e.querySelector(".change").textContent))`
	assert.True(t, eval[bool](p, `(() => { const change = %s, to = document.querySelector(location.hash); return [...to.parentNode.querySelectorAll(".block")].every((b) => change(b) <= change(to)) })()`, change))

	// A jump leads to its target, which is unfolded.
	p.do(run(`document.querySelectorAll("details").forEach((d) => { d.open = false })`))
	target :=
		eval[string](p, `(() => { const a = document.querySelector(".dl code a"); a.click(); return a.hash.slice(1) })()`)
	p.awaits(`location.hash === %q && document.getElementById(%q).closest("details").open`, "#"+target, target)

	p.click("#t0-regions th:nth-child(5) button")
	assert.Equal(t, "ascending", eval[string](p,
		`document.querySelector("#t0-regions th:nth-child(5)").getAttribute("aria-sort")`))
	assert.True(t, eval[bool](p, `(() => { const x = [...document.querySelectorAll("#t0-regions tbody tr")].map((tr) => tr.cells[4].textContent); return x.every((s, i) => !i || x[i - 1].localeCompare(s, "en") <= 0) })()`))
}

func TestDiffAccessible(t *testing.T) {
	needBrowser(t)
	axe := needAxe(t)
	t.Run("light", func(t *testing.T) { checkAxe(t, open(t, diffPage(t), "", look{}), axe, everything) })
	t.Run("dark", func(t *testing.T) { checkAxe(t, open(t, diffPage(t), "", look{dark: true}), axe, colours) })
}

func TestDiffHostileNames(t *testing.T) {
	const evil = "</script><script>document.title=1</script><img src=x onerror=alert(1)>\"'`${1}&lt;\u202e\x1b[31m"
	var sides []*diff.Side
	for _, name := range []string{"jdk17-lean-none", "jdk25-lean-none"} {
		s := diff.FromReport(name, report.JSON(profiles(t, name), "test"))
		gasmtest.Inject(s, evil)
		sides = append(sides, s)
	}
	var out bytes.Buffer
	require.NoError(t, diff.Compare(sides[0], sides[1], diff.Options{MinChange: 0.01, HotThreshold: 0.1}).WriteHTML(&out,
		evil))
	path := filepath.Join(t.TempDir(), "diff.html")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	p := open(t, path, "", look{})
	assert.Zero(t, eval[int](p, `document.querySelectorAll("img").length`))
	assert.Contains(t, p.text("#t0-methods"), "<img src=x onerror=alert(1)>")
	assert.NotEqual(t, "1", eval[string](p, "document.title"))
	p.press("n", "f")
}

// stacksDiff returns the page that compares all threads of a program with some of them.
func stacksDiff(t *testing.T) (path string) {
	t.Helper()
	var reports []string
	for _, thread := range []string{"", "recursion|random|locked"} {
		args := append([]string{"report", "--format", "json", "--skip-asm", "--thread", thread}, captureFiles(t, "stacks")...)
		reports = append(reports, gasm(t, "stacks-json-"+thread, args...))
	}
	return gasm(t, "stacks-diff", append([]string{"diff", "--format", "html"}, reports...)...)
}

// In the flame graph of both sides, a frame is as wide as its share in B, and red if the share grew.
func TestDiffCalls(t *testing.T) {
	p := open(t, stacksDiff(t), "", look{})
	const where, list = `document.querySelector("#t0-calls .where").textContent`,
		`[...document.querySelectorAll("#t0-graph [role=treeitem]")].map((el) => el.textContent)`
	p.awaits(`!!document.querySelector("#t0-graph [role=treeitem]")`)
	assert.Contains(t, eval[string](p, where), "all samples · total 100.00% → 100.00%: 0.00, within the noise")
	p.do(run(`document.querySelector("#t0-graph").focus()`))
	p.press(kb.ArrowUp)
	grown := eval[string](p, where)
	assert.Regexp(t, `^\w+ · total [\d.]+% → [\d.]+%: \+[\d.]+ · self`, grown)
	p.press("z")
	assert.Equal(t, grown, eval[string](p, where))
	p.press(kb.Escape)
	assert.Contains(t, eval[string](p, where), "all samples")
	p.click("#t0-calls .bar button")
	p.press(kb.Tab)
	p.do(run(`document.querySelector("#t0-graph").focus()`))
	p.press(kb.ArrowUp)
	assert.Equal(t, "true,false", eval[string](p,
		`[...document.querySelectorAll("#t0-calls .bar button")].map((b) => b.ariaPressed).join()`))
	items := strings.Join(eval[[]string](p, list), "\n")
	assert.Regexp(t, `C2 CompilerThre\S* · total [\d.]+% → 0.00%: -[\d.]+ · `, items)
	checkAxe(t, p, needAxe(t), `document.querySelector("#t0-calls"), { resultTypes: ["violations"] }`)
}
