package nmethod

import (
	"encoding/binary"
	"fmt"
	"io"
)

// memory is a process's, by address.
type memory struct{ io.ReaderAt }

// most bounds what is read at once: no nmethod, class or symbol is larger.
const most = 1 << 26

func (m memory) read(buf []byte, addr uint64, n uint64) ([]byte, error) {
	if n > most {
		return nil, fmt.Errorf("%d bytes at %#x can't be right", n, addr)
	}
	if uint64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := m.ReadAt(buf, int64(addr)); err != nil {
		return nil, fmt.Errorf("reading %d bytes at %#x: %w", n, addr, err)
	}
	return buf, nil
}

func (m memory) word(addr uint64) (uint64, error) {
	var buf [8]byte
	b, err := m.read(buf[:], addr, 8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// paged reads memory in pages that it keeps, for what does not change.
type paged struct {
	memory
	pages map[uint64][]byte
}

const pageSize = 1 << 12

// text reads a string of C, of 255 bytes at most.
func (p *paged) text(addr uint64) (string, error) {
	var s []byte
	for len(s) < 256 {
		page, err := p.page(addr &^ (pageSize - 1))
		if err != nil {
			return "", err
		}
		for _, c := range page[addr&(pageSize-1):] {
			if c == 0 {
				return string(s), nil
			}
			s = append(s, c)
			addr++
		}
	}
	return "", fmt.Errorf("no end of the text at %#x", addr)
}

func (p *paged) page(at uint64) ([]byte, error) {
	if page, ok := p.pages[at]; ok {
		return page, nil
	}
	page, err := p.read(nil, at, pageSize)
	if err == nil {
		p.pages[at] = page
	}
	return page, err
}
