package browsertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tab is a page in the browser. When its test ends, the page must have requested only its own file, and have written
// nothing on the console.
type tab struct {
	t   *testing.T
	ctx context.Context

	mutex    sync.Mutex
	requests []string
	console  []string
}

// A look is how a page is shown.
type look struct {
	dark          bool
	print         bool
	width, height int64 // 1400×1000 if not given
}

// open opens a page at a hash ("" for none).
func open(t *testing.T, path, hash string, l look) *tab {
	t.Helper()
	p := &tab{t: t}
	ctx, stop := chromedp.NewContext(needBrowser(t), chromedp.WithListener(p.listen))
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	p.ctx = ctx
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	p.look(l)
	p.open(path, hash)
	t.Cleanup(p.check)
	return p
}

// open opens a page in the same tab.
func (p *tab) open(path, hash string) {
	p.t.Helper()
	p.do(chromedp.Navigate("file://" + path + hash))
}

func (p *tab) look(l look) {
	p.t.Helper()
	scheme, kind := "light", "screen"
	if l.dark {
		scheme = "dark"
	}
	if l.print {
		kind = "print"
	}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: kind,
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if l.width == 0 {
		l.width, l.height = 1400, 1000
	}
	p.do(chromedp.EmulateViewport(l.width, l.height))
}

// call runs a command of the browser's protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	require.NoError(p.t, err, command.Method)
	return result
}

func (p *tab) listen(event any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *log.EventEntryAdded:
		p.console = append(p.console, fmt.Sprintf("%s: %s %v", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventConsoleAPICalled:
		p.console = append(p.console, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	}
}

func (p *tab) check() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	assert.NotEmpty(p.t, p.requests, "the request for the page itself")
	for _, url := range p.requests {
		url, _, _ = strings.Cut(url, "#")
		assert.True(p.t, strings.HasPrefix(url, "file:///") && strings.HasSuffix(url, ".html"), "the page requests %s", url)
	}
	assert.Empty(p.t, p.console, "the console")
}

// do runs actions in the tab.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, steps...))
}

// press presses keys, one after the other: "j", kb.Tab, "Shift+" + kb.Tab.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		k, shifted := strings.CutPrefix(k, "Shift+")
		for _, event := range keyEvents([]rune(k)[0]) {
			if shifted {
				event.Modifiers |= chromedp.ModifierShift.Int64()
			}
			call(p, input.DispatchKeyEvent, *event)
		}
	}
}

// keyEvents returns the events of a key. The first event has the key's character, because a page that takes the key as
// a command prevents the character from being typed.
func keyEvents(key rune) []*input.DispatchKeyEventParams {
	events := kb.Encode(key)
	for i, e := range events {
		if e.Type == input.DispatchKeyEventTypeChar {
			events[0].Text = e.Text
			return slices.Delete(events, i, i+1)
		}
	}
	return events
}

// click clicks the first element that a selector matches. The browser scrolls it into view.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// awaits waits until an expression is true.
func (p *tab) awaits(expression string, args ...any) {
	p.t.Helper()
	if len(args) > 0 {
		expression = fmt.Sprintf(expression, args...)
	}
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(20*time.Second)))
	require.NoError(p.t, err, "waiting for %s; the status line says %q", expression, p.text("#where"))
}

// text returns the text of the first element that a selector matches, or "" if there is none.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, `document.querySelector(%q)?.textContent ?? ""`, selector)
}

// eval returns the value of an expression. If it is a promise, eval waits for it.
func eval[T any](p *tab, expression string, args ...any) T {
	p.t.Helper()
	if len(args) > 0 {
		expression = fmt.Sprintf(expression, args...)
	}
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return value
}
