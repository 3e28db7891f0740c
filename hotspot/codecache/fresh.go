package codecache

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A freshBlock is a block whose blobs were not reported yet, because the block is new, or because earlier Polls could
// not read the name of its method.
type freshBlock struct {
	heap   *heap
	block  *block
	header header
	tries  int // how many Polls have failed to name its method

	installed *printassembly.Installed // nil unless the block holds an nmethod
	method    uint64                   // address of its Method
	state     State
	notBefore int64 // see Blob.NotBeforeMonoNanos
}

func (c *Cache) newFresh(hp *heap, h *header, b *block, tries int) *freshBlock {
	f := &freshBlock{heap: hp, block: b, header: *h, tries: tries, state: stateOf(h.state), notBefore: c.notBefore}
	if h.raw != nil {
		if h.compileID != 0 {
			f.installed, f.method = c.installed(h)
		}
		f.header.raw = nil
	}
	if f.installed == nil {
		name := c.name(h.nameAt)
		b.name, b.kind = c.blobName(h, name), c.kindOf(h, name)
	}
	return f
}

// unknownMethod is the name of a method whose class was unloaded before the name could be read.
const unknownMethod = "unknown::method"

// maxTries is the number of Polls that try to read a method's name. If all of them fail, the method is called
// unknownMethod. More tries would not help: if they fail because the method's class is about to be unloaded, the
// nmethod will soon be gone, too.
const maxTries = 3

// nameFresh reads the names of the new blobs, and adds the blobs that are still in the code cache after that.
func (c *Cache) nameFresh() error {
	if len(c.fresh) == 0 {
		return nil
	}
	for _, f := range c.fresh {
		if t := f.installed; t != nil {
			var err error
			t.Name, t.BytecodeSize, err = c.namer(f.method)
			if err != nil || strings.HasPrefix(t.Name, "::") || strings.HasSuffix(t.Name, "::") {
				t.Name = ""
			}
			if t.Kind == "c2n" && (t.Name == "jdk.internal.vm.Continuation::enterSpecial" ||
				t.Name == "jdk.internal.vm.Continuation::doYield") {
				t.Kind = "cnt" // as HotSpot decides in Method::is_continuation_native_intrinsic
			}
		}
	}
	there, err := c.stillThere()
	if err != nil {
		return err
	}
	for i, f := range c.fresh {
		switch {
		case !there[i]:
			f.heap.unsettled[f.header.segment] = f.tries
			continue
		case f.installed == nil:
			f.block.parts = c.split(f.block)
		default:
			if f.installed.Name == "" {
				if f.tries+1 < maxTries {
					f.heap.unsettled[f.header.segment] = f.tries + 1
					continue
				}
				f.installed.Name = unknownMethod
			}
			f.block.parts = []*Blob{f.blob()}
		}
		f.heap.blocks[f.header.segment] = f.block
		c.add(f.notBefore, f.block.parts...)
	}
	return nil
}

// blob returns the Blob of an nmethod.
func (f *freshBlock) blob() *Blob {
	b := &Blob{Kind: printassembly.NMethod, Lo: f.header.lo, Hi: f.header.hi, Name: f.installed.Name,
		Header: f.header.address, Method: f.installed, State: f.state}
	if f.installed.Kind == "c2n" || f.installed.Kind == "cnt" {
		b.Kind = printassembly.Native
	}
	return b
}

// stillThere reads the headers of c.fresh a second time, after the names were read. For each it returns whether the
// header is unchanged. If it has changed, HotSpot may have freed the nmethod and its class, so the name may be wrong.
func (c *Cache) stillThere() ([]bool, error) {
	size := c.layout.blockSize + c.layout.blobSize
	pieces := make([]vmstructs.Piece, len(c.fresh))
	for from := 0; from < len(pieces); from += batch {
		part := pieces[from:min(from+batch, len(pieces))]
		buf := make([]byte, uint64(len(part))*size)
		for i := range part {
			f := c.fresh[from+i]
			at := f.header.address - c.layout.blockSize
			part[i] = vmstructs.Piece{Addr: at, Buf: buf[uint64(i)*size:][:min(size, f.heap.high-at)]}
		}
	}
	there, err := c.vm.GatherSome(pieces)
	if err != nil {
		return nil, err
	}
	for i, f := range c.fresh {
		if there[i] {
			h, _, ok := c.decode(f.heap, f.header.segment, pieces[i].Buf)
			there[i] = ok && h.identity() == f.block.identity
		}
	}
	return there, nil
}

// longestName is the number of bytes that are read for each name at first. The few names that are longer are read
// again, one by one.
const longestName = 64

// readNames reads the names of the blobs in many blocks together, and adds the names to c.names. The caller has read
// the headers of the blocks. If it could not read the header of blocks[i], read[i] is false.
func (c *Cache) readNames(blocks []vmstructs.Piece, read []bool) error {
	l := c.layout
	wanted := map[uint64]bool{}
	for i, p := range blocks {
		if !read[i] || uint64(len(p.Buf)) < l.blockSize || l.blockUsed.In(p.Buf) != 1 {
			continue
		}
		if at := l.blob.name.In(p.Buf[l.blockSize:]); at != 0 && !c.hasName(at) {
			wanted[at] = true
		}
	}
	texts, err := c.texts(slices.Collect(maps.Keys(wanted)))
	if err != nil {
		return err
	}
	for at, text := range texts {
		c.names[at] = text
		if text == "nmethod" || text == "native nmethod" {
			c.nmethods[at] = text
		}
	}
	return nil
}

// texts reads zero-terminated strings. A string that can't be read is "".
func (c *Cache) texts(addresses []uint64) (map[uint64]string, error) {
	texts := make(map[uint64]string, len(addresses))
	buf := make([]byte, len(addresses)*longestName)
	pieces := make([]vmstructs.Piece, len(addresses))
	for i, at := range addresses {
		pieces[i] = vmstructs.Piece{Addr: at, Buf: buf[i*longestName:][:longestName]}
	}
	read, err := c.vm.GatherSome(pieces)
	if err != nil {
		return nil, err
	}
	for i, p := range pieces {
		if end := bytes.IndexByte(p.Buf, 0); read[i] && end >= 0 {
			texts[p.Addr] = string(p.Buf[:end])
			continue
		}
		texts[p.Addr], _ = c.vm.Text(p.Addr) // the string is longer, or lies at the end of a mapping
	}
	return texts, nil
}

func (c *Cache) hasName(at uint64) bool {
	_, ok := c.names[at]
	return ok || c.nmethods[at] != ""
}

// name returns the name that readNames has read from an address.
func (c *Cache) name(at uint64) string {
	if name, ok := c.nmethods[at]; ok {
		return name
	}
	return c.names[at]
}

func sortedKeys[V any](m map[uint64]V) []uint64 { return slices.Sorted(maps.Keys(m)) }
