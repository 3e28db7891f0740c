// Package student computes quantiles of Student's t distribution. A quantile says by how many standard errors the mean
// of a few values may differ from the true mean.
package student

import "math"

// Quantile returns the number below which a random value of the distribution lies with the given probability. The
// probability must be at least 0.5 and less than 1. degrees is the number of degrees of freedom, at least 1.
func Quantile(probability float64, degrees int) float64 {
	degrees = max(degrees, 1)
	if !(probability > 0.5) { // true for NaN, too
		return 0
	}
	low, high := 0.0, 1.0
	for cumulative(high, degrees) < probability && high < 1e12 {
		low, high = high, 2*high
	}
	for range 200 { // enough steps for the precision of a float64
		middle := (low + high) / 2
		if cumulative(middle, degrees) < probability {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// cumulative returns the probability that a random value of the distribution is below t. t must not be negative. For an
// integer number of degrees, the probability is a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
func cumulative(t float64, degrees int) float64 {
	if degrees > 2000 { // equal to the normal distribution to five digits
		return 0.5 * (1 + math.Erf(t/math.Sqrt2))
	}
	n := float64(degrees)
	angle := math.Atan(t / math.Sqrt(n))
	sin, cos := math.Sincos(angle)
	within := 0.0 // the probability of a value between -t and t
	if degrees%2 == 0 {
		term, sum := 1.0, 1.0
		for k := 2; k < degrees; k += 2 {
			term *= float64(k-1) / float64(k) * cos * cos
			sum += term
		}
		within = sin * sum
	} else {
		term, sum := cos, 0.0
		for k := 1; k < degrees; k += 2 {
			if k > 1 {
				term *= float64(k-1) / float64(k) * cos * cos
			}
			sum += term
		}
		within = 2 / math.Pi * (angle + sin*sum)
	}
	return 0.5 + within/2
}
