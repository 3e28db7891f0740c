package nmethod

import "encoding/binary"

// An unpacker reads numbers as HotSpot packs them, in one to five bytes
// (unsigned5.hpp, in JDK 19 and older compressedStream.hpp).
type unpacker struct {
	data []byte
	at   int
	// excluded is how many values no byte of a number has: 1 from JDK 20 on,
	// where a zero ends a stream.
	excluded uint32
	ended    bool // there was too little data
}

func newUnpacker(data []byte, at, release int) *unpacker {
	u := &unpacker{data: data, at: at}
	if release >= 20 {
		u.excluded = 1
	}
	return u
}

func (u *unpacker) byte() byte {
	if u.at < 0 || u.at >= len(u.data) {
		u.ended = true
		return 0
	}
	b := u.data[u.at]
	u.at++
	return b
}

// unsigned reads a number: digits to the base of 64, the lowest first, of which
// all but the last are 64 higher than the highest last one can be.
func (u *unpacker) unsigned() uint32 {
	low := 256 - u.excluded - 64 // where digits begin that others follow
	var sum uint32
	for i := range 5 {
		b := uint32(u.byte()) - u.excluded
		sum += b << (6 * i)
		if b < low || u.ended {
			break
		}
	}
	return sum
}

// signed reads a number whose lowest bit is its sign.
func (u *unpacker) signed() int {
	n := u.unsigned()
	return int(int32(n>>1) ^ -int32(n&1))
}

// A pcDesc is HotSpot's: debug info of the instruction that ends at pc.
type pcDesc struct {
	pc    int // from the start of the code
	scope int // where the innermost frame is in the scopes' data
}

const pcDescSize = 16

// eachPCDesc calls take with each PcDesc of size bytes of code, by ascending pc,
// until it is false. The first one is in front of the code and the last one
// behind it, to mark the ends (nmethod::copy_scopes_pcs).
func eachPCDesc(data []byte, size int, take func(pcDesc) bool) {
	for ; len(data) >= pcDescSize; data = data[pcDescSize:] {
		d := pcDesc{pc: int(int32(binary.LittleEndian.Uint32(data))), scope: int(int32(binary.LittleEndian.Uint32(data[4:])))}
		if d.pc > size || d.pc > 0 && !take(d) {
			return
		}
	}
}

// A scope is one frame of debug info (HotSpot's ScopeDesc::decode_body).
type scope struct {
	sender int // where the frame's caller is; 0 for the outermost
	method int // place in the nmethod's table, from 1
	bci    int
}

// readScope reads the frame at an offset of the scopes' data; false where there
// is none.
func readScope(data []byte, at, release int) (scope, bool) {
	if at <= 0 {
		return scope{}, false // 0: no debug info (DebugInformationRecorder::serialized_null)
	}
	u := newUnpacker(data, at, release)
	s := scope{sender: int(u.unsigned()), method: int(u.unsigned()), bci: int(u.unsigned()) - 1}
	// Callers are recorded first, so a frame's caller stands in front of it.
	return s, !u.ended && s.sender < at
}
