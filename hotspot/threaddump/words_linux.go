package threaddump

import "encoding/binary"

// le64 returns the eight bytes at an offset, or 0 if the data is too short.
func le64(data []byte, at uint64) uint64 {
	if uint64(len(data)) < 8 || at > uint64(len(data)-8) {
		return 0
	}
	return binary.LittleEndian.Uint64(data[at:])
}

// le32 returns the four bytes at an offset, or 0 if the data is too short.
func le32(data []byte, at uint64) uint32 {
	if uint64(len(data)) < 4 || at > uint64(len(data)-4) {
		return 0
	}
	return binary.LittleEndian.Uint32(data[at:])
}
