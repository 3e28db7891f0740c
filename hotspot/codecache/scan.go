package codecache

import (
	"encoding/binary"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// findStubList searches for StubCodeDesc::_list if this variable has no symbol, as in Debian's JDK 8. It takes the
// variable of libjvm.so that points to the longest list of structures that look like StubCodeDescs. A JVM that has just
// started has no stubs yet, so the search is repeated at the 2nd, 4th, 8th … Poll until it succeeds. One search takes 5
// to 25 ms.
func (c *Cache) findStubList() error {
	if _, ok := c.watch.symbols[stubListSymbol]; ok || len(c.heaps) == 0 || len(c.vm.Variables()) == 0 {
		return nil
	}
	c.watch.scans++
	if c.watch.scans&(c.watch.scans-1) != 0 {
		return nil
	}
	best := 0
	for _, r := range c.vm.Variables() {
		data, err := c.vm.Read(nil, r[0], r[1]-r[0])
		if err != nil {
			continue // a part of the range may not be readable
		}
		descs, err := c.stubDescs(data)
		if err != nil {
			return err
		}
		for offset := 0; offset+8 <= len(data); offset += 8 {
			at := binary.LittleEndian.Uint64(data[offset:])
			if n := c.lengthOfList(descs, at); n > best {
				best = n
				c.watch.symbols[stubListSymbol], c.watch.stubList = r[0]+uint64(offset), at
			}
		}
	}
	return nil
}

// stubDescs treats each word of data as an address, and reads the memory there. The result has an entry for each
// address at which the memory looks like a StubCodeDesc: its key is the address, and its value is the StubCodeDesc's
// _next.
func (c *Cache) stubDescs(data []byte) (map[uint64]uint64, error) {
	begin := c.stubBegin()
	seen, descs := map[uint64]bool{}, map[uint64]uint64{}
	var pieces []vmstructs.Piece
	buf := make([]byte, batch*maxStubDesc)
	flush := func() error {
		read, err := c.vm.GatherSome(pieces)
		for i, p := range pieces {
			if read[i] && c.isStubDesc(p.Buf, begin) {
				descs[p.Addr] = binary.LittleEndian.Uint64(p.Buf)
			}
		}
		pieces = pieces[:0]
		return err
	}
	for ; len(data) >= 8; data = data[8:] {
		at := binary.LittleEndian.Uint64(data)
		if !mayPoint(at) || seen[at] {
			continue
		}
		seen[at] = true
		pieces = append(pieces, vmstructs.Piece{Addr: at, Buf: buf[len(pieces)*maxStubDesc:][:maxStubDesc]})
		if len(pieces) == batch {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return descs, flush()
}

// mayPoint reports whether a word may be the address of a structure. The addresses of a process have at most 47 bits on
// x86-64, and 48 on AArch64. (A process has longer addresses only if it asks the kernel for them.)
func mayPoint(word uint64) bool { return word%8 == 0 && word >= 1<<16 && word < 1<<48 }

// isStubDesc reports whether data looks like a StubCodeDesc: its code lies in a heap of the code cache, and its
// pointers to the names of the group and the stub are not null. The parameter begin is the offset of _begin.
func (c *Cache) isStubDesc(data []byte, begin int) bool {
	lo, hi := binary.LittleEndian.Uint64(data[begin:]), binary.LittleEndian.Uint64(data[begin+8:])
	for _, hp := range c.heaps {
		if lo >= c.layout.memoryLow.In(hp.data) && hi <= c.layout.memoryHigh.In(hp.data) {
			return lo < hi && binary.LittleEndian.Uint64(data[8:]) != 0 && binary.LittleEndian.Uint64(data[16:]) != 0
		}
	}
	return false
}

// lengthOfList returns the number of StubCodeDescs in the list that begins at an address, or 0 if there is no such
// list. The first StubCodeDesc must be in the map first, which is a result of stubDescs. The others are read from the
// JVM.
func (c *Cache) lengthOfList(first map[uint64]uint64, at uint64) (n int) {
	next, ok := first[at]
	if !ok {
		return 0
	}
	var buf [maxStubDesc]byte
	for n = 1; next != 0 && n < maxList; n++ {
		b, err := c.vm.Read(buf[:], next, maxStubDesc)
		if err != nil || !c.isStubDesc(b, c.stubBegin()) {
			return 0
		}
		next = binary.LittleEndian.Uint64(b)
	}
	return n
}
