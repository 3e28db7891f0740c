package codecache

import (
	"github.com/gasm-profiler/gasm/printassembly"
)

// A header is what the first bytes of a block say about the block and its blob.
type header struct {
	segment uint64 // index of the block's first segment
	end     uint64 // index of the first segment after the block
	limit   uint64 // address at which the block ends
	address uint64 // address of the blob

	nameAt, kind, size uint64
	lo, hi             uint64 // the code
	compileID          uint64 // 0 except for nmethods
	state              int8   // nmethod::_state, for nmethods

	raw []byte // the bytes of an nmethod; valid only while the block is decoded
}

// An identity distinguishes blobs that were at the same address at different times. HotSpot sets all of these fields
// once, when it makes the blob.
type identity struct {
	end, nameAt, kind, size, lo, hi, compileID uint64
}

func (h *header) identity() identity {
	return identity{h.end, h.nameAt, h.kind, h.size, h.lo, h.hi, h.compileID}
}

// decode returns the header in the copy of a block. The result used is false if the block is free. The result ok is
// true if the block holds a valid blob. While HotSpot is still making the blob, used is true and ok is false.
func (c *Cache) decode(hp *heap, segment uint64, data []byte) (h header, used, ok bool) {
	l := c.layout
	if uint64(len(data)) < l.blockSize || l.blockUsed.In(data) != 1 {
		return header{}, false, false
	}
	length := l.blockLength.In(data)
	if length == 0 || length > hp.next-segment {
		return header{}, false, false
	}
	start := hp.low + segment<<hp.log2
	blob := data[l.blockSize:]
	h = header{segment: segment, end: segment + length, limit: start + length<<hp.log2, address: start + l.blockSize,
		nameAt: l.blob.name.In(blob), size: l.blob.size.In(blob), lo: l.blob.codeBegin.In(blob),
		hi: l.blob.codeEnd.In(blob)}
	if l.blob.offsets {
		h.lo += h.address
		h.hi += h.address
	}
	if l.blob.hasKind {
		h.kind = l.blob.kind.In(blob)
	}
	if h.nameAt == 0 || h.hi-h.lo > maxBlob || h.size > h.limit-h.address || h.lo < h.address || h.hi < h.lo ||
		h.hi > h.limit {
		return h, true, false
	}
	if c.isNMethod(&h) {
		if h.lo == h.hi { // every method has code
			return h, true, false
		}
		if end := l.nmethod.end; end.Size > 0 && end.In(blob) != h.size { // HotSpot is still filling in the fields
			return h, true, false
		}
		h.compileID, h.state, h.raw = l.nmethod.compileID.In(blob), int8(l.nmethod.state.In(blob)), blob
	}
	return h, true, true
}

// maxBlob is the maximum size of a blob in bytes. A larger blob is treated as invalid. Package printassembly has the
// same limit.
const maxBlob = 1 << 26

// isNMethod reports whether the blob is an nmethod. It looks at the blob's kind or, in JDK 24 and older, at the blob's
// name.
func (c *Cache) isNMethod(h *header) bool {
	if c.layout.blob.hasKind {
		return h.kind == c.layout.blob.kindNMethod
	}
	switch c.name(h.nameAt) {
	case "nmethod", "native nmethod":
		return true
	}
	return false
}

// installed converts an nmethod's header to what LogCompilation's tag <nmethod> would contain. Only the method's name
// and bytecode size are missing. HotSpot keeps them in a Method, so the Method's address is returned, too.
func (c *Cache) installed(h *header) (t *printassembly.Installed, method uint64) {
	n, blob := &c.layout.nmethod, h.raw
	t = &printassembly.Installed{ID: int(h.compileID), Level: int(int8(n.level.In(blob))),
		Address: h.address, Size: h.size, Lo: h.lo, Stub: h.hi, Hi: h.hi}
	if stub := h.address + n.stub.In(blob); stub > h.lo && stub < h.hi {
		t.Stub = stub
	}
	native := c.name(h.nameAt) == "native nmethod"
	switch {
	case int32(n.entryBCI.In(blob)) != c.layout.invocationBCI:
		t.Kind = "osr"
	case native:
		t.Kind = "c2n"
	}
	switch {
	case native:
		t.Level = 0
	case t.Level >= 1 && t.Level <= 3:
		t.Compiler = "c1"
	case c.jvmci:
		t.Compiler = "jvmci"
	default:
		t.Compiler = "c2"
	}
	c.tables(h, t)
	return t, n.method.In(blob)
}

// tables sets the addresses of an nmethod's tables in t. It leaves out empty tables, as LogCompilation does.
func (c *Cache) tables(h *header, t *printassembly.Installed) {
	l, blob := c.layout, h.raw
	n := &l.nmethod
	base, end := h.address, n.dependencies.In(blob)
	if n.immutable {
		base, end = n.immutableData.In(blob), n.immutableDataSize.In(blob)
	}
	pcs, data := n.scopesPCs.In(blob), n.scopesData.In(blob)
	if n.scopesDataIsAddress {
		data -= base
	}
	pcsEnd, dataEnd := end, pcs // in JDK 22 and older, the scopes lie before the PcDescs
	if n.immutable {
		pcsEnd, dataEnd = data, end
	}
	if pcs < pcsEnd {
		t.ScopesPCs = base + pcs
	}
	if data < dataEnd {
		t.ScopesData = base + data
	}
	switch {
	case !n.hasMetadata:
		from, size := l.blob.relocationSize.In(blob), l.blob.mutableDataSize.In(blob)
		if from < size {
			t.Metadata = l.blob.mutableData.In(blob) + from
		}
	case n.immutable: // JDK 23 and 24: the offset is relative to the end of the code
		if at := h.hi + n.metadata.In(blob); at < h.address+h.size {
			t.Metadata = at
		}
	default:
		if at := n.metadata.In(blob); at < data {
			t.Metadata = h.address + at
		}
	}
}
