package codecache

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A piece is a part of a blob for which HotSpot has a name of its own: a stub, a codelet of the interpreter, or a
// vtable stub.
type piece struct {
	kind   printassembly.Kind
	lo, hi uint64
	name   string
}

// pieces holds the pieces of all blobs: stubs, codelets and vtable stubs. HotSpot makes nearly all of them while it
// starts, so they are rarely read again.
type pieces struct {
	changed bool
	all     []piece // all pieces, by address

	stubs, codelets, vtables    []piece
	stubList, chunk, queueCount uint64 // the heads of the lists at the time when the lists were read
	unfinished                  bool   // HotSpot was still making a stub when the list was read
}

// maxList is the maximum length of each of HotSpot's lists of pieces: the stubs, the codelets and the vtable stubs.
// Only the beginning of a longer list is read.
const maxList = 1 << 14

// read reads the lists that have changed.
func (p *pieces) read(c *Cache) error {
	w := &c.watch
	if w.stubList != p.stubList || p.unfinished {
		p.stubList, p.changed = w.stubList, true
		if err := p.readStubs(c); err != nil {
			return fmt.Errorf("the list of stubs: %w", err)
		}
	}
	if count := c.layout.codelets.count.In(w.queue); count != p.queueCount {
		p.queueCount, p.changed = count, true
		if err := p.readCodelets(c); err != nil {
			return fmt.Errorf("the interpreter's codelets: %w", err)
		}
	}
	if w.chunk != p.chunk {
		p.chunk, p.changed = w.chunk, true
		if err := p.readVtables(c); err != nil {
			return fmt.Errorf("the vtable stubs: %w", err)
		}
	}
	if p.changed {
		// In JDK 28 the list of stubs has the vtable stubs, too. If two pieces have the same address, split takes the
		// first one, which should be the one from p.vtables.
		p.all = slices.Concat(p.vtables, p.codelets, p.stubs)
		slices.SortStableFunc(p.all, func(a, b piece) int { return cmp.Compare(a.lo, b.lo) })
	}
	return nil
}

// within returns the pieces that begin in [lo, hi).
func (p *pieces) within(lo, hi uint64) []piece {
	find := func(at uint64) int {
		i, _ := slices.BinarySearchFunc(p.all, at, func(p piece, at uint64) int { return cmp.Compare(p.lo, at) })
		return i
	}
	return p.all[find(lo):max(find(hi), find(lo))]
}

// readStubs reads the list of StubCodeDescs (stubCodeGenerator.hpp). HotSpot adds new ones at the head of the list. A
// StubCodeDesc begins with:
//
//	StubCodeDesc* _next; const char* _group; const char* _name; address _begin; address _end;
//
// JDK 8 has an int _index before _begin.
func (p *pieces) readStubs(c *Cache) error {
	p.stubs, p.unfinished = nil, false
	begin := c.stubBegin()
	type desc struct{ group, name uint64 }
	var descs []desc
	var texts []uint64
	var buf [maxStubDesc]byte
	for at := c.watch.stubList; at != 0 && len(descs) < maxList; {
		b, err := c.vm.Read(buf[:], at, uint64(begin+16))
		if err != nil {
			return err
		}
		number := func(offset int) uint64 { return binary.LittleEndian.Uint64(b[offset:]) }
		d := desc{number(8), number(16)}
		descs, texts = append(descs, d), append(texts, d.group, d.name)
		p.stubs = append(p.stubs, piece{kind: printassembly.Stub, lo: number(begin), hi: number(begin + 8)})
		at = number(0)
	}
	slices.Sort(texts)
	names, err := c.texts(slices.Compact(texts))
	if err != nil {
		return err
	}
	kept := p.stubs[:0]
	for i, s := range p.stubs {
		if s.hi <= s.lo {
			p.unfinished = true // HotSpot sets _end when the stub's code is complete
			continue
		}
		if s.name = names[descs[i].group] + "::" + names[descs[i].name]; s.name != "::" {
			kept = append(kept, s)
		}
	}
	p.stubs = kept
	return nil
}

// maxStubDesc is the largest number of bytes of a StubCodeDesc that are read.
const maxStubDesc = 48

// stubBegin returns the offset of StubCodeDesc::_begin.
func (c *Cache) stubBegin() int {
	if c.vm.Release == 8 {
		return 32
	}
	return 24
}

// maxInterpreter is an upper bound for the size of the interpreter's code, in bytes; a larger one is not read. The
// interpreter of JDK 25 has 100 kB.
const maxInterpreter = 1 << 22

// readCodelets reads the interpreter's StubQueue. Its memory is a sequence of InterpreterCodelets, each followed by its
// code.
func (p *pieces) readCodelets(c *Cache) error {
	p.codelets = nil
	l, queue := &c.layout.codelets, c.watch.queue
	begin, end := l.begin.In(queue), l.end.In(queue)
	if begin >= end || end-begin > maxInterpreter {
		return nil
	}
	data, err := c.vm.Read(nil, l.buffer.In(queue)+begin, end-begin)
	if err != nil {
		return err
	}
	align, ok := c.flag("CodeEntryAlignment")
	if !ok || align < 8 || align > 1<<10 || align&(align-1) != 0 {
		align = 32
	}
	var texts []uint64
	for at := uint64(0); at < uint64(len(data)) && len(texts) < maxList; {
		size := l.size.In(data[at:])
		start := l.buffer.In(queue) + begin + at
		lo := (start + l.codeletSize + align - 1) &^ (align - 1)
		if size > uint64(len(data))-at || lo > start+size {
			break // HotSpot is still making this codelet, or there are no more
		}
		texts = append(texts, l.description.In(data[at:]))
		p.codelets = append(p.codelets, piece{kind: printassembly.Interpreter, lo: lo, hi: start + size})
		at += size
	}
	inOrder := slices.Clone(texts)
	slices.Sort(texts)
	names, err := c.texts(slices.Compact(texts))
	for i := range p.codelets {
		p.codelets[i].name = names[inOrder[i]]
	}
	p.codelets = slices.DeleteFunc(p.codelets, func(p piece) bool { return p.name == "" || p.lo == p.hi })
	return err
}

// vtableStubSize is the size of the fields that a VtableStub has before its code, and vtableTableSize is the number of
// lists in the hash table. The fields are (vtableStubs.hpp):
//
//	VtableStub* _next; const short _index; short _ame_offset; short _npe_offset; bool _is_vtable_stub;
//
// JDK 28 has two stubs for each index. In the stub for callers that C1 has compiled, the byte after _is_vtable_stub is
// 0.
const (
	vtableStubSize  = 16
	vtableTableSize = 256
)

// readVtables reads the VtableStubs from their hash table.
func (p *pieces) readVtables(c *Cache) error {
	p.vtables = nil
	table, ok := c.watch.symbols[vtableSymbol]
	if !ok {
		return nil
	}
	data, err := c.vm.Read(nil, table, 8*vtableTableSize)
	if err != nil {
		return err
	}
	sizes := [2]uint64{c.symbolInt(itableSizeSymbol), c.symbolInt(vtableSizeSymbol)}
	var level []uint64
	for ; len(data) > 0; data = data[8:] {
		level = append(level, binary.LittleEndian.Uint64(data))
	}
	for len(level) > 0 && len(p.vtables) < maxList {
		var pieces []vmstructs.Piece
		for _, at := range level {
			if at != 0 {
				pieces = append(pieces, vmstructs.Piece{Addr: at, Buf: make([]byte, vtableStubSize)})
			}
		}
		if _, err := c.vm.Gather(pieces); err != nil {
			return err
		}
		level = level[:0]
		for _, s := range pieces {
			level = append(level, binary.LittleEndian.Uint64(s.Buf))
			isVtable := s.Buf[14] & 1
			name := fmt.Sprintf("%ctbl[%d]", "iv"[isVtable], int16(binary.LittleEndian.Uint16(s.Buf[8:])))
			if c.vm.Release >= 28 {
				name = [...]string{"(c1) ", "(full opt) "}[s.Buf[15]&1] + name
			}
			lo := s.Addr + vtableStubSize
			p.vtables = append(p.vtables, piece{kind: printassembly.VtableStub, lo: lo, hi: lo + sizes[isVtable],
				name: name})
		}
	}
	return nil
}

// symbolInt reads a four-byte variable by its symbol. It returns 0 if the symbol is unknown or can't be read.
func (c *Cache) symbolInt(name string) uint64 {
	at, ok := c.watch.symbols[name]
	if !ok {
		return 0
	}
	n, _ := c.vm.Uint32(at)
	return uint64(n)
}
