package diff

import (
	"math"
	"slices"
)

// One recording of several that was disturbed, by another job on the machine, makes the means of its side and the spread so
// large that no change is beyond noise. So what is not slower beyond noise is judged once more, without the slowest third
// of the times of each side: times are only ever disturbed upwards. The fastest time of one side is compared with the
// slowest that is left of the other one, and the gap between them with how far the times that are left lie apart.
//
// Three times of each side that are drawn from the same ones lie like this in one case of five, so the gap must be many times
// as wide: see gapFactors.

// leastTimes is how many times each side must have for one to be left out.
const leastTimes = 3

// gapFactors are how many times as wide as the spread of what is left the gap must be, by the number of times on each side, so
// that times of one distribution are so far apart in one of two hundred cases. It hardly depends on the distribution: for
// uniform, normal, logarithmic normal, exponential and Pareto ones, and normal ones of which a quarter are disturbed, the
// factors are 6.1 to 8.3 of three times, 0.9 to 1.6 of four, 0.2 to 0.5 of five, and less of more (simulated, 100 000 cases each).
var gapFactors = map[int]float64{3: 8.3, 4: 1.6}

// mostGap is for more than four times.
const mostGap = 0.6

// gapFactor is for one of so many things that are judged. The probability of a gap falls with its width to the power of 1.7.
func gapFactor(times, judged int) float64 {
	factor, ok := gapFactors[times]
	if !ok {
		factor = mostGap
	}
	return factor * math.Pow(float64(max(judged, 1)), 1/1.7)
}

// trimmed are the times without the slowest third, sorted.
func trimmed(times []float64) []float64 {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[:len(sorted)-len(sorted)/3]
}

// leastSlowdown is by how much b is slower than a at least, without the slowest of both; NaN where there are too few.
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

// trimmedRow judges a benchmark by a measure without the slowest times of each side. It is false where these are too few.
// As in scoreNoise, captures and forks are both looked at, and what tells the least counts.
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
		slower := mean(b) - mean(a) - groupNoise(1-falseAlarms/float64(max(judged, 1)), a, b)
		if without := leastSlowdown(a, b, judged); without > slower { // it is no NaN
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

// mean is NaN of no values.
func mean(values []float64) float64 {
	var sum float64
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}
