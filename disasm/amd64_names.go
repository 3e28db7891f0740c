package disasm

import (
	"strconv"
	"strings"
	"sync"

	"golang.org/x/arch/x86/x86asm"
)

// A spelling is how an operation is written.
type spelling struct {
	att, intel string
	kind       Kind
	suffix     suffix
	imm        immWidth
	implied    bool // its memory operands are not in the code
	indirect   bool // AT&T marks its operand with *
	inOrder    bool // AT&T does not reverse its operands
	port       bool // AT&T writes the port as (%dx)
	near       bool // a near branch, on which F2 is "bnd"
	noW        bool // REX.W changes nothing, so it is printed as a word: "rex.W"
	rep        bool // a string instruction on which F3 is "rep", not "repz"
	mem        int8 // size of the memory operand if x86asm does not know it; noSize if it has none
	lockable   bool // takes lock, and xacquire and xrelease with it

	// Vector operations.
	saeOnly     bool           // EVEX.b of a register form suppresses exceptions and does not round
	widens      bool           // elements of the result are twice as wide as those of the source
	usuallyEVEX bool           // the VEX form is the odd one, marked {vex}
	wide        bool           // converts from or to a general register, of 64 bits with W
	onlyEVEX    bool           // has a VEX form too, but objdump does not mark the EVEX form
	split       int            // where the mnemonic takes the name of a predicate, 0 if it does not
	table       predicateTable // of such names
}

const (
	noSize    = -1 // a memory operand without a size
	owordSize = 15 // 16 bytes that are no vector
)

// A predicateTable says which names an immediate has.
type predicateTable uint8

const (
	predicateFloat predicateTable = iota
	predicateInt
	predicateCarryless
)

// A suffix is what AT&T appends to a mnemonic.
type suffix uint8

const (
	noSuffix     suffix = iota
	suffixSize          // b w l q: the size of the operation, if no register tells it
	suffixShift         // the same, but a shift count does not tell the size
	suffixMemory        // the same of an operand in memory, whatever the registers are
	suffixFloat         // s l t: of an x87 operand
	suffixInt           // s l ll: of an x87 integer
	suffixExtend        // bl wq …: what is widened, and to what
	suffixWord          // w, in Intel's syntax too: 16 bits, which is not the usual size
	suffixVector        // x y: the length of a vector in memory
	suffixClass         // x y z: the same, of vfpclass
)

// An immWidth is how wide an immediate is printed.
type immWidth uint8

const (
	immByte    immWidth = iota
	immOperand          // as the first operand
	immWord
	immStack // as what is pushed
)

// spellings has the spelling of every x86asm.Op. It is made once, when first needed.
var spellings = sync.OnceValue(func() []spelling {
	all := make([]spelling, x86asm.VZEROUPPER+1)
	for op := range all {
		all[op] = specialSpellings[x86asm.Op(op)]
		name := strings.ToLower(x86asm.Op(op).String())
		if all[op].intel == "" {
			all[op].intel = name
		}
		if all[op].att == "" {
			all[op].att = all[op].intel
		}
		vectorSpelling(&all[op], all[op].intel)
	}
	return all
})

var ptrNames = [65]string{
	1: "BYTE PTR ", 2: "WORD PTR ", 4: "DWORD PTR ", 6: "FWORD PTR ", 8: "QWORD PTR ", 10: "TBYTE PTR ",
	owordSize: "OWORD PTR ",
	16:        "XMMWORD PTR ", 32: "YMMWORD PTR ", 64: "ZMMWORD PTR ",
}

// bcstNames are those of an element that is repeated.
var bcstNames = [65]string{2: "WORD BCST ", 4: "DWORD BCST ", 8: "QWORD BCST "}

// regName is the name of a register in the syntax at hand.
func (x *x86) regName(r x86asm.Reg) string {
	return regNames[x.syntax][r]
}

var regNames = [...][256]string{ATT: makeRegNames("%"), Intel: makeRegNames("")}

// makeRegNames gives each register its name in GNU's spelling.
func makeRegNames(mark string) (names [256]string) {
	debug := "dr"
	if mark != "" {
		debug = "db"
	}
	low := []string{"a", "c", "d", "b"}
	high := []string{"sp", "bp", "si", "di"}
	for i := range x86asm.Reg(4) {
		names[x86asm.AL+i] = mark + low[i] + "l"
		names[x86asm.AH+i] = mark + low[i] + "h"
		names[x86asm.SPB+i] = mark + high[i] + "l"
		names[x86asm.AX+i] = mark + low[i] + "x"
		names[x86asm.SP+i] = mark + high[i]
		names[x86asm.EAX+i] = mark + "e" + low[i] + "x"
		names[x86asm.ESP+i] = mark + "e" + high[i]
		names[x86asm.RAX+i] = mark + "r" + low[i] + "x"
		names[x86asm.RSP+i] = mark + "r" + high[i]
	}
	for _, b := range []struct {
		first  x86asm.Reg
		number int // of the first
		count  int
		name   string
		tail   string
	}{
		{x86asm.R8B, 8, 8, "r", "b"}, {x86asm.R8W, 8, 8, "r", "w"}, {x86asm.R8L, 8, 8, "r", "d"},
		{x86asm.R8, 8, 8, "r", ""},
		{x86asm.F0, 0, 8, "st(", ")"}, {x86asm.M0, 0, 8, "mm", ""}, {x86asm.K0, 0, 8, "k", ""},
		{x86asm.X0, 0, 32, "xmm", ""}, {x86asm.Y0, 0, 32, "ymm", ""}, {x86asm.Z0, 0, 32, "zmm", ""},
		{x86asm.CR0, 0, 16, "cr", ""}, {x86asm.DR0, 0, 16, debug, ""}, {x86asm.TR0, 0, 8, "tr", ""},
	} {
		for i := range b.count {
			names[int(b.first)+i] = mark + b.name + strconv.Itoa(b.number+i) + b.tail
		}
	}
	names[x86asm.F0] = mark + "st"
	for i, s := range []string{"es", "cs", "ss", "ds", "fs", "gs"} {
		names[x86asm.ES+x86asm.Reg(i)] = mark + s
	}
	return names
}
