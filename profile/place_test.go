package profile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
)

// PlaceSamples yields the same samples that Of counts, for each of the options that choose samples.
func TestPlaceSamples(t *testing.T) {
	app, err := threads.ParseChoice("app")
	require.NoError(t, err)
	for _, c := range []struct {
		capture string
		o       choice.Options
	}{
		{"stacks", choice.Options{}},
		{"stacks", choice.Options{Stacks: true}},
		{"stacks", choice.Options{Stacks: true, Threads: app}},
		{"stacks", choice.Options{Under: "Stacks::work"}},
		{"stacks", choice.Options{Stacks: true, WindowMethod: "Stacks::work"}},
		{gasmtest.Programs, choice.Options{PID: 15229}},
		{gasmtest.Chains, choice.Options{Stacks: true}},
	} {
		open := func() *capture.Capture {
			opened, err := capture.Open(gasmtest.UnpackFolder(t, c.capture))
			require.NoError(t, err)
			t.Cleanup(func() { opened.Close() })
			return opened
		}
		ps, err := Of(open(), c.o)
		require.NoError(t, err)
		var want, got int64
		for i := range ps.Trials {
			want += ps.Trials[i].Accounts[0].Profiled
		}
		all, err := PlaceSamples(open(), c.o, func(s *PlacedSample) error {
			got++
			frames := 0
			for range s.Frames {
				frames++
			}
			assert.Positive(t, frames)
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, want, got, c.capture)
		assert.Positive(t, got)
		assert.Equal(t, ps.Trials[0].Counters, all.Counters)
	}
}

// If the caller's function returns an error, reading ends. PlaceSamples refuses to choose samples by events.
func TestPlaceSamplesErrors(t *testing.T) {
	c, err := capture.Open(gasmtest.UnpackFolder(t, "stacks"))
	require.NoError(t, err)
	defer c.Close()
	enough := errors.New("enough")
	_, err = PlaceSamples(c, choice.Options{}, func(*PlacedSample) error { return enough })
	assert.ErrorIs(t, err, enough)
	gc, err := windows.ParseEventChoice("gc")
	require.NoError(t, err)
	_, err = PlaceSamples(c, choice.Options{WindowEvent: gc}, nil)
	assert.ErrorContains(t, err, "can't be chosen by events")
}
