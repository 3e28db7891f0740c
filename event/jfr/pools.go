package jfr

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// pools has the constants of a chunk.
type pools struct {
	blocks [][]byte // contents of the checkpoints, in the order of the file
	byType map[int64]*pool
}

// A pool has the constants of one type.
type pool struct {
	constants []constant
	sorted    bool
}

// A constant is a key and the position of its value in a block. The length of the value follows from its type.
type constant struct {
	key           int64
	block, offset uint32
}

// add reads the constants of a checkpoint. d begins after the checkpoint's size and type:
//
//	start, duration, position of the previous checkpoint relative to this one, flags (a byte),
//	number of pools, and for each: id of the type, number of constants, and for each its key and value
func (p *pools) add(d []byte, types map[int64]*Type) error {
	p.blocks = append(p.blocks, d)
	i := 0
	for range 3 {
		i = skipVarint(d, i)
	}
	n, i := count(d, skipBytes(d, i, 1))
	for ; n > 0 && i >= 0; n-- {
		var id int64
		var constants int
		id, i = varint(d, i)
		constants, i = count(d, i)
		if i < 0 {
			break
		}
		t := types[id]
		if t == nil {
			return fmt.Errorf("a checkpoint has constants of type %d, which is not in the metadata", id)
		}
		if t.fault != "" {
			return fmt.Errorf("a checkpoint has constants of a type that can't be read: %s", t.fault)
		}
		i = p.addPool(d, i, t, constants)
	}
	if i < 0 {
		return errCheckpoint
	}
	return nil
}

var errCheckpoint = errors.New("a checkpoint is cut or damaged")

func (p *pools) addPool(d []byte, i int, t *Type, n int) (next int) {
	into := p.byType[t.ID]
	if into == nil {
		into = new(pool)
		p.byType[t.ID] = into
	}
	if n > (len(d)-i)/2 { // a key takes at least one byte, and so does a value
		return -1
	}
	into.constants = slices.Grow(into.constants, n)
	for ; n > 0; n-- {
		var key int64
		key, i = varint(d, i)
		c := constant{key, uint32(len(p.blocks) - 1), uint32(i)}
		if i = t.skip(d, i); i < 0 {
			return -1
		}
		into.constants = append(into.constants, c)
		into.sorted = false
	}
	return i
}

// find returns a slice of a checkpoint that begins with the value of a constant. Other constants may follow the value.
// If there is no such constant, the result is nil.
func (p *pools) find(t *Type, key int64) []byte {
	in := p.byType[t.ID]
	if in == nil {
		return nil
	}
	if !in.sorted {
		in.sort()
	}
	i, ok := slices.BinarySearchFunc(in.constants, key,
		func(c constant, key int64) int { return cmp.Compare(c.key, key) })
	if !ok {
		return nil
	}
	c := in.constants[i]
	return p.blocks[c.block][c.offset:]
}

// sort prepares the constants for find. If several constants have the same key, the first one wins, as in the jfr
// tool.
func (p *pool) sort() {
	slices.SortStableFunc(p.constants, func(a, b constant) int { return cmp.Compare(a.key, b.key) })
	p.constants = slices.CompactFunc(p.constants, func(a, b constant) bool { return a.key == b.key })
	p.sorted = true
}
