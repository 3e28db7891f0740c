package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/wall"
)

// serverCapture returns the folder of a capture whose threads did what a reporttest.Server describes.
func serverCapture(t *testing.T, workers int) string {
	t.Helper()
	dir := gasmtest.UnpackFolder(t, "stacks")
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	w := d.Trials[0].Windows[0]
	out, err := os.Create(filepath.Join(dir, capture.WallText(w.PID)))
	require.NoError(t, err)
	require.NoError(t, reporttest.Server{PID: w.PID, From: w.FromMonoNanos, To: w.ToMonoNanos,
		Workers: workers}.Write(out))
	require.NoError(t, out.Close())
	return dir
}

// serverPage returns the path of the page for such a capture, and the table of what its threads did.
func serverPage(t *testing.T, workers int) (path string, table *waits.Table) {
	t.Helper()
	dir := serverCapture(t, workers)
	c, err := capture.Open(dir)
	require.NoError(t, err)
	defer c.Close()
	ps, err := profile.Of(c, choice.DefaultOptions())
	require.NoError(t, err)
	require.NotNil(t, ps.Trials[0].Waits)
	return gasm(t, fmt.Sprintf("server-%d", workers), "report", "--format", "html", "--instructions", "200",
		dir), ps.Trials[0].Waits
}

// stateAt returns the state of a thread at a CLOCK_MONOTONIC time, or 0 if there is no span at that time.
func stateAt(t *waits.Thread, at int64) wall.State {
	for _, s := range t.Spans {
		if at >= s.FromMonoNanos && at < s.ToMonoNanos {
			return s.State
		}
	}
	return 0
}

// shownThreads returns the threads whose lanes are shown at first, in the order of the lanes.
func shownThreads(table *waits.Table) (list []*waits.Thread) {
	for i := range table.Threads {
		if !table.Threads[i].Idle {
			list = append(list, &table.Threads[i])
		}
	}
	return list
}

const (
	lanesSize  = `+document.querySelector(".lane-box [role=option]").ariaSetSize`
	laneCursor = `document.querySelector(".lane-box [aria-selected=true]").textContent`
	laneWhere  = `document.querySelector(".lane-where").textContent`
	// laneView scrolls the lanes into view. It returns the left and top edges of the drawing in the window, and the
	// left and right ends of the lanes in the drawing.
	laneView = `(() => { const box = document.querySelector(".lane-box"); box.scrollIntoView({ block: "center" }); const r = box.getBoundingClientRect();
		return [r.left + 1, r.top + 1, Math.min(Math.round(box.clientWidth * 0.22), 260), box.clientWidth] })()`
	// laneColour returns the colour at a point of the drawing, and the colour in a variable of the style sheet.
	laneColour = `(() => { const canvas = document.querySelector(".lane-box canvas"); const ratio = canvas.width / canvas.clientWidth;
		const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true }); copy.drawImage(canvas,
			-%d * ratio, -%d * ratio);
		const [r, g, b] = copy.getImageData(0, 0, 1, 1).data;
		const el = document.querySelector(".lane-box").appendChild(document.createElement("i")); el.style.color = "var(--f-s-%s)";
		const want = getComputedStyle(el).color; el.remove(); return [%s, want] })()`
)

// A moment is a point of the drawing, and the time that it shows.
type moment struct {
	x, y float64 // within the drawing
	at   int64   // CLOCK_MONOTONIC
}

// pointOf returns the point of a thread's lane at a fraction of the time in view, which is [from, to).
func pointOf(view []float64, row int, part float64, from, to int64) moment {
	x := view[2] + part*(view[3]-view[2])
	x = float64(int(x)) + 0.5
	part = (x - view[2]) / (view[3] - view[2])
	return moment{x, 16 + 15*float64(row) + 7, from + int64(part*float64(to-from))}
}

// TestLanes checks that lanes have the colours of the states, that a click shows the stacks of all threads at that
// moment, and that dragging zooms.
func TestLanes(t *testing.T) {
	path, table := serverPage(t, 30)
	for name, l := range map[string]look{"light": {}, "dark": {dark: true}} {
		t.Run(name, func(t *testing.T) {
			p := open(t, path, "#p0-lanes", l)
			threads := shownThreads(table)
			assert.Equal(t, len(threads), eval[int](p, lanesSize))
			from, to := table.JVMs[0].FromMonoNanos, table.JVMs[0].ToMonoNanos
			view := eval[[]float64](p, laneView)
			checkColours(t, p, threads, view, from, to)

			click := pointOf(view, 3, 0.4, from, to)
			p.do(chromedp.MouseClickXY(view[0]+click.x, view[1]+click.y))
			p.awaits(`document.querySelectorAll(".lane-stacks details").length > 0`)
			want, got := map[string]int{}, map[string]int{}
			for _, th := range threads {
				want[stateAt(th, click.at).String()]++
			}
			for _, one := range eval[[]string](p,
				`[...document.querySelectorAll(".lane-stacks summary")].map((el) => el.querySelector("b").textContent + " " + el.querySelector(".key").textContent)`) {
				var n int
				number, state, _ := strings.Cut(one, " ")
				_, err := fmt.Sscan(number, &n)
				require.NoError(t, err)
				got[state] += n
			}
			assert.Equal(t, want, got)
			assert.Contains(t, p.text(".lane-stacks h3"), fmt.Sprintf("%d threads at %.2f s", len(threads),
				float64(click.at-from)/1e9))
			assert.Contains(t, eval[string](p, laneCursor), threads[3].Name+": "+stateAt(threads[3], click.at).String())
			assert.Contains(t, p.text(".lane-stacks details[open] ol"), "acme.", "the frames of the first stack")

			a, b := pointOf(view, 5, 0.2, from, to), pointOf(view, 5, 0.3, from, to)
			drag(p, view[0]+a.x, view[1]+a.y, view[0]+b.x, view[1]+b.y)
			p.awaits(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
			checkColours(t, p, threads, view, a.at, b.at)
			p.click(`[data-lanes="all"]`)
			p.awaits(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
			checkColours(t, p, threads, view, from, to)
		})
	}
}

// checkColours compares the colours at points of the drawing with the states of threads. [from, to) is the time in
// view.
func checkColours(t *testing.T, p *tab, threads []*waits.Thread, view []float64, from, to int64) {
	t.Helper()
	checked := map[wall.State]bool{}
	for row := range 12 {
		for _, part := range []float64{0.05, 0.31, 0.52, 0.77, 0.93} {
			at := pointOf(view, row, part, from, to)
			pixel := int64(float64(to-from) / (view[3] - view[2]))
			state := stateAt(threads[row], at.at)
			if state == 0 || stateAt(threads[row], at.at-pixel) != state || stateAt(threads[row], at.at+pixel) != state {
				continue // too close to a border between two states
			}
			checked[state] = true
			colours := eval[[]string](p, laneColour, int(at.x), int(at.y), strings.ReplaceAll(state.String(), " ", "-"),
				"`rgb(${r}, ${g}, ${b})`")
			assert.Equal(t, colours[1], colours[0], "%s at %.3f s: %s", threads[row].Name, float64(at.at-from)/1e9, state)
		}
	}
	assert.GreaterOrEqual(t, len(checked), 2, "states")
}

// drag moves the mouse with its button down.
func drag(p *tab, fromX, fromY, toX, toY float64) {
	p.t.Helper()
	for _, e := range []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMousePressed, X: fromX, Y: fromY},
		{Type: input.DispatchMouseEventTypeMouseMoved, X: (fromX + toX) / 2, Y: toY},
		{Type: input.DispatchMouseEventTypeMouseMoved, X: toX, Y: toY},
		{Type: input.DispatchMouseEventTypeMouseReleased, X: toX, Y: toY},
	} {
		e.Button, e.ClickCount = input.MouseButtonLeft, 1
		call(p, input.DispatchMouseEvent, e)
	}
}

// TestLanesByKeyboard checks that everything can be done with the keyboard, and that the page's own keys do not
// interfere.
func TestLanesByKeyboard(t *testing.T) {
	path, table := serverPage(t, 30)
	p := open(t, path, "#p0-lanes", look{})
	threads := shownThreads(table)
	p.do(run(`document.querySelector(".lane-box").focus()`))
	p.press(kb.ArrowDown, kb.ArrowDown, kb.ArrowRight, kb.ArrowRight)
	from := table.JVMs[0].FromMonoNanos
	second := threads[2].Spans[1]
	assert.Contains(t, eval[string](p, laneCursor), fmt.Sprintf("%s: %s", threads[2].Name, second.State))
	assert.Contains(t, eval[string](p, laneWhere), fmt.Sprintf("%.2f s · ", float64(second.FromMonoNanos-from)/1e9))
	p.press(kb.ArrowLeft)
	assert.Contains(t, eval[string](p, laneCursor), fmt.Sprintf("%s: %s", threads[2].Name, threads[2].Spans[0].State))
	p.press(kb.End)
	assert.Contains(t, eval[string](p, laneCursor), threads[len(threads)-1].Name)
	assert.Positive(t, eval[float64](p, `document.querySelector(".lane-box").scrollTop`), "it is in view")
	p.press(kb.Home, "+", "+", "-", kb.Escape, kb.Enter)
	assert.Equal(t, "SUMMARY", eval[string](p, `document.activeElement.tagName`))
	assert.False(t, eval[bool](p,
		`!!document.querySelector("dialog[open]") || document.documentElement.classList.contains("in-code")`))

	p.do(run(`document.querySelector(".lane-filter").value = "WRIT"; document.querySelector(".lane-filter").dispatchEvent(new Event("input"))`))
	assert.Equal(t, 1, eval[int](p, lanesSize))
	p.do(run(`document.querySelector(".lane-filter").value = "no such thread"; document.querySelector(".lane-filter").dispatchEvent(new Event("input"))`))
	assert.Equal(t, 0, eval[int](p, `document.querySelectorAll(".lane-box [role=option]").length`))
	p.do(run(`document.querySelector(".lane-filter").value = ""; document.querySelector(".lane-filter").dispatchEvent(new Event("input"))`))
	p.click(".lane-idle")
	assert.Equal(t, len(table.Threads), eval[int](p, lanesSize))
}

func TestLanesAccessible(t *testing.T) {
	needBrowser(t)
	axe := needAxe(t)
	path, _ := serverPage(t, 5)
	for name, l := range map[string]look{"light": {}, "dark": {dark: true}} {
		for view, hash := range map[string]string{"lanes": "#p0-lanes", "calls": "#g=flame&x=wall"} {
			t.Run(name+" "+view, func(t *testing.T) {
				p := open(t, path, hash, l)
				call(p, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
				if view == "lanes" {
					p.do(run(`document.querySelector(".lane-box").focus()`))
					p.press(kb.ArrowRight)
					p.awaits(`document.querySelectorAll(".lane-stacks details").length > 0`)
				} else {
					p.awaits(inCalls)
				}
				checkAxe(t, p, axe, map[string]string{"light": everything, "dark": colours}[name])
			})
		}
	}
}

// TestManyLanes checks that thousands of threads can be shown, because only the lanes in view are drawn.
func TestManyLanes(t *testing.T) {
	path, table := serverPage(t, 2000)
	info, err := os.Stat(path)
	require.NoError(t, err)
	t.Logf("the page has %.1f MB", float64(info.Size())/1e6)
	assert.Less(t, info.Size(), int64(5e6))
	began := time.Now()
	p := open(t, path, "#p0-lanes", look{})
	threads := shownThreads(table)
	assert.Equal(t, len(threads), eval[int](p, lanesSize))
	t.Logf("open: %v", time.Since(began).Round(time.Millisecond))
	p.do(run(`document.querySelector(".lane-box").focus()`))
	p.press(kb.End, kb.ArrowRight)
	p.awaits(`document.querySelectorAll(".lane-stacks details").length > 0`)
	assert.Contains(t, p.text(".lane-stacks h3"), fmt.Sprintf("%d threads at ", len(threads)))
	assert.LessOrEqual(t, eval[int](p, `document.querySelectorAll(".lane-stacks details").length`), 200)
	assert.Equal(t, eval[float64](p, `document.querySelector(".lane-box").clientHeight`),
		eval[float64](p, `document.querySelector(".lane-box canvas").clientHeight`), "the drawing is as large as the box")
	t.Logf("a frame: %.1f ms", eval[float64](p,
		`(() => { const box = document.querySelector(".lane-box"); return new Promise((done) => { box.scrollTop = 5000; requestAnimationFrame(() => { const t = performance.now(); requestAnimationFrame(() => done(performance.now() - t)) }) }) })()`))
}

// TestCallsByTheWallClock checks that the flame graph shows the time of threads by the wall clock, and only in the
// chosen states.
func TestCallsByTheWallClock(t *testing.T) {
	path, table := serverPage(t, 30)
	p := open(t, path, "#p0-lanes", look{})
	p.click(`.lanes a[href="#g=flame&x=wall"]`)
	p.awaits(inCalls)
	var shown waits.Times
	for _, th := range shownThreads(table) {
		shown.Add(&th.Times)
	}
	total := func(n int64) string { return fmt.Sprintf(", %.2f s", float64(n)/1e9) }
	root := func() string { return eval[[]item](p, items)[0].Text }
	assert.Contains(t, root(), "total 100.00%"+total(shown.Sum()))
	for _, s := range wall.States() {
		if s != wall.Monitor {
			p.do(run(`const box = document.querySelector('[data-state="%d"] input'); if (box.checked) box.click()`, int(s)))
		}
	}
	p.awaits(`document.querySelector("#graph [role=treeitem]").textContent.includes(%q)`, total(shown[wall.Monitor]))
	assert.Contains(t, eval[string](p,
		`[...document.querySelectorAll("#graph [role=treeitem]")].map((el) => el.textContent).join("\n")`),
		"http-nio-8080-exec-*")
	p.do(run(`document.querySelector("#calls-query").value = "pool::take"; document.querySelector("#calls-query").dispatchEvent(new Event("input"))`))
	var at int64
	for i := range table.Sums {
		if s := &table.Sums[i]; s.State == wall.Monitor && !s.Idle {
			for c := range table.Stacks.Callers(s.Stack) {
				if c.Name == "acme.Pool::take" {
					at += s.Nanos
				}
			}
		}
	}
	assert.Contains(t, p.text("#calls-share"), fmt.Sprintf("of the time (%.2f s)", float64(at)/1e9))

	p.click(`[data-calls="wall"]`)
	p.awaits(`location.hash === "#g=flame&s=pool%3A%3Atake" || location.hash === "#g=flame&s=pool::take"`)
	assert.Contains(t, root(), "samples")
	assert.True(t, eval[bool](p, `document.querySelector("[data-state]").hidden`))
	p.do(back())
	p.awaits(`location.hash.includes("&x=wall")`)
	p.awaits(`!document.querySelector("[data-state]").hidden`)
	p.open(path, "#g=sandwich&m=acme.Pool::take&x=wall")
	p.awaits(inCalls)
	assert.Contains(t, eval[string](p, frameAt), "acme.Pool::take")
}

// TestWaitTables checks that the page has the tables that the JSON report has.
func TestWaitTables(t *testing.T) {
	path, _ := serverPage(t, 30)
	text, err := os.ReadFile(gasm(t, "server-json", "report", "--format", "json", serverCapture(t, 30)))
	require.NoError(t, err)
	var rep schema.Report
	require.NoError(t, json.Unmarshal(text, &rep))
	w := rep.Profiles[0].Waits
	p := open(t, path, "", look{})
	rows := func(id string) int { return eval[int](p, `document.querySelectorAll("#p0-%s tbody tr").length`, id) }
	places := 0
	for _, place := range w.Places {
		if !place.Queue {
			places++
		}
	}
	assert.Equal(t, []int{places, len(w.Holders), 2, len(w.Virtual)},
		[]int{rows("waits"), rows("lock-owners"), rows("deadlocks"), rows("virtual")})
	assert.Contains(t, p.text("#p0-lock-owners tbody"), "acme.Pool@7f0010")
	p.click("#p0-waits summary")
	assert.Contains(t, p.text("#p0-waits details[open]"), "acme.Server::handle")
}
