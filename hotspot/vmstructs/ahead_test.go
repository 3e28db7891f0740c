package vmstructs

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A counting is a memory that begins at address 0. It counts the reads. The pages in holes can't be read.
type counting struct {
	data  []byte
	holes map[int64]bool // by the number of the page
	reads int
}

func (c *counting) ReadAt(buf []byte, at int64) (int, error) {
	c.reads++
	if at < 0 || at > int64(len(c.data)) {
		return 0, io.ErrUnexpectedEOF
	}
	for page := at / pageSize; page <= (at+int64(len(buf))-1)/pageSize; page++ {
		if c.holes[page] || (page+1)*pageSize > int64(len(c.data)) {
			return 0, io.ErrUnexpectedEOF
		}
	}
	return copy(buf, c.data[at:]), nil
}

// chain fills a memory with pointers, so that each word has the address of another one.
func chain(r *rand.Rand) *counting {
	c := &counting{data: make([]byte, 64*pageSize), holes: map[int64]bool{7: true, 40: true}}
	for at := 0; at < len(c.data); at += 8 {
		binary.LittleEndian.PutUint64(c.data[at:], uint64(r.IntN(len(c.data)/8)*8))
	}
	return c
}

// follow follows pointers, and returns the last one, or 0 after an error.
func follow(m Memory, at uint64, steps int) (last uint64) {
	for range steps {
		var err error
		if at, err = m.Uint64(at); err != nil {
			return 0
		}
	}
	return at
}

// TestAhead compares what is read through an Ahead with what is read without one.
func TestAhead(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := chain(r)
		plain := &VM{Memory: Memory{reader: c}}
		vm, ahead := plain.Ahead()
		for range 20 {
			var spans []Span
			for range r.IntN(30) {
				spans = append(spans, Span{uint64(r.IntN(len(c.data))), uint32(1 + r.IntN(600))})
			}
			ahead.Fetch(spans)
			for range 30 {
				at, size := uint64(r.IntN(len(c.data)+9)), uint64(1+r.IntN(2*longestSingle))
				if r.IntN(20) == 0 {
					at = -uint64(r.IntN(100))
				}
				want, err1 := plain.Read(nil, at, size)
				got, err2 := vm.Read(nil, at, size)
				require.Equal(t, err1 == nil, err2 == nil, "%d bytes at %d", size, at)
				require.Equal(t, want, got)
			}
			if r.IntN(3) == 0 {
				ahead.Forget()
			}
		}
		starts := make([]uint64, 500)
		for i := range starts {
			starts[i] = uint64(r.IntN(len(c.data)))
		}
		got := make([]uint64, len(starts))
		ahead.Forget()
		ahead.Together(len(starts), func(i int) { got[i] = follow(vm.Memory, starts[i], i%6) })
		for i, at := range starts {
			require.Equal(t, follow(plain.Memory, at, i%6), got[i])
		}
	}
}

// TestFetched checks that what was fetched is not read again until it is forgotten, and that reads are noted.
func TestFetched(t *testing.T) {
	c := chain(rand.New(rand.NewPCG(1, 1)))
	vm, ahead := (&VM{Memory: Memory{reader: c}}).Ahead()
	ahead.Fetch([]Span{{0x1000, 8}, {0x3000, 64}, {0x1020, 8}})
	assert.Equal(t, 2, c.reads, "the spans in one page are joined")
	ahead.Note()
	for _, at := range []uint64{0x1000, 0x1008, 0x1020, 0x3038} {
		_, err := vm.Uint64(at)
		require.NoError(t, err)
	}
	assert.Equal(t, []Span{{0x1000, 8}, {0x1008, 8}, {0x1020, 8}, {0x3038, 8}}, ahead.Noted())
	assert.Equal(t, 2, c.reads)
	for range 2 { // what was not fetched is read only once
		_, err := vm.Uint64(0x5000)
		require.NoError(t, err)
		assert.Equal(t, 3, c.reads)
	}
	ahead.Forget()
	_, err := vm.Uint64(0x1000)
	require.NoError(t, err)
	assert.Equal(t, 4, c.reads)
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ spans, want []Span }{
		{nil, nil},
		{[]Span{{100, 8}, {10, 8}}, []Span{{10, 98}}},
		{[]Span{{10, 100}, {20, 8}}, []Span{{10, 100}}},
		{[]Span{{10, 8}, {18 + nearby, 8}}, []Span{{10, nearby + 16}}},
		{[]Span{{10, 8}, {19 + nearby, 8}}, []Span{{10, 8}, {19 + nearby, 8}}},
		{[]Span{{pageSize - 8, 8}, {pageSize, 8}}, []Span{{pageSize - 8, 8}, {pageSize, 8}}},
		{[]Span{{^uint64(0) - 8, 16}, {16, 8}}, []Span{{16, 8}, {^uint64(0) - 8, 16}}},
	} {
		assert.Equal(t, c.want, Merge(c.spans))
	}
}
