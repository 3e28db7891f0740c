package browsertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/findinpage"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// Code of 50 000 instructions can be read: the browser lays out only what it shows, and its search finds the rest too.
// Times are logged but not checked, because a busy machine may take any time.
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
	t.Logf("first paint: %.0f ms after navigation began", eval[float64](p,
		`performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN`))
	require.Equal(t, 50_000, eval[int](p, `document.querySelectorAll("#c0 .r").length`))
	t.Run("jumps", func(t *testing.T) { checkJumps(t, p, l) })
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

// jumps is the number of jumps that are measured. usualJump limits their median time; it is half of the tenth of a
// second that feels immediate. maxJump limits the time of each jump, even of one during which the browser collects
// garbage.
const (
	jumps     = 24
	usualJump = 50 * time.Millisecond
	maxJump   = 100 * time.Millisecond
)

// checkJumps follows links across the whole code. It measures how long the page's thread works for each jump, from the
// click until the frame that shows the target is drawn, without waiting for the screen's next frame and for other
// programs. The time on the clock is logged as well. Between two jumps there is a pause as for reading, in which the
// page prepares what is around the target. The CPU is slower while other programs use it. A fixed amount of work, which
// is timed before each jump, shows by how much.
func checkJumps(t *testing.T, p *tab, l *profile.Listing) {
	call(p, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	busy := func() time.Duration {
		for _, m := range call(p, performance.GetMetrics, cdp.Empty{}).Metrics {
			if m.Name == "TaskDuration" {
				return time.Duration(m.Value * 1e9)
			}
		}
		require.Fail(t, "no TaskDuration")
		return 0
	}
	work := func() time.Duration {
		before := busy()
		eval[int](p, `(() => { const list = []; for (let i = 0; i < 300_000; i++) list[i % 1000] = String(i * 7).length; return list.length })()`)
		return busy() - before
	}
	idle := work()
	var worked, waited, others []time.Duration
	for i := range jumps {
		eval[bool](p, `new Promise((done) => setTimeout(() => requestIdleCallback(() => done(true)), 80))`)
		other := work()
		idle, others = min(idle, other), append(others, other)
		line := (i*i*7919 + 31*i) % len(l.Lines) // near and far, forward and back
		id := fmt.Sprintf("c0-%x", l.Lines[line].Lo-l.Lines[0].Lo)
		before := busy()
		millis := eval[float64](p, `new Promise((done) => {
			const a = document.createElement("a");
			a.href = %q;
			document.querySelector("#c0 .jumps").append(a);
			const t = performance.now();
			a.click();
			requestAnimationFrame(() => setTimeout(() => done(performance.now() - t)));
		})`, "#"+id)
		worked, waited = append(worked, busy()-before), append(waited, time.Duration(millis*1e6))
		assert.Equal(t, id, eval[string](p, cursor))
		assert.True(t, eval[bool](p, inView, id), "row %d is in view", line)
	}
	for i, took := range worked {
		slower := float64(others[i]) / float64(idle)
		assert.LessOrEqual(t, took, time.Duration(float64(maxJump)*slower),
			"jump %d; the machine is %.1f times as slow as at its best", i, slower)
	}
	slices.Sort(worked)
	slices.Sort(waited)
	slices.Sort(others)
	slower := float64(others[jumps/2]) / float64(idle)
	assert.LessOrEqual(t, worked[jumps/2], time.Duration(float64(usualJump)*slower),
		"the median; the machine is usually %.1f times as slow as at its best", slower)
	t.Logf("%d jumps: work median %v, most %v; on the clock median %v, most %v; the same work %v to %v", jumps,
		worked[jumps/2], worked[jumps-1], waited[jumps/2], waited[jumps-1], idle, others[jumps-1])
}

// enlarge repeats the hottest code until it has a number of instructions.
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
			line.Counts = make(tally.Counts, len(line.Counts))
			if i%100 == 0 {
				line.Counts[0] = 1
			}
		}
		l.Lines = append(l.Lines, line)
	}
	return l
}

// The browser's own search opens hidden code.
func TestFindInHiddenCode(t *testing.T) {
	ps := profiles(t, "sort")
	p0 := &ps.Trials[0]
	require.Greater(t, len(p0.Listings), 2)
	l := &p0.Listings[2]
	// an instruction that is in no table
	cold := slices.IndexFunc(l.Lines, func(line code.Line) bool { return line.Counts[0] == 0 })
	require.GreaterOrEqual(t, cold, 0)
	l.Lines[cold].Text += " needle-in-a-haystack"
	p := open(t, pageOf(t, ps), "#c0", look{})
	p.awaits(`document.documentElement.classList.contains("in-code")`)
	if err := find(p, "needle-in-a-haystack"); err != nil {
		t.Skipf("this browser's search can't be driven: %v", err)
	}
	p.awaits(`%s.id === "c2"`, shown)
}

// inView reports whether the instruction with an id is visible.
const inView = `(() => {
	const row = document.getElementById(%q).getBoundingClientRect();
	const box = document.querySelector("#c0 .rows").getBoundingClientRect();
	return row.height > 0 && row.top >= box.top && row.bottom <= box.bottom;
})()`

// find searches for text like the browser's own search (Ctrl+F). Older browsers can't be told to do that.
func find(p *tab, text string) error {
	_, err := chromedp.Call(p.ctx, findinpage.FindFirst, findinpage.FindFirstParams{Query: text})
	return err
}
