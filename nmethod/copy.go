package nmethod

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A Code is a copy of a compiled method. Its parts are valid until the JVM's
// next Copy.
type Code struct {
	*printassembly.Installed
	Bytes    []byte // the machine code, of [Lo, Hi)
	Verified uint64 // address of the verified entry point; 0 when unknown
	OSRBCI   int    // where an OSR method is entered

	jvm     *JVM
	pcDescs []byte
	scopes  []byte
	methods []uint64 // by a scope's method, from 1 on
	blob    []byte   // the nmethod
	apart   [2][]byte
}

// errGone is for an nmethod that is not the one that the tag told of any more.
var errGone = errors.New("it was gone already")

// Copy copies the method that a tag tells of.
func (j *JVM) Copy(tag *printassembly.Installed) (*Code, error) {
	c := &j.code
	c.Installed, c.jvm = tag, j
	var err error
	if c.blob, err = j.mem.read(c.blob, tag.Address, tag.Size); err != nil {
		return nil, err
	}
	c.Bytes = c.blob[tag.Lo-tag.Address : tag.Hi-tag.Address]
	c.OSRBCI = int(int32(c.int(j.layout.entryBCI)))
	c.Verified = j.verifiedEntry(c)
	err = c.debugInfo()
	if !c.there() {
		return nil, errGone
	}
	return c, err
}

// there tells whether what was read is of the tag's method, and that is there still.
func (c *Code) there() bool {
	at := c.jvm.layout.compileID
	var id [4]byte
	b, err := c.jvm.mem.read(id[:], c.Address+at, 4)
	return err == nil && int(binary.LittleEndian.Uint32(b)) == c.ID && int(c.int(at)) == c.ID
}

// int reads four bytes of the nmethod.
func (c *Code) int(at uint64) uint32 {
	if at+4 > uint64(len(c.blob)) {
		return 0
	}
	return binary.LittleEndian.Uint32(c.blob[at:])
}

func (c *Code) word(at uint64) uint64 {
	if at+8 > uint64(len(c.blob)) {
		return 0
	}
	return binary.LittleEndian.Uint64(c.blob[at:])
}

func (j *JVM) verifiedEntry(c *Code) uint64 {
	at := c.word(j.layout.verified)
	if j.layout.verifiedIsOffset {
		at = c.Lo + at&0xffff
	}
	if at < c.Lo || at >= c.Hi {
		return 0
	}
	return at
}

// debugInfo finds the tables of the debug info, within the nmethod or elsewhere.
func (c *Code) debugInfo() error {
	l := &c.jvm.layout
	c.pcDescs, c.scopes, c.methods = nil, nil, c.methods[:0]
	if c.ScopesPCs == 0 {
		return nil // the wrapper of a native method has none
	}
	immutable, mutable := part{}, part{}
	var err error
	if l.hasImmutable {
		if immutable, err = c.readApart(0, l.immutable, l.immutableSize); err != nil {
			return err
		}
	}
	if l.hasMutable {
		if mutable, err = c.readApart(1, l.mutable, l.mutableSize); err != nil {
			return err
		}
	}
	if c.pcDescs, err = c.table(c.ScopesPCs, immutable); err != nil {
		return fmt.Errorf("its PcDescs: %w", err)
	}
	if c.scopes, err = c.table(c.ScopesData, immutable); err != nil {
		return fmt.Errorf("its scopes: %w", err)
	}
	metadata, err := c.table(c.Metadata, mutable)
	if err != nil {
		return fmt.Errorf("its methods: %w", err)
	}
	for ; len(metadata) >= 8; metadata = metadata[8:] {
		c.methods = append(c.methods, binary.LittleEndian.Uint64(metadata))
	}
	return nil
}

// A part is memory outside the nmethod that holds tables of its.
type part struct {
	at   uint64
	data []byte
}

// readApart reads such a part, whose address and size are fields of the nmethod.
func (c *Code) readApart(i int, pointer, size uint64) (part, error) {
	p := part{at: c.word(pointer)}
	var err error
	c.apart[i], err = c.jvm.mem.read(c.apart[i], p.at, uint64(c.int(size)))
	p.data = c.apart[i]
	return p, err
}

// table gives what begins at an address, elsewhere or within the nmethod. Where it
// ends is not told; what comes behind it comes with it.
func (c *Code) table(at uint64, elsewhere part) ([]byte, error) {
	for _, p := range []part{elsewhere, {c.Address, c.blob}} {
		if at >= p.at && at-p.at < uint64(len(p.data)) {
			return p.data[at-p.at:], nil
		}
	}
	return nil, errors.New("they are in no known place")
}
