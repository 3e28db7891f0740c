package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// specialSpellings has the operations that are spelled in a special way. All other operations are printed as their name
// in x86asm, in lower case, followed by the operands.
var specialSpellings = map[x86asm.Op]spelling{
	// Integer instructions. Their operands do not always determine the size.
	x86asm.ADC:        {suffix: suffixSize, imm: immOperand, lockable: true},
	x86asm.ADD:        {suffix: suffixSize, imm: immOperand, lockable: true},
	x86asm.AND:        {suffix: suffixSize, imm: immOperand, lockable: true},
	x86asm.BT:         {suffix: suffixSize},
	x86asm.BTC:        {suffix: suffixSize, lockable: true},
	x86asm.BTR:        {suffix: suffixSize, lockable: true},
	x86asm.BTS:        {suffix: suffixSize, lockable: true},
	x86asm.CMP:        {suffix: suffixSize, imm: immOperand},
	x86asm.DEC:        {suffix: suffixSize, lockable: true},
	x86asm.DIV:        {suffix: suffixSize},
	x86asm.IDIV:       {suffix: suffixSize},
	x86asm.IMUL:       {suffix: suffixSize, imm: immOperand},
	x86asm.INC:        {suffix: suffixSize, lockable: true},
	x86asm.MOV:        {suffix: suffixSize, imm: immOperand},
	x86asm.MUL:        {suffix: suffixSize},
	x86asm.NEG:        {suffix: suffixSize, lockable: true},
	x86asm.NOP:        {suffix: suffixSize},
	x86asm.NOT:        {suffix: suffixSize, lockable: true},
	x86asm.OR:         {suffix: suffixSize, imm: immOperand, lockable: true},
	x86asm.RCL:        {suffix: suffixShift},
	x86asm.RCR:        {suffix: suffixShift},
	x86asm.ROL:        {suffix: suffixShift},
	x86asm.ROR:        {suffix: suffixShift},
	x86asm.SAR:        {suffix: suffixShift},
	x86asm.SBB:        {suffix: suffixSize, imm: immOperand, lockable: true},
	x86asm.SHL:        {suffix: suffixShift},
	x86asm.SHR:        {suffix: suffixShift},
	x86asm.SUB:        {suffix: suffixSize, imm: immOperand, lockable: true},
	x86asm.TEST:       {suffix: suffixSize, imm: immOperand},
	x86asm.XOR:        {suffix: suffixSize, imm: immOperand, lockable: true},
	x86asm.CMPXCHG:    {lockable: true},
	x86asm.CMPXCHG8B:  {lockable: true},
	x86asm.CMPXCHG16B: {lockable: true, mem: owordSize},
	x86asm.XADD:       {lockable: true},
	x86asm.XCHG:       {lockable: true},

	// Flow of control.
	x86asm.CALL:   {kind: asm.Call, suffix: suffixWord, indirect: true, noW: true, near: true},
	x86asm.LCALL:  {kind: asm.Call, indirect: true, intel: "call", att: "lcall"},
	x86asm.JMP:    {kind: asm.Jump, suffix: suffixWord, indirect: true, noW: true, near: true},
	x86asm.LJMP:   {kind: asm.Jump, indirect: true, intel: "jmp", att: "ljmp"},
	x86asm.RET:    {kind: asm.Return, imm: immWord, near: true},
	x86asm.LRET:   {kind: asm.Return, imm: immWord, intel: "retf", att: "lret"},
	x86asm.IRET:   {kind: asm.Return, intel: "iretw"},
	x86asm.IRETD:  {kind: asm.Return, intel: "iret"},
	x86asm.IRETQ:  {kind: asm.Return},
	x86asm.SYSRET: {kind: asm.Return, intel: "sysretd", att: "sysretl"},
	x86asm.JA:     {kind: asm.CondJump, noW: true, near: true},
	x86asm.JAE:    {kind: asm.CondJump, noW: true, near: true},
	x86asm.JB:     {kind: asm.CondJump, noW: true, near: true},
	x86asm.JBE:    {kind: asm.CondJump, noW: true, near: true},
	x86asm.JE:     {kind: asm.CondJump, noW: true, near: true},
	x86asm.JG:     {kind: asm.CondJump, noW: true, near: true},
	x86asm.JGE:    {kind: asm.CondJump, noW: true, near: true},
	x86asm.JL:     {kind: asm.CondJump, noW: true, near: true},
	x86asm.JLE:    {kind: asm.CondJump, noW: true, near: true},
	x86asm.JNE:    {kind: asm.CondJump, noW: true, near: true},
	x86asm.JNO:    {kind: asm.CondJump, noW: true, near: true},
	x86asm.JNP:    {kind: asm.CondJump, noW: true, near: true},
	x86asm.JNS:    {kind: asm.CondJump, noW: true, near: true},
	x86asm.JO:     {kind: asm.CondJump, noW: true, near: true},
	x86asm.JP:     {kind: asm.CondJump, noW: true, near: true},
	x86asm.XBEGIN: {kind: asm.CondJump}, // jumps if the transaction aborts
	x86asm.JS:     {kind: asm.CondJump, noW: true, near: true},
	x86asm.JECXZ:  {kind: asm.CondJump, noW: true},
	x86asm.JRCXZ:  {kind: asm.CondJump, noW: true},
	x86asm.LOOP:   {kind: asm.CondJump, noW: true},
	x86asm.LOOPE:  {kind: asm.CondJump, noW: true},
	x86asm.LOOPNE: {kind: asm.CondJump, noW: true},

	// Names that differ between the two syntaxes.
	x86asm.CBW:       {att: "cbtw"},
	x86asm.CWDE:      {att: "cwtl"},
	x86asm.CDQE:      {att: "cltq"},
	x86asm.CWD:       {att: "cwtd"},
	x86asm.CDQ:       {att: "cltd"},
	x86asm.CQO:       {att: "cqto"},
	x86asm.MOVSX:     {att: "movs", suffix: suffixExtend},
	x86asm.MOVZX:     {att: "movz", suffix: suffixExtend},
	x86asm.MOVSXD:    {},
	x86asm.CRC32:     {suffix: suffixMemory},
	x86asm.CVTSI2SD:  {suffix: suffixMemory},
	x86asm.CVTSI2SS:  {suffix: suffixMemory},
	x86asm.MOVSD_XMM: {intel: "movsd"},
	x86asm.CMPSD_XMM: {intel: "cmpsd"},
	x86asm.ICEBP:     {intel: "int1"},

	// The stack.
	x86asm.PUSH:   {imm: immStack, suffix: suffixWord, noW: true},
	x86asm.POP:    {suffix: suffixWord, noW: true},
	x86asm.ENTER:  {imm: immWord, noW: true, inOrder: true},
	x86asm.LEAVE:  {noW: true},
	x86asm.PUSHF:  {intel: "pushfw"},
	x86asm.PUSHFQ: {intel: "pushf", noW: true},
	x86asm.POPF:   {intel: "popfw"},
	x86asm.POPFQ:  {intel: "popf", noW: true},

	// String instructions.
	x86asm.INSB:  {att: "insb", intel: "ins", implied: true, port: true, rep: true, mem: 1},
	x86asm.INSW:  {att: "insw", intel: "ins", implied: true, port: true, rep: true, mem: 2},
	x86asm.INSD:  {att: "insl", intel: "ins", implied: true, noW: true, port: true, rep: true, mem: 4},
	x86asm.OUTSB: {att: "outsb", intel: "outs", implied: true, port: true, rep: true, mem: 1},
	x86asm.OUTSW: {att: "outsw", intel: "outs", implied: true, port: true, rep: true, mem: 2},
	x86asm.OUTSD: {att: "outsl", intel: "outs", implied: true, noW: true, port: true, rep: true, mem: 4},
	x86asm.MOVSB: {att: "movsb", intel: "movs", implied: true, rep: true, mem: 1},
	x86asm.MOVSW: {att: "movsw", intel: "movs", implied: true, rep: true, mem: 2},
	x86asm.MOVSD: {att: "movsl", intel: "movs", implied: true, rep: true, mem: 4},
	x86asm.MOVSQ: {att: "movsq", intel: "movs", implied: true, rep: true, mem: 8},
	x86asm.CMPSB: {att: "cmpsb", intel: "cmps", implied: true, mem: 1},
	x86asm.CMPSW: {att: "cmpsw", intel: "cmps", implied: true, mem: 2},
	x86asm.CMPSD: {att: "cmpsl", intel: "cmps", implied: true, mem: 4},
	x86asm.CMPSQ: {att: "cmpsq", intel: "cmps", implied: true, mem: 8},
	x86asm.LODSB: {intel: "lods", implied: true, rep: true, mem: 1},
	x86asm.LODSW: {intel: "lods", implied: true, rep: true, mem: 2},
	x86asm.LODSD: {intel: "lods", implied: true, rep: true, mem: 4},
	x86asm.LODSQ: {intel: "lods", implied: true, rep: true, mem: 8},
	x86asm.STOSB: {intel: "stos", implied: true, rep: true, mem: 1},
	x86asm.STOSW: {intel: "stos", implied: true, rep: true, mem: 2},
	x86asm.STOSD: {intel: "stos", implied: true, rep: true, mem: 4},
	x86asm.STOSQ: {intel: "stos", implied: true, rep: true, mem: 8},
	x86asm.SCASB: {intel: "scas", implied: true, mem: 1},
	x86asm.SCASW: {intel: "scas", implied: true, mem: 2},
	x86asm.SCASD: {intel: "scas", implied: true, mem: 4},
	x86asm.SCASQ: {intel: "scas", implied: true, mem: 8},
	x86asm.XLATB: {intel: "xlat", implied: true, noW: true, mem: 1},

	// x87 instructions. In AT&T syntax, they have other size suffixes than integer instructions.
	x86asm.FADD:   {suffix: suffixFloat},
	x86asm.FMUL:   {suffix: suffixFloat},
	x86asm.FCOM:   {suffix: suffixFloat},
	x86asm.FCOMP:  {suffix: suffixFloat},
	x86asm.FSUB:   {suffix: suffixFloat},
	x86asm.FSUBR:  {suffix: suffixFloat},
	x86asm.FDIV:   {suffix: suffixFloat},
	x86asm.FDIVR:  {suffix: suffixFloat},
	x86asm.FLD:    {suffix: suffixFloat},
	x86asm.FST:    {suffix: suffixFloat},
	x86asm.FSTP:   {suffix: suffixFloat},
	x86asm.FIADD:  {suffix: suffixInt},
	x86asm.FIMUL:  {suffix: suffixInt},
	x86asm.FICOM:  {suffix: suffixInt},
	x86asm.FICOMP: {suffix: suffixInt},
	x86asm.FISUB:  {suffix: suffixInt},
	x86asm.FISUBR: {suffix: suffixInt},
	x86asm.FIDIV:  {suffix: suffixInt},
	x86asm.FIDIVR: {suffix: suffixInt},
	x86asm.FILD:   {suffix: suffixInt},
	x86asm.FIST:   {suffix: suffixInt},
	x86asm.FISTP:  {suffix: suffixInt},
	x86asm.FISTTP: {suffix: suffixInt},
	x86asm.FBLD:   {mem: 10},
	x86asm.FBSTP:  {mem: 10},

	// Ports, and memory operands whose size x86asm does not know.
	x86asm.IN:          {noW: true, port: true},
	x86asm.OUT:         {noW: true, port: true},
	x86asm.PREFETCHT0:  {mem: 1},
	x86asm.PREFETCHT1:  {mem: 1},
	x86asm.PREFETCHT2:  {mem: 1},
	x86asm.PREFETCHNTA: {mem: 1},
	x86asm.PREFETCHW:   {mem: 1},
	x86asm.CLFLUSH:     {mem: 1},
	x86asm.INVLPG:      {mem: 1},
	x86asm.LDDQU:       {mem: noSize},

	// Vector instructions for which x86asm has several ops, one for each encoding.
	x86asm.VPEXTRW_C5:   {intel: "vpextrw"},
	x86asm.VPCMPESTRI64: {intel: "vpcmpestriq"},
	x86asm.VPCMPESTRM64: {intel: "vpcmpestrmq"},
	x86asm.VPCMPISTRI64: {intel: "vpcmpistri"},
}

// Spellings that depend on the encoding and not only on the operation (see respell).
var (
	spellMovabs = spelling{att: "movabs", intel: "movabs", imm: immOperand, mem: noSize}
	spellLretq  = spelling{att: "lretq", intel: "retfq", kind: asm.Return, imm: immWord}
	spellSysret = spelling{att: "sysretq", intel: "sysretq", kind: asm.Return}
	spellMov    = spelling{att: "mov", intel: "mov", mem: noSize}
	spellMovslq = spelling{att: "movslq", intel: "movsxd"}
	spellInt3   = spelling{att: "int3", intel: "int3"}
)

// waitingSpellings are the names of x87 instructions after an fwait. For example, the bytes 9b d9 3c 24 are fstcw,
// and without the 9b they are fnstcw.
var waitingSpellings = map[x86asm.Op]spelling{
	x86asm.FNSTCW:  {att: "fstcw", intel: "fstcw"},
	x86asm.FNSTSW:  {att: "fstsw", intel: "fstsw"},
	x86asm.FNSTENV: {att: "fstenv", intel: "fstenv"},
	x86asm.FNSAVE:  {att: "fsave", intel: "fsave"},
	x86asm.FNCLEX:  {att: "fclex", intel: "fclex"},
	x86asm.FNINIT:  {att: "finit", intel: "finit"},
}
