package codecache

import (
	"github.com/gasm-profiler/gasm/printassembly"
)

// A header is what a block of the code cache says of the blob in it.
type header struct {
	segment uint64 // the block's first
	end     uint64 // the segment behind its last
	limit   uint64 // address behind the block
	address uint64 // of the blob

	nameAt, kind, size uint64
	lo, hi             uint64 // the code
	compileID          uint64 // 0 for all but nmethods
	state              int8   // of nmethods

	raw []byte // of the nmethod; valid while it is decoded
}

// identity is what tells two blobs at one address apart. All of it is set once, when
// HotSpot makes the blob.
type identity struct {
	end, nameAt, kind, size, lo, hi, compileID uint64
}

func (h *header) identity() identity {
	return identity{h.end, h.nameAt, h.kind, h.size, h.lo, h.hi, h.compileID}
}

// decode reads the copy of a block. ok is false if the block is free, or if there is no
// blob in it that can be one: HotSpot may be about to make it.
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
		nameAt: l.blob.name.In(blob), size: l.blob.size.In(blob), lo: l.blob.codeBegin.In(blob), hi: l.blob.codeEnd.In(blob)}
	if l.blob.offsets {
		h.lo += h.address
		h.hi += h.address
	}
	if l.blob.hasKind {
		h.kind = l.blob.kind.In(blob)
	}
	if h.nameAt == 0 || h.hi-h.lo > maxBlob || h.size > h.limit-h.address || h.lo < h.address || h.hi < h.lo || h.hi > h.limit {
		return h, true, false
	}
	if c.isNMethod(&h) {
		if h.lo == h.hi { // no method is without code
			return h, true, false
		}
		h.compileID, h.state, h.raw = l.nmethod.compileID.In(blob), int8(l.nmethod.state.In(blob)), blob
	}
	return h, true, true
}

// maxBlob is more than HotSpot gives to one piece of code, in bytes. Package printassembly
// takes a longer one for damage, too.
const maxBlob = 1 << 26

// isNMethod tells nmethods from other blobs: by their kind, or in JDK 24 and older by
// their name.
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

// installed makes of an nmethod's header what LogCompilation's tag tells of it, but for
// the names that other structures have. method is the address of its Method.
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

// tables says where an nmethod has its tables. LogCompilation leaves out empty ones.
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
	pcsEnd, dataEnd := end, pcs // JDK 22 and older have the scopes in front of the PcDescs
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
	case n.immutable: // JDK 23 and 24: it is behind the oops
		if at := h.hi + n.metadata.In(blob); at < h.address+h.size {
			t.Metadata = at
		}
	default:
		if at := n.metadata.In(blob); at < data {
			t.Metadata = h.address + at
		}
	}
}
