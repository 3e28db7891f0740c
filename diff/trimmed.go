package diff

import (
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/internal/noise"
)

// If another job on the machine disturbs one of several recordings, the mean and the spread of its side become so large
// that no change is beyond noise. So a benchmark that is not slower beyond noise is judged a second time. This time the
// slowest third of each side's times is left out, because a disturbance only makes times longer. What counts is the gap
// between the fastest time of B and the slowest remaining time of A. It is compared with the spread of the remaining
// times.
//
// Even if nothing changed, there is often such a gap by chance: in one of five cases with three times on each side. So
// the gap must be wide in comparison with the spread. The fewer times there are, the wider it must be (see gapFactors).

// leastTimes is the minimum number of measured times that each side must have for the second judgement. If a side has
// fewer, the slowest times are not left out.
const leastTimes = 3

// gapFactors maps the number of times on each side to a factor. The gap between the fastest time of B and the slowest
// remaining time of A must be at least this factor times the spread of the remaining times. With these factors, such a
// gap appears in only one of two hundred cases if nothing changed.
//
// The factors were simulated, with 100 000 cases for each of these distributions: uniform, normal,
// lognormal, exponential, Pareto, and normal with a quarter of the times disturbed. They hardly
// depend on the distribution. They are 6.1 to 8.3 for three times, 0.9 to 1.6 for four, 0.2 to 0.5
// for five, and smaller for more.
var gapFactors = map[int]float64{3: 8.3, 4: 1.6}

// mostGap is the factor if each side has five or more measured times; gapFactors has no such entries.
const mostGap = 0.6

// gapFactor returns the factor for the number of times that each side has. The parameter judged is the number of
// measures that are judged together. The larger it is, the more likely is a gap by chance in one of the measures, so
// the factor is larger, too: the probability of a gap falls with the power 1.7 of its width.
func gapFactor(times, judged int) float64 {
	factor, ok := gapFactors[times]
	if !ok {
		factor = mostGap
	}
	return factor * math.Pow(float64(max(judged, 1)), 1/1.7)
}

// trimmed returns the times without the slowest third, sorted.
func trimmed(times []float64) []float64 {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[:len(sorted)-len(sorted)/3]
}

// leastSlowdown returns a lower bound for how much slower b is than a, in the unit of the times.
// The slowest times of both sides are left out. If there are too few times, the result is NaN. If
// the gap between b's fastest time and a's slowest remaining time is too narrow, the result is
// negative.
func leastSlowdown(a, b []float64, judged int) float64 {
	n := min(len(a), len(b))
	if n < leastTimes {
		return math.NaN()
	}
	a, b = trimmed(a), trimmed(b)
	fastest, slowest := b[0], a[len(a)-1]
	spread := max(slowest-a[0], b[len(b)-1]-fastest)
	return fastest - slowest - gapFactor(n, judged)*spread
}

// trimmedRow judges a benchmark by a measure, and leaves out the slowest times of each side. ok is false if there are
// too few times. As in scoreNoise, JMH's times are judged both by capture and by fork, and the smaller slowdown counts.
func (c *Comparison) trimmedRow(m measure, judged int) (row GateRow, ok bool) {
	levels := []func(*TrialSide) []float64{runTimes, forkTimes}
	sampled := 0.0
	if m.cpu {
		levels, sampled = []func(*TrialSide) []float64{func(t *TrialSide) []float64 { return t.CPURuns }}, c.sampledNoise()
	}
	least := math.Inf(1)
	row = GateRow{Trial: c.A.Title(), CPU: m.cpu, NoiseKnown: true}
	for _, times := range levels {
		a, b := times(c.A), times(c.B)
		if len(a) < 2 || len(b) < 2 {
			continue
		}
		slower := mean(b) - mean(a) - groupNoise(1-noise.FalseAlarms/float64(max(judged, 1)), a, b)
		if without := leastSlowdown(a, b, judged); without > slower { // false for NaN
			slower = without
		}
		least = min(least, slower)
		if row.LeftOut == 0 && min(len(a), len(b)) >= leastTimes {
			row.Before, row.After, row.LeftOut = mean(trimmed(a)), mean(trimmed(b)), max(len(a), len(b))/3
		}
	}
	row.Change = 100 * (row.After - row.Before) / row.Before
	row.Noise = max(0, row.Change-100*least/row.Before, 100*sampled/row.Before)
	return row, row.LeftOut > 0 && isTime(row.Before) && isTime(row.After)
}

// mean returns the mean of the values. It returns NaN if there are none.
func mean(values []float64) float64 {
	var sum float64
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}
