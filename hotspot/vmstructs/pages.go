package vmstructs

import (
	"bytes"
	"fmt"
)

// A pageReader reads memory in whole pages and keeps them. It is meant for HotSpot's tables and their strings, which do
// not change and are read in many small parts.
type pageReader struct {
	Memory
	pages map[uint64][]byte // by address
}

// pageSize is the smallest page size of the supported machines. Memory is mapped in pages, so if a part of a page
// can be read, the whole page can be read.
const pageSize = 1 << 12

// maxPages limits the number of pages that a pageReader reads. HotSpot's tables with all their texts take about 200
// pages.
const maxPages = 1 << 12

// read fills buf with the bytes at an address.
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

// maxText limits the length of a text in bytes. The longest name in the tables of JDK 11 to 25 has 68 bytes.
const maxText = 1 << 8

// text reads a zero-terminated string.
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

// has reports whether the page that contains an address has been read.
func (r *pageReader) has(addr uint64) bool {
	_, ok := r.pages[addr&^(pageSize-1)]
	return ok
}

// prefetch reads the pages that contain these addresses, all at once. With each of these pages, it also reads as many
// pages after it as the parameter following says. A page that can't be read is left out, and a later read of it returns
// the error.
func (r *pageReader) prefetch(following int, addrs ...uint64) {
	var pieces []Piece
	asked := map[uint64]bool{}
	for _, addr := range addrs {
		first, last := addr&^(pageSize-1), addr+uint64(following)*pageSize
		for page := first; first <= page && page <= last; page += pageSize {
			if _, ok := r.pages[page]; ok || asked[page] {
				continue
			}
			if len(r.pages)+len(pieces) >= maxPages {
				break
			}
			asked[page] = true
			pieces = append(pieces, Piece{page, make([]byte, pageSize)})
		}
	}
	read, _ := r.GatherSome(pieces)
	for i, p := range pieces {
		if read[i] {
			r.pages[p.Addr] = p.Buf
		}
	}
}

// restOfPage returns the bytes from an address to the end of its page.
func (r *pageReader) restOfPage(addr uint64) ([]byte, error) {
	start := addr &^ (pageSize - 1)
	page, ok := r.pages[start]
	if !ok {
		if len(r.pages) >= maxPages {
			return nil, fmt.Errorf("the tables lie in more than %d pages", maxPages)
		}
		var err error
		if page, err = r.Read(nil, start, pageSize); err != nil {
			return nil, err
		}
		r.pages[start] = page
	}
	return page[addr-start:], nil
}
