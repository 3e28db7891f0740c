package collecttest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// A Pausing is a sampler that can pause.
type Pausing interface {
	Pause() error
	Resume() error
	Stop() error
}

// CheckPause checks that no sample is taken during a pause. It also checks that a program that was started during the
// pause is sampled afterwards, under its own name. The function begin must start the sampler for the Target. It must
// return the sampler and a function that reads the samples after Stop. wholeMachine must be true for a sampler that
// samples all processes and does not name threads.
func CheckPause(t *testing.T, wholeMachine bool, begin func(x *Target) (s Pausing, samples func() []sampler.Sample)) {
	t.Helper()
	folder := t.TempDir()
	paused, pidFile := filepath.Join(folder, "paused"), filepath.Join(folder, "pid")
	x :=
		Hold(t, Execs(`(until [ -e `+paused+` ]; do sleep 0.1; done; exec sha1sum /dev/zero) & echo $! >`+pidFile+`; `+Busy))
	s, samples := begin(x)
	x.Release(t)
	x.Works(t)
	require.NoError(t, s.Pause())
	require.NoError(t, s.Pause(), "a second Pause")
	from := monotonic.Nanos()
	require.NoError(t, os.WriteFile(paused, nil, 0o600))
	hasher, err := strconv.Atoi(machine.ReadTrimmed(pidFile))
	require.NoError(t, err)
	Eventually(t, "the other program starts", func() bool {
		return machine.ReadTrimmed(fmt.Sprintf("/proc/%d/comm",
			hasher)) == "sha1sum"
	})
	time.Sleep(500 * time.Millisecond)
	resumed := monotonic.Nanos()
	require.NoError(t, s.Resume())
	t.Logf("Resume took %v", time.Duration(monotonic.Nanos()-resumed))
	x.Works(t)
	Works(t, hasher)
	require.NoError(t, s.Stop())
	require.NoError(t, s.Pause(), "after the end")

	before, after, first, hashing := 0, 0, int64(math.MaxInt64), 0
	for _, sample := range samples() {
		switch at := sample.MonoNanos; {
		case at < from:
			before++
		case at < resumed:
			t.Errorf("a sample %v after Pause, %v before Resume", time.Duration(at-from), time.Duration(resumed-at))
		default:
			after++
			if sample.PID == x.PID() || !wholeMachine {
				first = min(first, at)
			}
			if sample.Thread == "sha1sum" {
				hashing++
			}
		}
	}
	t.Logf("%d samples before, %d after, the first one %v after Resume was called", before, after,
		time.Duration(first-resumed))
	// Each process worked for 100 ms.
	assert.True(t, before >= 10 && after >= 10, "samples before and after the pause: %d, %d", before, after)
	if !wholeMachine {
		assert.GreaterOrEqual(t, hashing, 10, "samples of the program that started in the pause")
	}
}
