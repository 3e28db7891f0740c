package tally

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBump(t *testing.T) {
	sums := map[string]Counts{}
	BumpAt(sums, "a", 2)
	BumpAt(sums, "a", 0)
	BumpAt(sums, "a", 0)
	assert.Equal(t, Counts{2, 0, 1}, sums["a"])
	AddTo(sums, "b", Counts{1}, 3)
	AddTo(sums, "b", sums["a"], 3)
	assert.Equal(t, Counts{3, 0, 1}, sums["b"])
}

func TestCompare(t *testing.T) {
	assert.Negative(t, Compare(Counts{2, 0}, Counts{1, 9}), "the first counter decides")
	assert.Positive(t, Compare(Counts{1, 0}, Counts{1, 9}))
	assert.Zero(t, Compare(Counts{1}, Counts{1}))
}

// What Zeros returns is in one piece of memory, but no Counts can grow into the next one.
func TestZeros(t *testing.T) {
	all := Zeros(2, 1)
	all[0].Bump(1, 5)
	assert.Equal(t, []Counts{{0, 5}, {0}}, all)
}
