package codecache

import (
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// kindOf returns the kind of a blob that is not an nmethod.
func (c *Cache) kindOf(h *header, name string) printassembly.Kind {
	l := &c.layout.blob
	if l.hasKind {
		switch h.kind {
		case l.kindAdapter, l.kindMH:
			return printassembly.Adapter
		case l.kindVtable:
			return printassembly.VtableStub
		}
	}
	switch {
	case strings.Contains(name, "adapters"): // I2C/C2I adapters, MethodHandles adapters
		return printassembly.Adapter
	case name == "vtable chunks":
		return printassembly.VtableStub
	case name == "Interpreter":
		return printassembly.Interpreter
	case strings.HasPrefix(name, "StubRoutines"), strings.HasSuffix(name, stubBlobSuffix):
		return printassembly.Stub
	}
	return printassembly.RuntimeBlob
}

// blobName returns the name under which gasm lists a blob that is not an nmethod. The parameter name is the one in the
// blob's header.
func (c *Cache) blobName(h *header, name string) string {
	l := &c.layout.blob
	switch {
	case !l.hasKind:
	case l.kindNames[h.kind] != "":
		return l.kindNames[h.kind]
	case h.kind == l.kindSafepoint && name != "SafepointBlob":
		return safepointPrefix + name
	case strings.HasSuffix(name, stubBlobSuffix):
		return "StubRoutines::" + name
	}
	return name
}

// stubBlobSuffix is the end of the names of the blobs that hold stubs in JDK 26 and newer: "initial_blob (stub gen)".
const stubBlobSuffix = "_blob (stub gen)"

// smallestGap is the minimum size in bytes of a gap between two pieces that is reported as a blob. A smaller gap may
// only be there for alignment, which takes up to 64 bytes.
const smallestGap = 65

// split returns the blobs of a block that does not hold an nmethod: one for each piece in it, and one for each gap of
// at least smallestGap bytes. A block without pieces is one blob.
func (c *Cache) split(b *block) []*Blob {
	var parts []*Blob
	at := b.lo
	rest := func(hi uint64, least uint64) {
		if hi > at && hi-at >= least {
			parts = append(parts, &Blob{Kind: b.kind, Lo: at, Hi: hi, Name: b.name, Header: b.address})
		}
	}
	for _, p := range c.pieces.within(b.lo, b.hi) {
		if p.lo < at || p.hi > b.hi {
			continue // it overlaps another piece or leaves the block: the list is damaged, or HotSpot is changing it
		}
		rest(p.lo, smallestGap)
		parts = append(parts, &Blob{Kind: p.kind, Lo: p.lo, Hi: p.hi, Name: p.name, Header: b.address})
		at = p.hi
	}
	if at == b.lo {
		rest(b.hi, 1)
	} else {
		rest(b.hi, smallestGap)
	}
	return parts
}

// splitAgain splits all blocks again after the pieces have changed. Blobs that are the same as before are kept.
func (c *Cache) splitAgain() {
	for _, hp := range c.heaps {
		for _, segment := range sortedKeys(hp.blocks) {
			if b := hp.blocks[segment]; b.compileID == 0 {
				c.changeParts(b, c.split(b))
			}
		}
	}
}

func (c *Cache) changeParts(b *block, parts []*Blob) {
	type key struct {
		lo, hi uint64
		name   string
		kind   printassembly.Kind
	}
	old := map[key]*Blob{}
	for _, p := range b.parts {
		old[key{p.Lo, p.Hi, p.Name, p.Kind}] = p
	}
	for i, p := range parts {
		k := key{p.Lo, p.Hi, p.Name, p.Kind}
		if same, ok := old[k]; ok {
			parts[i] = same
			delete(old, k)
			continue
		}
		c.add(c.last, p)
	}
	for _, p := range b.parts {
		if _, gone := old[key{p.Lo, p.Hi, p.Name, p.Kind}]; gone {
			c.changes.Gone = append(c.changes.Gone, p)
		}
	}
	b.parts = parts
}
