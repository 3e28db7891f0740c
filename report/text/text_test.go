package text

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// text returns the text report of profiles.
func text(t *testing.T, h capture.Description, ps []profile.Profile, o view.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, reporttest.Profiles(h, ps...), "0.1.0", o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// options returns the options that gasm uses by default.
func options() view.Options {
	return view.Options{Top: 20, Margins: true,
		Code: listing.Options{DrawIntraJumps: true, DrawInterJumps: true}}
}

// c returns counts, one for each event.
func c(n ...int64) tally.Counts { return n }

func TestText(t *testing.T) {
	one := func(p profile.Profile) []profile.Profile { return []profile.Profile{p} }
	with := func(change func(o *view.Options)) view.Options {
		o := options()
		change(&o)
		return o
	}
	h, two := reporttest.Trials(t)
	both := reporttest.Header()
	both.Events, both.Notes = []string{"cycles", "instructions"}, nil
	for _, c := range []struct {
		name     string
		header   capture.Description
		profiles []profile.Profile
		options  view.Options
	}{
		{"unicode", reporttest.Header(), one(reporttest.Workload(t)), options()},
		{"ascii", reporttest.Header(), one(reporttest.Workload(t)),
			with(func(o *view.Options) { o.ASCII, o.Width, o.TableWidth = true, 100, 100 })},
		{"color", reporttest.Header(), one(reporttest.Workload(t)), with(func(o *view.Options) { o.Color = true })},
		{"raw", reporttest.Header(), one(reporttest.Workload(t)),
			with(func(o *view.Options) { o.Counts, o.Top, o.Code.DrawInterJumps = counts.Raw, 3, false })},
		{"events", both, one(reporttest.TwoEvents(t)), options()},
		{"trials", h, two, with(func(o *view.Options) { o.Width, o.TableWidth = 100, 100 })},
		{"width80", reporttest.Header(), one(reporttest.Workload(t)),
			with(func(o *view.Options) { o.Width, o.TableWidth = 80, 80 })},
		{"dot", reporttest.Header(), one(reporttest.Dot(t)), options()},
		{"empty", reporttest.Header(), one(reporttest.Empty()), options()},
	} {
		t.Run(c.name, func(t *testing.T) {
			gasmtest.Golden(t, c.name+".golden", text(t, c.header, c.profiles, c.options))
		})
	}
	t.Run("warmup", func(t *testing.T) {
		var b bytes.Buffer
		ps := reporttest.Profiles(reporttest.Header(), reporttest.Workload(t))
		reporttest.AddWarmUp(ps)
		require.NoError(t, Write(&b, ps, "0.1.0", with(func(o *view.Options) { o.Width, o.TableWidth = 100, 100 })))
		gasmtest.Golden(t, "warmup.golden", b.Bytes())
	})
	t.Run("bare", func(t *testing.T) {
		var b bytes.Buffer
		require.NoError(t, Write(&b, &profile.Profiles{}, "", view.Options{}))
		gasmtest.Golden(t, "bare.golden", b.Bytes())
	})
}

// TestWidth checks that all but annotated code fits the terminal.
func TestWidth(t *testing.T) {
	const width = 80
	o := options()
	o.Width, o.TableWidth = width, width
	code := false
	for line := range strings.Lines(string(text(t, reporttest.Header(), []profile.Profile{reporttest.Workload(t)}, o))) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "....") {
			code = strings.Contains(line, "[Hottest Region ")
		}
		if n := utf8.RuneCountInString(line); n > width && !code {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestASCII checks that the option ASCII leaves no other characters.
func TestASCII(t *testing.T) {
	o := options()
	o.ASCII, o.Width, o.TableWidth = true, 80, 80
	if got := text(t, reporttest.Header(), []profile.Profile{reporttest.Workload(t)}, o); bytes.ContainsFunc(got,
		func(r rune) bool { return r > '~' }) {
		t.Errorf("not only ASCII:\n%s", got)
	}
}

// Methods with too few samples are not called the hottest, unless all have too few or their code is annotated.
func TestTooFewToBeHottest(t *testing.T) {
	p := reporttest.Workload(t)
	p.MinSamples = int(p.Methods[0].Counts[0])
	assert.Contains(t, string(text(t, reporttest.Header(), []profile.Profile{p}, options())), "  libjvm.so  ")
	p.Regions, p.Native = nil, nil // nothing is annotated
	most := p.Methods[0].Counts[0]
	for least, want := range map[int]func(rows int) bool{
		1:             func(rows int) bool { return rows == maxOverviewRows },
		int(most):     func(rows int) bool { return rows == 1 },
		int(most) + 1: func(rows int) bool { return rows == maxOverviewRows },
	} {
		p.MinSamples = least
		got := string(text(t, reporttest.Header(), []profile.Profile{p}, options()))
		_, got, _ = strings.Cut(got, "\nHottest: ")
		got, _, _ = strings.Cut(got, "\nBy line: ")
		assert.True(t, want(strings.Count(got, "\n")+1), "at least %d samples: %s", least, got)
	}
}

// A sampler that saw nothing at all leaves a profile without events.
func TestNoEvents(t *testing.T) {
	got := string(text(t, reporttest.Header(), []profile.Profile{{PIDs: []int{1}}}, options()))
	if !strings.Contains(got, "No samples in the profile: the sampler took none.") {
		t.Error(got)
	}
}

// The report of an attach names the JVMs, and marks listings whose lines are not the instructions' own.
func TestAttached(t *testing.T) {
	h := reporttest.Header()
	h.Command, h.Attached, h.Code = []string{}, true, capture.CodeCopied
	p := reporttest.Workload(t)
	compiled := slices.IndexFunc(p.Regions, func(reg profile.Region) bool { return reg.Hot && reg.CompileID != 0 })
	require.GreaterOrEqual(t, compiled, 0)
	heading := p.Regions[compiled].Source + ", " + p.Regions[compiled].Method + view.CompileID(p.Regions[compiled].CompileID)
	notes := []string{"", " (~: a guess, because HotSpot kept lines at safepoints only)",
		" (no guesses: compiled with DebugNonSafepoints)"}
	own := slices.ContainsFunc(p.Regions[compiled].Lines, func(l code.Line) bool { return l.OwnFrames })
	require.True(t, own)
	for kind, note := range notes {
		p.Regions[compiled].SafepointsOnly = kind == 1
		for i := range h.JVMs {
			h.JVMs[i].SafepointsOnly = kind > 0
		}
		got := string(text(t, h, []profile.Profile{p}, options()))
		assert.Contains(t, got, "\nAttached:   to "+layout.Plural(len(h.JVMs), "running JVM")+"\n")
		assert.NotContains(t, got, "Command:")
		assert.Contains(t, got, "\n"+heading+note+"\n")
		assert.Equal(t, kind == 1, strings.Contains(got, notes[1]))
		assert.Equal(t, kind == 2, strings.Contains(got, heading+notes[2]))
	}
}

// Columns of a table begin at the same place, however its names are escaped and however wide their letters are.
func TestHostileColumns(t *testing.T) {
	p := reporttest.Workload(t)
	p.Frames[0].Method, p.Frames[1].Method, p.Frames[2].Method = "p.A::\x1b]0;x\a", "p.B::größe\u202e", "p.C::日本😀"
	var at []int
	_, table, _ := strings.Cut(string(text(t, reporttest.Header(), []profile.Profile{p}, options())), "[Hottest Frames")
	for line := range strings.Lines(table) {
		if before, _, ok := strings.Cut(line, "  :"); ok {
			at = append(at, layout.Width(strings.TrimRight(before, " "))+len(before)-len(strings.TrimRight(before, " ")))
		}
	}
	require.Len(t, at, 3)
	assert.Equal(t, []int{at[0], at[0], at[0]}, at)
}
