// Package amount converts numbers of samples to the values that reports show: percentages, and amounts per operation.
package amount

import (
	"cmp"
	"fmt"
	"slices"
)

// A Share is a percentage in hundredths: 6181 is 61.81 %. It is an integer, so that sums of shares are exact.
type Share int64

// Whole is the share of everything: 100.00 %.
const Whole Share = 10000

// ShareOf returns n's share of total, rounded to the nearest hundredth of a percent. It returns 0 if total is 0.
func ShareOf(n, total int64) Share {
	if total == 0 {
		return 0
	}
	return Share((2*10000*n + total) / (2 * total))
}

// String returns the share in the form in which reports show it: "61.81%".
func (s Share) String() string { return fmt.Sprintf("%d.%02d%%", s/100, s%100) }

// Shares returns the share of each count in the total, rounded so that the shares add up to the share of the counts'
// sum. If each share were rounded by itself, the sum would be off by a few hundredths of a percent. If hundredths are
// missing, Shares adds one to each of the shares that lost the most by rounding. If there are too many, it takes them
// from the shares that gained the most.
func Shares(counts []int64, total int64) []Share {
	parts := make([]Share, len(counts))
	var sum int64
	off := Share(0) // the hundredths that are missing from the sum of the parts; negative if there are too many
	for i, n := range counts {
		parts[i] = ShareOf(n, total)
		off -= parts[i]
		sum += n
	}
	off += ShareOf(sum, total)
	for _, i := range byLoss(counts, parts, total) {
		switch {
		case off == 0:
			return parts
		case off > 0 && counts[i] > 0:
			parts[i]++
			off--
		}
	}
	for _, least := range []Share{1, 0} { // the first round reduces no share to 0.00 %
		for _, i := range slices.Backward(byLoss(counts, parts, total)) {
			if off < 0 && parts[i] > least {
				parts[i]--
				off++
			}
		}
	}
	return parts
}

// byLoss returns the indexes of counts, sorted by what each count's share lost by rounding. The largest loss comes
// first.
func byLoss(counts []int64, parts []Share, total int64) []int {
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	loss := func(i int) int64 { return 10000*counts[i] - int64(parts[i])*total }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(loss(b), loss(a)) })
	return order
}
