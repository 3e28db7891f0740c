package cfi

// Limits for an expression. For comparison, the expression that linkers write for a procedure linkage table (PLT) has 8
// operations and uses 3 words of the stack.
const (
	maxOperations = 64
	maxOperands   = 32
)

// The operations of expressions (DWARF 5, section 7.7.1).
const (
	dwAddr       = 0x03
	dwDeref      = 0x06
	dwConst1u    = 0x08 // followed by 1s, 2u, 2s, 4u, 4s, 8u and 8s
	dwConst8s    = 0x0f
	dwConstu     = 0x10
	dwConsts     = 0x11
	dwDup        = 0x12
	dwDrop       = 0x13
	dwOver       = 0x14
	dwPick       = 0x15
	dwSwap       = 0x16
	dwRot        = 0x17
	dwAbs        = 0x19
	dwAnd        = 0x1a
	dwDiv        = 0x1b
	dwMinus      = 0x1c
	dwMod        = 0x1d
	dwMul        = 0x1e
	dwNeg        = 0x1f
	dwNot        = 0x20
	dwOr         = 0x21
	dwPlus       = 0x22
	dwPlusUconst = 0x23
	dwShl        = 0x24
	dwShr        = 0x25
	dwShra       = 0x26
	dwXor        = 0x27
	dwBra        = 0x28
	dwEq         = 0x29
	dwGe         = 0x2a
	dwGt         = 0x2b
	dwLe         = 0x2c
	dwLt         = 0x2d
	dwNe         = 0x2e
	dwSkip       = 0x2f
	dwLit0       = 0x30
	dwLit31      = 0x4f
	dwBreg0      = 0x70
	dwBreg31     = 0x8f
	dwBregx      = 0x92
	dwDerefSize  = 0x94
	dwNop        = 0x96
)

// A machine evaluates a DWARF expression. Its stack is an array, so it needs no other memory.
type machine struct {
	frame  *frame
	in     cursor
	start  int // the position of the first operation
	stack  [maxOperands]uint64
	depth  int
	result Result // Caller as long as nothing has failed
}

// evaluate returns the value of an expression. At the beginning, the words in initial are on the stack.
func (f *frame) evaluate(u rule, initial ...uint64) (uint64, Result) {
	at := int(u.value)
	m := machine{frame: f, start: at, in: cursor{data: f.table.data, pos: at, end: at + int(u.length)}}
	m.depth = copy(m.stack[:], initial)
	for n := 0; m.in.pos < m.in.end && m.result == Caller; n++ {
		if n >= maxOperations {
			return 0, Damaged
		}
		m.step()
		if m.in.bad {
			return 0, Damaged
		}
	}
	value := m.pop()
	return value, m.result
}

func (m *machine) push(n uint64) {
	if m.depth >= maxOperands {
		m.fail(Damaged)
		return
	}
	m.stack[m.depth] = n
	m.depth++
}

func (m *machine) pop() uint64 {
	if m.depth == 0 {
		m.fail(Damaged)
		return 0
	}
	m.depth--
	return m.stack[m.depth]
}

// fail ends the expression. If it fails several times, the first failure is the result.
func (m *machine) fail(r Result) {
	if m.result == Caller {
		m.result = r
	}
}

// step runs one operation.
func (m *machine) step() {
	switch op := m.in.u8(); {
	case op >= dwLit0 && op <= dwLit31:
		m.push(uint64(op - dwLit0))
	case op >= dwBreg0 && op <= dwBreg31:
		m.register(uint64(op - dwBreg0))
	case op == dwBregx:
		m.register(m.in.uleb())
	case op == dwAddr:
		m.push(m.in.sized(8))
	case op >= dwConst1u && op <= dwConst8s:
		size := uint64(1) << ((op - dwConst1u) / 2)
		if op&1 == 0 {
			m.push(m.in.sized(size))
		} else {
			m.push(m.in.signed(size))
		}
	case op == dwConstu:
		m.push(m.in.uleb())
	case op == dwConsts:
		m.push(uint64(m.in.sleb()))
	case op == dwDeref:
		m.load(8)
	case op == dwDerefSize:
		m.load(m.in.u8())
	case op >= dwDup && op <= dwRot:
		m.arrange(op)
	case op == dwSkip || op == dwBra:
		m.branch(op)
	case op >= dwAbs && op <= dwNe:
		m.calculate(op)
	case op == dwNop:
	default:
		m.fail(Damaged)
	}
}

// register pushes a register plus an offset.
func (m *machine) register(column uint64) {
	add := uint64(m.in.sleb())
	value, ok := m.frame.register(column)
	if !ok {
		m.fail(Unknown)
		return
	}
	m.push(value + add)
}

// load replaces the address on top of the stack with the number at that address. The parameter size is how many bytes
// the number has.
func (m *machine) load(size byte) {
	if size == 0 || size > 8 {
		m.fail(Damaged)
		return
	}
	addr := m.pop()
	if m.result != Caller {
		return
	}
	word, result := m.frame.memory.read(addr)
	if result != Caller {
		m.fail(result)
		return
	}
	m.push(word & (^uint64(0) >> (64 - 8*uint(size))))
}

// arrange copies, drops or moves words of the stack.
func (m *machine) arrange(op byte) {
	switch op {
	case dwDup:
		m.pick(0)
	case dwOver:
		m.pick(1)
	case dwPick:
		m.pick(int(m.in.u8()))
	case dwDrop:
		m.pop()
	case dwSwap:
		a, b := m.pop(), m.pop()
		m.push(a)
		m.push(b)
	case dwRot: // the first word becomes the third
		a, b, c := m.pop(), m.pop(), m.pop()
		m.push(a)
		m.push(c)
		m.push(b)
	}
}

// pick pushes a copy of the word that is below n others.
func (m *machine) pick(n int) {
	if n >= m.depth {
		m.fail(Damaged)
		return
	}
	m.push(m.stack[m.depth-1-n])
}

// branch jumps to another operation. dwSkip always jumps. dwBra jumps only if the word that it pops is not 0.
func (m *machine) branch(op byte) {
	to := int64(m.in.signed(2))
	if op == dwBra && m.pop() == 0 {
		return
	}
	to += int64(m.in.pos)
	if to < int64(m.start) || to > int64(m.in.end) {
		m.fail(Damaged)
		return
	}
	m.in.pos = int(to)
}
