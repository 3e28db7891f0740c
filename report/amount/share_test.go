package amount

import (
	"slices"
	"testing"
)

func TestShares(t *testing.T) {
	check := func(counts []int64, total int64, want ...Share) {
		t.Helper()
		if got := Shares(counts, total); !slices.Equal(got, want) {
			t.Errorf("%v of %d: got %v, want %v", counts, total, got, want)
		}
	}
	check([]int64{1, 1}, 2, 5000, 5000)
	check([]int64{1, 1, 1}, 3, 3334, 3333, 3333)
	check([]int64{2, 2, 2}, 12, 1667, 1667, 1666)      // 50.00 %, though each is 16.67 %
	check([]int64{1, 1, 1, 0}, 3, 3334, 3333, 3333, 0) // a row without samples has a share of 0
	check([]int64{53000 - 3, 3}, 53000, 9999, 1)
	check([]int64{0, 0}, 0, 0, 0)
	check([]int64{3, 3, 3}, 50000, 1, 1, 0)
	check(nil, 5)
}

// FuzzShares checks that shares add up, and that none is off by more than rounding explains.
func FuzzShares(f *testing.F) {
	f.Add(uint32(1), uint32(1), uint32(1), uint32(0))
	f.Add(uint32(1000), uint32(640), uint32(400), uint32(960))
	f.Fuzz(func(t *testing.T, a, b, c, d uint32) {
		counts := []int64{int64(a), int64(b), int64(c)}
		total := int64(a) + int64(b) + int64(c) + int64(d)
		var sum Share
		for i, s := range Shares(counts, total) {
			if d := s - ShareOf(counts[i], total); d < -1 || d > 1 {
				t.Errorf("%v of %d: %v is off by %d", counts, total, s, d)
			}
			sum += s
		}
		if want := ShareOf(int64(a)+int64(b)+int64(c), total); sum != want {
			t.Errorf("%v of %d: sum %v, want %v", counts, total, sum, want)
		}
	})
}
