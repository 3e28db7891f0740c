package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// A method's own loop is followed by a call that HotSpot has inlined. Without DebugNonSafepoints, and with Serial also
// without a poll in the loop, HotSpot has no record in the loop, and the next one by address may be that of the call. The
// loop's method comes first in the report, in which a ~ says that this is a guess.
func TestAttachNamesLoop(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for name, java := range jdks(t) {
		for _, collector := range []string{"Serial", "G1"} {
			t.Run(name+" "+collector, func(t *testing.T) {
				t.Parallel()
				j := startJVM(t, "READY", java, "-XX:+Use"+collector+"GC", "-Dsec=60", "-cp", javaPrograms(t), "Score")
				rep, _ := attachJSON(t, "--delay", "1s", "--length", "2s", "--events", "none", j.pid())
				checkLoopNamed(t, &rep)
				if collector == "Serial" {
					// A flag that is on now says nothing about code from before. async-profiler switches it on, too.
					rep, _ = attachJSON(t, "--debug-info", "--length", "1s", j.pid())
					checkLoopNamed(t, &rep)
				}
			})
		}
	}
}

// checkLoopNamed checks that the loop of Score::score comes first in a report, and that its lines are guesses.
func checkLoopNamed(t *testing.T, rep *schema.Report) {
	t.Helper()
	p := &rep.Profiles[0]
	require.True(t, rep.Capture.JVMs[0].SafepointsOnly)
	require.NotEmpty(t, p.Frames)
	first, event := &p.Frames[0], hottestEvent(p)
	assert.Equal(t, "Score::score", first.Method)
	assert.Greater(t, first.Counts.Of(event), p.Account.Of(event).Compiled*3/4)
	require.NotNil(t, p.SafepointsOnly)
	assert.GreaterOrEqual(t, p.SafepointsOnly.Of(event), first.Counts.Of(event))
	assert.True(t, p.Regions[0].SafepointsOnly)
	require.NotEmpty(t, first.Lines)
	assert.Equal(t, 7, first.Lines[0].Line, "hash = hash * 31 …")
	require.NotNil(t, first.Lines[0].Guessed, "nearly all instructions are without a record")
	assert.Greater(t, first.Lines[0].Guessed.Of(event), first.Lines[0].Counts.Of(event)/2)
}
