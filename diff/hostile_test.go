package diff

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// hostileSides returns two sides that differ in everything that a comparison shows. Each of their strings contains the
// text.
func hostileSides(text string) (a, b *Side) {
	a = side("before", trial(1000, region("p.A::a", 7, code(0x1000, "400 inc %ecx", "200 dec %ecx", "jl 0x1000",
		"100 {oop(x)}")),
		region("p.A::b", 8, code(0x2000, "100 nop", "50 leave"))), trial(100, region("p.B::c", 9, code(0x3000, "100 nop"))))
	b = side("after", trial(1000, region("p.A::a", 9, code(0x1000, "100 inc %ecx", "100 mul %ecx", "jl 0x1000",
		"100 ret")),
		region("p.A::b", 8, code(0x2000, "500 nop", "50 leave"))), trial(100, region("p.B::c", 9, code(0x3000, "100 nop"))))
	for _, s := range []*Side{a, b} {
		s.Command, s.JVMs, s.Sampler = []string{"java", "Main"}, []string{"pid 7, Main, 25", "pid 8", "pid 9",
			"pid 10"}, "perf, cpu-clock"
		s.Notes, s.Trials[0].Name, s.Trials[1].Name = []string{"a note"}, "Bench.sum (size=10)", "only in "+s.Name
		for i := range s.Trials[0].Regions[0].Lines {
			s.Trials[0].Regions[0].Lines[i].Frame = "p.A::a line 7"
		}
		gasmtest.Inject(s, text)
	}
	return a, b
}

// indents matches the indentation of lines in gasm's own style sheet and script.
var indents = regexp.MustCompile(`\n\t+`)

// Strings of the two reports, whatever they contain, never reach a terminal unescaped, and are unchanged in JSON.
func FuzzHostileNames(f *testing.F) {
	for _, text := range []string{"", "\x1b]0;pwned\x07", "\u009b31m", "two\nlines\r\t", "\u202egnp.exe\u2066",
		"\xff\u2028", "</script><script><img src=x onerror=alert(1)>\"'`&lt;", "日本😀"} {
		f.Add(text, 80)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		a, b := hostileSides(text)
		r := Compare(a, b, options())
		r.Notes = append(r.Notes, text)
		require.NotEmpty(t, r.Trials)
		assert.NotEmpty(t, r.Trials[0].Regions)
		for _, o := range []TextOptions{{Look: layout.Look{Color: true}},
			{Gasm: text, Top: 2, Look: layout.Look{ASCII: true, Width: max(width%200, 40)}}} {
			var out bytes.Buffer
			require.NoError(t, r.WriteText(&out, o))
			gasmtest.TerminalText(t, out.String(), o.Color)
		}
		var page bytes.Buffer
		require.NoError(t, r.WriteHTML(&page, text))
		gasmtest.TerminalText(t, indents.ReplaceAllString(page.String(), "\n"), false)
		assert.Equal(t, 1, strings.Count(page.String(), "<script"))
		assert.NotContains(t, page.String(), "<img")
		var out bytes.Buffer
		require.NoError(t, r.WriteJSON(&out, text))
		gasmtest.TerminalText(t, out.String(), false)
		var got jsonDiff
		require.NoError(t, json.Unmarshal(out.Bytes(), &got))
		if name := a.Trials[0].Name; utf8.ValidString(name) {
			assert.Equal(t, name, got.Trials[0].A.Trial)
			assert.Equal(t, a.Command, got.A.Command)
			assert.Equal(t, r.Trials[0].Methods[0].Name, got.Trials[0].Methods[0].Name)
		}
	})
}
