package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/report"
)

func writeText(t *testing.T, r *Result, o TextOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b, o))
	return b.Bytes()
}

func TestText(t *testing.T) {
	none, hsdis, jdk25 := captureSide(t, "jdk17-lean-none"), captureSide(t, "jdk17-full-hsdis"), captureSide(t,
		"jdk25-lean-none")
	cases := []struct {
		name    string
		a, b    *Side
		options TextOptions
	}{
		{"self", none, none, TextOptions{Gasm: "v1", Top: 20}},
		{"hsdis", none, hsdis, TextOptions{Gasm: "v1", Top: 20}},
		{"jdk25", none, jdk25, TextOptions{Top: 20, Look: layout.Look{ASCII: true}}},
		{"color-width80", none, jdk25, TextOptions{Top: 3, Look: layout.Look{Color: true, Width: 80}}},
	}
	require.NotEmpty(t, cases)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := writeText(t, Compare(c.a, c.b, options()), c.options)
			require.NotEmpty(t, text)
			gasmtest.Golden(t, c.name+".golden", text)
			if c.options.ASCII {
				for _, r := range string(text) {
					require.Less(t, r, rune(0x80))
				}
			}
			for line := range strings.Lines(string(text)) {
				assert.NotRegexp(t, `[ \t]\n$`, line, "blanks at the end")
			}
		})
	}
}

// A capture and its JSON report make the same side, with one fork or several, whichever regions have their code in the
// report.
func TestReadJSON(t *testing.T) {
	cases := []struct {
		trial string
		forks int
		hot   float64
	}{
		{"", 1, 0.01}, {"", 1, 0.10},
		{"bench", 1, 0.01}, {"bench", 1, 0.10},
		{"", 2, 0.01}, {"", 2, 0.10},
		{"bench", 3, 0.01}, {"bench", 3, 0.10},
	}
	require.NotEmpty(t, cases)
	for _, c := range cases {
		t.Run(fmt.Sprintf("%q, %d forks, from %g", c.trial, c.forks, c.hot),
			func(t *testing.T) { testReadJSON(t, c.trial, c.forks, c.hot) })
	}
}

// testReadJSON writes and reads a report. It has the code of the regions whose share is at least the argument hot.
func testReadJSON(t *testing.T, trial string, forks int, hot float64) {
	ps := profiles(t, "jdk17-lean-none", trial, forks)
	p := &ps.Trials[0]
	require.NotEmpty(t, p.Regions)
	for i := range p.Regions {
		if p.Share(p.Regions[i].Counts) < hot {
			p.Regions[i].Lines = nil
		}
	}
	var text bytes.Buffer
	require.NoError(t, report.WriteJSON(&text, ps, report.Options{Gasm: "v1"}))
	read, err := ReadJSON(&text, "report.json")
	require.NoError(t, err)
	direct := FromReport("report.json", report.JSON(ps, "v1"))
	direct.Notes, read.Notes = nil, nil
	assert.Equal(t, direct, read)
	repeats := trial != "" && forks > 1
	c := Compare(direct, read, options()).Trials[0]
	assert.True(t, c.unchanged())
	assert.Equal(t, trial != "", c.Noise.Slices)
	assert.Equal(t, repeats, c.Noise.Forks)
	if repeats {
		require.NotEmpty(t, read.Trials[0].Methods)
		require.NotEmpty(t, read.Trials[0].Frames)
		for _, item := range slices.Concat(read.Trials[0].Methods, read.Trials[0].Frames) {
			assert.Len(t, item.Forks, forks, item.Name)
		}
	}
}

func TestBadJSON(t *testing.T) {
	check := func(text, want string) {
		t.Helper()
		_, err := ReadJSON(strings.NewReader(text), "x.json")
		require.Error(t, err)
		assert.Contains(t, err.Error(), want)
	}
	check("\x1f\x8b\x08", "x.json is not a JSON report, it is compressed; 'go tool pprof -diff_base' compares the "+
		"profiles of gasm watch")
	check("", "x.json is not a JSON report: EOF; 'gasm report --format json' makes one")
	check("hello", "not a JSON report")
	check("[]", "not a JSON report")
	check(`{"schema":2,"capture":{},"profiles":[]}`, "schema 2; this gasm reads schema 1 only")
	check(`{"name":"x"}`, "x.json is JSON, but not a report")
	check(`{"schema":1,"kind":"diff"}`, "x.json is JSON, but not a report")
	check(`{"schema":1,"capture":{},"profiles":[{"regions":[{"lo":"12z","hi":"0x1"}]}]}`, `"12z" is not an address`)
}

func TestWriteJSON(t *testing.T) {
	a := trial(1000, region("A::sum", 1, code(0x1000, sumLoop...)), region("A::walk", 2, code(0x9000, walkLoop...)))
	b := trial(1300, region("A::sum", 7, code(0x3000, mulLoop...)), region("A::walk", 9, code(0x8000, walkLoop...)))
	r := Compare(side("before", a, TrialSide{Name: "x"}), side("after", b), options())
	var text bytes.Buffer
	require.NoError(t, r.WriteJSON(&text, "v1"))
	assert.True(t, json.Valid(text.Bytes()))
	gasmtest.Golden(t, "small.json", text.Bytes())
}
