package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/sampler"
)

// hostileTexts are what a program can put into names to do something to a terminal.
var hostileTexts = []string{
	"", "\x1b]0;pwned\x07", "\x1b[2J\x1b[1;31m", "\u009b31m", "two\nlines\r\t", "\u202egnp.exe\u2066", "\u2028\u200f\ufeff",
	"\xff\xc2\x80\xed\xa0\xbd", "\x7f\x00", "日本 😀 e\u0301", "\x1b[0m", "a :: b (c) @ 7",
}

// hostileProfiles are profiles with all that a report can have, and a text in each string of them.
func hostileProfiles(t *testing.T, text string) *profile.Profiles {
	d, ps := trials(t)
	d.Notes, d.Selection = []string{"a note"}, "a selection"
	p := &ps[0]
	p.Threads = []profile.ThreadKind{{Kind: "application", Counts: c(3000), Threads: []profile.Thread{{Name: "main", Counts: c(3000)}}}}
	for i := range p.Shares {
		p.Shares[i].Native = c(10 + int64(i))
	}
	for i := range p.Methods {
		p.Methods[i].PerJVM = slices.Repeat([]profile.Counts{c(100)}, len(p.PIDs))
	}
	lines := p.Regions[0].Lines
	lines[0].TargetName, lines[0].Section, lines[1].Frames = "a stub", "Entry Point", []printassembly.Frame{{Method: "p.Outer$Inner::called", Line: 3}}
	lines[2].Comments, lines[2].OwnFrames = []string{"*iadd", "{oop(a 'java/lang/String')}", "other"}, true
	profiles := all(d, ps...)
	gasmtest.Inject(profiles, text)
	return profiles
}

// Whatever names, commands and notes hold: nothing of it reaches a terminal raw, and JSON has it exactly.
func FuzzHostileNames(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text, 100, false)
		f.Add(text, 80, true)
	}
	f.Fuzz(func(t *testing.T, text string, width int, ascii bool) {
		ps := hostileProfiles(t, text)
		width = max(width%200, 40)
		for _, o := range []Options{
			{Gasm: "gasm " + text, Look: layout.Look{Color: true, ASCII: ascii}, DrawIntraJumps: true},
			{TableWidth: width, Look: layout.Look{Width: width}, Counts: Raw, Top: 2, Source: func(_ string, line int) SourceLine { return SourceLine{text, line + 1, "int x; // " + text} }},
		} {
			var b bytes.Buffer
			require.NoError(t, WriteText(&b, ps, o))
			gasmtest.TerminalText(t, b.String(), o.Color)
		}
		var b bytes.Buffer
		require.NoError(t, WriteJSON(&b, ps, Options{}))
		gasmtest.TerminalText(t, b.String(), false)
		if utf8.ValidString(ps.Trials[0].Trial) { // else JSON can't have it
			var got schema.Report
			require.NoError(t, json.Unmarshal(b.Bytes(), &got))
			assert.Equal(t, ps.Trials[0].Trial, got.Profiles[0].Trial)
			assert.Equal(t, ps.Trials[0].Regions[0].Lines[2].Comments, got.Profiles[0].Regions[0].Lines[2].Comments)
			assert.Equal(t, ps.Trials[0].Threads[0].Threads[0].Name, got.Profiles[0].Threads[0].Threads[0].Name)
			assert.Equal(t, ps.Capture.Command, got.Capture.Command)
			assert.Equal(t, ps.Capture.JVMs[0].Version, got.Capture.JVMs[0].Version)
			assert.Equal(t, ps.Trials[0].Native[0].Symbol, got.Profiles[0].Native[0].Symbol)
		}
	})
}

// Columns of a table begin at the same place, however its names are escaped and however wide their letters are.
func TestHostileColumns(t *testing.T) {
	p := workload(t)
	p.Frames[0].Method, p.Frames[1].Method, p.Frames[2].Method = "p.A::\x1b]0;x\a", "p.B::größe\u202e", "p.C::日本😀"
	var at []int
	_, table, _ := strings.Cut(string(text(t, header(), []profile.Profile{p}, options())), "[Hottest Frames")
	for line := range strings.Lines(table) {
		if before, _, ok := strings.Cut(line, "  :"); ok {
			at = append(at, layout.Width(strings.TrimRight(before, " "))+len(before)-len(strings.TrimRight(before, " ")))
		}
	}
	require.Len(t, at, 3)
	assert.Equal(t, []int{at[0], at[0], at[0]}, at)
}

// What HotSpot prints of one method with letters of all kinds, seen on JDK 17 and 25: the name in the line of the code, in
// its frames, and, for another compilation, in LogCompilation's tag.
const lettersLog = `<hotspot_log version='160 1' process='1' time_ms='1700000000000'>
<nmethod compile_id='6' compiler='c1' level='3' entry='0x0000000000001100' size='768' address='0x0000000000001000' insts_offset='256' method='Ev` + "\xc2\x9bil\x1bc\xed\xa0\xbd\xed\xb8\x80" + `&lt;&apos;x \u001b]0:x\u0007\u00a0 \u000a\ud83d\ude00\u202eb (I)D' bytes='43' stamp='0.541'/>
Compiled method (c2)     541    7       4       Ev` + "\xc2\x9bil\x1bc\xed\xa0\xbd\xed\xb8\x80" + `&lt;&apos;x::\u001b]0:x\u0007\u00a0 \u000a\ud83d\ude00\u202eb (43 bytes)
 main code      [0x0000000000002000,0x0000000000002008] = 8
[MachCode]
  0x0000000000002000: 9090 9090
  0x0000000000002004: ;*putfield f\u00e4\u000a {reexecute=0}
  0x0000000000002004: ; - Ev` + "\xc2\x9bil\x1bc\xed\xa0\xbd\xed\xb8\x80" + `&lt;&apos;x::\u001b]0:x\u0007\u00a0 \u000a\ud83d\ude00\u202eb@14 (line 11)
  0x0000000000002004: 4801 d090
[/MachCode]
</hotspot_log>
`

// lettersMethod is its name.
const lettersMethod = "Ev\u009bil\x1bc😀<'x::\x1b]0:x\a\u00a0 \n😀\u202eb"

// Every form of a method's name in a log becomes the one that it has in Java. JSON and pprof have it exactly, texts for
// people escaped.
func TestExactNames(t *testing.T) {
	log, err := printassembly.NewLog(strings.NewReader(lettersLog), int64(len(lettersLog)), "asm.log")
	require.NoError(t, err)
	jvm := capture.JVM{PID: 1, Log: log, StartMonoNanos: 1e9}
	b := profile.NewBuilder(profile.Config{JVMs: []capture.JVM{jvm}, Counters: []string{"cpu-clock"}})
	for _, pc := range []uint64{0x2004, 0x2004, 0x1104} {
		b.Add(&sampler.Sample{PID: 1, MonoNanos: 4e9, PC: pc, Event: "cpu-clock", Thread: "t\x1b]0;\a"})
	}
	o := profile.DefaultOptions()
	o.Locations = true
	built := b.Build(o)
	ps := all(capture.Description{Sampler: "perf", Events: []string{"cpu-clock"}, Frequency: 1001, JVMs: []capture.JVM{jvm}}, built...)

	p := jsonProfile{&built[0], &profile.Profiles{}}.profile()
	require.Len(t, p.Methods, 2, "c2's and c1's")
	require.Len(t, p.Frames, 1)
	for _, name := range []string{p.Methods[0].Name, p.Methods[1].Name, p.Frames[0].Method, p.Regions[0].Method} {
		assert.Equal(t, lettersMethod, name)
	}
	var comments, functions []string
	for _, l := range p.Regions[0].Lines {
		comments = append(comments, l.Comments...)
	}
	assert.Equal(t, []string{"*putfield fä\n {reexecute=0}"}, comments)
	for _, f := range parsePprof(t, ps.Capture, built).Function {
		functions = append(functions, f.Name)
	}
	assert.Contains(t, functions, lettersMethod)

	var text bytes.Buffer
	require.NoError(t, WriteText(&text, ps, options()))
	assert.Contains(t, text.String(), `Ev\u009bil\x1bc😀<'x::\x1b]0:x\x07`+"\u00a0"+` \n😀\u202eb`)
	gasmtest.TerminalText(t, text.String(), false)
	text.Reset()
	require.NoError(t, WriteLog(&text, b.CodeCounts(), disasm.ATT))
	assert.Contains(t, text.String(), `;*putfield fä\n {reexecute=0}`)
	gasmtest.TerminalText(t, text.String(), false)
}
