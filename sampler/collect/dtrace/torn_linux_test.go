package dtrace

import (
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
)

// TestStopsBetweenLines checks that no line is cut or repeated if DTrace is stopped while it prints as much as it
// can. A signal in the middle of a write would cause that. It would not do so at each stop, so the test stops DTrace
// three times.
func TestStopsBetweenLines(t *testing.T) {
	gasmtest.NeedDTrace(t)
	waitLonger(t)
	for range 3 {
		x := collecttest.Hold(t, collecttest.Busy)
		y := collecttest.Hold(t, collecttest.Busy)
		d := starts(t, Options{Frequency: 4999})
		x.Release(t)
		y.Release(t)
		time.Sleep(900 * time.Millisecond)
		if err := d.Stop(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, samples := range readSamples(t, d.TextFile(), false) {
			n += len(samples)
			seen := map[sampler.Sample]bool{}
			for _, s := range samples {
				if seen[s] {
					t.Errorf("twice: %+v", s)
				}
				seen[s] = true
			}
		}
		t.Logf("%d samples", n)
		if n == 0 {
			t.Error("no samples")
		}
		x.Cmd.Process.Kill() // DTrace needs the CPUs to end
		y.Cmd.Process.Kill()
		d.Wait()
	}
}
