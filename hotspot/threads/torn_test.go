package threads

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A replaced is the memory of a JVM that replaces its list of threads while the list is read. The first word is the
// address of the list. The list has its length, the address of its elements, and the elements.
type replaced struct {
	data  []byte
	after int // the number of reads after which the list is replaced
	times int // how often it is replaced
	reads int
}

func (r *replaced) word(at int, value uint64) { binary.LittleEndian.PutUint64(r.data[at:], value) }

// list writes a list of n threads at an address, and makes it the current one.
func (r *replaced) list(at, n int) {
	r.word(0, uint64(at))
	r.word(at, uint64(n))
	r.word(at+8, uint64(at+16))
	for i := range n {
		r.word(at+16+8*i, uint64(at+i))
	}
}

func (r *replaced) ReadAt(buf []byte, at int64) (int, error) {
	if r.reads++; r.reads == r.after && r.times > 0 {
		r.reads, r.times = 0, r.times-1
		old := binary.LittleEndian.Uint64(r.data)
		clear(r.data[old : old+1024])
		r.list(1024+(int(old)+1024)%(1<<16), 3)
	}
	return copy(buf, r.data[at:]), nil
}

// TestTorn reads a list that is replaced, and freed, at each moment of the reading.
func TestTorn(t *testing.T) {
	for after := range 8 {
		for times := range 4 {
			memory := &replaced{data: make([]byte, 1<<17), after: after + 1, times: times}
			memory.list(1024, 2)
			r := &Reader{vm: (&vmstructs.VM{}).Through(memory), array: 8}
			all, err := r.Addresses()
			require.NoError(t, err)
			now := binary.LittleEndian.Uint64(memory.data)
			want := []uint64{now, now + 1, now + 2}
			if memory.times == times {
				want = []uint64{1024, 1025}
			}
			assert.Equal(t, want, all, "after %d reads, %d times", after+1, times)
		}
	}
	memory := &replaced{data: make([]byte, 1<<17), after: 3, times: 1 << 20}
	memory.list(1024, 2)
	_, err := (&Reader{vm: (&vmstructs.VM{}).Through(memory), array: 8}).Addresses()
	assert.ErrorIs(t, err, errChanging)
}
