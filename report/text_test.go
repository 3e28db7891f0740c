package report

import (
	"bytes"
	"encoding/json"
	"errors"
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
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/schema"
)

func text(t *testing.T, h capture.Description, ps []profile.Profile, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, all(h, ps...), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestText(t *testing.T) {
	one := func(p profile.Profile) []profile.Profile { return []profile.Profile{p} }
	with := func(change func(o *Options)) Options {
		o := options()
		change(&o)
		return o
	}
	h, two := trials(t)
	both := header()
	both.Events, both.Notes = []string{"cycles", "instructions"}, nil
	for _, c := range []struct {
		name     string
		header   capture.Description
		profiles []profile.Profile
		options  Options
	}{
		{"unicode", header(), one(workload(t)), options()},
		{"ascii", header(), one(workload(t)), with(func(o *Options) { o.ASCII, o.Width, o.TableWidth = true, 100, 100 })},
		{"color", header(), one(workload(t)), with(func(o *Options) { o.Color = true })},
		{"raw", header(), one(workload(t)), with(func(o *Options) { o.Counts, o.Top, o.DrawInterJumps = Raw, 3, false })},
		{"events", both, one(twoEvents(t)), options()},
		{"trials", h, two, with(func(o *Options) { o.Width, o.TableWidth = 100, 100 })},
		{"width80", header(), one(workload(t)), with(func(o *Options) { o.Width, o.TableWidth = 80, 80 })},
		{"dot", header(), one(dot(t)), options()},
		{"empty", header(), one(nobody()), options()},
		{"bare", capture.Description{}, nil, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			gasmtest.Golden(t, c.name+".golden", text(t, c.header, c.profiles, c.options))
		})
	}
}

// dot is a profile of one region that two JVMs have, with two jumps to its start.
func dot(t *testing.T) profile.Profile {
	lines := asm(t, "dot.asm", map[string]profile.Counts{"e1fc": c(60), "e20a": c(30), "e219": c(6), "e237": c(4)})
	last := &lines[len(lines)-1]
	last.Text, last.Bad = ".byte  0x06", true
	jump := &lines[len(lines)-3]
	jump.Text, jump.Kind, jump.Target = "jl     0x00007efcf8ece1f3", disasm.CondJump, lines[0].Lo
	call := &lines[len(lines)-2]
	call.Text, call.Kind, call.Target = "call   0x00007efcf8991a80", disasm.Call, 0x7efcf8991a80
	call.TargetName, call.Comments, call.OwnFrames = "UncommonTrapBlob", []string{"{runtime_call}"}, false
	return profile.Profile{
		PIDs: []int{25134, 25190}, WindowSeconds: 0.1, Events: []string{"cpu-clock"},
		Accounts: []profile.Account{{Total: 100, Profiled: 100, Compiled: 100}},
		Regions: []profile.Region{{
			Source: "c2, level 4, osr", Method: "Workload::dot", CompileID: 75, OSR: true, PIDs: []int{25134, 25190},
			Lo: lines[0].Lo, Hi: last.Hi, Counts: c(100), Hot: true, Lines: lines,
		}},
		Methods: []profile.Method{{Source: "c2, level 4, osr", Name: "Workload::dot", CompileID: 75, Blobs: 2, Counts: c(100)}},
		Sources: []profile.Source{{Source: "c2, level 4, osr", Counts: c(100)}},
	}
}

// TestManyArrows checks that the report says so when it leaves out arrows.
func TestManyArrows(t *testing.T) {
	const loops = maxArrowColumns + 2 // each within the one before
	p := dot(t)
	var lines []profile.Line
	for i := range uint64(2 * loops) {
		l := profile.Line{Counts: c(0)}
		l.Lo, l.Hi, l.Text = 0x1000+i, 0x1001+i, "nop"
		if i >= loops {
			l.Text, l.Kind, l.Target = "jmp", disasm.Jump, 0x1000+2*loops-1-i
		}
		lines = append(lines, l)
	}
	p.Regions[0].Lines = lines
	if got := string(text(t, header(), []profile.Profile{p}, options())); !strings.Contains(got, "(2 more arrows not drawn)") {
		t.Error(got)
	}
}

// nobody is a profile without samples.
func nobody() profile.Profile {
	return profile.Profile{
		PIDs: []int{25134}, WindowSeconds: 0.5, Events: []string{"cpu-clock"},
		Accounts: []profile.Account{{Total: 3057, OtherProcess: 2800, OutsideWindow: 250, Lost: 7}},
	}
}

// TestWidth checks that all but annotated code fits the terminal.
func TestWidth(t *testing.T) {
	const width = 80
	o := options()
	o.Width, o.TableWidth = width, width
	code := false
	for line := range strings.Lines(string(text(t, header(), []profile.Profile{workload(t)}, o))) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "....") {
			code = strings.Contains(line, "[Hottest Region ")
		}
		if n := utf8.RuneCountInString(line); n > width && !code {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestASCII checks that gasm draws with nothing else.
func TestASCII(t *testing.T) {
	o := options()
	o.ASCII, o.Width, o.TableWidth = true, 80, 80
	if got := text(t, header(), []profile.Profile{workload(t)}, o); bytes.ContainsFunc(got, func(r rune) bool { return r > '~' }) {
		t.Errorf("not only ASCII:\n%s", got)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrors(t *testing.T) {
	ps := []profile.Profile{workload(t)}
	if err := WriteText(brokenWriter{}, all(header(), ps...), options()); !errors.Is(err, errBroken) {
		t.Errorf("WriteText: %v", err)
	}
	if err := WriteJSON(brokenWriter{}, all(header(), ps...), options()); !errors.Is(err, errBroken) {
		t.Errorf("WriteJSON: %v", err)
	}
}

// A sampler that saw nothing at all leaves a profile without events.
func TestNoEvents(t *testing.T) {
	got := string(text(t, header(), []profile.Profile{{PIDs: []int{1}}}, options()))
	if !strings.Contains(got, "No samples in the profile: the sampler took none.") {
		t.Error(got)
	}
}

// A report of JVMs that were attached to says so, and marks listings whose lines are not the instructions' own.
func TestAttached(t *testing.T) {
	h := header()
	h.Command, h.Attached, h.Code = []string{}, true, capture.CodeCopied
	p := workload(t)
	compiled := slices.IndexFunc(p.Regions, func(reg profile.Region) bool { return reg.Hot && reg.CompileID != 0 })
	require.GreaterOrEqual(t, compiled, 0)
	heading := p.Regions[compiled].Source + ", " + p.Regions[compiled].Method + compileID(p.Regions[compiled].CompileID)
	const mark = " (lines are those of the next safepoint)"
	for _, sparse := range []bool{false, true} {
		for i := range h.JVMs {
			h.JVMs[i].SafepointsOnly = sparse
		}
		got := string(text(t, h, []profile.Profile{p}, options()))
		assert.Contains(t, got, "\nAttached:   to "+layout.Plural(len(h.JVMs), "running JVM")+"\n")
		assert.NotContains(t, got, "Command:")
		assert.Contains(t, got, "\n"+heading)
		assert.Equal(t, sparse, strings.Contains(got, heading+mark+"\n"), heading)
		assert.Equal(t, sparse, strings.Contains(got, mark))

		var report schema.Report
		require.NoError(t, json.Unmarshal(jsonText(t, h, []profile.Profile{p}), &report))
		assert.True(t, report.Capture.Attached)
		assert.Equal(t, "copied", report.Capture.Code)
		assert.Equal(t, sparse, report.Capture.JVMs[0].SafepointsOnly)
	}
}
