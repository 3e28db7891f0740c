package exec

import "encoding/binary"

// maxInstLen is the length of the longest instruction in bytes.
const maxInstLen = 15

// The prefixes of an instruction that matter here.
const (
	prefixData  = 0x66
	prefixAddr  = 0x67
	prefixRepne = 0xf2
	prefixRep   = 0xf3

	rexW, rexR, rexX, rexB = 8, 4, 2, 1
)

// A decoder decodes one instruction.
type decoder struct {
	code []byte // begins with the instruction and has at most maxInstLen bytes
	pos  int
	cut  bool // the instruction is longer than code

	data, addr, seg bool
	rep             byte // prefixRep, prefixRepne, or 0
	rex             byte // REX prefix; with REX2, VEX and EVEX its bits W, R, X and B
	high            byte // with REX2 and EVEX the bits R4, X4 and B4, at the positions of R, X and B

	reg, rm reg  // fields of the ModRM byte. rm is noReg if the operand is in memory.
	digit   byte // the field reg without the bit from REX

	in inst
}

// decode decodes the instruction that code begins with. If the code does not begin with one, the result is an opBad of
// one byte.
func decode(code []byte) inst {
	d := decoder{code: code[:min(len(code), maxInstLen)]}
	d.in.mem.base = noReg
	if !d.instruction() || d.cut {
		return inst{op: opBad, len: 1}
	}
	d.in.len = uint8(d.pos)
	if d.high != 0 {
		d.in.untrack()
	}
	return d.in
}

// instruction reports whether the bytes are an instruction.
func (d *decoder) instruction() bool {
	d.prefixes()
	b := d.byte()
	switch {
	case b == prefixREX2:
		return d.afterREX2()
	case b == 0x0f:
		return d.escaped()
	case b == 0xc4 || b == 0xc5 || b == 0x62:
		return d.vector(b)
	}
	f := oneByte[b]
	if f&invalid != 0 {
		return false
	}
	d.operands(f)
	return d.understand(b)
}

// prefixes reads the prefixes. A REX prefix counts only if it is the last one.
func (d *decoder) prefixes() {
	for {
		switch b := d.byte(); {
		case b == prefixData:
			d.data, d.rex = true, 0
		case b == prefixAddr:
			d.addr, d.rex = true, 0
		case b == prefixRep || b == prefixRepne:
			d.rep, d.rex = b, 0
		case b == 0x64 || b == 0x65:
			d.seg, d.rex = true, 0
		case b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0xf0: // segment prefixes without effect, and lock
			d.rex = 0
		case b&0xf0 == 0x40:
			d.rex = b
		default:
			d.pos--
			return
		}
		if d.cut {
			return
		}
	}
}

// byte reads the next byte. After the end of the code it returns 0, and sets d.cut.
func (d *decoder) byte() byte {
	d.pos++
	if d.pos > len(d.code) {
		d.cut = true
		return 0
	}
	return d.code[d.pos-1]
}

// signed reads a signed number of n bytes. Of eight bytes, it returns the lower four.
func (d *decoder) signed(n int) int32 {
	var b [8]byte
	if d.pos > len(d.code) || copy(b[:n], d.code[d.pos:]) < n {
		d.cut = true
	}
	d.pos += n
	switch n {
	case 1:
		return int32(int8(b[0]))
	case 2:
		return int32(int16(binary.LittleEndian.Uint16(b[:])))
	}
	return int32(binary.LittleEndian.Uint32(b[:]))
}

// wide reports whether the operands have 64 bits.
func (d *decoder) wide() bool { return d.rex&rexW != 0 }

// width returns the size of a general operand in bytes.
func (d *decoder) width(f form) uint16 {
	switch {
	case f&byteSized != 0:
		return 1
	case d.wide():
		return 8
	case d.data:
		return 2
	}
	return 4
}

// operands reads everything after the opcode, and notes which registers and which memory the instruction writes.
func (d *decoder) operands(f form) {
	if f&modRM != 0 {
		d.modRM()
	}
	d.immediate(f)
	if f&writesReg != 0 {
		d.write(d.general(d.reg, f))
	}
	switch {
	case f&writesRM != 0 && d.rm != noReg:
		d.write(d.general(d.rm, f))
	case f&(writesRM|storesRM) != 0 && d.rm == noReg:
		d.in.store = d.width(f)
	}
	d.in.writes |= uint32(f>>writesShift) & (1<<rax | 1<<rcx | 1<<rdx | 1<<rbx)
	if f&writesStrings != 0 {
		d.in.writes |= 1<<rsi | 1<<rdi
	}
}

// immediate reads the immediate operand of an instruction.
func (d *decoder) immediate(f form) {
	switch {
	case f&imm32 != 0 && d.data && !d.wide():
		d.in.imm = d.signed(2)
	case f&imm32 != 0:
		d.in.imm = d.signed(4)
	case f&imm64 != 0 && d.wide():
		d.signed(8)
	case f&imm64 != 0 && d.data:
		d.signed(2)
	case f&imm64 != 0:
		d.signed(4)
	case f&immAddr != 0 && d.addr:
		d.signed(4)
	case f&immAddr != 0:
		d.signed(8)
	case f&imm16 != 0:
		d.in.imm = d.signed(2) & 0xffff
	}
	if f&imm8 != 0 { // enter has an imm16 and an imm8
		if v := d.signed(1); f&imm16 == 0 {
			d.in.imm = v
		}
	}
}

// general returns the number of the general register that an operand names. Without a REX prefix, the byte registers
// 4 to 7 are ah, ch, dh and bh, which are parts of the registers 0 to 3.
func (d *decoder) general(r reg, f form) reg {
	if f&byteSized != 0 && d.rex == 0 && r >= 4 && r < 8 {
		return r - 4
	}
	return r
}

// write notes that the instruction overwrites the register r with a value that is not tracked.
func (d *decoder) write(r reg) {
	if r < tracked {
		d.in.writes |= 1 << r
	}
}

// opcodeReg returns the register in the low bits of an opcode.
func (d *decoder) opcodeReg(b byte) reg { return b&7 | d.rex&rexB<<3 | d.high&rexB<<4 }

// modRM reads the ModRM byte, and what belongs to a memory operand: the SIB byte and the displacement.
func (d *decoder) modRM() {
	b := d.byte()
	mod, low := b>>6, b&7
	d.digit = b >> 3 & 7
	d.reg = d.digit | d.rex&rexR<<1 | d.high&rexR<<2
	if mod == 3 {
		d.rm = d.opcodeReg(low)
		return
	}
	d.rm = noReg
	m, indexed := memory{base: d.opcodeReg(low)}, false
	if low == 4 {
		sib := d.byte()
		m.base = d.opcodeReg(sib)
		indexed = sib>>3&7|d.rex&rexX<<2|d.high&rexX<<3 != rsp // rsp's number stands for no index
		low = sib & 7
	}
	switch {
	case mod == 0 && low == 5: // relative to rip, or absolute
		m = memory{base: noReg, disp: d.signed(4)}
	case mod == 1:
		m.disp = d.signed(1)
	case mod == 2:
		m.disp = d.signed(4)
	}
	if indexed || d.seg || d.addr {
		m.base = noReg
	}
	d.in.mem = m
}
