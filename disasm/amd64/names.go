package amd64

import (
	"strconv"
	"strings"
	"sync"

	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// A spelling is how an operation is written.
type spelling struct {
	att, intel string
	kind       asm.Kind
	suffix     suffix
	imm        immWidth
	implied    bool // its memory operands are implied by the opcode
	indirect   bool // AT&T marks its operand with *
	inOrder    bool // AT&T keeps Intel's order of the operands
	port       bool // AT&T writes the port as (%dx)
	near       bool // a near branch, whose F2 prefix is printed as "bnd"
	noW        bool // REX.W has no effect, so its name is printed: "rex.W"
	rep        bool // a string instruction, whose F3 prefix is printed as "rep", not "repz"
	mem        int8 // size of the memory operand if x86asm does not know it; noSize if it is not printed
	lockable   bool // it may have a lock prefix, and then xacquire or xrelease as well

	// For vector operations:
	saeOnly     bool           // EVEX.b of register forms only suppresses exceptions ({sae}); it selects no rounding mode
	widens      bool           // elements of the result are twice as wide as those of the source
	usuallyEVEX bool           // the VEX form is unusual and marked {vex}
	wide        bool           // converts from or to a general register; W makes that register 64 bits wide
	onlyEVEX    bool           // objdump does not mark the EVEX form, even if there is a VEX form
	split       int            // index in the mnemonic where a predicate is inserted; 0 if there are no predicates
	table       predicateTable // the names of the predicates
}

const (
	noSize    = -1 // a memory operand whose size is not printed
	owordSize = 15 // 16 bytes that are not a vector: "OWORD PTR"
)

// A predicateTable is the table with the names for the values of an immediate.
type predicateTable uint8

const (
	predicateFloat predicateTable = iota
	predicateInt
	predicateCarryless
)

// A suffix says what AT&T syntax appends to a mnemonic.
type suffix uint8

const (
	noSuffix     suffix = iota
	suffixSize          // b w l q: the size of the operation, unless a register determines it
	suffixShift         // the same, but a register that holds a shift count does not determine the size
	suffixMemory        // the size of the memory operand, whatever the registers are
	suffixFloat         // s l t: the size of an x87 operand
	suffixInt           // s l ll: the size of an x87 integer
	suffixExtend        // bl wq …: the sizes of the operand before and after it is extended
	suffixWord          // w, even in Intel syntax: the size is 16 bits, which is unusual
	suffixVector        // x y: the length of a vector in memory
	suffixClass         // x y z: the length of a vector in memory, for vfpclass
)

// An immWidth is the width to which an immediate is truncated before it is printed.
type immWidth uint8

const (
	immByte    immWidth = iota
	immOperand          // as wide as the first operand
	immWord
	immDword
	immStack // as wide as what is pushed
)

// spellings returns the spellings of all operations, indexed by x86asm.Op. They are computed in the first call.
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

// bcstNames are Intel's size keywords for a repeated element, indexed by the size of the element in bytes.
var bcstNames = [65]string{2: "WORD BCST ", 4: "DWORD BCST ", 8: "QWORD BCST "}

// regName returns the name of a register in the current syntax.
func (x *x86) regName(r x86asm.Reg) string {
	return regNames[x.syntax][r]
}

var regNames = [...][256]string{asm.ATT: makeRegNames("%"), asm.Intel: makeRegNames("")}

// makeRegNames returns the names of all registers in GNU's spelling.
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
		number int // the number in the name of the first register
		count  int
		name   string
		tail   string
	}{
		{x86asm.R8B, 8, 8, "r", "b"}, {x86asm.R8W, 8, 8, "r", "w"}, {x86asm.R8L, 8, 8, "r", "d"},
		{x86asm.R8, 8, 8, "r", ""},
		{x86asm.F0, 0, 8, "st(", ")"}, {x86asm.M0, 0, 8, "mm", ""}, {x86asm.K0, 0, 8, "k", ""},
		{x86asm.X0, 0, 32, "xmm", ""}, {x86asm.Y0, 0, 32, "ymm", ""}, {x86asm.Z0, 0, 32, "zmm", ""},
		{x86asm.CR0, 0, 16, "cr", ""}, {x86asm.DR0, 0, 16, debug, ""}, {x86asm.TR0, 0, 8, "tr", ""},
		{firstTile, 0, 8, "tmm", ""},
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
