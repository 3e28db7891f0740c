package virtualthreads

import (
	"errors"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// le64 returns the eight bytes at an offset, or 0 if the data is too short.
func le64(data []byte, at uint64) uint64 { return vmstructs.Field{At: at, Size: 8}.In(data) }

// le32 returns the four bytes at an offset, or 0 if the data is too short.
func le32(data []byte, at uint64) uint32 { return uint32(vmstructs.Field{At: at, Size: 4}.In(data)) }

// copies reads the first size bytes of each object. The copy is nil if its object can't be read, or if the object's
// address is 0. If an object was moved and its old header has the new address, copies reads the object there, and
// stores the new address in the slice objects.
func (c *Counter) copies(objects []uint64, size uint64) [][]byte {
	all := c.pieces(objects, size)
	if !c.forwards {
		return all
	}
	// When Shenandoah has copied an object, it leaves the address of the copy in the header of the old object
	// (markWord::marked_value).
	var moved []uint64
	var index []int
	for i, data := range all {
		if mark := le64(data, 0); mark&3 == 3 {
			moved, index = append(moved, mark&^3), append(index, i)
		}
	}
	for i, data := range c.pieces(moved, size) {
		all[index[i]], objects[index[i]] = data, moved[i]
	}
	return all
}

// pieces reads size bytes at each address.
func (c *Counter) pieces(at []uint64, size uint64) [][]byte {
	all := make([][]byte, len(at))
	data := make([]byte, uint64(len(at))*size)
	list := make([]vmstructs.Piece, 0, len(at))
	index := make([]int, 0, len(at))
	for i, addr := range at {
		if addr != 0 && addr%8 == 0 {
			list = append(list, vmstructs.Piece{Addr: addr, Buf: data[uint64(i)*size : uint64(i+1)*size]})
			index = append(index, i)
		}
	}
	read := c.gather(list)
	for n, i := range index {
		if read[n] {
			all[i] = list[n].Buf
		}
	}
	return all
}

// gather reads pieces. It returns, for each piece, whether it was read.
func (c *Counter) gather(pieces []vmstructs.Piece) []bool {
	if c.refused() {
		return make([]bool, len(pieces))
	}
	read, err := c.vm.GatherSome(pieces)
	if err != nil && c.failed == nil && !errors.Is(err, vmstructs.ErrBudget) { // the method refused reports ErrBudget
		c.failed = err
	}
	return read
}

// refused reports whether a read was refused in this count, because too much was read before.
func (c *Counter) refused() bool { return c.budget.Refused() > c.refusals }

// one reads the first bytes of an object. It returns nil if the object is not of the class with the given name.
func (c *Counter) one(object, size uint64, class string) []byte {
	data := c.copies([]uint64{object}, max(size, 16))[0]
	if at := c.classes.Class(class); at == 0 || c.heap.ClassIn(data) != at {
		return nil
	}
	return data
}

// maxCells is the maximum number of cells of a counter that are read. Java makes at most one cell for each processor.
const maxCells = 1 << 10

// sum returns the value of a counter that is spread over several numbers, as the size of a ConcurrentHashMap is. base
// is the first of these numbers. cells is the array of the objects with the others, or 0. value is the offset of the
// number in such an object. sum adds up all numbers.
func (c *Counter) sum(base, cells, value uint64) int64 {
	n := int64(base)
	if cells == 0 || value == 0 {
		return max(n, 0)
	}
	for _, cell := range c.copies(c.elements(cells, 0, maxCells), value+8) {
		n += int64(le64(cell, value))
	}
	return max(n, 0)
}

// elements returns some elements of an array of references, beginning at the index from. The parameter most is the
// maximum number of them.
func (c *Counter) elements(array, from, most uint64) (refs []uint64) {
	length, first, err := c.heap.Refs(array)
	if err != nil || from >= length {
		return nil
	}
	size := c.heap.RefSize()
	data, err := c.vm.Read(nil, first+from*size, min(length-from, most)*size)
	if err != nil {
		return nil
	}
	return c.refsIn(data)
}

// refsIn returns all references in a part of an array.
func (c *Counter) refsIn(data []byte) []uint64 {
	size := c.heap.RefSize()
	refs := make([]uint64, uint64(len(data))/size)
	for i := range refs {
		refs[i] = c.heap.RefIn(data, uint64(i)*size)
	}
	return refs
}
