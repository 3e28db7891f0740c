package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const down = kb.ArrowDown

// Every key does what the page's help says.
func TestKeys(t *testing.T) {
	p := openCode(t, look{})
	hot := eval[[]row](p, hottest)
	require.Greater(t, len(hot), 3)
	at := func(want string, because string) {
		t.Helper()
		require.Equal(t, want, eval[string](p, cursor), because)
	}
	at(hot[0].ID, "the code opens at its hottest instruction")
	require.True(t, eval[bool](p, inCode), "and the code has the focus")

	p.press(kb.Tab)
	at(hot[1].ID, "Tab")
	p.press(kb.Tab)
	at(hot[2].ID, "Tab")
	p.press("Shift+" + kb.Tab)
	at(hot[1].ID, "Shift+Tab")
	p.press("h")
	at(hot[0].ID, "h")
	p.press("Shift+" + kb.Tab)
	at(hot[len(hot)-1].ID, "Shift+Tab goes round")
	p.press("h")
	at(hot[0].ID, "h again")

	ids :=
		eval[[]string](p, `[...`+shown+`.querySelectorAll(".r")].filter((r) => r.closest("details").open).map((r) => r.id)`)
	first := slices.Index(ids, hot[0].ID)
	p.press(down)
	at(ids[first+1], "down")
	p.press(kb.ArrowUp, kb.ArrowUp)
	at(ids[first-1], "up")
	p.press("h")

	t.Run("fold", func(t *testing.T) {
		open := `document.querySelector(".cur").closest("details").open`
		p.press(kb.ArrowLeft)
		assert.False(t, eval[bool](p, open), "left")
		p.press(kb.ArrowRight)
		assert.True(t, eval[bool](p, open), "right")
		cold := `[...` + shown + `.querySelectorAll("details.cold")]`
		require.Positive(t, eval[int](p, cold+".length"))
		p.press("f")
		assert.True(t, eval[bool](p, cold+".every((d) => !d.open)"), "f")
		assert.True(t, eval[bool](p, open), "hot blocks stay open")
		p.press("f")
		assert.True(t, eval[bool](p, cold+".every((d) => d.open)"), "f again")
	})
	t.Run("toggles", func(t *testing.T) {
		arrows, side :=
			`document.querySelector(".r i").offsetWidth > 0 || document.querySelector(".code:not([hidden]) .r i").offsetWidth > 0`, shown+`.querySelector(".side").offsetWidth > 0`
		for key, visible := range map[string]string{"j": arrows, "s": side} {
			assert.True(t, eval[bool](p, visible), key)
			p.press(key)
			assert.False(t, eval[bool](p, visible), key)
			p.press(key)
			assert.True(t, eval[bool](p, visible), key)
		}
	})
	t.Run("dialogs", func(t *testing.T) {
		p.press("?")
		p.awaits(`document.querySelector("#help").open`)
		p.press(kb.Escape)
		p.awaits(`!document.querySelector("#help").open`)
	})
	t.Run("neighbours", func(t *testing.T) {
		before := eval[string](p, shown+".id")
		p.press("]")
		p.awaits(`%s.id !== %q`, shown, before)
		p.press("[")
		p.awaits(`%s.id === %q`, shown, before)
	})
	t.Run("event", func(t *testing.T) {
		p.press("e")
		assert.Equal(t, "there is one event", p.text("#where"))
	})
	t.Run("the hottest of all", func(t *testing.T) {
		link := eval[string](p, `document.querySelector("#p0-hot tbody a").hash.slice(1)`)
		assert.Equal(t, link, eval[string](p, `document.querySelector(".hottest a").hash.slice(1)`))
		p.press("H")
		at(link, "H, from another method")
		p.press("]")
		p.press("h")
		p.click("#home")
		p.awaits(`!document.querySelector("#overview").hidden`)
		headline := p.text(".hottest")
		p.press("H")
		at(link, "H, from the overview")
		assert.Regexp(t, `^Hottest instruction: .+ of \S+, in (?:no )?loop .*of the machine code: \d+\.\d\d%, \d+ samples `,
			headline)
		assert.Contains(t, headline, p.text(".cur code"))
		assert.Regexp(t, `in (no )?loop`, p.text(shownSelector(p)+" .jumps"))
	})
	t.Run("leave", func(t *testing.T) {
		p.press(kb.Escape)
		assert.False(t, eval[bool](p, inCode), "Esc leaves the code")
		p.press(kb.Tab)
		assert.False(t, eval[bool](p, inCode), "and Tab is the browser's")
		p.press("h")
		assert.True(t, eval[bool](p, inCode), "h is the way back")
	})
}

// The side panel shows the next jump and the code at its target. It also shows where a loop jumps back to its start.
func TestNextJump(t *testing.T) {
	p := openCode(t, look{})
	panel := shownSelector(p) + " .jumps"
	assert.Regexp(t, `in loop \d+.*; loop \d+ closes at \+0x`, p.text(panel))
	assert.Contains(t, p.text(panel), "after the slow one")
	p.press(kb.ArrowUp) // from a jump
	rows := shown + `.querySelectorAll(".r")`
	next :=
		eval[string](p, `(() => { const rows = [...%s]; return rows.slice(rows.indexOf(document.querySelector(".cur"))).find((r) => r.querySelector("code a")).id })()`, rows)
	mnemonic := eval[string](p, `document.getElementById(%q).querySelector("code").textContent.split(" ")[0]`, next)
	target := eval[string](p, `document.getElementById(%q).querySelector("code a").hash.slice(1)`, next)
	address := eval[string](p, `document.getElementById(%q).textContent.match(/ ([0-9a-f]{6,})  /)[1]`, next)
	offset := func(id string) string { return "+0x" + id[strings.Index(id, "-")+1:] }
	assert.Contains(t, p.text(panel), fmt.Sprintf("next jump: %s at %s (0x%s) → %s (0x", mnemonic, offset(next), address,
		offset(target)))
	assert.Regexp(t, `→ \S+ \(0x[0-9a-f]+\), block B\d+(–B\d+)? \((no samples|[<\d.]+%, \d+ samples?)`, p.text(panel))
	into := eval[string](p, `[...%s.querySelectorAll(".r code a")].find((a) => {
		let row = document.getElementById(a.hash.slice(1));
		while (row && !row.querySelector("code a") && !row.textContent.includes("UncommonTrapBlob")) row = row.nextElementSibling;
		return row?.textContent.includes("UncommonTrapBlob");
	}).closest(".r").id`, shown)
	p.open(eval[string](p, "location.pathname"), "#"+into)
	p.awaits(`%s === %q`, cursor, into)
	assert.Contains(t, p.text(panel), "uncommon trap: *")
	p.do(run(`document.querySelector("%s a").click()`, panel))
	p.awaits(`%s !== %q`, cursor, into)
}

// Enter follows a jump, Back and Backspace return.
func TestFollow(t *testing.T) {
	p := openCode(t, look{})
	jump :=
		eval[string](p, `[...`+shown+`.querySelectorAll(".r code a")].find((a) => a.closest("details").open).closest(".r").id`)
	target := eval[string](p, `document.getElementById(%q).querySelector("code a").hash.slice(1)`, jump)
	p.open(eval[string](p, "location.pathname"), "#"+jump)
	p.awaits(`%s === %q`, cursor, jump)
	assert.Contains(t, p.text(shownSelector(p)+" .jumps"), "jumps to")
	assert.True(t, eval[bool](p, `document.getElementById(%q).classList.contains("to")`, target))

	for _, key := range []string{kb.Backspace, "Back"} {
		p.press(kb.Enter)
		p.awaits(`%s === %q`, cursor, target)
		assert.Contains(t, p.text(shownSelector(p)+" .jumps"), "reached by jumps from")
		if key == "Back" {
			p.do(back())
		} else {
			p.press(key)
		}
		p.awaits(`%s === %q`, cursor, jump)
	}
	// A click on the target does the same.
	p.do(clickLink(jump))
	p.awaits(`%s === %q`, cursor, target)
}

// If the instruction does not jump anywhere, Enter shows a message, and the cursor stays.
func TestEnterWithoutJump(t *testing.T) {
	p := openCode(t, look{})
	rowWith := func(what string) string {
		return eval[string](p, `[...`+shown+`.querySelectorAll(".r")].find((r) => r.closest("details").open && !r.querySelector("a") && /^(%s)/.test(r.querySelector("code").textContent)).id`, what)
	}
	for what, said := range map[string]string{"mov": `^mov\S* is not a jump or call; the next jump: j\S+ at \+0x[0-9a-f]+ \(0x[0-9a-f]+\)$`,
		"call": `^call leads out of this page(; |$)`} {
		row := rowWith(what)
		p.open(eval[string](p, "location.pathname"), "#"+row)
		p.awaits(`%s === %q`, cursor, row)
		p.press(kb.Enter)
		assert.Regexp(t, said, p.text("#where"))
		assert.Equal(t, row, eval[string](p, cursor))
	}
}

// Blocks without samples share a heading, B61–B68. The line at the bottom shows in which of these blocks the cursor is.
// A block begins after each jump.
func TestNamesOfColdBlocks(t *testing.T) {
	p := openCode(t, look{})
	type run struct {
		Heading string
		From    int
		To      int
		IDs     []string
		Jumps   []bool
	}
	found := eval[run](p, `(() => {
		const of = (g) => g.querySelector("summary").textContent.match(/B(\d+)–B(\d+)/);
		const runs = [...`+shown+`.querySelectorAll("details.cold")].filter(of);
		const jumps = (g) => g.querySelectorAll(".r code a").length;
		const g = runs.sort((a, b) => jumps(b) - jumps(a))[0];
		const rows = [...g.querySelectorAll(".r")];
		const [heading, from, to] = of(g);
		return { heading, from: +from, to: +to, ids: rows.map((r) => r.id), jumps: rows.map((r) => !!r.querySelector("code a")) };
	})()`)
	require.Greater(t, found.To, found.From)
	name := func(i int) (block int) {
		p.open(eval[string](p, "location.pathname"), "#"+found.IDs[i])
		p.awaits(`%s === %q`, cursor, found.IDs[i])
		where := p.text("#where")
		_, err := fmt.Sscanf(where[strings.LastIndex(where, " · B")+len(" · "):], "B%d of "+found.Heading, &block)
		require.NoError(t, err, where)
		return block
	}
	assert.Equal(t, found.From, name(0))
	last := len(found.IDs) - 1
	assert.Equal(t, found.To, name(last))
	jump := slices.Index(found.Jumps[:last], true)
	require.GreaterOrEqual(t, jump, 0)
	assert.Equal(t, name(jump)+1, name(jump+1))
}
