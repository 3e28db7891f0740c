package nmethod

import (
	"encoding/binary"
	"fmt"
)

// An unpacker reads numbers in HotSpot's UNSIGNED5 encoding, one to five bytes each
// (unsigned5.hpp; compressedStream.hpp in JDK 17 and older). They are numbers to the
// base of 64, the lowest digit first. A byte of 192 or more means that another byte
// follows. The fifth byte is always the last one.
type unpacker struct {
	data []byte
	at   int // of the next byte
	// excluded is 1 in JDK 20 and newer, where no number has a zero byte: each digit is
	// one less than its byte. It is 0 in older JDKs.
	excluded uint32
	short    bool // there was too little data
}

func newUnpacker(data []byte, at, release int) *unpacker {
	u := &unpacker{data: data, at: at}
	if release >= 20 {
		u.excluded = 1
	}
	return u
}

// next gives the next byte; 0 behind the last one.
func (u *unpacker) next() byte {
	if u.at < 0 || u.at >= len(u.data) {
		u.short = true
		return 0
	}
	b := u.data[u.at]
	u.at++
	return b
}

// unsigned reads a number.
func (u *unpacker) unsigned() uint32 {
	var sum uint32
	for i := range 5 {
		b := uint32(u.next())
		sum += (b - u.excluded) << (6 * i)
		if b < 192 || u.short {
			break
		}
	}
	return sum
}

// signed reads a number whose lowest bit is its sign (UNSIGNED5::decode_sign).
func (u *unpacker) signed() int {
	n := u.unsigned()
	return int(int32(n>>1) ^ -int32(n&1))
}

// A pcDesc is debug info of the instruction that ends at an offset (HotSpot's PcDesc).
type pcDesc struct {
	end   int // from the start of the code
	scope int // offset of the innermost frame's scope in the scopes data; 0 for none
}

// pcDescSize is the size of a PcDesc: the two fields of a pcDesc, the scope of its
// objects, and flags, of four bytes each.
const pcDescSize = 16

// eachPCDesc calls take with each PcDesc of code of codeSize bytes, in ascending
// order, until take is false. The first PcDesc is in front of the code and the last one
// is behind it: they only mark the ends (nmethod::copy_scopes_pcs). An error means that
// the data is not PcDescs.
func eachPCDesc(data []byte, codeSize int, take func(pcDesc) bool) error {
	last := 0
	for ; len(data) >= pcDescSize; data = data[pcDescSize:] {
		d := pcDesc{end: int(int32(binary.LittleEndian.Uint32(data))), scope: int(int32(binary.LittleEndian.Uint32(data[4:])))}
		switch {
		case d.end > codeSize:
			return nil
		case d.end <= 0:
			continue
		case d.end <= last: // DebugInformationRecorder::add_new_pc_offset takes no such
			return fmt.Errorf("a PcDesc at %d follows one at %d", d.end, last)
		}
		last = d.end
		if !take(d) {
			return nil
		}
	}
	return nil
}

// A scope is one frame of debug info (ScopeDesc::decode_body).
type scope struct {
	sender int // offset in the scopes data of the caller's scope; 0 for the outermost frame
	method int // index of the method in the nmethod's metadata, from 1 on
	bci    int
}

// readScope reads the scope at an offset of the scopes data; false where there is none.
func readScope(data []byte, offset, release int) (scope, bool) {
	if offset <= 0 {
		return scope{}, false // 0 is DebugInformationRecorder::serialized_null
	}
	u := newUnpacker(data, offset, release)
	s := scope{sender: int(u.unsigned()), method: int(u.unsigned()), bci: int(u.unsigned()) - 1}
	// HotSpot records the outermost frame first (describe_scope), so a caller's scope stands in front. This also
	// keeps damaged data from making a circle.
	return s, !u.short && s.sender < offset
}
