package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// profiles returns the profiles of a committed capture, with all code that the page can have.
func profiles(t *testing.T, name string) *profile.Profiles {
	t.Helper()
	o := choice.DefaultOptions()
	// as with --format html
	o.Listings, o.Hottest, o.History, o.Parts, o.Stacks, o.SkipLines = 12_000, true, true, true, true, true
	var c *capture.Capture
	var err error
	if slices.Contains([]string{"spread", "huge", "sort", "stacks"}, name) {
		c, err = capture.Open(gasmtest.UnpackFolder(t, name))
	} else {
		samples, log := gasmtest.UnpackCapture(t, name, t.TempDir())
		c, err = capture.OpenFiles(samples, []string{log})
	}
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	ps, err := profile.Of(c, o)
	require.NoError(t, err)
	return ps
}

// page returns the page of profiles.
func page(t *testing.T, ps *profile.Profiles) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.WriteHTML(&b, ps, report.Options{Gasm: "0.1.0", Options: view.Options{Top: 20}}))
	return b.String()
}

// jsonOf returns the JSON report of the same profiles, read again.
func jsonOf(t *testing.T, ps *profile.Profiles) *schema.Report {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.WriteJSON(&b, ps, report.Options{Gasm: "0.1.0"}))
	var r schema.Report
	require.NoError(t, json.Unmarshal(b.Bytes(), &r))
	return &r
}

// between returns the text from the first start up to the next end.
func between(t *testing.T, text, start, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, start)
	require.True(t, ok, "%s is not in the page", start)
	before, _, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s is not after %s", end, start)
	return before
}

var (
	tableRow = regexp.MustCompile(`(?s)<tr>(.*?)</tr>`)
	samples  = regexp.MustCompile(`data-n="(\d+)"`)
	tag      = regexp.MustCompile(`<[^>]*>`)
	listing  = regexp.MustCompile(`(?s)<article class="code" id="c(\d+)".*?</article>`)
	rowOf    = regexp.MustCompile(`<div class="r[^"]*" id="c\d+-([0-9a-f]+)"[^>]*>(.*)</div>`)
	count    = regexp.MustCompile(`<b class="h\d" data-n="(\d+)"(?: data-e="(\d)")?(?: data-v="([^"]*)")?>`)
	parted   = regexp.MustCompile(`data-n="(\d+)"(?: data-e="\d")? data-v="([^"]*)"`)
)

// tableOf returns a table of the page: the numbers of samples of each row, and all of its text.
func tableOf(t *testing.T, text, id string) (counts [][]int64, texts []string) {
	t.Helper()
	body := between(t, between(t, text, `id="`+id+`"`, "</section>"), "<tbody>", "</tbody>")
	for _, m := range tableRow.FindAllStringSubmatch(body, -1) {
		var row []int64
		for _, n := range samples.FindAllStringSubmatch(m[1], -1) {
			v, err := strconv.ParseInt(n[1], 10, 64)
			require.NoError(t, err)
			row = append(row, v)
		}
		counts = append(counts, row)
		texts = append(texts, html.UnescapeString(tag.ReplaceAllString(strings.ReplaceAll(m[1], "</td>", " "), "")))
	}
	return counts, texts
}

// The numbers in the page are those of the JSON report, and the rows of each listing add up to its method.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jdk17-lean-none", "jdk17-full-hsdis", "jdk8-full-hsdis", "spread", "huge", "stacks"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ps := profiles(t, name)
			text := page(t, ps)
			assert.Less(t, len(text), 3_000_000, "bytes")
			for i, p := range jsonOf(t, ps).Profiles {
				checkTables(t, text, i, &p)
			}
			checkListings(t, text, ps)
			checkLoops(t, text, ps, name != "huge")
			checkParts(t, text, ps)
		})
	}
}

// The table of frames has the 100 with the most samples of their own, and then each other one that fewer than 100
// frames are ahead of in total.
func checkFrames(t *testing.T, text string, number int, p *schema.Profile) {
	t.Helper()
	total := func(f *schema.Frames) int64 {
		if len(f.WithCallees.Values) > 0 {
			return f.WithCallees.Values[0]
		}
		return f.Total.Values[0]
	}
	var want [][]int64
	var names []string
	for i := range p.Frames {
		f := &p.Frames[i]
		ahead := 0
		for k := range p.Frames {
			if total(&p.Frames[k]) >= total(f) {
				ahead++
			}
		}
		if i < 100 || ahead < 100 {
			want, names = append(want, append(slices.Clone(f.Counts.Values), total(f))), append(names, f.Method)
		}
	}
	got, texts := tableOf(t, text, fmt.Sprintf("p%d-frames", number))
	assert.Equal(t, want, got)
	for i := range texts {
		assert.Contains(t, texts[i], names[i])
	}
}

func checkTables(t *testing.T, text string, number int, p *schema.Profile) {
	t.Helper()
	const most = 100
	check := func(id string, want []schema.Counts, names []string) {
		t.Helper()
		got, texts := tableOf(t, text, fmt.Sprintf("p%d-%s", number, id))
		require.Len(t, got, min(len(want), most), id)
		for i := range got {
			assert.Equal(t, want[i].Values, got[i][:len(want[i].Values)], "%s, row %d", id, i)
			assert.Contains(t, texts[i], names[i], id)
		}
	}
	list := func(n int, of func(i int) (schema.Counts, string)) (counts []schema.Counts, names []string) {
		for i := range n {
			c, name := of(i)
			counts, names = append(counts, c), append(names, name)
		}
		return counts, names
	}
	checkFrames(t, text, number, p)
	c, names := list(len(p.Regions), func(i int) (schema.Counts, string) {
		return p.Regions[i].Counts,
			p.Regions[i].Method
	})
	check("regions", c, names)
	c, names = list(len(p.Native), func(i int) (schema.Counts, string) { return p.Native[i].Counts, p.Native[i].Module })
	check("native", c, names)
	c, names = list(len(p.Sources), func(i int) (schema.Counts, string) {
		return p.Sources[i].Counts,
			p.Sources[i].Source
	})
	check("sources", c, names)
	hot, texts := tableOf(t, text, fmt.Sprintf("p%d-hot", number))
	require.Len(t, hot, len(p.Hottest))
	require.NotEmpty(t, hot)
	for i, h := range p.Hottest {
		events := len(p.Account.Values)
		assert.Equal(t, h.Counts.Values, hot[i][:events], "the hottest instructions are those of the JSON report")
		assert.Contains(t, texts[i], h.Text)
		if h.Loop > 0 {
			assert.Contains(t, texts[i], fmt.Sprintf("loop %d", h.Loop))
		} else {
			assert.Contains(t, texts[i], "in no loop")
		}
		assert.Equal(t, h.FramesOfNext, strings.Contains(texts[i], "~"), texts[i])
		assert.Equal(t, hot[i][0], hot[i][events], "samples as a share and as a number")
		assert.Contains(t, texts[i], fmt.Sprintf(" %d ", hot[i][0]))
	}
	// Methods and native functions share a table.
	c, names = list(len(p.Methods), func(i int) (schema.Counts, string) { return p.Methods[i].Counts, p.Methods[i].Name })
	n, _ := list(len(p.Native), func(i int) (schema.Counts, string) { return p.Native[i].Counts, "" })
	all := append(c, n...)
	slices.SortStableFunc(all, func(a, b schema.Counts) int { return slices.Compare(b.Values, a.Values) })
	check("methods", all, make([]string, len(all)))
	assert.Contains(t, text, names[0])
	account := between(t, text, fmt.Sprintf(`id="p%d-account"`, number), "</section>")
	for _, a := range p.Account.Values {
		for _, n := range []int64{a.Total, a.OtherProcess, a.OutsideWindow, a.Lost, a.Profiled, a.Compiled, a.Stub,
			a.Interpreter, a.Native, a.Kernel, a.Unresolved} {
			assert.Contains(t, account, fmt.Sprintf(`data-s="%d"`, n))
		}
	}
}

// checkParts checks that the samples by part add up to all samples.
func checkParts(t *testing.T, text string, ps *profile.Profiles) {
	t.Helper()
	all := parted.FindAllStringSubmatch(text, -1)
	listed := 0
	for _, p := range ps.Trials {
		require.NotNil(t, p.Parts)
		for _, l := range p.Listings {
			for _, line := range l.Lines {
				if line.Counts[0] > 0 {
					listed++
				}
			}
		}
	}
	assert.Greater(t, len(all), listed)
	for _, m := range all {
		sum := 0
		for one := range strings.FieldsSeq(m[2]) {
			_, n, more := strings.Cut(one, ".")
			if !more {
				n = "1"
			}
			v, err := strconv.Atoi(n)
			require.NoError(t, err)
			sum += v
		}
		require.Equal(t, m[1], strconv.Itoa(sum), m[0])
	}
}

func checkListings(t *testing.T, text string, ps *profile.Profiles) {
	t.Helper()
	articles := listing.FindAllString(text, -1)
	number := 0
	for _, p := range ps.Trials {
		for _, l := range p.Listings {
			article := articles[number]
			assert.Contains(t, article, fmt.Sprintf(`id="c%d"`, number))
			rows := rowOf.FindAllStringSubmatch(article, -1)
			require.Len(t, rows, len(l.Lines), l.Method)
			sum := make(tally.Counts, len(p.Counters))
			for i, row := range rows {
				assert.Equal(t, strconv.FormatUint(l.Lines[i].Lo-l.Lines[0].Lo, 16), row[1])
				assert.Contains(t, html.UnescapeString(tag.ReplaceAllString(row[2], "")), l.Lines[i].Text)
				for _, c := range count.FindAllStringSubmatch(row[2], -1) {
					e, _ := strconv.Atoi("0" + c[2])
					n, err := strconv.ParseInt(c[1], 10, 64)
					require.NoError(t, err)
					sum[e] += n
					assert.Equal(t, l.Lines[i].Counts[e], n)
				}
			}
			sum.Add(l.Beside)
			assert.Equal(t, l.Counts, sum, l.Method)
			number++
		}
		left := p.Unlisted.Counts
		for _, l := range p.Listings {
			left.Add(l.Counts)
		}
		for e, a := range p.Accounts {
			assert.Equal(t, a.Compiled+a.Stub+a.Interpreter, left[e], "all code is listed, or a note says how much is not")
		}
	}
	assert.Len(t, articles, number)
}

// checkLoops compares the loops of the JSON report with those of the page, and the hottest instruction with the rows.
func checkLoops(t *testing.T, text string, ps *profile.Profiles, has bool) {
	t.Helper()
	articles := listing.FindAllString(text, -1)
	number, compared := 0, 0
	for i, p := range jsonOf(t, ps).Profiles {
		require.NotEmpty(t, p.Hottest)
		for _, l := range ps.Trials[i].Listings {
			article := articles[number]
			number++
			for _, line := range l.Lines {
				assert.LessOrEqual(t, slices.Compare(line.Counts, p.Hottest[0].Counts.Values), 0,
					"no instruction is hotter than the hottest one")
			}
			for _, h := range p.Hottest {
				if h.Source != l.Source || h.Method != l.Method || h.CompileID != l.CompileID {
					continue
				}
				at := code.LineAt(l.Lines, uint64(h.Addr))
				require.GreaterOrEqual(t, at, 0)
				assert.Equal(t, len(l.Lines[at].Frames) > 0 && !l.Lines[at].OwnFrames, h.FramesOfNext)
				above, _, _ := strings.Cut(article, fmt.Sprintf(`id="c%d-%x"`, number-1, l.Lines[at].Lo-l.Lines[0].Lo))
				block := above[strings.LastIndex(above, "<details"):]
				assert.Equal(t, h.Loop > 0, strings.Contains(block, fmt.Sprintf(`data-l="%d"`, h.Loop)), "loop %d: %.100s", h.Loop,
					block)
			}
			for _, loop := range p.Loops {
				if loop.Source != l.Source || loop.Method != l.Method || loop.CompileID != l.CompileID {
					continue
				}
				row :=
					fmt.Sprintf(`<tr class="lp"><td class="n" data-n="%d">[^<]*</td><td><a href="#c%d-%x">loop %d</a></td><td class="n">%d</td><td class="n">%d</td></tr>`,
						loop.Counts.Values[0], number-1, uint64(loop.Begins)-l.Lines[0].Lo, loop.Number, loop.Depth, loop.Instructions)
				assert.Regexp(t, row, article)
				compared++
			}
		}
	}
	assert.Equal(t, has, compared > 0, "loops")
}

// Whatever names contain, it is text in the page.
func TestHostileNames(t *testing.T) {
	const evil = "</script><img src=x onerror=alert(1)>\"'`${1}&lt;\u202e\x1b[31m\u2028"
	ps := profiles(t, "jdk17-lean-none")
	for i := range ps.Capture.JVMs {
		ps.Capture.JVMs[i].Log = nil
	}
	gasmtest.Inject(&ps.Capture, evil)
	gasmtest.Inject(&ps.Trials, evil)
	ps.Trials[0].Waits = reporttest.Server{PID: ps.Trials[0].PIDs[0], From: 1e9, To: 5e9, Workers: 3,
		Suffix: evil}.Waits(t)
	text := page(t, ps)
	gasmtest.TerminalText(t, regexp.MustCompile(`\n\t*`).ReplaceAllString(text, ""), false) // the style sheet is indented
	keepPage(t, "hostile.html", text)
	assert.NotContains(t, text, "<img")
	assert.Equal(t, strings.Count(text, "<script"), strings.Count(text, "</script>"))
	assert.Contains(t, html.UnescapeString(text), `<img src=x onerror=alert(1)>`)
}

// large returns a profile whose method has n instructions: real ones, repeated.
func large(t *testing.T, n int) *profile.Profiles {
	t.Helper()
	ps := profiles(t, "huge")
	p := &ps.Trials[0]
	l := p.Listings[0]
	whole := l
	p.Parts = nil
	whole.Parts, whole.Lines, whole.Other, whole.Counts = nil, nil, nil, make(tally.Counts, len(l.Counts))
	for shift := uint64(0); len(whole.Lines) < n; shift += l.Hi - l.Lo {
		for i, line := range l.Lines {
			line.Lo, line.Hi = line.Lo+shift, line.Hi+shift
			if line.Target >= l.Lo && line.Target < l.Hi {
				line.Target += shift
			}
			whole.Counts.Add(line.Counts)
			whole.Lines, whole.Other = append(whole.Lines, line), append(whole.Other, l.Other[i])
		}
	}
	for e := range p.Accounts {
		p.Accounts[e].Profiled = 2 * whole.Counts[e]
	}
	p.Listings = []profile.Listing{whole}
	return ps
}

// The page of a very large method has all of its instructions, and is not much larger than its code.
func TestLargePage(t *testing.T) {
	const n = 50_000
	text := page(t, large(t, n))
	assert.GreaterOrEqual(t, strings.Count(text, `<div class="r`), n)
	assert.Less(t, len(text), 300*n, "bytes")
	keepPage(t, "large.html", text)
}

// keepPage writes a page into the folder $GASM_PAGES, so that one can open it in a browser.
func keepPage(t *testing.T, name, text string) {
	t.Helper()
	if dir := os.Getenv("GASM_PAGES"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// The page fetches nothing: the policy forbids it, and the page has nothing to fetch.
func TestSelfContained(t *testing.T) {
	for _, name := range []string{"jdk25-lean-none", "stacks"} {
		t.Run(name, func(t *testing.T) { checkSelfContained(t, page(t, profiles(t, name))) })
	}
}

func checkSelfContained(t *testing.T, text string) {
	t.Helper()
	policy := html.UnescapeString(between(t, text, `http-equiv="Content-Security-Policy" content="`, `"`))
	assert.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
	assert.NotContains(t, policy, "script-src 'unsafe-inline'")
	assert.NotRegexp(t, `(?i)<(?:link|img|iframe|object|embed|base|form action)\b|\bsrc=|@import|url\(`, text)
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(`id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		assert.False(t, ids[id[1]], "the id %s occurs twice", id[1])
		ids[id[1]] = true
	}
	for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		assert.True(t, strings.HasPrefix(link[1], "#"), link[1])
		assert.True(t, ids[link[1][1:]] || ids["calls"] && strings.HasPrefix(link[1], "#g="), "%s leads nowhere", link[1])
	}
}

// TestFilesAreSmall checks that the script and the style sheet are small enough to be in every report. The flame graph
// has more scripts, which are only in reports with call stacks. The time lanes of threads have a script and a style
// sheet of their own, which are only in reports about captures with what threads did by the wall clock.
func TestFilesAreSmall(t *testing.T) {
	size := func(names ...string) (sum int) {
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			sum += len(text)
		}
		return sum
	}
	assert.Less(t, size("../../internal/htmlpage/page.css", "page.js"), 70_000) // 3 % of the page of a large capture
	assert.Less(t, size("lanes.js", "lanes.css"), 20_000)
	assert.Less(t, size("page.js", "calls.js", "../../internal/htmlpage/calltree.js", "../../internal/htmlpage/flame.js"),
		90_000)
}

// If a method was compiled several times, each of its listings says how many samples all compilations have, because the
// tables show that number.
func TestCompilationsTogether(t *testing.T) {
	t.Parallel()
	ps := profiles(t, "jdk11-lean-hsdis")
	text := page(t, ps)
	p := jsonOf(t, ps).Profiles[0]
	said := 0
	for k, l := range ps.Trials[0].Listings {
		about := html.UnescapeString(between(t, between(t, text, fmt.Sprintf(`<article class="code" id="c%d"`, k),
			"</header>"), `<p class="about">`, "</p>"))
		i := slices.IndexFunc(p.Methods, func(m schema.Method) bool { return m.Name == l.Method && m.Source == l.Source })
		require.GreaterOrEqual(t, i, 0, l.Method)
		all := p.Methods[i].Counts.Values[0]
		if all == l.Counts[0] {
			assert.NotContains(t, about, "in total", l.Method)
			continue
		}
		said++
		assert.Contains(t, about, fmt.Sprintf("the method's %d compilations have %.2f%% in total", p.Methods[i].Blobs,
			100*float64(all)/float64(p.Account.Values[0].Profiled)))
	}
	assert.Positive(t, said)
}
