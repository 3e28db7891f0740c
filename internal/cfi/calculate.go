package cfi

// calculate runs an operation of arithmetic or logic. Comparisons and divisions are signed (DWARF 5, sections 2.5.1.4
// and 2.5.1.5). The remainder (DW_OP_mod) is unsigned, as in libgcc.
func (m *machine) calculate(op byte) {
	b := m.pop()
	switch op {
	case dwAbs:
		if int64(b) < 0 {
			b = -b
		}
		m.push(b)
		return
	case dwNeg:
		m.push(-b)
		return
	case dwNot:
		m.push(^b)
		return
	case dwPlusUconst:
		m.push(b + m.in.uleb())
		return
	}
	a := m.pop()
	switch {
	case op >= dwEq:
		m.push(compare(op, int64(a), int64(b)))
	case (op == dwDiv || op == dwMod) && b == 0:
		m.fail(Damaged)
	default:
		m.push(combine(op, a, b))
	}
}

// combine returns the result of the operation op on a and b.
func combine(op byte, a, b uint64) uint64 {
	switch op {
	case dwAnd:
		return a & b
	case dwOr:
		return a | b
	case dwXor:
		return a ^ b
	case dwPlus:
		return a + b
	case dwMinus:
		return a - b
	case dwMul:
		return a * b
	case dwDiv:
		return uint64(int64(a) / int64(b))
	case dwMod:
		return a % b
	case dwShl:
		return a << b
	case dwShr:
		return a >> b
	}
	return uint64(int64(a) >> b) // dwShra
}

// compare returns 1 if the comparison op is true for a and b, and otherwise 0.
func compare(op byte, a, b int64) uint64 {
	is := false
	switch op {
	case dwEq:
		is = a == b
	case dwGe:
		is = a >= b
	case dwGt:
		is = a > b
	case dwLe:
		is = a <= b
	case dwLt:
		is = a < b
	case dwNe:
		is = a != b
	}
	if is {
		return 1
	}
	return 0
}
