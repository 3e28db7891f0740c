package nmethod

import (
	"encoding/binary"
	"fmt"
)

// An unpacker reads numbers in HotSpot's UNSIGNED5 encoding (unsigned5.hpp; compressedStream.hpp in JDK 17 and older).
// A number has one to five bytes. Each byte is a digit in base 64, and the lowest digit is first. If a byte is 192 or
// more, another byte follows, unless it is already the fifth.
type unpacker struct {
	data []byte
	at   int // index of the next byte in data
	// excluded is 1 in JDK 20 and newer, where numbers have no zero bytes and each digit is its byte minus one. It is 0
	// in older JDKs.
	excluded uint32
	short    bool // the data ended too early
}

func newUnpacker(data []byte, at, release int) *unpacker {
	u := &unpacker{data: data, at: at}
	if release >= 20 {
		u.excluded = 1
	}
	return u
}

// next returns the next byte, or 0 after the last one.
func (u *unpacker) next() byte {
	if u.at < 0 || u.at >= len(u.data) {
		u.short = true
		return 0
	}
	b := u.data[u.at]
	u.at++
	return b
}

// unsigned reads a number that has no sign.
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

// A pcDesc says which scope an instruction has (HotSpot's PcDesc).
type pcDesc struct {
	end   int // end of the instruction, from the start of the code
	scope int // offset of the innermost frame's scope in the scopes data; 0 for none
}

// pcDescSize is the size of a PcDesc in bytes. A PcDesc has four fields of four bytes each: the two that a pcDesc also
// has, the scope of its objects, and flags.
const pcDescSize = 16

// eachPCDesc calls take(d) for each PcDesc in ascending order, until take returns false. The code has codeSize bytes.
// The first PcDesc lies before the code and the last one after it. These two only mark the ends
// (nmethod::copy_scopes_pcs), so eachPCDesc skips them. An error means that the data does not consist of PcDescs.
func eachPCDesc(data []byte, codeSize int, take func(pcDesc) bool) error {
	last := 0
	for ; len(data) >= pcDescSize; data = data[pcDescSize:] {
		d := pcDesc{end: int(int32(binary.LittleEndian.Uint32(data))),
			scope: int(int32(binary.LittleEndian.Uint32(data[4:])))}
		switch {
		case d.end > codeSize:
			return nil
		case d.end <= 0:
			continue
		case d.end <= last: // DebugInformationRecorder::add_new_pc_offset does not allow that
			return fmt.Errorf("a PcDesc at %d follows one at %d", d.end, last)
		}
		last = d.end
		if !take(d) {
			return nil
		}
	}
	return nil
}

// A scope is a frame of debug info (ScopeDesc::decode_body).
type scope struct {
	sender int // offset in the scopes data of the caller's scope; 0 for the outermost frame
	method int // index of the method in the nmethod's metadata, counted from 1
	bci    int
}

// readScope returns the scope at an offset of the scopes data. It returns false if there is no scope at this offset.
func readScope(data []byte, offset, release int) (scope, bool) {
	if offset <= 0 {
		return scope{}, false // 0 is DebugInformationRecorder::serialized_null
	}
	u := newUnpacker(data, offset, release)
	s := scope{sender: int(u.unsigned()), method: int(u.unsigned()), bci: int(u.unsigned()) - 1}
	// HotSpot records the outermost frame first (describe_scope), so a caller's scope has a lower offset. This check
	// also prevents an endless loop if the data is damaged.
	return s, !u.short && s.sender < offset
}
