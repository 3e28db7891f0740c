package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/report/text/view"
	"github.com/gasm-profiler/gasm/sampler"
)

// hostileTexts are names with which a program can try to control a terminal.
var hostileTexts = []string{
	"", "\x1b]0;pwned\x07", "\x1b[2J\x1b[1;31m", "\u009b31m", "two\nlines\r\t", "\u202egnp.exe\u2066",
	"\u2028\u200f\ufeff",
	"\xff\xc2\x80\xed\xa0\xbd", "\x7f\x00", "日本 😀 e\u0301", "\x1b[0m", "a :: b (c) @ 7",
}

// hostileProfiles returns profiles with everything that a report can have. All of their strings contain a text.
func hostileProfiles(t *testing.T, text string) *profile.Profiles {
	d, ps := reporttest.Trials(t)
	d.Notes, d.Selection = []string{"a note"}, "a selection"
	p := &ps[0]
	p.Threads = []threads.KindTotal{{Kind: "application", Counts: c(3000),
		Threads: []threads.Total{{Name: "main", Counts: c(3000)}}}}
	for i := range p.Shares {
		p.Shares[i].Native = c(10 + int64(i))
	}
	for i := range p.Methods {
		p.Methods[i].PerJVM = slices.Repeat([]tally.Counts{c(100)}, len(p.PIDs))
	}
	lines := p.Regions[0].Lines
	lines[0].TargetName, lines[0].Section, lines[1].Frames =
		"a stub", "Entry Point", []printassembly.Frame{{Method: "p.Outer$Inner::called", Line: 3}}
	lines[2].Comments, lines[2].OwnFrames = []string{"*iadd", "{oop(a 'java/lang/String')}", "other"}, true
	profiles := reporttest.Profiles(d, ps...)
	reporttest.AddWarmUp(profiles)
	reporttest.AddCalls(profiles)
	gasmtest.Inject(profiles, text)
	profiles.Trials[0].Stacks = hostileStacks(t, text)
	profiles.Trials[0].Waits = reporttest.Server{PID: profiles.Trials[0].PIDs[0], From: 1e9, To: 5e9, Workers: 3,
		Suffix: text}.Waits(t)
	profiles.Trials[0].By = []profile.CallerTotal{{Method: "A::a" + text, Counts: c(7)}, {Counts: c(2993)}}
	return profiles
}

// hostileStacks returns call stacks whose frames and threads have a text in their names.
func hostileStacks(t *testing.T, text string) *calltree.Set {
	var file bytes.Buffer
	w := callstack.NewWriter(&file)
	var at callstack.ID
	for k := callstack.Compiled; k <= callstack.Unwalked; k++ {
		at = w.Push(at, callstack.Frame{Kind: k, BCI: callstack.Unknown, Line: 7, Module: text, Name: text})
	}
	require.NoError(t, w.Flush())
	tree, err := callstack.Read(&file, "stacks.txt")
	require.NoError(t, err)
	s := calltree.NewSet(calltree.NewStacks(tree), 1)
	s.Add(text, s.Leaf([]calltree.LeafFrame{{Frame: callstack.Frame{Kind: callstack.Inlined, Name: text}, Guessed: true}}),
		at, c(2000))
	s.Add(text, s.Leaf([]calltree.LeafFrame{{Frame: callstack.Frame{Kind: callstack.Native, Module: text, Name: text}}}),
		at-3, c(1000))
	return s
}

// Names, commands and notes reach a terminal only escaped, and JSON has them exactly.
func FuzzHostileNames(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text, 100, false)
		f.Add(text, 80, true)
	}
	f.Fuzz(func(t *testing.T, name string, width int, ascii bool) {
		ps := hostileProfiles(t, name)
		width = max(width%200, 40)
		for _, o := range []Options{
			{Gasm: "gasm " + name, Options: view.Options{Look: layout.Look{Color: true, ASCII: ascii},
				Callers: 5, SiteCallers: 3, Idle: true, Code: listing.Options{DrawIntraJumps: true}}},
			{Options: view.Options{TableWidth: width, Look: layout.Look{Width: width}, Counts: counts.Raw, Top: 2, Callers: 5,
				Tree: 0.01,
				Code: listing.Options{Source: func(_ string, line int) listing.SourceLine {
					return listing.SourceLine{File: name, Number: line + 1, Text: "int x; // " + name}
				}}}},
		} {
			var b bytes.Buffer
			require.NoError(t, WriteText(&b, ps, o))
			gasmtest.TerminalText(t, b.String(), o.Color)
		}
		var b bytes.Buffer
		require.NoError(t, WriteCollapsed(&b, ps, Options{Wall: true}))
		gasmtest.TerminalText(t, b.String(), false)
		b.Reset()
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
			assert.Equal(t, name, got.Profiles[0].Stacks.Nodes[1].Name)
			assert.Contains(t, got.Profiles[0].Waits.Deadlocks[0].Threads[0].Name, name)
		}
	})
}

// lettersLog is what HotSpot (JDK 17 and 25) prints about a method whose name has letters of all kinds. The name is in
// the line before the code, in its frames and, for another compilation, in LogCompilation's tag.
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

// lettersMethod is the name of that method.
const lettersMethod = "Ev\u009bil\x1bc😀<'x::\x1b]0:x\a\u00a0 \n😀\u202eb"

// Every form of a method's name in a log becomes the name that the method has in Java. JSON and pprof have that name
// exactly; texts for people have it escaped.
func TestExactNames(t *testing.T) {
	log, err := printassembly.NewLog(strings.NewReader(lettersLog), int64(len(lettersLog)), "asm.log")
	require.NoError(t, err)
	jvm := capture.JVM{PID: 1, Log: log, StartMonoNanos: 1e9}
	b := profile.NewBuilder(choice.Config{JVMs: []capture.JVM{jvm}, Counters: []string{"cpu-clock"}})
	for _, pc := range []uint64{0x2004, 0x2004, 0x1104} {
		b.Add(&sampler.Sample{PID: 1, MonoNanos: 4e9, PC: pc, Event: "cpu-clock", Thread: "t\x1b]0;\a"})
	}
	o := choice.DefaultOptions()
	o.Locations = true
	built := b.Build(o)
	ps := reporttest.Profiles(capture.Description{Sampler: "perf", Events: []string{"cpu-clock"}, Frequency: 1001,
		JVMs: []capture.JVM{jvm}}, built...)

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
	var packed bytes.Buffer
	require.NoError(t, WritePprof(&packed, ps, options()))
	parsed, err := pprof.Parse(&packed)
	require.NoError(t, err)
	for _, f := range parsed.Function {
		functions = append(functions, f.Name)
	}
	assert.Contains(t, functions, lettersMethod)

	var out bytes.Buffer
	require.NoError(t, WriteText(&out, ps, options()))
	assert.Contains(t, out.String(), `Ev\u009bil\x1bc😀<'x::\x1b]0:x\x07`+"\u00a0"+` \n😀\u202eb`)
	gasmtest.TerminalText(t, out.String(), false)
	out.Reset()
	require.NoError(t, WriteLog(&out, b.CodeCounts(), disasm.ATT))
	assert.Contains(t, out.String(), `;*putfield fä\n {reexecute=0}`)
	gasmtest.TerminalText(t, out.String(), false)
}
