package diff

import (
	"math"

	"github.com/gasm-profiler/gasm/internal/noise"
)

// Noise says how large a change must be to be shown.
type Noise struct {
	// A change is shown only if it is at least Factor times the standard error of random sampling.
	Factor float64 `json:"factor"`
	// SpreadFactor is the factor for standard errors that were estimated from forks or slices. It
	// is larger than Factor because there are few forks and slices.
	SpreadFactor float64 `json:"spread_factor"`
	// Rows is the number of rows whose share is at least MinChange on one side. Only these rows can change by
	// MinChange. Factor is chosen so that all of them together rarely show a change by chance.
	Rows int `json:"rows"`
	// MinChange is the smallest change of a share that is shown, no matter how many samples there
	// are.
	MinChange float64 `json:"min_change"`
	// At10 is an example for the reader: by how much a share of 10 % must change to be shown, if
	// only random sampling counts.
	At10 float64 `json:"at_10_percent"`
	// Forks is true if the thresholds take the differences between forks into account. Slices is true if they take the
	// differences between time slices into account. Both may be true.
	Forks  bool `json:"forks"`
	Slices bool `json:"slices"`

	samplesA, samplesB int64 // numbers of samples in the profiles
}

func newNoise(a, b *TrialSide, rows int, minChange float64) Noise {
	n := Noise{Rows: rows, MinChange: minChange, Forks: len(a.Forks) > 1 && len(b.Forks) > 1,
		Slices: len(a.Slices) > 1 && len(b.Slices) > 1, samplesA: a.Samples, samplesB: b.Samples}
	n.Factor = noise.Factor(rows)
	n.SpreadFactor = noise.SpreadFactor(n.Factor, spreadDegrees(a)+spreadDegrees(b))
	n.At10 = n.threshold(a.Samples/10, b.Samples/10, 0)
	return n
}

// spreadDegrees returns the degrees of freedom of a side's spread over forks or slices.
func spreadDegrees(t *TrialSide) int { return max(len(t.Slices), len(t.Forks), 1) - 1 }

// threshold returns the smallest change of a share that is shown for a row with these counts.
// spreadError is the standard error of the change, estimated from forks or slices. It is 0 if there
// are no counts by fork or slice.
func (n *Noise) threshold(countA, countB int64, spreadError float64) float64 {
	return max(n.MinChange, n.Factor*n.samplingError(countA, countB), n.SpreadFactor*spreadError)
}

// samplingError returns the standard error that random sampling causes in the difference of
// two shares, if the true shares of both sides are equal.
func (n *Noise) samplingError(countA, countB int64) float64 {
	return noise.SamplingError(countA, n.samplesA, countB, n.samplesB)
}

// spreadError returns the standard error of the difference of two shares. It is estimated from forks or from slices,
// whichever differ more. itemA and itemB are the same method or frame on both sides. One of them is nil if it has no
// samples on that side.
func spreadError(a, b *TrialSide, itemA, itemB *Item) float64 {
	return math.Sqrt(a.shareVariance(itemA) + b.shareVariance(itemB))
}

// shareVariance returns the variance of an item's share, estimated from forks or slices.
func (t *TrialSide) shareVariance(item *Item) float64 {
	if item == nil {
		return 0
	}
	return max(varianceOver(t.Forks, item.Forks), varianceOver(t.Slices, item.Slices))
}

// varianceOver returns the variance of the share sum(parts)/sum(wholes), estimated from how much parts[i]/wholes[i]
// differs from group to group. It returns 0 for a single group, or if the parts are not known by group.
func varianceOver(wholes, parts []int64) float64 {
	if len(parts) != len(wholes) {
		return 0
	}
	var groups noise.Groups
	for i := range wholes {
		groups.Add(wholes[i], parts[i])
	}
	return groups.Variance()
}
