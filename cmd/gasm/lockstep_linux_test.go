package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestLockstep runs a program that does two things in turn, as often as gasm should take samples. Each of them must
// get half of the samples. With a fixed frequency, the shares were up to 46 percentage points off.
//
// The samples must not be worse than independent ones. The share of n independent samples would have a standard error
// of 50/sqrt(n) points, and the root mean square of the deviations of six shares would exceed 2.4 of these errors
// once in 200,000 times. When samples were taken in step with the program, it was 20 errors or more. On an idle
// machine it was 0.6 errors, or 0.7 points, because the samples go through the program's period evenly. On a busy
// machine, other work makes the samples independent, and fewer.
func TestLockstep(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	java := gasmtest.NeedJava(t)
	rates := []int{1001}
	if gasmtest.AllJDKs() {
		rates = append(rates, 501)
	}
	for _, hertz := range rates {
		t.Run(strconv.Itoa(hertz), func(t *testing.T) {
			t.Parallel()
			const runs, samples = 6, 2000
			length := fmt.Sprintf("%dms", 1000*samples/hertz)
			j := startJVM(t, "READY", java, "-XX:CompileCommand=dontinline,Lockstep::alpha",
				"-XX:CompileCommand=dontinline,Lockstep::beta",
				"-Dhertz="+strconv.Itoa(hertz), "-cp", javaPrograms(t), "Lockstep")
			var points, errors float64 // sums of squares
			frequencies := map[int]bool{}
			for range runs {
				rep, _ := attachJSON(t, "--frequency", strconv.Itoa(hertz), "--length", length, j.pid())
				counts := map[string]float64{}
				for _, m := range rep.Profiles[0].Methods {
					counts[strings.TrimPrefix(m.Name, "Lockstep::")] = float64(m.Counts.Of(hottestEvent(&rep.Profiles[0])))
				}
				total := counts["alpha"] + counts["beta"]
				require.Positive(t, total)
				off := 100*counts["alpha"]/total - 50
				t.Logf("%d Hz: %.0f samples, %+.1f points off", rep.Capture.Frequency, total, off)
				points, errors = points+off*off, errors+off*off*total/2500
				frequencies[rep.Capture.Frequency] = true
				assert.InEpsilon(t, hertz, rep.Capture.Frequency, 0.1)
			}
			assert.Greater(t, len(frequencies), 1, "each recording draws a frequency")
			rms := math.Sqrt(errors / runs)
			t.Logf("root mean square: %.2f points, %.2f standard errors of independent samples", math.Sqrt(points/runs), rms)
			assert.LessOrEqual(t, rms, 2.4)
		})
	}
}
