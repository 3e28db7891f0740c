package amount

import (
	"math"
	"strconv"
)

// Margin returns the sampling error of a share of n in total samples: how far the share may be from its true value
// because there are so few samples. The result is text, in percentage points: "1.7" if in 95 of 100 recordings of the
// same program the share is at most 1.7 points away from its true value. Margin assumes that samples are independent
// (the binomial distribution, approximated by the normal one). It returns "" if there are no samples, or if the margin
// is less than 0.005 points.
func Margin(n, total int64) string {
	if n <= 0 || total <= 0 {
		return ""
	}
	const quantile = 1.96 // of the normal distribution, for 95 %
	share := min(float64(n)/float64(total), 1)
	points := 100 * quantile * math.Sqrt(share*(1-share)/float64(total))
	decimals := 1
	if points < 0.95 {
		decimals = 2
	}
	text := strconv.FormatFloat(points, 'f', decimals, 64)
	if text == "0.00" {
		return ""
	}
	return text
}
