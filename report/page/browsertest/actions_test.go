package browsertest

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

type action = chromedp.Action[chromedp.Void]

// back goes back in the history, like the browser's button.
func back() action { return run(`history.back()`) }

// run runs a piece of JavaScript.
func run(script string, args ...any) action {
	if len(args) > 0 {
		script = fmt.Sprintf(script, args...)
	}
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Evaluate[bool]("(() => {"+script+"; return true})()")(ctx, target)
		return err
	})
}

// choose selects an option of a select element.
func choose(selector, value string) action {
	return run(`const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("change", { bubbles: true }))`, selector, value)
}

// clickLink clicks the link in an instruction.
func clickLink(row string) action {
	return run(`document.getElementById(%q).querySelector("code a").click()`, row)
}

// stubClipboard makes the page copy into window.copied, because a browser without a screen has no clipboard.
func stubClipboard() action {
	return run(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text } } })`)
}

// hover moves the mouse to the start of a line.
func hover(p *tab, selector string) action {
	p.t.Helper()
	at := startOf(p, selector)
	return chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1])
}

// clickStart clicks the start of a line, whose middle may be out of view.
func clickStart(p *tab, selector string) action {
	p.t.Helper()
	at := startOf(p, selector)
	return chromedp.MouseClickXY(at[0], at[1])
}

func startOf(p *tab, selector string) []float64 {
	p.t.Helper()
	return eval[[]float64](p, `(() => { const e = document.querySelector(%q); e.scrollIntoView({ block: "center", inline: "start" }); const r = e.getBoundingClientRect(); return [r.left + 60, r.top + r.height / 2] })()`, selector)
}

// shownSelector returns a selector of the shown code.
func shownSelector(p *tab) string {
	p.t.Helper()
	return "#" + eval[string](p, shown+".id")
}

// pdf prints the page, and checks that the result has pages.
func pdf(t *testing.T) action {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		text, err := chromedp.PrintToPDF()(ctx, target)
		assert.Greater(t, len(text), 10_000)
		return err
	})
}
