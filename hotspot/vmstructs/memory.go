package vmstructs

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Memory is the memory of a process. Its numbers are little-endian, as on x86-64 and
// aarch64.
type Memory struct {
	reader io.ReaderAt
	budget *Budget // nil if there is no limit
}

// maxRead limits the size of a single read, in bytes. Every nmethod, class and symbol is smaller. So a larger size
// means that the memory does not contain what the caller expects.
const maxRead = 1 << 26

// Read reads size bytes at an address. It returns them in buf if buf has enough capacity, and otherwise in a new slice.
func (m Memory) Read(buf []byte, addr, size uint64) ([]byte, error) {
	if size > maxRead {
		return nil, tooLarge(addr, size)
	}
	if err := m.budget.take(size); err != nil {
		return nil, err
	}
	if uint64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if _, err := m.reader.ReadAt(buf, int64(addr)); err != nil {
		return nil, fmt.Errorf("reading %d bytes at %#x: %w", size, addr, err)
	}
	return buf, nil
}

func tooLarge(addr, size uint64) error {
	return fmt.Errorf("the %d bytes at %#x are more than any structure of HotSpot has", size, addr)
}

// Uint64 reads eight bytes at an address, such as a pointer or a size_t.
func (m Memory) Uint64(addr uint64) (uint64, error) {
	var buf [8]byte
	b, err := m.Read(buf[:], addr, 8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// Uint32 reads four bytes at an address.
func (m Memory) Uint32(addr uint64) (uint32, error) {
	var buf [4]byte
	b, err := m.Read(buf[:], addr, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}
