package vmstructs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// Memory is the memory of a process. Its numbers are little-endian, as on x86-64 and
// aarch64.
type Memory struct{ reader io.ReaderAt }

// maxRead bounds what is read at once, in bytes. No nmethod, class or symbol is
// larger, so a larger size is a sign that the memory is not what it is taken for.
const maxRead = 1 << 26

// Read reads size bytes at an address. It returns them in buf where they fit into
// its capacity, else in a new slice.
func (m Memory) Read(buf []byte, addr, size uint64) ([]byte, error) {
	if size > maxRead {
		return nil, fmt.Errorf("the %d bytes at %#x are more than any structure of HotSpot has", size, addr)
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

// Uint64 reads eight bytes at an address: a pointer, a size_t.
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

// A pageReader reads memory in whole pages and keeps them. It is for what does not
// change and is read in many small parts: HotSpot's tables and their strings.
type pageReader struct {
	Memory
	pages map[uint64][]byte // by address
}

// pageSize is that of the smallest pages there are. Memory is mapped in pages, so the
// rest of a page can be read where a part of it can.
const pageSize = 1 << 12

// read copies the bytes at an address to buf.
func (r *pageReader) read(buf []byte, addr uint64) error {
	for len(buf) > 0 {
		rest, err := r.restOfPage(addr)
		if err != nil {
			return err
		}
		n := copy(buf, rest)
		buf, addr = buf[n:], addr+uint64(n)
	}
	return nil
}

// maxText is longer than any name in HotSpot's tables, in bytes. The longest of JDK 11
// to 25 has 68.
const maxText = 1 << 8

// text reads a string that ends with a zero.
func (r *pageReader) text(addr uint64) (string, error) {
	var text []byte
	for len(text) < maxText {
		rest, err := r.restOfPage(addr + uint64(len(text)))
		if err != nil {
			return "", err
		}
		rest = rest[:min(len(rest), maxText-len(text))]
		if end := bytes.IndexByte(rest, 0); end >= 0 {
			return string(append(text, rest[:end]...)), nil
		}
		text = append(text, rest...)
	}
	return "", fmt.Errorf("the text at %#x has no end", addr)
}

// restOfPage gives the bytes from an address to the end of its page.
func (r *pageReader) restOfPage(addr uint64) ([]byte, error) {
	start := addr &^ (pageSize - 1)
	page, ok := r.pages[start]
	if !ok {
		var err error
		if page, err = r.Read(nil, start, pageSize); err != nil {
			return nil, err
		}
		r.pages[start] = page
	}
	return page[addr-start:], nil
}
