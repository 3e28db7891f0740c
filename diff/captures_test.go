package diff

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/report"
)

func writeText(t *testing.T, r *Result, o TextOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b, o))
	return b.Bytes()
}

func TestText(t *testing.T) {
	none, hsdis, jdk25 := captureSide(t, "jdk17-lean-none"), captureSide(t, "jdk17-full-hsdis"), captureSide(t, "jdk25-lean-none")
	for _, c := range []struct {
		name    string
		a, b    *Side
		options TextOptions
	}{
		{"self", none, none, TextOptions{Gasm: "v1", Top: 20}},
		{"hsdis", none, hsdis, TextOptions{Gasm: "v1", Top: 20}},
		{"jdk25", none, jdk25, TextOptions{Top: 20, ASCII: true}},
		{"color-width80", none, jdk25, TextOptions{Top: 3, Color: true, Width: 80}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := writeText(t, Compare(c.a, c.b, options()), c.options)
			golden(t, c.name+".golden", text)
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

// A capture and the JSON report of it are the same, whichever regions the
// report has the code of.
func TestReadJSON(t *testing.T) {
	for _, trial := range []string{"", "bench"} {
		testReadJSON(t, trial)
	}
}

func testReadJSON(t *testing.T, trial string) {
	h, ps := profiles(t, "jdk17-lean-none", trial)
	for _, hot := range []float64{0.01, 0.10} {
		for i := range ps[0].Regions {
			if r := &ps[0].Regions[i]; float64(r.Counts[0]) < hot*float64(ps[0].Accounts[0].Profiled) {
				r.Lines = nil
			}
		}
		var text bytes.Buffer
		require.NoError(t, report.WriteJSON(&text, h, ps, report.Options{}))
		read, err := ReadJSON(&text, "report.json")
		require.NoError(t, err)
		own := FromProfiles("report.json", h, ps)
		own.Notes, read.Notes = nil, nil
		assert.Equal(t, own, read)
		c := Compare(own, read, options()).Trials[0]
		assert.True(t, c.unchanged())
		assert.Equal(t, trial != "", c.Noise.Slices)
	}
}

func TestBadJSON(t *testing.T) {
	check := func(text, want string) {
		t.Helper()
		_, err := ReadJSON(strings.NewReader(text), "x.json")
		require.Error(t, err)
		assert.Contains(t, err.Error(), want)
	}
	check("", "x.json is no JSON report: EOF; 'gasm report --format json' makes one")
	check("hello", "no JSON report")
	check("[]", "no JSON report")
	check(`{"schema":2,"capture":{},"profiles":[]}`, "schema 2; this gasm reads schema 1 only")
	check(`{"name":"x"}`, "x.json is JSON, but no report")
	check(`{"schema":1,"kind":"diff"}`, "x.json is JSON, but no report")
	check(`{"schema":1,"capture":{},"profiles":[{"regions":[{"lo":"12z","hi":"0x1"}]}]}`, `"12z" is no address`)
}

func TestWriteJSON(t *testing.T) {
	a := trial(1000, region("A::sum", 1, code(0x1000, sumLoop...)), region("A::walk", 2, code(0x9000, walkLoop...)))
	b := trial(1300, region("A::sum", 7, code(0x3000, mulLoop...)), region("A::walk", 9, code(0x8000, walkLoop...)))
	r := Compare(side("before", a, Trial{Name: "x"}), side("after", b), options())
	var text bytes.Buffer
	require.NoError(t, r.WriteJSON(&text, "v1"))
	assert.True(t, json.Valid(text.Bytes()))
	golden(t, "small.json", text.Bytes())
}
