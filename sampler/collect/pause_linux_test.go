package collect

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
)

// A pausing makes a Native a collecttest.Pausing.
type pausing struct{ *Native }

func (p pausing) Stop() error { return p.Native.Stop(context.Background()) }

func TestPause(t *testing.T) {
	t.Run("native", func(t *testing.T) {
		collecttest.CheckPause(t, false, func(x *collecttest.Target) (collecttest.Pausing, func() []sampler.Sample) {
			n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Pauses: true})
			return pausing{n}, func() []sampler.Sample { samples, _ := written(t, n); return samples }
		})
	})
	t.Run("perf", func(t *testing.T) {
		gasmtest.NeedPerf(t)
		collecttest.CheckPause(t, false, func(x *collecttest.Target) (collecttest.Pausing, func() []sampler.Sample) {
			p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 999, Pauses: true})
			return p, func() []sampler.Sample {
				assert.True(t, p.named, "perf's events are disabled by name: %s", p.process.Stderr.String())
				return recorded(t, p)
			}
		})
	})
}
