package nmethod

import (
	"encoding/binary"
	"fmt"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A Code is a copy of a compiled method. It is valid until the Copier that made it copies the next method.
type Code struct {
	*printassembly.Installed
	MachineCode   []byte // the bytes of [Lo, Hi)
	VerifiedEntry uint64 // address of the verified entry point; 0 if unknown
	OSRBCI        int    // the bci at which an OSR method is entered

	copier  *Copier
	nmethod []byte // the whole nmethod, which contains the machine code
	// The parts of the nmethod's data that lie outside the nmethod itself (JDK 23 and newer).
	immutable, mutable memoryBlock
	// The nmethod's sections (nmethod.hpp lists them). No field says where a section ends, so each slice extends to the
	// end of the memory block that the section lies in. The wrapper of a native method has no sections.
	scopesPCs  []byte   // PcDescs
	scopesData []byte   // scopes; PcDescs and other scopes have offsets into it
	methods    []uint64 // addresses of Methods; scopes refer to them by an index that counts from 1
	// used has the indexes, counted from 1, of those methods whose frames were written.
	used map[int]bool
}

// A memoryBlock is a part of a JVM's memory.
type memoryBlock struct {
	address uint64
	data    []byte
}

// Copy copies the method that a LogCompilation tag describes. The error is [ErrGone] if HotSpot has freed or replaced
// that method.
func (c *Copier) Copy(tag *printassembly.Installed) (*Code, error) {
	if tag.Lo < tag.Address || tag.Hi < tag.Lo || tag.Size < tag.Hi-tag.Address {
		return nil, fmt.Errorf("its code [%#x, %#x) does not lie in its nmethod [%#x, %#x)", tag.Lo, tag.Hi,
			tag.Address, tag.Address+tag.Size)
	}
	c.prepare()
	code := &c.code
	code.Installed, code.copier = tag, c
	var err error
	if code.nmethod, err = c.vm.Read(code.nmethod, tag.Address, tag.Size); err != nil {
		return nil, err
	}
	code.MachineCode = code.nmethod[tag.Lo-tag.Address : tag.Hi-tag.Address]
	code.OSRBCI = int(int32(code.field32(c.layout.entryBCI)))
	code.VerifiedEntry = code.verifiedEntry()
	err = code.readDebugInfo()
	if !code.isThere() {
		return nil, ErrGone
	}
	if err != nil {
		return nil, err
	}
	return code, nil
}

// isThere reports whether the copied memory holds the tag's method, and whether that method is still at its address.
// When HotSpot frees an nmethod, everything in it may remain unchanged, and a new blob may then cover only a part of
// it. So the compile id is not enough: the nmethod's block must also be in use.
func (c *Code) isThere() bool {
	l, vm := &c.copier.layout, c.copier.vm
	now, err := vm.Uint32(c.Address + l.compileID)
	if err != nil || int(now) != c.ID || int(c.field32(l.compileID)) != c.ID {
		return false
	}
	return c.copier.isBlob(c.Address)
}

// field32 returns a four-byte field of the nmethod. It returns 0 if the offset lies outside the nmethod.
func (c *Code) field32(offset uint64) uint32 {
	if uint64(len(c.nmethod)) < 4 || offset > uint64(len(c.nmethod))-4 {
		return 0
	}
	return binary.LittleEndian.Uint32(c.nmethod[offset:])
}

// field64 returns an eight-byte field of the nmethod. It returns 0 if the offset lies outside the nmethod.
func (c *Code) field64(offset uint64) uint64 {
	if uint64(len(c.nmethod)) < 8 || offset > uint64(len(c.nmethod))-8 {
		return 0
	}
	return binary.LittleEndian.Uint64(c.nmethod[offset:])
}

// verifiedEntry returns the address of the verified entry point. It returns 0 if the address in the nmethod's field is
// not in the nmethod's code.
func (c *Code) verifiedEntry() uint64 {
	l := &c.copier.layout
	at := c.field64(l.verifiedEntry)
	if l.verifiedEntryShort {
		at = c.Lo + at&0xffff
	}
	if at < c.Lo || at >= c.Hi {
		return 0
	}
	return at
}

// readDebugInfo finds the sections with the nmethod's debug info, and reads those that lie outside the nmethod.
func (c *Code) readDebugInfo() error {
	c.scopesPCs, c.scopesData, c.methods, c.used = nil, nil, c.methods[:0], map[int]bool{}
	l := &c.copier.layout
	if l.noScopes != nil {
		return nil
	}
	if err := c.readOutside(&c.immutable, l.immutable); err != nil {
		return fmt.Errorf("its immutable data: %w", err)
	}
	if err := c.readOutside(&c.mutable, l.mutable); err != nil {
		return fmt.Errorf("its mutable data: %w", err)
	}
	if c.ScopesPCs == 0 {
		return nil // a native method's wrapper has no debug info
	}
	var err error
	if c.scopesPCs, err = c.section("PcDescs lie", c.ScopesPCs, c.immutable); err != nil {
		return err
	}
	if c.scopesData, err = c.section("scopes lie", c.ScopesData, c.immutable); err != nil {
		return err
	}
	if c.Metadata == 0 {
		return nil // the metadata section is missing, so no scope refers to a method
	}
	metadata, err := c.section("metadata lies", c.Metadata, c.mutable)
	if err != nil {
		return err
	}
	for ; len(metadata) >= 8; metadata = metadata[8:] {
		c.methods = append(c.methods, binary.LittleEndian.Uint64(metadata))
	}
	return nil
}

// readOutside reads data that belongs to the nmethod but lies outside it. If this release of the JDK keeps all data
// inside the nmethod, b becomes empty.
func (c *Code) readOutside(b *memoryBlock, where outside) (err error) {
	b.address, b.data = 0, b.data[:0]
	if !where.exists {
		return nil
	}
	size := uint64(c.field32(where.size))
	if b.address = c.field64(where.address); b.address == c.Address+c.Size && size > 0 {
		return ErrGone // nmethod::purge has freed the data, and will free the nmethod
	}
	b.data, err = c.copier.vm.Read(b.data, b.address, size)
	return err
}

// section returns the memory from an address to the end of the given block, if the block contains the address.
// Otherwise it returns the memory from the address to the end of the nmethod. (In JDK 25's tags all offsets are
// relative to the nmethod's address, so they do not say where a section lies.)
func (c *Code) section(name string, address uint64, block memoryBlock) ([]byte, error) {
	for _, b := range []memoryBlock{block, {c.Address, c.nmethod}} {
		if offset := address - b.address; address >= b.address && offset < uint64(len(b.data)) {
			return b.data[offset:], nil
		}
	}
	return nil, fmt.Errorf(
		"its %s outside the nmethod and the memory that it points to; HotSpot's layout may have changed: "+
			"please report this build of JDK %d", name, c.copier.layout.release)
}
