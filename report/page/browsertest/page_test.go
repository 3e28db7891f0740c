package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Expressions that tests evaluate in the page.
const (
	cursor  = `(document.querySelector(".code:not([hidden]) .r.cur")?.id ?? "")`
	inCode  = `!!document.activeElement?.closest(".rows")`
	shown   = `[...document.querySelectorAll(".code")].find((a) => !a.hasAttribute("hidden"))`
	hottest = `(() => { // rows of the shown code, the hottest one first
		const n = (r) => [...r.querySelectorAll("b[data-n]:not([data-e])")].reduce((sum, b) => sum + +b.dataset.n, 0);
		return [...` + shown + `.querySelectorAll(".r")].map((r, i) => ({ id: r.id, n: n(r), i })).filter((r) => r.n).sort((a, b) => b.n - a.n || a.i - b.i);
	})()`
)

// A row is an instruction of the page.
type row struct {
	ID   string `json:"id"`
	N, I int
}

// openCode opens the page of a capture of Workload, which has sources and both syntaxes, at the code of Workload::main.
func openCode(t *testing.T, l look) *tab {
	t.Helper()
	p := open(t, reportPage(t, "jdk17-lean-none"), "#m=Workload::main", l)
	p.awaits(`document.title.includes("Workload::main")`)
	return p
}

// Rows of the overview lead to the hottest instruction of their code.
func TestOverview(t *testing.T) {
	p := open(t, reportPage(t, "jdk17-lean-none"), "", look{})
	assert.Equal(t, "gasm: Workload", eval[string](p, "document.title"))
	assert.False(t, eval[bool](p, `document.querySelector("#overview").hidden`))
	assert.Greater(t, eval[int](p, `document.querySelectorAll(".timeline path").length`), 1)
	link := eval[string](p, `document.querySelector("#p0-methods tbody a").getAttribute("href").slice(1)`)
	p.click("#p0-methods tbody a")
	p.awaits(`%s === %q`, cursor, link)
	rows := eval[[]row](p, hottest)
	require.NotEmpty(t, rows)
	assert.Equal(t, rows[0].ID, link)
	assert.True(t, eval[bool](p, `(() => { const r = document.querySelector(".cur").getBoundingClientRect(), b = document.querySelector(".cur").closest(".rows").getBoundingClientRect(); return r.top > b.top && r.bottom < b.bottom })()`), "it is in view")
	// The way back.
	p.do(back())
	p.awaits(`!document.querySelector("#overview").hidden`)
	p.click("#p0-frames tbody a")
	p.awaits(`document.documentElement.classList.contains("in-code")`)
	p.click("#home")
	p.awaits(`!document.querySelector("#overview").hidden`)
}

// A click on a heading sorts a table by numbers or by text. A shortened table can be expanded.
func TestTables(t *testing.T) {
	p := open(t, reportPage(t, "jdk17-lean-none"), "", look{})
	column := func(n int) []string {
		return eval[[]string](p, `[...document.querySelectorAll("#p0-methods tbody tr")].map((tr) => tr.children[%d].dataset.n ?? tr.children[%d].textContent)`, n, n)
	}
	sorted := func(heading int) string {
		p.click(fmt.Sprintf("#p0-methods th:nth-child(%d) button", heading))
		return eval[string](p, `[...document.querySelectorAll("#p0-methods th")].map((th) => th.getAttribute("aria-sort") ?? "").join()`)
	}
	// A long name is shortened at its class. It keeps its line number.
	assert.True(t, eval[bool](p, `(() => {
		const names = [...document.querySelectorAll("#p0-hot td.cut bdi")].filter((name) => name.offsetWidth);
		names.forEach((name) => name.prepend("Class".repeat(30)));
		const [box, cell] = [(el) => el.getBoundingClientRect(), (name) => name.parentNode];
		return names.length && names.every((name) => box(name).left < box(cell(name)).left && box(name).right <= box(cell(name)).right);
	})()`))
	byCount := column(0)
	assert.Equal(t, ",,ascending", sorted(3))
	names := column(2)
	assert.ElementsMatch(t, names, column(2))
	assert.True(t, eval[bool](p, `(() => { const c = new Intl.Collator("en", { numeric: true }); const x = [...document.querySelectorAll("#p0-methods tbody tr")].map((tr) => tr.children[2].textContent); return x.every((s, i) => !i || c.compare(x[i - 1], s) <= 0) })()`))
	assert.Equal(t, ",,descending", sorted(3))
	assert.Equal(t, "descending,,", sorted(1))
	assert.Equal(t, byCount, column(0))
	assert.Equal(t, "ascending,,", sorted(1))
	assert.NotEqual(t, byCount, column(0))

	visible := `[...document.querySelectorAll("#p0-methods tbody tr")].filter((tr) => tr.offsetHeight).length`
	before := eval[int](p, visible)
	p.click("#p0-methods .scroll > button")
	assert.Equal(t, len(byCount), eval[int](p, visible))
	assert.Less(t, before, len(byCount))
}

// The counts of the page are written in the chosen unit.
func TestUnits(t *testing.T) {
	p := openCode(t, look{})
	n := eval[row](p, hottest+"[0]").N
	of := func() string { return p.text(".cur b") }
	percent := of()
	assert.Regexp(t, `^ *\d+\.\d\d%$`, percent)
	p.press("o")
	assert.NotEqual(t, percent, of(), "of the method")
	p.press("o")
	assert.Equal(t, fmt.Sprintf("%8d", n), of(), "samples")
	p.press("o")
	assert.Equal(t, percent, of(), "of all, again")
}

// A method is found by its name, and by the names of methods that were inlined.
func TestFind(t *testing.T) {
	p := open(t, reportPage(t, "jdk17-lean-none"), "", look{})
	p.press("/")
	p.awaits(`document.querySelector("#find").open && document.activeElement.id === "query"`)
	for _, r := range "parseint" {
		p.press(string(r))
	}
	p.awaits(`/Integer::parseInt/.test(document.querySelector("#hits")?.textContent)`)
	p.press(kb.Enter)
	p.awaits(`document.title.includes("Integer::parseInt")`)
	p.press("/", "x", "y", "z", "z")
	assert.Zero(t, eval[int](p, `document.querySelectorAll("#hits li").length`))
	p.press(kb.Escape)
	p.awaits(`!document.querySelector("#find").open`)
}

// The line at the bottom shows the sum of a selection. A selection can be copied as text and as Markdown.
func TestCopy(t *testing.T) {
	p := openCode(t, look{})
	p.do(stubClipboard())
	rows := eval[[]row](p, hottest)
	p.press("Shift+"+down, "Shift+"+down)
	selected := eval[[]string](p, `[...document.querySelectorAll(".sel")].map((r) => r.id)`)
	require.Len(t, selected, 3)
	sum := 0
	for _, r := range rows {
		for _, id := range selected {
			if r.ID == id {
				sum += r.N
			}
		}
	}
	assert.Contains(t, p.text("#where"), "3 instructions selected")
	assert.Contains(t, p.text("#where"), fmt.Sprintf(", %d samples", sum))

	p.click("#copy-markdown")
	p.awaits("window.copied !== undefined")
	text := eval[string](p, "window.copied")
	assert.Regexp(t, "^\\*\\*Workload::main\\*\\* \\(c2, level 4, osr\\), \\d+\\.\\d\\d% of the samples\n\n```\n(?:.*\n){3}```\n$", text)
	first := eval[string](p, `document.querySelector(".sel code").textContent.trim()`)
	assert.Contains(t, text, first)
	p.click("#copy-text")
	p.awaits("!window.copied.includes('```')")
	assert.Contains(t, eval[string](p, "window.copied"), first)
	p.awaits(`document.querySelector("#copy-text").textContent === "Copied"`)
}

// If the capture has bytes, the page can switch to the other syntax and back.
func TestSyntax(t *testing.T) {
	p := openCode(t, look{})
	all := `[...` + shown + `.querySelectorAll(".r code")].map((c) => c.textContent.trim()).join("\n")`
	att := eval[string](p, all)
	p.press("i")
	intel := eval[string](p, all)
	assert.True(t, strings.Contains(att, "%r") && !strings.Contains(intel, "%r"), "registers as AT&T writes them")
	assert.True(t, strings.Contains(intel, "PTR ["), "operands as Intel writes them")
	p.click(shownSelector(p) + ` [data-do="syntax"]`)
	assert.True(t, att == eval[string](p, all))
}

// The source beside the code shows the line at the cursor. A click on a line leads to its hottest instruction. Under
// the mouse, related code and lines are marked.
func TestSources(t *testing.T) {
	p := openCode(t, look{})
	line := eval[string](p, `document.querySelector(".sl.at-cursor")?.dataset.l ?? ""`)
	require.NotEmpty(t, line, "the line at the cursor")
	assert.Regexp(t, ":"+line+"\\b", p.text(shownSelector(p)+" .chain .now"))
	p.do(run(`document.querySelector(".sl.at-cursor").append(" word".repeat(200))`))
	assert.True(t, eval[bool](p, `(() => { const line = document.querySelector(".sl.at-cursor"), box = line.parentNode; return line.offsetHeight > 32 && line.offsetWidth <= box.clientWidth })()`), "the line at the cursor is wrapped")
	other :=
		eval[string](p, `[...document.querySelectorAll(".file.now .sl.at:not(.at-cursor)")].find((e) => e.querySelector("b[class^=h]")).dataset.l`)
	p.do(clickStart(p, fmt.Sprintf(`.file.now .sl[data-l="%s"]`, other)))
	// an instruction of its own
	p.awaits(`/:%s\b/.test(document.querySelector("%s .chain .now").textContent)`, other, shownSelector(p))
	p.do(hover(p, fmt.Sprintf(`.file.now .sl[data-l="%s"]`, line)))
	p.awaits(`[...document.querySelectorAll(".r.rel")].length > 0`)

	// The border of the panel can be moved.
	width := shown + `.querySelector(".side").offsetWidth`
	before := eval[int](p, width)
	p.do(run(`%s.querySelector(".split").focus()`, shown))
	p.press(kb.ArrowLeft)
	assert.Greater(t, eval[int](p, width), before)
	p.press(kb.ArrowRight, kb.ArrowRight)
	assert.Less(t, eval[int](p, width), before)
}

// A page of several programs has a switch between profiles, and a link contains the profile.
func TestProfiles(t *testing.T) {
	path := reportPage(t, "programs")
	p := open(t, path, "", look{})
	names := eval[[]string](p, `[...document.querySelectorAll("#switch option")].map((o) => o.textContent)`)
	require.Len(t, names, 2)
	assert.Equal(t, 1, eval[int](p, `[...document.querySelectorAll(".profile")].filter((s) => !s.hidden).length`))
	p.do(choose("#switch select", "1"))
	p.awaits(`!document.querySelector("#p1").hidden && document.querySelector("#p0").hidden && location.hash.includes("p=")`)
	p.click("#p1-methods tbody a")
	p.awaits(`document.documentElement.classList.contains("in-code") && location.hash.includes("&p=")`)
	at, hash := eval[string](p, cursor), eval[string](p, "location.hash")
	again := open(t, path, hash, look{})
	again.awaits(`%s === %q`, cursor, at)
	assert.Equal(t, "1", eval[string](again, `document.querySelector("#switch select").value`))
}

// The printed page has the code without buttons, on white.
func TestPrint(t *testing.T) {
	p := open(t, reportPage(t, "sort"), "", look{print: true})
	assert.Equal(t, 0, eval[int](p,
		`[...document.querySelectorAll("#top, #status, .bar, .map, dialog")].filter((e) => e.getClientRects().length).length`))
	p.do(pdf(t))
}
