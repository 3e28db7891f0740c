package cfi

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Limits for the section .eh_frame of a file. For comparison, libjvm.so of JDK 25 has 1.8 MB with 53 000 functions and
// 2 CIEs.
const (
	maxSection   = 64 << 20 // in bytes
	maxFunctions = 1 << 20
	maxCIEs      = 1 << 14
)

// maxRows is the number of rows (the rules for one address) that a Table keeps once they are computed. They take at
// most 6 MB.
const maxRows = 1 << 14

// ErrNone means that a file has no .eh_frame. Then no function in it can be unwound.
var ErrNone = errors.New("it has no .eh_frame")

// A Table has the call frame information of one file. It is not safe for use by several goroutines.
type Table struct {
	data      []byte // the section
	base      uint64 // its address in the file
	arch      *arch
	functions []function // sorted by lo
	cies      map[uint32]*cie
	damage    error
	rows      map[uint64]*row // the rows that were computed, by address
	program   program         // kept so that its memory is reused
	spare     int             // the budget that is left; see maxCost
}

// A function is a frame description entry (FDE): the function's code is at [lo, lo+size) in the file, and record is the
// offset of the entry in the section. The size is 0 if the record was not read yet; see Open.
type function struct {
	lo           uint64
	size, record uint32
}

// New returns the table of a file, which native.NewELF should have opened, because elf.NewFile reads tables of any
// size. The file is not used after New has returned. The error is ErrNone if there is no .eh_frame.
func New(f *elf.File) (*Table, error) {
	a, data, base, err := frameSection(f)
	if err != nil {
		return nil, err
	}
	return newTable(a, data, base)
}

// frameSection returns the section .eh_frame of a file, and its address.
func frameSection(f *elf.File) (a *arch, data []byte, base uint64, err error) {
	a = arches[f.Machine]
	if a == nil || f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB {
		return nil, nil, 0, fmt.Errorf("its .eh_frame is not read: it is for %v, %v, %v", f.Machine, f.Class, f.Data)
	}
	s := f.Section(".eh_frame")
	switch {
	case s == nil || s.Type == elf.SHT_NOBITS: // a debug file has the section without its content
		return nil, nil, 0, ErrNone
	case s.Flags&elf.SHF_COMPRESSED != 0:
		return nil, nil, 0, errors.New("its .eh_frame is compressed")
	case s.Size > maxSection:
		return nil, nil, 0, fmt.Errorf("its .eh_frame has %d bytes, and at most %d are read", s.Size, maxSection)
	}
	if data, err = s.Data(); err != nil {
		return nil, nil, 0, fmt.Errorf("its .eh_frame can't be read: %w", err)
	}
	return a, data, s.Addr, nil
}

// emptyTable returns a table without functions.
func emptyTable(a *arch, data []byte, base uint64) *Table {
	return &Table{data: data, base: base, arch: a, cies: map[uint32]*cie{}, rows: map[uint64]*row{}, spare: maxCost}
}

// newTable returns the table of a section. base is the section's address.
func newTable(a *arch, data []byte, base uint64) (*Table, error) {
	t := emptyTable(a, data, base)
	var id int
	for pos, end := 0, 0; pos < len(data); pos = end {
		if id, end = t.record(pos); end == 0 {
			t.damaged(pos, "it is longer than the section")
			break
		}
		if err := t.add(pos, id, end); err != nil {
			return nil, err
		}
	}
	byStart := func(a, b function) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.record, b.record)) }
	if !slices.IsSortedFunc(t.functions, byStart) {
		slices.SortFunc(t.functions, byStart)
	}
	t.functions = slices.Clip(t.functions)
	return t, nil
}

// record returns the position of the CIE pointer of the record at pos, and the end of the record. The two are the same
// if the record is the terminator, which is empty. The end is 0 if the record is not within the section.
func (t *Table) record(pos int) (id, end int) {
	c := cursor{data: t.data, pos: pos, end: len(t.data)}
	length := c.sized(4)
	if length == math.MaxUint32 {
		length = c.sized(8)
	}
	if c.bad || length > uint64(len(t.data)-c.pos) || length != 0 && length < 4 {
		return 0, 0
	}
	return c.pos, c.pos + int(length)
}

// add adds the record at pos to the index if the record is an FDE. It returns an error if there are more than
// maxFunctions FDEs, or too many CIEs.
func (t *Table) add(pos, id, end int) error {
	f, ok, err := t.function(pos, id, end)
	if err != nil || !ok {
		return err
	}
	if len(t.functions) >= maxFunctions {
		return fmt.Errorf("its .eh_frame has more than %d functions", maxFunctions)
	}
	t.functions = append(t.functions, f)
	return nil
}

// function returns the function of the record at pos. ok is false if the record is not the FDE of a function. It
// returns an error if there are too many CIEs.
func (t *Table) function(pos, id, end int) (f function, ok bool, err error) {
	if id == end {
		return f, false, nil
	}
	c := cursor{data: t.data, pos: id, end: end}
	distance := c.sized(4)
	if distance == 0 {
		return f, false, nil // a CIE, which is read when a function refers to it
	}
	if distance > uint64(id) {
		t.damaged(pos, "its CIE is before the section")
		return f, false, nil
	}
	info, err := t.cie(uint32(id) - uint32(distance))
	if err != nil {
		return f, false, err
	}
	if info.err != nil {
		t.damaged(pos, "%w", info.err)
		return f, false, nil
	}
	lo, size := c.pointer(info.encoding, t.base), c.number(info.encoding)
	switch {
	case c.bad:
		t.damaged(pos, "its addresses can't be read with the encoding %#x", info.encoding)
	case lo == 0 || size == 0: // the linker has left the function out
	case size > math.MaxUint32 || lo+size < lo:
		t.damaged(pos, "its function has %d bytes", size)
	default:
		return function{lo, uint32(size), uint32(pos)}, true, nil
	}
	return f, false, nil
}

// damaged notes that the record at pos is left out, and why. Only the first note is kept, because there may be very
// many.
func (t *Table) damaged(pos int, format string, args ...any) {
	if t.damage == nil {
		t.damage = damage(pos, fmt.Errorf(format, args...))
	}
}

// damage returns an error that says which record err is about.
func damage(pos int, err error) error {
	return fmt.Errorf("its .eh_frame is damaged or unsupported: the record at %#x: %w", pos, err)
}

// Damage returns what was wrong with the first record that was left out. It is nil if there was none.
func (t *Table) Damage() error { return t.damage }

// Len returns the number of functions.
func (t *Table) Len() int { return len(t.functions) }

// Size returns roughly how much memory the table takes, in bytes. Unwinding adds at most 6 MB.
func (t *Table) Size() int {
	const each, aRow = 16, 352
	return len(t.data) + each*len(t.functions) + aRow*len(t.rows)
}

// Function returns the range [lo, hi) of the function that contains an address. ok is false if no function with call
// frame information does.
func (t *Table) Function(addr uint64) (lo, hi uint64, ok bool) {
	f, ok := t.find(addr)
	return f.lo, f.lo + uint64(f.size), ok
}

// find returns the function that contains an address. If several do, it is the one that starts last.
func (t *Table) find(addr uint64) (f function, ok bool) {
	after := sort.Search(len(t.functions), func(i int) bool { return t.functions[i].lo > addr })
	if after == 0 {
		return function{}, false
	}
	at := &t.functions[after-1]
	if at.size == 0 {
		t.readSize(at)
	}
	return *at, addr-at.lo < uint64(at.size)
}
