package vmstructs

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNoted follows pointers in a memory that changes. As long as Unchanged returns true, following them again must
// lead to the same place.
func TestNoted(t *testing.T) {
	unchanged := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := chain(r)
		plain := &VM{Memory: Memory{reader: c}}
		vm, noted := plain.Noting()
		start, steps := uint64(r.IntN(len(c.data)/8)*8), 1+r.IntN(50)
		last := follow(vm.Memory, start, steps)
		assert.True(t, noted.Unchanged(plain.Memory))
		assert.LessOrEqual(t, noted.Size(), 8*steps)
		onTheWay := map[uint64]bool{}
		for at, i := start, 0; i < steps; i++ {
			next, err := plain.Uint64(at)
			if err != nil {
				break
			}
			onTheWay[at], at = true, next
		}
		for range 1 + r.IntN(20000) {
			at := r.IntN(len(c.data))
			c.data[at]++
			if onTheWay[uint64(at&^7)] {
				assert.False(t, noted.Unchanged(plain.Memory))
				break
			}
		}
		if noted.Unchanged(plain.Memory) {
			unchanged++
			assert.Equal(t, last, follow(plain.Memory, start, steps))
		}
		c.holes = map[int64]bool{int64(start / pageSize): true}
		if noted.Size() > 0 {
			assert.False(t, noted.Unchanged(plain.Memory), "the memory can't be read any more")
		}
	}
	assert.Greater(t, unchanged, 20)
	assert.Less(t, unchanged, 180)
}
