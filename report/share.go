package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// A share is a percentage in hundredths: 6181 is 61.81 %. It is a whole number, so that sums of shares are exact.
type share int64

// shareOf is n's share of total, rounded to the nearest.
func shareOf(n, total int64) share {
	if total == 0 {
		return 0
	}
	return share((2*10000*n + total) / (2 * total))
}

func (s share) String() string { return fmt.Sprintf("%d.%02d%%", s/100, s%100) }

// shares are the shares of counts in total, adjusted so that they add up to the share of their sum. Rounding leaves over
// a few hundredths. They go, one each, to the shares from which rounding took the most.
func shares(counts []int64, total int64) []share {
	parts := make([]share, len(counts))
	var sum int64
	off := share(0) // how much is missing in the sum of the parts
	for i, n := range counts {
		parts[i] = shareOf(n, total)
		off -= parts[i]
		sum += n
	}
	off += shareOf(sum, total)
	for _, i := range byLoss(counts, parts, total) {
		switch {
		case off == 0:
			return parts
		case off > 0 && counts[i] > 0:
			parts[i]++
			off--
		}
	}
	for _, least := range []share{1, 0} { // if possible, a share that is not nothing stays above 0.00 %
		for _, i := range slices.Backward(byLoss(counts, parts, total)) {
			if off < 0 && parts[i] > least {
				parts[i]--
				off++
			}
		}
	}
	return parts
}

// byLoss orders the indexes of counts by what rounding took from them, the largest loss first.
func byLoss(counts []int64, parts []share, total int64) []int {
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	loss := func(i int) int64 { return 10000*counts[i] - int64(parts[i])*total }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(loss(b), loss(a)) })
	return order
}

// amount writes a number of samples of event e beside code. No samples are blank.
func (r *textReport) amount(n int64, e int) string {
	switch {
	case n == 0:
		return ""
	case r.o.Counts == Raw:
		return strconv.FormatInt(n, 10)
	case r.o.Counts == Norm:
		return r.normal(e).text(n)
	}
	s := shareOf(n, r.p.Accounts[e].Profiled)
	if s == 0 {
		return "<0.01%" // 0.00% would look like none
	}
	return s.String()
}
