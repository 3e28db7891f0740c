package amd64

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// memory is a memory operand: the address that ModRM, SIB and displacement describe. x86asm's Mem is not enough,
// because it loses the sign of 32-bit displacements and the difference between %riz and no index. It also does not
// support (%rip) in VEX instructions.
type memory struct {
	ok      bool
	mod     byte
	sib     bool
	rip     bool       // the address is relative to the next instruction
	noBase  bool       // there is neither a base register nor rip
	low     byte       // low three bits of the base register; 4 is %rsp or %r12
	scale   byte       // log2 of the factor for the index: 0 to 3
	base    x86asm.Reg // the base register: 64 bits, or 32 with an address-size prefix
	index   x86asm.Reg // the index register; 0 if there is none
	high    byte       // rexB is set if base is one of r16 to r31 (see highName), and rexX if index is
	disp    int64
	dispLen int
}

// readMem reads the ModRM byte at x.op[at], and the SIB byte and the displacement after it, into x.mem. rex has the
// bits R, X and B as in a REX prefix. readMem returns the number of bytes that it read, or 0 if the input is too
// short.
func (x *x86) readMem(at int, rex byte) int {
	m := memory{}
	if at >= len(x.op) {
		return 0
	}
	modrm := x.op[at]
	m.mod = modrm >> 6
	n := 1
	if m.mod == 3 {
		x.mem = m
		return n
	}
	m.ok = true
	bits := x86asm.RAX
	if x.addr >= 0 {
		bits = x86asm.EAX
	}
	m.low = modrm & 7
	if m.low == 4 {
		if at+1 >= len(x.op) {
			return 0
		}
		sib := x.op[at+1]
		n++
		m.sib, m.scale, m.low = true, sib>>6, sib&7
		if index := sib>>3&7 | rex&rexX<<2; index != 4 || x.high&rexX != 0 {
			m.index = bits + x86asm.Reg(index)
			m.high = x.high & rexX
		}
	}
	if m.mod == 0 && m.low == 5 {
		m.noBase, m.rip, m.dispLen = m.sib, !m.sib, 4
	} else {
		m.base = bits + x86asm.Reg(m.low|rex&rexB<<3)
		m.high |= x.high & rexB
		m.dispLen = [...]int{0, 1, 4}[m.mod]
	}
	d := x.op[at+n:]
	if len(d) < m.dispLen {
		return 0
	}
	switch m.dispLen {
	case 1:
		m.disp = int64(int8(d[0]))
	case 4:
		m.disp = int64(int32(binary.LittleEndian.Uint32(d)))
	}
	x.mem = m
	return n + m.dispLen
}

// indexed reports whether an index register is printed. If there is a SIB byte without an index, the index is printed
// as %riz. %riz is left out if the scale is 1 and the operand could not be encoded without a SIB byte.
func (m *memory) indexed() bool {
	return m.sib && (m.scale != 0 || m.index != 0 || !m.noBase && m.low != 4)
}

// registers reports whether the operand is printed with a base or index register other than rip.
func (m *memory) registers() bool {
	return m.base != 0 || m.indexed()
}

func (x *x86) indexName() string {
	if x.mem.index != 0 {
		return x.gprName(x.mem.index, x.mem.high&rexX != 0)
	}
	names := [...][2]string{asm.ATT: {"%riz", "%eiz"}, asm.Intel: {"riz", "eiz"}}
	if x.addr >= 0 {
		return names[x.syntax][1]
	}
	return names[x.syntax][0]
}

// ripTarget returns the address of a RIP-relative operand.
func (x *x86) ripTarget() uint64 {
	return x.pc + uint64(x.len) + uint64(x.mem.disp)
}

func (x *x86) ripName() string {
	if x.addr >= 0 {
		return [...]string{asm.ATT: "%eip", asm.Intel: "eip"}[x.syntax]
	}
	return [...]string{asm.ATT: "%rip", asm.Intel: "rip"}[x.syntax]
}

// appendMemATT appends a memory operand, like "%fs:0x10(%rax,%rbx,4)".
func (x *x86) appendMemATT() {
	m := &x.mem
	x.buf = append(x.buf, x.segment()...)
	if m.mod != 0 || m.low == 5 {
		if m.registers() || m.rip {
			x.buf = appendSigned(x.buf, m.disp)
		} else {
			x.buf = asm.AppendHex(x.buf, x.absolute())
		}
	}
	switch {
	case m.rip:
		x.buf = append(append(append(x.buf, '('), x.ripName()...), ')')
	case m.registers():
		x.buf = append(x.buf, '(')
		if m.base != 0 {
			x.buf = append(x.buf, x.gprName(m.base, m.high&rexB != 0)...)
		}
		if m.indexed() {
			x.buf = append(append(x.buf, ','), x.indexName()...)
			x.buf = append(x.buf, ',', '0'+1<<m.scale)
		}
		x.buf = append(x.buf, ')')
	}
}

// appendMemIntel appends a memory operand, like "fs:[rax+rbx*4+0x10]".
func (x *x86) appendMemIntel() {
	m := &x.mem
	seg := x.segment()
	if !m.registers() && !m.rip {
		if seg == "" {
			seg = "ds:"
		}
		x.buf = asm.AppendHex(append(x.buf, seg...), x.absolute())
		return
	}
	x.buf = append(append(x.buf, seg...), '[')
	if m.rip {
		x.buf = append(append(x.buf, x.ripName()...), '+')
		x.buf = append(asm.AppendHex(x.buf, uint64(m.disp)), ']')
		return
	}
	if m.base != 0 {
		x.buf = append(x.buf, x.gprName(m.base, m.high&rexB != 0)...)
	}
	if m.indexed() {
		if m.base != 0 {
			x.buf = append(x.buf, '+')
		}
		x.buf = append(x.buf, x.indexName()...)
		x.buf = append(x.buf, '*', '0'+1<<m.scale)
	}
	if m.mod != 0 || m.low == 5 {
		if m.disp >= 0 {
			x.buf = append(x.buf, '+')
		}
		x.buf = appendSigned(x.buf, m.disp)
	}
	x.buf = append(x.buf, ']')
}

// absolute returns the address of an operand without registers.
func (x *x86) absolute() uint64 {
	if x.addr >= 0 {
		return uint64(uint32(x.mem.disp))
	}
	return uint64(x.mem.disp)
}

func appendSigned(b []byte, v int64) []byte {
	if v < 0 {
		return asm.AppendHex(append(b, '-'), uint64(-v))
	}
	return asm.AppendHex(b, uint64(v))
}
