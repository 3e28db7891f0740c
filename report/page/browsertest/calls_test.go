package browsertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/schema"
)

// Expressions about the flame graph. A canvas can't be asked what it shows, but the tree for screen readers can.
const (
	inCalls = `document.documentElement.classList.contains("in-calls") && !!document.querySelector("#graph [role=treeitem]")`
	frameAt = `document.querySelector("#calls-where").textContent` // what the line at the bottom says about a frame
	items   = `[...document.querySelectorAll("#graph [role=treeitem]")].map((el) => ({ level: +el.ariaLevel, text: el.textContent, cursor: el.ariaSelected === "true" }))`
)

// An item is a frame in the tree for screen readers.
type item struct {
	Level  int
	Text   string
	Cursor bool
}

// name returns the name of the frame.
func (i *item) name() string { return lineAtEnd.ReplaceAllString(strings.Split(i.Text, " · ")[0], "") }

// samples returns the samples of the frame, with everything below it.
func (i *item) samples(t *testing.T) (n int) {
	t.Helper()
	m := samplesText.FindStringSubmatch(i.Text)
	require.NotNil(t, m, i.Text)
	n, err := strconv.Atoi(strings.ReplaceAll(m[1], "\u202f", ""))
	require.NoError(t, err)
	return n
}

var (
	lineAtEnd   = regexp.MustCompile(`:\d+$`)
	samplesText = regexp.MustCompile(`total [<\d.]+%, ([\d\x{202f}]+) samples?`)
)

// openCalls opens the page of the capture with call stacks.
func openCalls(t *testing.T, hash string, l look) *tab {
	t.Helper()
	p := open(t, reportPage(t, "stacks", "--instructions", "1500"), hash, l)
	p.awaits(inCalls)
	return p
}

// collapsed returns the capture's stacks and their samples, from gasm's format collapsed.
func collapsed(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(gasm(t, "stacks-collapsed", append([]string{"report", "--format", "collapsed"},
		captureFiles(t, "stacks")...)...))
	require.NoError(t, err)
	stacks := map[string]int{}
	for line := range strings.Lines(string(text)) {
		i := strings.LastIndexByte(line, ' ')
		n, err := strconv.Atoi(strings.TrimSpace(line[i+1:]))
		require.NoError(t, err)
		stacks[line[:i]] = n
	}
	return stacks
}

// samplesWith returns the samples with a frame for which ok is true.
func samplesWith(stacks map[string]int, ok func(frame string) bool) (sum int) {
	for stack, n := range stacks {
		if slices.ContainsFunc(strings.Split(stack, ";"), ok) {
			sum += n
		}
	}
	return sum
}

// The overview leads to the flame graph, whose root and threads have the samples that the JSON report has.
func TestCallsTotals(t *testing.T) {
	p := open(t, reportPage(t, "stacks", "--instructions", "1500"), "", look{})
	p.click(`#overview a[href="#g=flame"]`)
	p.awaits(inCalls)
	text, err := os.ReadFile(gasm(t, "stacks-json", append([]string{"report", "--format", "json"},
		captureFiles(t, "stacks")...)...))
	require.NoError(t, err)
	var rep schema.Report
	require.NoError(t, json.Unmarshal(text, &rep))
	a := rep.Profiles[0].Account.Values[0]
	require.Positive(t, a.StackCut)
	assert.Equal(t, a.Profiled, a.StackWhole+a.StackCut+a.StackFrozen+a.StackUnwalked)
	list := eval[[]item](p, items)
	assert.Equal(t, int(a.Profiled), list[0].samples(t))
	assert.Equal(t, "all samples", list[0].name())
	assert.True(t, list[0].Cursor)
	threads := map[string]int64{}
	for _, n := range rep.Profiles[0].Stacks.Nodes {
		if n.Parent == 0 {
			threads[n.Name] = n.Counts.Values[0]
		}
	}
	require.Greater(t, len(threads), 15)
	for _, thread := range list[1:] {
		require.Equal(t, 2, thread.Level)
		assert.Equal(t, int(threads[thread.name()]), thread.samples(t), thread.name())
	}
	// All frames that are cut are marked as such.
	p.press("/")
	p.do(chromedp.SendKeys(chromedp.CSS("#calls-query"), "[cut]"))
	assert.Contains(t, p.text("#calls-share"), fmt.Sprintf("(%d) in ", a.StackCut))
	assert.Greater(t, eval[int](p, `(() => { // colours of the picture
		const c = document.querySelector("#graph canvas");
		const pixels = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
		return new Set(pixels).size;
	})()`), 6)
}

// The keys that the help lists.
func TestCallsKeys(t *testing.T) {
	p := openCalls(t, "#g=flame", look{})
	at := func() string { return eval[string](p, frameAt) }
	require.Contains(t, at(), "all samples")
	p.press(kb.ArrowUp)
	thread := at()
	assert.Contains(t, thread, " · thread · ")
	p.press(kb.ArrowRight)
	other := at()
	assert.NotEqual(t, thread, other)
	p.press(kb.ArrowLeft)
	assert.Equal(t, thread, at())
	p.press(kb.ArrowUp, kb.ArrowDown)
	assert.Equal(t, thread, at(), "up and down again")

	p.press("z")
	p.awaits(`location.hash.includes("&z=")`)
	link := eval[string](p, "location.hash")
	p.press(kb.ArrowUp)
	assert.Regexp(t, `[\d.]+% of the zoomed frame$`, at())
	p.press("i")
	p.awaits(`location.hash.startsWith("#g=icicle&z=")`)
	assert.Equal(t, thread, at(), "the cursor is at the zoomed frame")
	p.press(kb.ArrowDown)
	assert.Contains(t, at(), "of the zoomed frame", "in an icicle graph, callees are below")
	p.press(kb.Backspace)
	p.awaits(`location.hash === %q`, link)
	p.press(kb.Escape)
	p.awaits(`location.hash === "#g=flame"`)
	p.press(kb.Escape)
	p.awaits(`!document.querySelector("#overview").hidden`)
	p.press("g")
	p.awaits(inCalls)

	// The same link in another tab.
	again := openCalls(t, link, look{})
	assert.Equal(t, thread, eval[string](again, frameAt))
	again.press("?")
	again.awaits(`document.querySelector("#help").open && document.querySelector("#help").textContent.includes("the code of the method at the call")`)
	assert.Zero(t, eval[float64](again, `document.querySelector("#help").scrollTop`))
}

// A click zooms to a frame, and another one opens its code, as the cursor's line says.
func TestCallsMouse(t *testing.T) {
	p := openCalls(t, "#g=icicle", look{})
	// clickRow clicks the first frame of a row.
	clickRow := func(row int) {
		at :=
			eval[[]float64](p, `(() => { const b = document.querySelector("#graph").getBoundingClientRect(); return [b.left + 20, b.top + 1 + 18 * %d + 9] })()`, row)
		p.do(chromedp.MouseClickXY(at[0], at[1]))
	}
	clickRow(1)
	p.awaits(`location.hash.includes("&z=recursion")`)
	zoomed := eval[string](p, frameAt)
	clickRow(0)
	p.awaits(`location.hash === "#g=icicle"`)
	p.do(back())
	p.awaits(`%s === %q`, frameAt, zoomed)
	p.click("[data-calls=reset]")
	p.awaits(`location.hash === "#g=icicle"`)
	p.click("[data-calls=sandwich]")
	p.awaits(`location.hash.startsWith("#g=sandwich&m=Stacks::work")`)
	p.click("[data-calls=code]")
	p.awaits(`document.title === "Stacks::work – gasm"`)
}

// The search shows the share of the samples whose stacks contain a matching frame. Each sample counts once.
func TestCallsSearch(t *testing.T) {
	stacks := collapsed(t)
	p := openCalls(t, "#g=flame", look{})
	want := samplesWith(stacks, func(frame string) bool { return strings.Contains(frame, "Stacks::recurse") })
	require.Positive(t, want)
	p.press("/")
	p.do(chromedp.SendKeys(chromedp.CSS("#calls-query"), "stacks recurse"))
	p.awaits(`document.querySelector("#calls-share").textContent.includes("(%d) in ")`, want)
	assert.Contains(t, eval[string](p, "location.hash"), "&s=stacks%20recurse")

	// Enter goes to the widest frame that was found, and n to the next one.
	total := func() int {
		m := regexp.MustCompile(`Stacks::recurse.* · total [^·]*?([\d\x{202f}]+) samples?`).FindStringSubmatch(eval[string](p,
			frameAt))
		require.NotNil(t, m, eval[string](p, frameAt))
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], "\u202f", ""))
		require.NoError(t, err)
		return n
	}
	p.press(kb.Enter)
	last := total()
	assert.LessOrEqual(t, last, want)
	for range 3 {
		first :=
			eval[string](p, "document.querySelector('#graph').getAttribute('aria-activedescendant') + document.querySelector('#graph .items').textContent")
		p.press("n")
		assert.NotEqual(t, first, eval[string](p,
			"document.querySelector('#graph').getAttribute('aria-activedescendant') + document.querySelector('#graph .items').textContent"))
		next := total()
		assert.LessOrEqual(t, next, last)
		last = next
	}
	p.press(kb.Escape)
	assert.Empty(t, p.text("#calls-share"))
	assert.Equal(t, "graph", eval[string](p, "document.activeElement.id"))
	assert.Equal(t, "#g=flame", eval[string](p, "location.hash"))
}

// Around a method are all of its callers and callees, wherever it is in the tree.
func TestCallsAround(t *testing.T) {
	stacks := collapsed(t)
	for _, method := range []string{"Stacks::work", "Stacks::recurse"} {
		p := openCalls(t, "#g=sandwich&m="+method, look{})
		want := samplesWith(stacks, func(frame string) bool { return frame == method })
		assert.Equal(t, want, eval[[]item](p, items)[0].samples(t), method)
		callers := map[string]int{}
		for stack, n := range stacks {
			frames := strings.Split(stack, ";")
			if i := slices.Index(frames, method); i > 0 { // of a method that calls itself, the outermost frame counts
				callers[frames[i-1]] += n
			}
		}
		p.press(kb.ArrowUp)
		found := map[string]int{}
		for _, it := range eval[[]item](p, items) {
			if it.Level == 2 {
				found[it.name()] = it.samples(t)
			}
		}
		assert.Equal(t, callers, found)
		p.press(kb.ArrowDown, kb.ArrowDown)
		assert.NotContains(t, eval[string](p, frameAt), method+" ·", "a callee")
	}
	p := openCalls(t, "#g=sandwich&m=no::such", look{})
	assert.Equal(t, "no::such is not in the calls, or has too few samples.", p.text("#notice"))
}

// Enter opens the code at the call, and in the code there is a way back to the callers.
func TestCallsCode(t *testing.T) {
	p := openCalls(t, "#g=flame&z=Stacks::throwing", look{})
	assert.Contains(t, eval[string](p, frameAt), "Stacks::throwing")
	p.press(kb.Enter)
	p.awaits(`%s !== ""`, cursor)
	assert.Regexp(t, `^call`, p.text(".cur code"))
	assert.Contains(t, p.text(shownSelector(p)+" .chain"), "Stacks::throwing", "it was inlined there")
	at := eval[string](p, cursor)
	method := p.text(shownSelector(p) + "-h")
	for _, callers := range []func(){func() { p.press("c") },
		func() { p.click(shownSelector(p) + " [data-do=callers]") }} {
		callers()
		p.awaits(`location.hash.startsWith("#g=sandwich&m=") && %s`, inCalls)
		assert.Equal(t, method, (&eval[[]item](p, items)[0]).name())
		p.press(kb.Backspace)
		p.awaits(`%s === %q`, cursor, at)
	}
	p.click(shownSelector(p) + " .chain a.now")
	p.awaits(inCalls)
	assert.Equal(t, "Stacks::throwing", (&eval[[]item](p, items)[0]).name())
	p.click("#home")
	p.awaits(`!document.querySelector("#overview").hidden`)
}

// The flame graph has only the samples of the chosen threads and time. The samples of all choices add up to the whole.
func TestCallsParts(t *testing.T) {
	p := openCalls(t, "#g=flame", look{})
	root := func() int { return (&eval[[]item](p, items)[0]).samples(t) }
	whole := root()
	for _, id := range []string{"threads", "time"} {
		sum := 0
		for _, o := range leaves(options(p, id)) {
			p.do(choose("#"+id, o.Value))
			assert.Contains(t, strings.ReplaceAll(p.text("#only"), "\u202f", ""), fmt.Sprintf(": %d of ", root()))
			sum += root()
		}
		assert.Equal(t, whole, sum, id)
		p.do(run(`document.querySelector("#only button").click()`))
	}
	assert.Equal(t, whole, root())
	// Only threads of the choice are left.
	p.do(choose("#threads", leaves(options(p, "threads"))[0].Value))
	assert.Equal(t, []string{"all samples"}, []string{(&eval[[]item](p, items)[0]).name()})
	p.press(kb.ArrowUp)
	assert.Contains(t, eval[string](p, frameAt), "total 100.00%")
}

// Without samples, there is a root without a width, and no key does harm.
func TestCallsEmpty(t *testing.T) {
	tree, err := callstack.Read(strings.NewReader("gasm stacks 1\n"), "stacks.txt")
	require.NoError(t, err)
	ps := profiles(t, "sort")
	trial := &ps.Trials[0]
	trial.Stacks = calltree.NewSet(calltree.NewStacks(tree), 1)
	for i := range trial.Frames {
		trial.Frames[i].WithCallees = trial.Frames[i].Total
	}
	p := open(t, pageOf(t, ps), "#g=flame", look{})
	p.awaits(inCalls)
	assert.Equal(t, "all samples · total no samples · self no samples", eval[string](p, frameAt))
	p.press(kb.ArrowUp, kb.ArrowLeft, kb.ArrowDown, "z", "i", "c", kb.Enter, "/")
	p.do(chromedp.SendKeys(chromedp.CSS("#calls-query"), "x"))
	assert.Equal(t, "nothing found", p.text("#calls-share"))
	p.press(kb.Escape, kb.Escape)
	assert.True(t, eval[bool](p, inCalls))
}

// On a narrow screen, nothing is beside the flame graph.
func TestCallsNarrow(t *testing.T) {
	p := openCalls(t, "#g=flame", look{width: 320, height: 640})
	assert.LessOrEqual(t, eval[int](p, "document.documentElement.scrollWidth"), 320)
	assert.Greater(t, eval[int](p, `document.querySelector("#graph").clientHeight`), 120)
	assert.True(t, eval[bool](p, `document.querySelector("#calls footer").getBoundingClientRect().bottom <= innerHeight + 1`))
}

// The flame graph meets axe-core's rules.
func TestCallsAccessible(t *testing.T) {
	needBrowser(t)
	axe := needAxe(t)
	p := open(t, reportPage(t, "stacks", "--instructions", "100"), "#g=flame&z=Stacks::throwing&s=stacks", look{})
	p.awaits(inCalls)
	call(p, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
	checkAxe(t, p, axe, `document.querySelector("#calls"), { resultTypes: ["violations"] }`)
	p.look(look{dark: true})
	checkAxe(t, p, axe, `document.querySelector("#calls"), { resultTypes: ["violations"], runOnly: ["color-contrast"] }`)
	assert.Equal(t, "tree", eval[string](p, `document.activeElement.role`))
	assert.Equal(t, eval[string](p, frameAt), eval[string](p,
		`document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent`))
	assert.Equal(t, []string{"true"},
		eval[[]string](p, `[...document.querySelectorAll("#graph [aria-selected=true]")].map((el) => el.ariaExpanded)`))
}

// The printed page has the flame graph without the controls around it.
func TestCallsPrint(t *testing.T) {
	p := openCalls(t, "#g=flame", look{print: true})
	assert.Zero(t, eval[int](p, `[...document.querySelectorAll("#top, #calls .bar, #calls footer button")].filter((e) => e.getClientRects().length).length`))
	p.do(pdf(t))
	assert.Empty(t, eval[string](p, `document.querySelector("#graph").style.colorScheme`),
		"the screen has its own colours again")
}

// Names are shown as text, whatever they contain.
func TestCallsHostileNames(t *testing.T) {
	const evil = "</script><img src=x onerror=alert(1)>\"'`${1}&lt;--><!--\u202e\x1b[31m\u2028&z=%zz;\\"
	var text strings.Builder
	w := callstack.NewWriter(&text)
	thread := w.Push(0, callstack.Frame{Kind: callstack.Native, BCI: -1, Line: -1, Module: evil, Name: evil + "::native"})
	id := w.Push(thread, callstack.Frame{Kind: callstack.Compiled, CompileID: 1, BCI: 1, Line: 1, Name: evil + "::<init>"})
	require.NoError(t, w.Flush())
	tree, err := callstack.Read(strings.NewReader(text.String()), "stacks.txt")
	require.NoError(t, err)
	ps := profiles(t, "sort")
	trial := &ps.Trials[0]
	ps.Stacks = calltree.NewStacks(tree)
	trial.Stacks = calltree.NewSet(ps.Stacks, 1)
	leaf := trial.Stacks.Leaf([]calltree.LeafFrame{{Frame: callstack.Frame{Kind: callstack.Inlined,
		Name: evil + "::leaf"}}})
	for i := range trial.Parts.List {
		trial.Stacks.AddPart(evil, leaf, id, i, tally.Counts{3})
	}
	for i := range trial.Frames {
		trial.Frames[i].WithCallees = trial.Frames[i].Total
	}
	p := open(t, pageOf(t, ps), "#g=flame", look{})
	p.awaits(inCalls)
	for i := range 3 {
		p.press(kb.ArrowUp)
		at := eval[string](p, frameAt)
		assert.Contains(t, at, `</script><img src=x onerror=alert(1)>`)
		p.press("z")
		// the line no longer describes the zoomed frame
		p.awaits(`location.hash.includes("&z=") && %q.startsWith(%s)`, at, frameAt)
		p.press(kb.Backspace)
		p.awaits(`location.hash === "#g=flame"`)
		for range i + 1 {
			p.press(kb.ArrowUp)
		}
		assert.Equal(t, at, eval[string](p, frameAt))
	}
	p.press("c")
	p.awaits(`location.hash.startsWith("#g=sandwich")`)
	assert.Contains(t, eval[string](p, frameAt), `</script><img src=x onerror=alert(1)>`)
	assert.Zero(t, eval[int](p, `document.querySelectorAll("img").length`))
	assert.False(t, eval[bool](p, `/[\u202e\u2028\x1b]/.test(document.documentElement.textContent)`))
}

// A tree of a million calls is drawn, and each step in it is answered. Times are logged but not checked, because a busy
// machine may take any time.
func TestCallsLarge(t *testing.T) {
	const nodes = 1_000_000
	text, err := os.ReadFile(reportPage(t, "stacks", "--instructions", "1500"))
	require.NoError(t, err)
	before, rest, ok := bytes.Cut(text, []byte(`id="p0-calls">`))
	require.True(t, ok)
	_, after, ok := bytes.Cut(rest, []byte("</script>"))
	require.True(t, ok)
	path := filepath.Join(t.TempDir(), "large.html")
	large := slices.Concat(before, []byte(`id="p0-calls">`), manyCalls(t, nodes), []byte("</script>"), after)
	require.NoError(t, os.WriteFile(path, large, 0o600))
	began := time.Now()
	p := open(t, path, "", look{})
	took := func(what string) {
		t.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
		began = time.Now()
	}
	took("open the page")
	p.press("g")
	p.awaits(inCalls)
	assert.Equal(t, nodes-1, (&eval[[]item](p, items)[0]).samples(t))
	took("the flame graph")
	for range 5 {
		p.press(kb.ArrowUp)
	}
	took("five keys")
	at := eval[string](p, frameAt)
	p.press("z")
	p.awaits(`location.hash.includes("&z=") && %s === %q`, frameAt, at)
	took("zoom")
	p.press("/")
	p.do(chromedp.SendKeys(chromedp.CSS("#calls-query"), "m77"))
	p.awaits(`document.querySelector("#calls-share").textContent.includes(" in ")`)
	took("search, three letters")
	p.press(kb.Escape, "c")
	p.awaits(`location.hash.startsWith("#g=sandwich")`)
	took("callers and callees")
	p.do(choose("#time", "2"))
	took("a slice of time")
}

// manyCalls returns the data of a tree with many nodes. Each but the root has a sample.
func manyCalls(t *testing.T, nodes int) []byte {
	t.Helper()
	const codes = 1000
	data := map[string]any{"kinds": []string{"root", "thread", "c2", "c1", "compiled", "interpreter", "stub", "vm",
		"native", "kernel", "unresolved", "cut", "frozen", "unwalked"}, "places": []string{}, "rest": [][]int{{}},
		"others": []int{}}
	var names []string
	var code, frames []int
	for i := range codes {
		names = append(names, fmt.Sprint("com.acme.Class", i%100, "::m", i))
		code = append(code, i, 0)
		frames = append(frames, i, 2+i%8, i%3, i, 0)
	}
	list, self, depth, seed := []int{0, 0}, []int{0, 0}, 0, uint32(1)
	for i := range nodes - 1 {
		seed = seed*1664525 + 1013904223
		up := 0
		if depth > 0 {
			up = min(max(int(seed>>24)%6-1, 0)+depth/60, depth-1)
		}
		if i%(1<<15) == 0 {
			up = depth // a thread
		}
		depth += 1 - up
		list = append(list, 1+int(seed>>12)%(codes-1), up)
		self = append(self, 1, 1, 0, 1)
	}
	data["names"], data["codes"], data["frames"], data["nodes"], data["self"] = names, code, frames, list, [][]int{self}
	text, err := json.Marshal(data)
	require.NoError(t, err)
	return text
}
