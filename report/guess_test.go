package report

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
	gasm "github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// guessed returns a profile of a JVM without DebugNonSafepoints. A::own was running, for certain, and the rest is a
// guess.
func guessed(t *testing.T) *gasm.Profiles {
	t.Helper()
	h := reporttest.Header()
	h.JVMs = h.JVMs[:1]
	h.JVMs[0].SafepointsOnly = true
	chain := []printassembly.Frame{{Method: "A::guess", BCI: 3, Line: 12, Guess: printassembly.GuessedAll},
		{Method: "A::own", BCI: 5, Line: 34, Guess: printassembly.GuessedLine}, {Method: "A::main", BCI: 7, Line: 56}}
	lines := []code.Line{{Instruction: printassembly.Instruction{Lo: 0x1000, Hi: 0x1001, Text: "nop", Frames: chain},
		Counts: c(9)}}
	region := gasm.Region{Source: "c2, level 4", Method: "A::main", CompileID: 7, PIDs: []int{h.JVMs[0].PID}, Lo: 0x1000,
		Hi: 0x1001, Counts: c(9), Hot: true, Lines: lines}
	frame := func(method string, self, total tally.Counts) gasm.FrameTotal {
		return gasm.FrameTotal{Method: method, Counts: self, Total: total}
	}
	inner := frame("A::guess", c(9), c(9))
	inner.Guessed, inner.Lines = c(9), []gasm.LineTotal{{Line: 12, Counts: c(9), Guessed: c(9)}}
	p := gasm.Profile{PIDs: region.PIDs, WindowSeconds: 1, Counters: []string{"cycles"},
		Accounts: []gasm.Account{{Total: 9, Profiled: 9, Compiled: 9}},
		Regions:  []gasm.Region{region}, Frames: []gasm.FrameTotal{inner, frame("A::own", c(0), c(9)),
			frame("A::main", c(0), c(9))},
		Listings: []gasm.Listing{{Source: region.Source, Method: region.Method, CompileID: 7, PIDs: region.PIDs,
			Lines: lines, Counts: c(9)}},
		Locations: []gasm.Location{{PID: region.PIDs[0], PC: 0x1000, Source: region.Source, Name: "A::main", CompileID: 7,
			Frames: chain, Counts: c(9)}}}
	return reporttest.Profiles(h, p)
}

// TestGuesses: every format marks the same frames as guesses, and the other frames are without marks.
func TestGuesses(t *testing.T) {
	for _, c := range []struct {
		format string
		write  func(io.Writer, *gasm.Profiles, Options) error
		marks  []string
		none   []string
	}{
		{"text", WriteText, []string{"~A::guess", "A::own:~34", "A::main:56", ":~12"},
			[]string{"~A::own", "~A::main", ":~56"}},
		{"collapsed", WriteCollapsed, []string{"A::main;A::own;~A::guess 9\n"}, nil},
		{"json", WriteJSON, []string{`{"method":"A::guess","bci":3,"line":12,"certain":false,"line_certain":false}`,
			`{"method":"A::own","bci":5,"line":34,"line_certain":false}`, `{"method":"A::main","bci":7,"line":56}`,
			`"guessed":{"cycles":9}`}, nil},
		{"html", WriteHTML, []string{"~A::guess", "own:~34", "main:56", `"guessed":[1]`}, []string{"~A::own", "~A::main"}},
	} {
		t.Run(c.format, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, c.write(&b, guessed(t), options()))
			for _, want := range c.marks {
				assert.Contains(t, b.String(), want)
			}
			for _, no := range c.none {
				assert.NotContains(t, b.String(), no)
			}
		})
	}
	var b bytes.Buffer
	require.NoError(t, WritePprof(&b, guessed(t), options()))
	p, err := profile.Parse(&b)
	require.NoError(t, err)
	var names []string
	for _, l := range p.Sample[0].Location[0].Line {
		names = append(names, l.Function.Name)
	}
	assert.Equal(t, []string{"~A::guess", "A::own", "A::main"}, names)
}
