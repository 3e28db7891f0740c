package waits

import (
	"math/bits"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/wall"
)

// divide returns how much of each of a spell's three times belongs to a part of the spell, in proportion to its length.
// The sum of the results is exactly the length of the part.
func divide(s *wall.Spell, part capture.Span) (ran, runnable, blocked int64) {
	length := s.ToMonoNanos - s.FromMonoNanos
	from, to := part.FromMonoNanos-s.FromMonoNanos, part.ToMonoNanos-s.FromMonoNanos
	if from == 0 && to == length {
		return s.Ran, s.Runnable, s.Blocked
	}
	// A part gets the difference between the rounded shares at its end and at its beginning, so the parts add up to the
	// whole spell.
	ran = share(s.Ran, to, length) - share(s.Ran, from, length)
	runnable = max(share(s.Ran+s.Runnable, to, length)-share(s.Ran+s.Runnable, from, length)-ran, 0)
	return ran, runnable, to - from - ran - runnable
}

// share returns n*part/whole, rounded down. n and part are at most whole.
func share(n, part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(quotient)
}
