package stacks

import (
	"bytes"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// TestSeries checks that a profile for a server has no labels and no addresses, that samples with equal lines are
// joined, and that the JVM's own threads are separate.
func TestSeries(t *testing.T) {
	frames := []printassembly.Frame{{Method: "java.util.HashMap::get", Line: 7}, {Method: "org.acme.Shop::main", Line: 12}}
	at := func(pc uint64, thread string, n int64) profile.Location {
		return profile.Location{PID: 1, Thread: thread, PC: pc, Source: "c2, level 4", Name: "org.acme.Shop::main",
			CompileID: int(pc), Frames: frames, Counts: tally.Counts{n}}
	}
	locations := []profile.Location{at(0x1000, "", 3), at(0x1004, "", 4), at(0x1004, "garbage collector", 5),
		{PID: 1, Source: "kernel", Module: "kernel", Name: "page_fault", Counts: tally.Counts{2}}}
	for _, pc := range []uint64{0x2000, 0x2008, 0x2010} { // three instructions of a line; two have the same text
		l := at(pc, "", int64(10+pc>>3&3))
		l.CompileID, l.Instruction = 1, map[bool]string{true: "ret", false: "div %rax"}[pc == 0x2010]
		locations = append(locations, l)
	}
	var b bytes.Buffer
	require.NoError(t, WriteSeries(&b, reporttest.Profiles(capture.Description{Events: []string{"cpu-clock"},
		Frequency: 99, JVMs: []capture.JVM{{PID: 1, Main: "Shop"}}},
		profile.Profile{Counters: []string{"cpu-clock"}, Locations: locations}), "1"))
	p, err := pprof.Parse(&b)
	require.NoError(t, err)
	require.NoError(t, p.CheckValid())
	got := map[string]int64{}
	for _, s := range p.Sample {
		assert.Empty(t, s.Label)
		assert.Empty(t, s.NumLabel)
		assert.Equal(t, s.Value[0]*Period(99), s.Value[1])
		var names []string
		for _, l := range s.Location {
			assert.Zero(t, l.Address)
			for _, line := range l.Line {
				names = append(names, line.Function.Name)
			}
		}
		stack := strings.Join(names, " ")
		assert.Zero(t, got[stack], "equal stacks are one sample")
		got[stack] = s.Value[0]
	}
	assert.Equal(t, map[string]int64{"java.util.HashMap::get org.acme.Shop::main": 7,
		"java.util.HashMap::get org.acme.Shop::main [garbage collector]": 5, "page_fault": 2,
		"div %rax java.util.HashMap::get org.acme.Shop::main": 21,
		"ret java.util.HashMap::get org.acme.Shop::main":      12}, got)
	assert.Equal(t, "cpu", p.DefaultSampleType)
}
