// Package noise calculates how much shares of samples can differ by chance alone.
//
// The difference of two shares has two errors. Random sampling causes the first ([SamplingError]). The second is
// estimated from how much the share differs among groups of samples that should be alike, such as forks, time slices or
// hosts ([Groups]). A difference is above the noise if it is larger than [Factor] times the first error, and larger
// than [SpreadFactor] times the second one.
package noise

import "math"

// FalseAlarms is the probability that a comparison of equal programs shows any row as different.
const FalseAlarms = 0.01

// Factor returns how many times larger than the standard error of random sampling a difference must be to be above the
// noise, if the given number of rows is compared. It is the quantile of the normal distribution at which both tails
// together have the probability FalseAlarms/rows (a Bonferroni correction).
func Factor(rows int) float64 {
	return math.Sqrt2 * math.Erfinv(1-FalseAlarms/float64(max(rows, 1)))
}

// SpreadFactor returns the quantile of Student's t distribution that has the same probability as the quantile z of the
// normal distribution. It uses the first terms of the expansion in 1/degrees (Abramowitz and Stegun, 26.7.5). The
// result is at most 2z, because with the real quantile for two groups no difference would ever be shown.
func SpreadFactor(z float64, degrees int) float64 {
	n := float64(max(degrees, 1))
	z3, z5 := math.Pow(z, 3), math.Pow(z, 5)
	return min(2*z, z+(z3+z)/(4*n)+(5*z5+16*z3+3*z)/(96*n*n))
}

// SamplingError returns the standard error that random sampling causes in the difference of two shares, partA of wholeA
// and partB of wholeB, if the true shares are equal.
func SamplingError(partA, wholeA, partB, wholeB int64) float64 {
	a, b := float64(wholeA), float64(wholeB)
	p := float64(partA+partB) / (a + b)
	return math.Sqrt(p * (1 - p) * (1/a + 1/b))
}

// Groups adds up groups of samples, to find out how much a share differs among them. The share of a group is
// part/whole: the number of the samples that are counted, divided by the number of all samples in the group.
type Groups struct {
	n           int
	whole, part float64
	// sums of part², part*whole and whole², from which the variance is calculated
	pp, pw, ww float64
}

// Add adds a group of samples.
func (g *Groups) Add(whole, part int64) { g.add(1, float64(whole), float64(part)) }

// Remove removes a group that was added before.
func (g *Groups) Remove(whole, part int64) { g.add(-1, float64(whole), float64(part)) }

func (g *Groups) add(sign int, whole, part float64) {
	s := float64(sign)
	g.n += sign
	g.whole, g.part = g.whole+s*whole, g.part+s*part
	g.pp, g.pw, g.ww = g.pp+s*part*part, g.pw+s*part*whole, g.ww+s*whole*whole
}

// Len returns the number of groups.
func (g *Groups) Len() int { return g.n }

// Variance returns the variance of the share of all groups together, estimated from how much the share differs from
// group to group (the variance of a ratio estimator). It returns 0 for fewer than two groups.
func (g *Groups) Variance() float64 {
	if g.n < 2 || g.whole == 0 {
		return 0
	}
	share, n := g.part/g.whole, float64(g.n)
	sum := max(0, g.pp-2*share*g.pw+share*share*g.ww) // of (part - share*whole)²
	return n / (n - 1) * sum / (g.whole * g.whole)
}
