package nmethod

import (
	"encoding/binary"
	"fmt"

	"github.com/gasm-profiler/gasm/hotspot/unsigned5"
)

// A pcDesc says which scope an instruction has (HotSpot's PcDesc).
type pcDesc struct {
	end   int // end of the instruction, from the start of the code
	scope int // offset of the innermost frame's scope in the scopes data; 0 for none
}

// pcDescSize is the size of a PcDesc in bytes. A PcDesc has four fields of four bytes each. The first two are the
// fields of a pcDesc. The others, which gasm does not need, are the offset of a list of objects and some flags.
const pcDescSize = 16

// eachPCDesc calls take(d) for each PcDesc in ascending order, until take returns false. The size of the code is
// codeSize, in bytes. The first PcDesc lies before the code and the last one after it. These two only mark the ends
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
		case d.end <= last: // HotSpot writes ascending ends (DebugInformationRecorder::add_new_pc_offset)
			return fmt.Errorf("a PcDesc at %d follows one at %d", d.end, last)
		}
		last = d.end
		if !take(d) {
			return nil
		}
	}
	return nil
}

// A scope describes a frame in an nmethod's debug info (ScopeDesc::decode_body).
type scope struct {
	sender int // offset in the scopes data of the caller's scope; 0 for the outermost frame
	method int // index of the method in the nmethod's metadata, counted from 1
	bci    int // may be negative, see placesOutside
	// monitors is where the list of monitors begins in the scopes data; 0 if there are none.
	monitors int
}

// readScope returns the scope at an offset of the scopes data. It returns false if there is no scope at this offset.
func readScope(data []byte, offset, release int) (scope, bool) {
	if offset <= 0 {
		return scope{}, false // 0 is DebugInformationRecorder::serialized_null
	}
	u := unsigned5.New(data, offset, release)
	s := scope{sender: int(u.Unsigned()), method: int(u.Unsigned()), bci: int(int32(u.Unsigned())) - 1}
	short := u.Short()
	u.Unsigned() // locals
	u.Unsigned() // expressions
	if s.monitors = int(u.Unsigned()); u.Short() {
		s.monitors = 0
	}
	// HotSpot records the outermost frame first (describe_scope), so a caller's scope has a lower offset. This check
	// also prevents an endless loop if the data is damaged.
	return s, !short && s.sender < offset
}
