package printassembly

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// rowsEnd looks for the first line behind data's start that is no row: see
// rowAt. It gives the offset of the '\n' in front of it, or of something before
// that: all lines that start until there are rows. It looks at 32 bytes at once,
// for of a log nearly all is rows.
func rowsEnd(data []byte) int {
	if !cpu.X86.HasAVX2 {
		return 0
	}
	return rowsEndAVX2(unsafe.SliceData(data), len(data))
}

//go:noescape
func rowsEndAVX2(data *byte, n int) int
