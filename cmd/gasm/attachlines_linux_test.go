package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestAttachNamesLoop runs a method with a loop, followed by a call that HotSpot has inlined. Without
// DebugNonSafepoints, HotSpot has no record of a line for the instructions of the loop. (With Serial, the loop does
// not even have a poll.) The next record, by address, may be that of the inlined call. The report must name the
// loop's method nevertheless, and mark it with ~, because this is a guess.
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
					// If the flag is on now, that says nothing about code that was compiled before. async-profiler
					// switches the flag on, too.
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
