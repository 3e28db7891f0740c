package nmethod

import (
	"encoding/binary"
	"fmt"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A Code is a copy of a compiled method. Its parts are valid until its Copier's next
// Copy.
type Code struct {
	*printassembly.Installed
	MachineCode   []byte // of [Lo, Hi)
	VerifiedEntry uint64 // address of the verified entry point; 0 when unknown
	OSRBCI        int    // the bci at which an OSR method is entered

	copier  *Copier
	nmethod []byte // all of it, of which the machine code is a part
	// The parts of its data that lie outside of it (JDK 23 and newer).
	immutable, mutable memoryBlock
	// Its sections (nmethod.hpp has a list of them). No field tells where they end, so each goes on to the end of
	// the memory that it lies in. The wrapper of a native method has none.
	scopesPCs  []byte   // PcDescs
	scopesData []byte   // scopes, to which PcDescs and other scopes lead
	methods    []uint64 // the addresses of Methods: a scope has an index of it, from 1 on
}

// A memoryBlock is a part of a JVM's memory.
type memoryBlock struct {
	address uint64
	data    []byte
}

// Copy copies the method that a tag of LogCompilation tells of. The error is [ErrGone]
// where the tag's method is not there any more.
func (c *Copier) Copy(tag *printassembly.Installed) (*Code, error) {
	if tag.Lo < tag.Address || tag.Hi < tag.Lo || tag.Size < tag.Hi-tag.Address {
		return nil, fmt.Errorf("its code [%#x, %#x) does not lie in its nmethod [%#x, %#x)", tag.Lo, tag.Hi, tag.Address, tag.Address+tag.Size)
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

// isThere tells whether what was read is the tag's method, and whether that is still at
// its address. When HotSpot frees an nmethod, all of it but a flag in front of it may stay
// as it was.
func (c *Code) isThere() bool {
	l, vm := &c.copier.layout, c.copier.vm
	now, err := vm.Uint32(c.Address + l.compileID)
	if err != nil || int(now) != c.ID || int(c.field32(l.compileID)) != c.ID {
		return false
	}
	if l.heaps.blockHeader == 0 {
		return true // HotSpot's tables do not tell what is in front of it
	}
	var used [1]byte
	_, err = vm.Read(used[:], c.Address-l.heaps.blockHeader+l.heaps.blockUsed, 1)
	return err == nil && used[0] != 0
}

// field32 reads a field of the nmethod, of four bytes; 0 where it has no such field.
func (c *Code) field32(offset uint64) uint32 {
	if uint64(len(c.nmethod)) < 4 || offset > uint64(len(c.nmethod))-4 {
		return 0
	}
	return binary.LittleEndian.Uint32(c.nmethod[offset:])
}

// field64 reads a field of the nmethod, of eight bytes; 0 where it has no such field.
func (c *Code) field64(offset uint64) uint64 {
	if uint64(len(c.nmethod)) < 8 || offset > uint64(len(c.nmethod))-8 {
		return 0
	}
	return binary.LittleEndian.Uint64(c.nmethod[offset:])
}

// verifiedEntry gives the address of the verified entry point; 0 where the field does
// not lead into the code.
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

// readDebugInfo finds the sections, and reads what of them lies outside of the nmethod.
func (c *Code) readDebugInfo() error {
	c.scopesPCs, c.scopesData, c.methods = nil, nil, c.methods[:0]
	l := &c.copier.layout
	if l.noFrames != nil {
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
		return nil // there is no scope that would refer to a method
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

// readOutside reads data of the nmethod that lies outside of it.
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

// section gives the memory from an address on, which lies in the block or in the
// nmethod itself. JDK 25's tags tell the offset of a section from the nmethod's
// address wherever the section lies.
func (c *Code) section(name string, address uint64, block memoryBlock) ([]byte, error) {
	for _, b := range []memoryBlock{block, {c.Address, c.nmethod}} {
		if offset := address - b.address; address >= b.address && offset < uint64(len(b.data)) {
			return b.data[offset:], nil
		}
	}
	return nil, fmt.Errorf("its %s outside the nmethod and the memory that it points to; HotSpot's layout may have changed: "+
		"please report this build of JDK %d", name, c.copier.layout.release)
}
