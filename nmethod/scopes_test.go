package nmethod

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pack packs a number as HotSpot's comment on UNSIGNED5 says it: the low digits in
// bytes from 192 on (JDK 20: 192 to 255, of which a one is taken off), a last one
// below that.
func pack(n uint32, release int) []byte {
	x, low := uint32(0), uint32(192)
	if release >= 20 {
		x, low = 1, 191
	}
	var out []byte
	for i := range 5 {
		if n < low || i == 4 {
			return append(out, byte(n+x))
		}
		n -= low
		out = append(out, byte(low+x+n%64))
		n /= 64
	}
	return out
}

var releases = []int{11, 17, 21, 25}

func TestUnpack(t *testing.T) {
	numbers := []uint32{0, 1, 190, 191, 192, 193, 254, 255, 256, 12000, 12478, 1 << 20, math.MaxInt32, math.MaxUint32}
	for _, release := range releases {
		var data []byte
		for _, n := range numbers {
			data = append(data, pack(n, release)...)
		}
		u := newUnpacker(data, 0, release)
		for _, n := range numbers {
			assert.Equal(t, n, u.unsigned(), "JDK %d", release)
		}
		assert.False(t, u.ended)
		u.unsigned()
		assert.True(t, u.ended)
	}
}

func TestUnpackKnown(t *testing.T) {
	// From scopes that JDK 17 and 25 printed.
	u := newUnpacker([]byte{0xd2, 0x03, 0xe2, 0x02}, 0, 17)
	assert.Equal(t, []uint32{0xd2 + 3*64, 0xe2 + 2*64}, []uint32{u.unsigned(), u.unsigned()})
	u = newUnpacker([]byte{0xd2, 0x03}, 0, 25)
	assert.Equal(t, uint32(0xd1+2*64), u.unsigned())
	for n, packed := range map[int]uint32{0: 0, -1: 1, 1: 2, -2: 3, 1000: 2000} {
		assert.Equal(t, n, newUnpacker(pack(packed, 25), 0, 25).signed())
	}
}

func TestLines(t *testing.T) {
	for _, release := range releases {
		data := []byte{0<<3 | 5, 4<<3 | 1} // bci 0 line 5, bci 4 line 6
		data = append(append(append(data, 0xff), pack(2*100, release)...), pack(2*3-1, release)...)
		data = append(data, 2<<3|7, 0, 0x11)
		lines := readLines(data, release)
		require.Equal(t, []line{{0, 5}, {4, 6}, {104, 3}, {106, 10}}, lines)
		m := method{code: make([]byte, 110), lines: lines}
		for bci, want := range map[int]int{-1: 5, 0: 5, 3: 5, 4: 6, 103: 6, 104: 3, 105: 3, 106: 10, 109: 10, 110: 0, -2: 0} {
			assert.Equal(t, want, m.line(bci), "bci %d", bci)
		}
	}
	assert.Zero(t, (&method{code: make([]byte, 4)}).line(2), "no table")
}

func TestPCDescs(t *testing.T) {
	var data []byte
	for _, d := range []struct{ pc, scope int32 }{{-1, 0}, {12, 1}, {20, 7}, {20, 9}, {65, 0}, {3, 3}} {
		data = binary.LittleEndian.AppendUint32(data, uint32(d.pc))
		data = binary.LittleEndian.AppendUint32(data, uint32(d.scope))
		data = append(data, make([]byte, 8)...)
	}
	var got []pcDesc
	eachPCDesc(data, 64, func(d pcDesc) bool { got = append(got, d); return true })
	assert.Equal(t, []pcDesc{{12, 1}, {20, 7}, {20, 9}}, got, "the one behind the code ends them")
}

func TestScope(t *testing.T) {
	data := []byte{0}
	data = append(data, pack(0, 17)...) // no caller
	data = append(data, pack(3, 17)...)
	data = append(data, pack(0, 17)...) // bci -1
	at := len(data)
	data = append(append(append(data, pack(1, 17)...), pack(200, 17)...), pack(300, 17)...)
	outer, ok := readScope(data, 1, 17)
	assert.True(t, ok)
	assert.Equal(t, scope{0, 3, -1}, outer)
	inner, ok := readScope(data, at, 17)
	assert.True(t, ok)
	assert.Equal(t, scope{1, 200, 299}, inner)
	for _, bad := range []int{0, -1, len(data), len(data) - 1} {
		_, ok := readScope(data, bad, 17)
		assert.False(t, ok, bad)
	}
}

// FuzzDebugInfo finds out that no debug info makes the readers fail or go on for
// ever: the memory of a JVM changes while it is read.
func FuzzDebugInfo(f *testing.F) {
	f.Add([]byte{0x91, 4, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, 17)
	f.Fuzz(func(t *testing.T, data []byte, at, release int) {
		for _, l := range readLines(data, release) {
			m := method{code: data, lines: []line{l}}
			m.line(l.bci)
			m.bytecode(l.bci)
		}
		for n := 0; at > 0; n++ {
			s, ok := readScope(data, at, release)
			if !ok {
				break
			}
			if s.sender >= at {
				t.Fatalf("a caller at %d of a frame at %d", s.sender, at)
			}
			at = s.sender
		}
		eachPCDesc(data, at, func(d pcDesc) bool { return d.pc <= at })
	})
}
