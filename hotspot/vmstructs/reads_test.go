package vmstructs

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestReads follows pointers in a memory that changes. As long as Unchanged returns true, following them again must
// lead to the same place.
func TestReads(t *testing.T) {
	unchanged := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := chain(r)
		plain := &VM{Memory: Memory{reader: c}}
		same := func(reads *Reads) bool { // asks also for others
			answers := Unchanged(plain.Memory, []*Reads{reads, {}, reads})
			assert.Equal(t, []bool{answers[0], true, answers[0]}, answers)
			return answers[0]
		}
		vm, reads := plain.KeepReads()
		start, steps := uint64(r.IntN(len(c.data)/8)*8), 1+r.IntN(50)
		last := follow(vm.Memory, start, steps)
		assert.True(t, same(reads))
		assert.LessOrEqual(t, reads.Size(), 8*steps)
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
				assert.False(t, same(reads))
				break
			}
		}
		if same(reads) {
			unchanged++
			assert.Equal(t, last, follow(plain.Memory, start, steps))
		}
		c.holes = map[int64]bool{int64(start / pageSize): true}
		if reads.Size() > 0 {
			assert.False(t, same(reads), "the memory can't be read any more")
		}
	}
	assert.Greater(t, unchanged, 20)
	assert.Less(t, unchanged, 180)
}
