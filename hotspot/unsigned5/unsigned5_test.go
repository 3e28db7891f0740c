package unsigned5

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRead(t *testing.T) {
	numbers := []uint32{0, 1, 190, 191, 192, 193, 254, 255, 256, 12000, 12478, 1 << 20, math.MaxInt32, math.MaxUint32}
	for _, release := range []int{8, 11, 17, 19, 20, 21, 25, 28} {
		var data []byte
		for _, n := range numbers {
			data = Append(data, n, release)
		}
		r := New(data, 0, release)
		for _, n := range numbers {
			assert.Equal(t, n, r.Unsigned(), "JDK %d", release)
		}
		assert.False(t, r.Short())
		r.Unsigned()
		assert.True(t, r.Short())
	}
}

func TestReadKnown(t *testing.T) {
	// The bytes come from scopes that JDK 17 and 25 printed.
	r := New([]byte{0xd2, 0x03, 0xe2, 0x02}, 0, 17)
	assert.Equal(t, []uint32{0xd2 + 3*64, 0xe2 + 2*64}, []uint32{r.Unsigned(), r.Unsigned()})
	r = New([]byte{0xd2, 0x03}, 0, 25)
	assert.Equal(t, uint32(0xd1+2*64), r.Unsigned())
	for n, packed := range map[int]uint32{0: 0, -1: 1, 1: 2, -2: 3, 1000: 2000} {
		assert.Equal(t, n, New(Append(nil, packed, 25), 0, 25).Signed())
	}
}
