package nmethod

import (
	"encoding/binary"
	"fmt"

	"github.com/gasm-profiler/gasm/printassembly"
)

// relocTexts are HotSpot's words for relocations, without the details that follow some of them
// (nmethod::reloc_string_for).
var relocTexts = [...]string{
	relocNone:                "other",
	relocOop:                 "oop",
	relocVirtualCall:         "virtual_call",
	relocOptVirtualCall:      "optimized virtual_call",
	relocStaticCall:          "static_call",
	relocStaticStub:          "static_stub",
	relocRuntimeCall:         "runtime_call",
	relocExternalWord:        "external_word",
	relocInternalWord:        "internal_word",
	relocSectionWord:         "section_word",
	relocPoll:                "poll",
	relocPollReturn:          "poll_return",
	relocMetadata:            "metadata",
	relocTrampolineStub:      "trampoline_stub",
	relocRuntimeCallWithPool: "runtime_call",
	relocPrefix:              "other",
	relocPostCallNop:         "post_call_nop",
	relocEntryGuard:          "entry_guard",
	relocBarrier:             "barrier",
	relocPatchableBarrier:    "patchable_barrier",
}

// relocText returns the word with which a release of the JDK prints a kind of relocation.
func relocText(kind relocKind, release int) string {
	switch {
	case kind == relocNone && release < 22:
		return "no_reloc"
	case kind > relocPrefix && release < 22, kind < 0 || int(kind) >= len(relocTexts):
		return "other"
	}
	return relocTexts[kind]
}

// renumbered returns the kind of a relocation from the number of the kind in a packed relocation. From JDK 28 on, the
// kinds after the entry guard have lower numbers.
func (p relocPacking) renumbered(number uint16) relocKind {
	kind := relocKind(number)
	if p.noEntryGuard && kind >= relocEntryGuard {
		kind++
	}
	return kind
}

// relocations says where an nmethod has its relocations, and to which address their offsets are relative.
type relocations struct {
	packing relocPacking
	// content is the offset of a field that holds the address of the nmethod's content, which is its constants, code
	// and stubs. If contentOffset is true, the field has four bytes and holds an offset from the nmethod.
	content       uint64
	contentOffset bool
	// In JDK 25 and newer, relocations lie at the start of the mutable data, and size is the offset of a four-byte
	// field with their size. In older JDKs, two fields after CodeBlob::_data_end have the addresses of the relocations'
	// start and end, and ends is the offset of the first of these fields.
	size, ends uint64
}

// findRelocations sets l.relocations.
func (l *layout) findRelocations(q *query) {
	r := &l.relocations
	r.packing = packingOf(l.release, l.arm64)
	if r.content, r.contentOffset = q.VM.Offset("CodeBlob::_content_offset"); !r.contentOffset {
		r.content = q.field("CodeBlob::_content_begin")
	}
	if l.mutable.exists {
		r.size = q.field("CodeBlob::_relocation_size")
	} else {
		r.ends = q.field("CodeBlob::_data_end") + 8
	}
}

// relocReader returns a reader that starts at the first of the method's relocations.
func (c *Code) relocReader() (*relocReader, error) {
	r := &c.copier.layout.relocations
	reader := &relocReader{packing: r.packing, offset: int(c.field64(r.content) - c.Lo)}
	if r.contentOffset {
		reader.offset = int(c.Address + uint64(c.field32(r.content)) - c.Lo)
	}
	block, from, size := c.mutable, uint64(0), uint64(c.field32(r.size))
	if !c.copier.layout.mutable.exists {
		lo, hi := c.field64(r.ends), c.field64(r.ends+8)
		block, from, size = memoryBlock{c.Address, c.nmethod}, lo-c.Address, hi-lo
	}
	if from > uint64(len(block.data)) || size > uint64(len(block.data))-from || reader.offset > 0 ||
		reader.offset < -len(c.nmethod) {
		return reader, fmt.Errorf(
			"its relocations lie outside the nmethod and the memory that it points to; HotSpot's layout may have changed: "+
				"please report this build of JDK %d", c.copier.layout.release)
	}
	reader.data = block.data[from : from+size]
	return reader, nil
}

// appendRelocation appends a relocation as HotSpot prints it: "{poll}", "{runtime_call throw_null_pointer_exception
// Runtime1 stub}".
func (c *Code) appendRelocation(text []byte, r *relocation) []byte {
	text = append(append(text, '{'), relocText(r.kind, c.copier.layout.release)...)
	switch r.kind {
	case relocBarrier:
		if c.copier.layout.release >= 22 {
			text = fmt.Appendf(text, " format=%d", r.format)
		}
	// The data has three words: the offset of a stub (two words), and a number that HotSpot prints as "metadata".
	case relocPatchableBarrier:
		if data := r.words(); len(data) == 6 {
			text = fmt.Appendf(text, " metadata=%#x target=%#016x", binary.LittleEndian.Uint16(data[4:]),
				c.Lo+uint64(r.number(0, 1)))
		}
	case relocRuntimeCall, relocRuntimeCallWithPool:
		if target, ok := c.target(r.offset); ok {
			if name := c.copier.targetName(target); name != "" {
				text = append(append(text, ' '), name...)
			}
		}
	case relocMetadata:
		if value, ok := c.metadata(r); ok {
			if name := c.copier.metadataName(value); name != "" {
				text = append(append(append(text, '('), name...), ')')
			}
		}
	case relocVirtualCall:
		text = append(text, c.callee(r.number(1, 2))...)
	case relocOptVirtualCall, relocStaticCall:
		text = append(text, c.callee(r.number(0, 1))...)
	}
	return append(text, '}')
}

// callee returns the name of the method that a call instruction calls. index is the method's index in the nmethod's
// metadata, from the call's relocation. If index is 0, the callee is the method that the bytecode names. Then HotSpot
// prints no name, and the result is "".
func (c *Code) callee(index int) string {
	if index <= 0 || index > len(c.methods) {
		return ""
	}
	name, _, err := c.copier.MethodName(c.methods[index-1])
	if err != nil {
		return ""
	}
	return printassembly.Escape(name)
}

// metadata returns the address that a metadata relocation refers to. The address is in the nmethod's table of metadata
// or, if the relocation's index is 0, in the code (metadata_Relocation::metadata_addr).
func (c *Code) metadata(r *relocation) (uint64, bool) {
	index := r.number(0, 1)
	switch {
	case index == 0 && c.copier.layout.arm64:
		return movedConstantARM64(c.from(r.offset))
	case index == 0:
		return movedConstant(c.from(r.offset))
	}
	if index <= 0 || index > len(c.methods) {
		return 0, false
	}
	return c.methods[index-1], true
}

// from returns the machine code from an offset to the end. It returns nil if the offset is outside the code.
func (c *Code) from(offset int) []byte {
	if offset < 0 || offset > len(c.MachineCode) {
		return nil
	}
	return c.MachineCode[offset:]
}
