package cfi

import "encoding/binary"

// A cursor reads numbers from a part of a section. If it would read beyond the end, it returns 0 and sets bad.
type cursor struct {
	data     []byte
	pos, end int // positions in data; pos <= end <= len(data)
	bad      bool
}

// bytes returns the next n bytes, or nil if there are fewer.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(c.end-c.pos) {
		c.bad, c.pos = true, c.end
		return nil
	}
	b := c.data[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return b
}

// sized returns an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) sized(size uint64) uint64 {
	b := c.bytes(size)
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// signed returns a signed number of 1, 2, 4 or 8 bytes, sign-extended.
func (c *cursor) signed(size uint64) uint64 {
	shift := 64 - 8*size
	return uint64(int64(c.sized(size)<<shift) >> shift)
}

func (c *cursor) u8() byte { return byte(c.sized(1)) }

// longestLEB is the number of bytes that a LEB128 number of 64 bits takes.
const longestLEB = 10

// leb returns a LEB128 number (DWARF 5, section 7.6). If negative is true, the number is signed, and leb sign-extends
// it.
func (c *cursor) leb(negative bool) (n uint64) {
	for shift := 0; shift < 7*longestLEB; shift += 7 {
		b := c.u8()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if negative && b&0x40 != 0 && shift+7 < 64 {
				n |= ^uint64(0) << (shift + 7)
			}
			return n
		}
	}
	c.bad = true
	return 0
}

func (c *cursor) uleb() uint64 { return c.leb(false) }
func (c *cursor) sleb() int64  { return int64(c.leb(true)) }

// The encodings of pointers (Linux Standard Base, "DWARF Exception Header Encoding"). The lower four bits are the
// format, the next three say what the pointer is relative to.
const (
	encodingFormat   = 0x0f
	encodingRelative = 0x70
	relativeToItself = 0x10 // DW_EH_PE_pcrel
	alignedPointer   = 0x50 // DW_EH_PE_aligned
	encodingIndirect = 0x80 // the number is not the pointer itself, but the pointer's address
)

// number reads a number in the format of an encoding. It sets bad if there is no such format.
func (c *cursor) number(encoding byte) uint64 {
	switch encoding & encodingFormat {
	case 0x1: // DW_EH_PE_uleb128
		return c.uleb()
	case 0x2, 0x3: // DW_EH_PE_udata2, DW_EH_PE_udata4
		return c.sized(1 << (encoding&3 - 1))
	case 0x9: // DW_EH_PE_sleb128
		return c.leb(true)
	case 0xa, 0xb: // DW_EH_PE_sdata2, DW_EH_PE_sdata4
		return c.signed(1 << (encoding&3 - 1))
	case 0x0, 0x4, 0x8, 0xc: // DW_EH_PE_absptr, DW_EH_PE_udata8, DW_EH_PE_signed, DW_EH_PE_sdata8
		return c.sized(8)
	}
	c.bad = true
	return 0
}

// pointer reads the address of an instruction. base is the address of the first byte of data. The address must be
// absolute or relative to the pointer itself, because linkers use no other encodings for instructions. Any other
// encoding sets bad.
func (c *cursor) pointer(encoding byte, base uint64) uint64 {
	at := base + uint64(c.pos)
	n := c.number(encoding)
	switch encoding & (encodingRelative | encodingIndirect) {
	case 0:
		return n
	case relativeToItself:
		return at + n
	}
	c.bad = true
	return 0
}
