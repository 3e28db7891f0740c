package diff

import "math"

// chance is the probability with which any row of a comparison of equals may
// be taken for a change.
const chance = 0.01

// Noise says what counts as a change.
type Noise struct {
	// Factor is the number of standard errors that a change must have.
	Factor float64 `json:"factor"`
	// SpreadFactor is the same for standard errors that forks and slices show:
	// larger, since these are few.
	SpreadFactor float64 `json:"spread_factor"`
	// Rows is the number of rows that are large enough to change; the factor is
	// for all of them together.
	Rows int `json:"rows"`
	// MinChange is the least change of a share that is shown, whatever the
	// number of samples.
	MinChange float64 `json:"min_change"`
	// At10 is the change that a share of 10 % must have, by sampling alone.
	At10 float64 `json:"at_10_percent"`
	// Forks tells that the thresholds have the spread over several forks in
	// them, Slices that they have the spread over time.
	Forks  bool `json:"forks"`
	Slices bool `json:"slices"`

	samplesA, samplesB int64
}

func newNoise(a, b *Trial, rows int, minChange float64) Noise {
	n := Noise{Rows: rows, MinChange: minChange, Forks: len(a.Forks) > 1 && len(b.Forks) > 1,
		Slices: len(a.Slices) > 1 && len(b.Slices) > 1, samplesA: a.Samples, samplesB: b.Samples}
	// The quantile of the normal distribution for both tails and all rows.
	n.Factor = math.Sqrt2 * math.Erfinv(1-chance/float64(max(rows, 1)))
	n.SpreadFactor = studentFactor(n.Factor, degrees(a)+degrees(b))
	n.At10 = n.threshold(a.Samples/10, b.Samples/10, 0)
	return n
}

// degrees are the degrees of freedom of the spread of a side.
func degrees(t *Trial) int { return max(len(t.Slices), len(t.Forks), 1) - 1 }

// studentFactor is the quantile of Student's distribution where that of the
// normal distribution is z, by the first terms of its expansion; at most twice
// z, for which two forks would otherwise hide everything.
func studentFactor(z float64, degrees int) float64 {
	n := float64(max(degrees, 1))
	z3, z5 := math.Pow(z, 3), math.Pow(z, 5)
	return min(2*z, z+(z3+z)/(4*n)+(5*z5+16*z3+3*z)/(96*n*n))
}

// threshold is the change of the share that two counts must have: spread is a
// standard error that is known otherwise, 0 when none is.
func (n *Noise) threshold(countA, countB int64, spread float64) float64 {
	return max(n.MinChange, n.Factor*n.sampling(countA, countB), n.SpreadFactor*spread)
}

// sampling is the standard error of the difference of two shares when both are
// the same but for chance.
func (n *Noise) sampling(countA, countB int64) float64 {
	a, b := float64(n.samplesA), float64(n.samplesB)
	p := float64(countA+countB) / (a + b)
	return math.Sqrt(p * (1 - p) * (1/a + 1/b))
}

// spread is the standard error of the difference of two shares as forks and
// slices show it, whichever is more.
func spread(a, b *Trial, itemA, itemB *Item) float64 {
	return math.Sqrt(a.variance(itemA) + b.variance(itemB))
}

// variance is that of an item's share, from fork to fork or over time.
func (t *Trial) variance(item *Item) float64 {
	if item == nil {
		return 0
	}
	return max(varianceOver(t.Forks, item.Forks), varianceOver(t.Slices, item.Slices))
}

// varianceOver is the variance of the share of parts in wholes, from group to
// group. It is 0 when there is one group, or nothing is known by group.
func varianceOver(wholes, parts []int64) float64 {
	if len(wholes) < 2 || len(parts) != len(wholes) {
		return 0
	}
	var whole, part int64
	for i := range wholes {
		whole, part = whole+wholes[i], part+parts[i]
	}
	if whole == 0 {
		return 0
	}
	share, groups := float64(part)/float64(whole), float64(len(wholes))
	var sum float64
	for i, n := range wholes {
		off := float64(parts[i]) - share*float64(n)
		sum += off * off
	}
	return groups / (groups - 1) * sum / (float64(whole) * float64(whole))
}
