package nmethod

import (
	"encoding/binary"
	"strings"

	"github.com/gasm-profiler/gasm/internal/javaname"
)

// poolEntry returns the eight bytes of an entry of a ConstantPool.
func (c *Copier) poolEntry(pool, index uint64) (uint64, error) {
	return c.vm.Uint64(pool + c.layout.poolEnd + 8*index)
}

// symbolAt reads the Symbol that an entry of a ConstantPool points to.
func (c *Copier) symbolAt(pool, index uint64) (string, error) {
	at, err := c.poolEntry(pool, index)
	if err != nil {
		return "", err
	}
	return c.symbol(at)
}

// symbol reads a Symbol, in which HotSpot keeps a name. If the address comes from a ConstantPool, its lowest bit may be
// set as a flag, which is not a part of the address (CPSlot in constantPool.hpp).
func (c *Copier) symbol(at uint64) (string, error) {
	at &^= 1
	l := &c.layout
	var buf [64]byte // large enough for most symbols, so that one read suffices
	symbol, err := c.vm.Read(buf[:], at, uint64(len(buf)))
	if err != nil { // the readable memory may end before len(buf) bytes
		if symbol, err = c.vm.Read(buf[:], at, l.symbolBody); err != nil {
			return "", err
		}
	}
	size := l.symbolBody + uint64(binary.LittleEndian.Uint16(symbol[l.symbolLength:]))
	if size > uint64(len(symbol)) {
		if symbol, err = c.vm.Read(nil, at, size); err != nil {
			return "", err
		}
	}
	return string(symbol[l.symbolBody:size]), nil
}

// A memberKey identifies an entry of one of the arrays of a ConstantPoolCache.
type memberKey struct {
	pool    uint64 // the address of the ConstantPool
	methods bool   // true for the array of methods, false for the array of fields
	index   uint64
}

// member returns the name of the field or method that the bytecode at a bci refers to. It returns "" if the bytecode
// refers to neither.
func (c *Copier) member(m *method, bci int) string {
	name := c.bytecodeName(m, bci)
	key := memberKey{pool: m.pool}
	switch {
	case strings.HasPrefix(name, "get"), strings.HasPrefix(name, "put"):
	case strings.HasPrefix(name, "invoke") && name != "invokedynamic": // HotSpot prints no name for invokedynamic
		key.methods = true
	default:
		return ""
	}
	operand := m.bytecode[bci+1:]
	if len(operand) < 2 {
		return ""
	}
	key.index = uint64(binary.LittleEndian.Uint16(operand)) // HotSpot stores this index in the machine's byte order
	return c.memberName(key)
}

// memberName returns the name of the field or method that an entry of a ConstantPoolCache refers to. It returns "" if
// the name can't be read. Each name is read only once.
func (c *Copier) memberName(key memberKey) string {
	if name, ok := c.members[key]; ok {
		return name
	}
	name, err := c.readMemberName(key)
	if err != nil {
		name = ""
	}
	c.members[key] = javaname.Decode(name)
	return c.members[key]
}

// readMemberName goes from the entry to the constant pool's Fieldref or Methodref, from there to its NameAndType, and
// from there to the name. The lower half of a Fieldref or Methodref is the index of its class, and the upper half the
// index of its NameAndType (ConstantPool::field_at_put). The lower half of a NameAndType is the index of the name
// (name_and_type_at_put).
func (c *Copier) readMemberName(key memberKey) (string, error) {
	array := &c.layout.fieldEntries
	if key.methods {
		array = &c.layout.methodEntries
	}
	at, err := c.vm.Uint64(key.pool + c.layout.poolCache)
	if err != nil {
		return "", err
	}
	if !array.inline {
		if at, err = c.vm.Uint64(at + array.pointer); err != nil {
			return "", err
		}
	}
	entry, err := c.vm.Uint64(at + array.first + key.index*array.stride + array.index)
	if err != nil {
		return "", err
	}
	ref, err := c.poolEntry(key.pool, entry&0xffff)
	if err != nil {
		return "", err
	}
	nameAndType, err := c.poolEntry(key.pool, ref>>16&0xffff)
	if err != nil {
		return "", err
	}
	return c.symbolAt(key.pool, nameAndType&0xffff)
}
