package browsertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/findinpage"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/profile"
)

// Code of 50 000 instructions can be read: the browser lays out only what it shows, and yet
// finds what it does not show. Times are logged; a busy machine may take any.
func TestLarge(t *testing.T) {
	ps := profiles(t, "huge")
	l := enlarge(&ps.Trials[0], 50_000)
	const far = 49_000
	l.Lines[far].Text += " needle-in-a-haystack"
	path := pageOf(t, ps)
	began := time.Now()
	p := open(t, path, "#c0", look{})
	p.awaits(`document.documentElement.classList.contains("in-code")`)
	t.Logf("open: %v", time.Since(began).Round(time.Millisecond))
	t.Logf("first paint: %.0f ms after navigation began", eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN`))
	require.Equal(t, 50_000, eval[int](p, `document.querySelectorAll("#c0 .r").length`))
	// Jumps across the whole code, by links: the time until the next frame is drawn.
	jump := func(line int) float64 {
		id := fmt.Sprintf("c0-%x", l.Lines[line].Lo-l.Lines[0].Lo)
		millis := eval[float64](p, `new Promise((done) => { const t = performance.now(); location.hash = %q; addEventListener("hashchange", () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - t)))) })`, id)
		assert.Equal(t, id, eval[string](p, cursor))
		assert.True(t, eval[bool](p, inView, id), "row %d is in view", line)
		return millis
	}
	for _, line := range []int{45_000, 10, 25_000} {
		t.Logf("jump to row %d: %.0f ms", line, jump(line))
	}
	began = time.Now()
	id := fmt.Sprintf("c0-%x", l.Lines[far].Lo-l.Lines[0].Lo)
	if err := find(p, "needle-in-a-haystack"); err == nil {
		p.awaits(inView, id)
	} else {
		assert.True(t, eval[bool](p, `window.find("needle-in-a-haystack")`))
		assert.Equal(t, id, eval[string](p, `getSelection().anchorNode.parentElement.closest(".r").id`))
	}
	t.Logf("find: %v", time.Since(began).Round(time.Millisecond))
}

// enlarge repeats the hottest code until it has so many instructions.
func enlarge(p *profile.Profile, n int) *profile.Listing {
	l := &p.Listings[0]
	once, size := l.Lines, l.Hi-l.Lo
	p.Listings = p.Listings[:1]
	l.Other, l.Parts, p.Parts = nil, nil, nil
	l.Lines = nil
	for i := range n {
		line, shift := once[i%len(once)], uint64(i/len(once))*size
		line.Lo, line.Hi = line.Lo+shift, line.Hi+shift
		if line.Target >= l.Lo && line.Target < l.Hi {
			line.Target += shift
		}
		if shift > 0 {
			line.Counts = make(profile.Counts, len(line.Counts))
			if i%100 == 0 {
				line.Counts[0] = 1
			}
		}
		l.Lines = append(l.Lines, line)
	}
	return l
}

// The browser's search opens code that is not shown.
func TestFindInHiddenCode(t *testing.T) {
	ps := profiles(t, "sort")
	p0 := &ps.Trials[0]
	require.Greater(t, len(p0.Listings), 2)
	l := &p0.Listings[2]
	cold := slices.IndexFunc(l.Lines, func(line profile.Line) bool { return line.Counts[0] == 0 }) // which no table has
	require.GreaterOrEqual(t, cold, 0)
	l.Lines[cold].Text += " needle-in-a-haystack"
	p := open(t, pageOf(t, ps), "#c0", look{})
	p.awaits(`document.documentElement.classList.contains("in-code")`)
	if err := find(p, "needle-in-a-haystack"); err != nil {
		t.Skipf("this browser's search can't be driven: %v", err)
	}
	p.awaits(`%s.id === "c2"`, shown)
}

// inView tells whether the instruction with an id is where one sees it.
const inView = `(() => {
	const row = document.getElementById(%q).getBoundingClientRect();
	const box = document.querySelector("#c0 .rows").getBoundingClientRect();
	return row.height > 0 && row.top >= box.top && row.bottom <= box.bottom;
})()`

// find looks for text as the browser's own search does (Ctrl+F). Older browsers can't be told
// to.
func find(p *tab, text string) error {
	_, err := chromedp.Call(p.ctx, findinpage.FindFirst, findinpage.FindFirstParams{Query: text})
	return err
}
