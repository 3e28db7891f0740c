package dtrace

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
)

func TestPause(t *testing.T) {
	gasmtest.NeedDTrace(t)
	collecttest.CheckPause(t, true, func(x *collecttest.Target) (collecttest.Pausing, func() []sampler.Sample) {
		d := starts(t, Options{Frequency: 971})
		return d, func() (all []sampler.Sample) {
			for _, samples := range readSamples(t, d.TextFile(), false) {
				all = append(all, samples...)
			}
			return all
		}
	})
}

// TestPauseText checks which lines are left out during a pause: those of samples whose own times are in the pause.
// All other lines must be kept, wherever the text is cut into pieces.
func TestPauseText(t *testing.T) {
	line := func(at int64) string {
		return fmt.Sprintf("  1   3977   :profile-1001 3356 0x7fbffc6bc568 %d\n", at)
	}
	text := &output{pauses: []pausedTime{{100, 200}, {300, math.MaxInt64}}}
	all := "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN gasm: begin 5\n" +
		line(99) + line(100) + line(250) + line(150) + line(200) + line(199) + line(300) + line(299) + line(1e9) +
		"  0      2  :END gasm: end\n"
	want := "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN gasm: begin 5\n" +
		line(99) + line(250) + line(200) + line(299) + "  0      2  :END gasm: end\n"
	for n := 1; n < len(all); n += 7 {
		text.line = nil
		var kept strings.Builder
		for rest := all; rest != ""; rest = rest[min(n, len(rest)):] {
			kept.Write(text.withoutPauses([]byte(rest[:min(n, len(rest))])))
		}
		require.Equal(t, want, kept.String(), "in pieces of %d bytes", n)
	}
	text.line = nil
	assert.Empty(t, text.withoutPauses([]byte("  1   3977   :profile-1001 33")))
	assert.Equal(t, "  1   3977   :profile-1001 33", string(text.line), "the rest of a DTrace that was killed")
}
