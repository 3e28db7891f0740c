package methoddata

import "encoding/binary"

// The bytecodes of the JVM Specification for which HotSpot makes records, and those whose length depends on their
// operands.
const (
	opAaload          = 50
	opAastore         = 83
	opIinc            = 132
	opIfeq            = 153
	opIfAcmpeq        = 165
	opIfAcmpne        = 166
	opGoto            = 167
	opJsr             = 168
	opRet             = 169
	opTableswitch     = 170
	opLookupswitch    = 171
	opInvokevirtual   = 182
	opInvokespecial   = 183
	opInvokestatic    = 184
	opInvokeinterface = 185
	opInvokedynamic   = 186
	opCheckcast       = 192
	opInstanceof      = 193
	opWide            = 196
	opIfnull          = 198
	opIfnonnull       = 199
	opGotoW           = 200
	opJsrW            = 201
)

// lengthOf has the lengths of the bytecodes of the JVM Specification in bytes. The length is 0 for bytecodes whose
// length depends on their operands, and for numbers that are not bytecodes.
var lengthOf = func() (lengths [256]uint8) {
	for _, r := range []struct {
		from, to int
		length   uint8
	}{
		{0, 201, 1},
		{16, 16, 2}, {17, 17, 3}, {18, 18, 2}, {19, 20, 3}, // bipush, sipush, ldc, ldc_w, ldc2_w
		{21, 25, 2}, {54, 58, 2}, {opRet, opRet, 2}, {188, 188, 2}, // loads, stores, ret, newarray
		{opIinc, opIinc, 3}, {opIfeq, opJsr, 3}, {opIfnull, opIfnonnull, 3},
		{178, opInvokestatic, 3}, {opInvokeinterface, opInvokedynamic, 5},
		{187, 187, 3}, {189, 189, 3}, {opCheckcast, opInstanceof, 3}, // new, anewarray
		{197, 197, 4}, {opGotoW, opJsrW, 5}, // multianewarray
		{opTableswitch, opLookupswitch, 0}, {opWide, opWide, 0},
	} {
		for op := r.from; op <= r.to; op++ {
			lengths[op] = r.length
		}
	}
	return lengths
}()

// Bytecodes returns the bytecode that begins at each index of a method's code, and 0xff at the other indexes. The
// table java maps HotSpot's own bytecodes to the bytecodes of the JVM Specification that they replace. ok is false if
// the bytes are not the code of a method.
func Bytecodes(code []byte, java *[256]byte) (at []byte, ok bool) { return starts(code, java) }

// starts returns the bytecode that begins at each index of a method's code, and 0xff at the other indexes. The table
// java maps HotSpot's own bytecodes to the bytecodes of the Specification that they replace. ok is false if the bytes
// are not the code of a method.
func starts(code []byte, java *[256]byte) (at []byte, ok bool) {
	at = make([]byte, len(code))
	for i := range at {
		at[i] = noBytecode
	}
	for bci := 0; bci < len(code); {
		op := java[code[bci]]
		n := int(lengthOf[op])
		switch op {
		case opWide:
			n = wideLength(code[bci:], java)
		case opTableswitch, opLookupswitch:
			n = switchLength(code, bci, op)
		}
		if n <= 0 || n > len(code)-bci {
			return nil, false
		}
		at[bci] = op
		bci += n
	}
	return at, true
}

// noBytecode is not the number of any bytecode.
const noBytecode = 0xff

// wideLength returns the length of the bytecode wide together with the bytecode that it modifies.
func wideLength(code []byte, java *[256]byte) int {
	switch {
	case len(code) < 2:
		return 0
	case java[code[1]] == opIinc:
		return 6
	}
	return 4
}

// maxCases is an upper bound for the number of cases of a switch: a method has no more than 64 kB of bytecode.
const maxCases = 1 << 14

// switchLength returns the length of a tableswitch or a lookupswitch, whose operands begin at a multiple of four. It
// returns 0 if the operands are cut off or the number of cases is invalid. The operands are big-endian, as in the
// class file.
func switchLength(code []byte, bci int, op byte) int {
	operands := (bci + 4) &^ 3
	if len(code)-operands < 12 {
		return 0
	}
	number := func(n int) int64 { return int64(int32(binary.BigEndian.Uint32(code[operands+4*n:]))) }
	if op == opTableswitch {
		cases := number(2) - number(1) + 1
		if cases < 0 || cases > maxCases {
			return 0
		}
		return operands + 12 + 4*int(cases) - bci
	}
	pairs := number(1)
	if pairs < 0 || pairs > maxCases {
		return 0
	}
	return operands + 8 + 8*int(pairs) - bci
}
