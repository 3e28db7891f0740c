package exec

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/asm"
)

// An emulator executes code with numbers, as a processor would, and compares what a Table says with what it knows: who
// has called the code. It takes random branches. Instructions are decoded by x86asm, and their kinds by disasm/amd64.
type emulator struct {
	t      *testing.T
	code   Code
	table  *Table
	insts  map[uint64]asm.Inst
	target map[uint64]bool // targets of jumps
	random *rand.Rand
	Registers
	memory map[uint64]byte
	truth  Registers // of the caller
	known  emulated
	polled bool // the code stores its return address itself
}

// emulated counts instructions: all that were executed, and those whose frames the Table knew.
type emulated struct{ all, known, returns int }

// emulateAll executes a number of paths from each seed.
func emulateAll(t *testing.T, c Code, table *Table, paths int) emulated {
	t.Helper()
	e := emulator{t: t, code: c, table: table, insts: map[uint64]asm.Inst{}, target: map[uint64]bool{},
		random: rand.New(rand.NewPCG(3, 4))}
	for _, in := range amd64.Decode(asm.ATT, c.Bytes, c.Lo) {
		e.insts[in.Addr] = in
		if in.Kind == asm.Jump || in.Kind == asm.CondJump {
			e.target[in.Target] = true
		}
	}
	for _, s := range c.Seeds {
		for range paths {
			e.begin(s)
			if !e.run() {
				return e.known
			}
		}
	}
	return e.known
}

// begin sets registers and memory to what the seed promises.
func (e *emulator) begin(s Seed) {
	e.memory, e.polled = map[uint64]byte{}, s.start.kind == polled
	e.Registers = Registers{PC: s.At}
	for r := range AMD64.registers {
		e.Set(r, e.random.Uint64())
	}
	sp := 0x7ffe_0000_0000 + e.random.Uint64N(1<<20)*8
	if s.start.kind == thrown || s.start.exceptionPC || s.start.java {
		sp &^= 15
	}
	e.truth = e.Registers
	e.truth.PC = e.random.Uint64()
	e.truth.R[RSP] = sp
	e.R[RSP] = sp
	switch s.start.kind {
	case called:
		e.push(e.truth.PC)
	case methodEntry:
		e.R[RSP] -= 8 * e.random.Uint64N(4)
		e.push(e.truth.PC)
		e.R[R13] = sp
	case interpreted:
		e.R[RBP] = sp - 0x100
		e.R[RSP] = sp - 0x180
		e.write(sp-0xf8, e.truth.PC, 8)
		e.write(sp-0x100, e.truth.R[RBP], 8)
		e.write(sp-0x108, sp, 8)
	case completeFrame:
		e.R[RSP] -= uint64(s.start.frameSize)
		e.write(sp-8, e.truth.PC, 8)
	case framed:
		e.R[RSP] -= 0x180
		e.R[RBP] = sp - 16
		e.write(sp-8, e.truth.PC, 8)
		e.write(sp-16, e.truth.R[RBP], 8)
	case thrown:
		e.R[RDX] = e.truth.PC
	}
	if s.start.senderSP {
		e.R[R13] = sp
	}
	if s.start.exceptionPC {
		e.R[RDX] = e.truth.PC
	}
}

// run executes a path, and reports whether all was as the Table says.
func (e *emulator) run() bool {
	called := false
	for range 400 {
		in, ok := e.insts[e.PC]
		if !ok || in.Bad || traps.MatchString(in.Text) {
			return true
		}
		e.known.all++
		if f, ok := e.table.At(e.PC); ok && !f.Assumed {
			e.known.known++
			if !e.compare(f, in) {
				return false
			}
		}
		next := e.PC + uint64(in.Len)
		switch in.Kind {
		case asm.Return:
			e.known.returns++
			if e.PC = e.pop(); !e.inside(e.PC) {
				return e.PC == e.truth.PC && e.R[RSP] == e.truth.R[RSP]
			}
			continue
		case asm.Jump:
			next = in.Target
		case asm.CondJump:
			if e.random.IntN(2) == 0 {
				next = in.Target
			}
		case asm.Call:
			switch {
			case in.Target == next:
				e.push(next)
			case e.code.followsCalls && e.inside(in.Target):
				e.push(next)
				next = in.Target
			default:
				called = true
				for _, r := range []int{RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11} {
					e.R[r] = e.random.Uint64()
				}
			}
		default:
			e.execute(next)
		}
		switch {
		case !e.target[next]:
		case called && next == e.PC+uint64(in.Len): // nobody knows whether the call returns
			return true
		default:
			called = false
		}
		e.PC = next
	}
	return true
}

func (e *emulator) inside(pc uint64) bool {
	return pc >= e.code.Lo && pc < e.code.Lo+uint64(len(e.code.Bytes))
}

// compare compares the caller that a frame leads to with the true one.
func (e *emulator) compare(f Frame, in asm.Inst) bool {
	got, ok := f.Caller(&e.Registers, func(addr uint64) (uint64, bool) { return e.read(addr, 8), true })
	if !ok || got.PC != e.truth.PC || got.R[RSP] != e.truth.R[RSP] {
		e.t.Errorf("%#x: %s: %v: pc %#x, want %#x; rsp %#x, want %#x", e.PC, in.Text, f,
			got.PC, e.truth.PC, got.R[RSP], e.truth.R[RSP])
		return false
	}
	for _, r := range AMD64.preserved {
		if got.Has(r) && got.R[r] != e.truth.R[r] {
			e.t.Errorf("%#x: %s: %v: %s is %#x, want %#x", e.PC, in.Text, f, AMD64.names[r], got.R[r], e.truth.R[r])
			return false
		}
	}
	return true
}

func (e *emulator) write(addr, v uint64, n int) {
	for i := range n {
		e.memory[addr+uint64(i)] = byte(v >> (8 * i))
	}
}

func (e *emulator) read(addr uint64, n int) (v uint64) {
	for i := range n {
		b, ok := e.memory[addr+uint64(i)]
		if !ok {
			b = byte(e.random.Uint32())
			e.memory[addr+uint64(i)] = b
		}
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (e *emulator) push(v uint64) {
	e.R[RSP] -= 8
	e.write(e.R[RSP], v, 8)
}

func (e *emulator) pop() uint64 {
	v := e.read(e.R[RSP], 8)
	e.R[RSP] += 8
	return v
}

// execute executes an instruction that is not a branch.
func (e *emulator) execute(next uint64) {
	in, err := x86asm.Decode(e.code.Bytes[e.PC-e.code.Lo:next-e.code.Lo], 64)
	if err != nil || e.PC+uint64(in.Len) != next {
		return // with a VEX or EVEX prefix. It has no effect here, while for a Table the registers become unknown.
	}
	args := in.Args
	switch in.Op {
	case x86asm.PUSH:
		e.push(e.get(args[0], &in))
	case x86asm.PUSHFQ:
		e.push(2)
	case x86asm.POP:
		e.put(args[0], e.pop(), &in)
	case x86asm.POPFQ:
		e.pop()
	case x86asm.MOV:
		e.put(args[0], e.get(args[1], &in), &in)
	case x86asm.LEA:
		e.put(args[0], e.address(args[1].(x86asm.Mem)), &in)
	case x86asm.ADD:
		e.put(args[0], e.get(args[0], &in)+e.get(args[1], &in), &in)
	case x86asm.SUB:
		e.put(args[0], e.get(args[0], &in)-e.get(args[1], &in), &in)
	case x86asm.INC:
		e.put(args[0], e.get(args[0], &in)+1, &in)
	case x86asm.DEC:
		e.put(args[0], e.get(args[0], &in)-1, &in)
	case x86asm.AND:
		e.put(args[0], e.get(args[0], &in)&e.get(args[1], &in), &in)
	case x86asm.XCHG:
		a, b := e.get(args[0], &in), e.get(args[1], &in)
		e.put(args[0], b, &in)
		e.put(args[1], a, &in)
	case x86asm.ENTER:
		e.push(e.R[RBP])
		e.R[RBP] = e.R[RSP]
		e.R[RSP] -= uint64(args[0].(x86asm.Imm))
	case x86asm.LEAVE:
		e.R[RSP] = e.R[RBP]
		e.R[RBP] = e.pop()
	case x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.BT, x86asm.PREFETCHW, x86asm.PREFETCHNTA,
		x86asm.PREFETCHT0, x86asm.UCOMISD, x86asm.UCOMISS:
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.CDQ, x86asm.CQO, x86asm.CPUID, x86asm.RDTSC:
		e.R[RAX], e.R[RDX] = e.random.Uint64(), e.random.Uint64()
	case x86asm.FXSAVE, x86asm.FXSAVE64, x86asm.FXRSTOR, x86asm.FXRSTOR64, x86asm.LDMXCSR:
	default:
		if args[0] != nil {
			e.put(args[0], e.random.Uint64(), &in)
		}
	}
}

// general returns the number of a general register, and the size of the operand in bytes.
func generalOf(r x86asm.Reg) (number, size int, ok bool) {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX), 8, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX), 4, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX), 2, true
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL), 1, true
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return int(r-x86asm.SPB) + 4, 1, true
	}
	return 0, 0, false
}

func (e *emulator) get(a x86asm.Arg, in *x86asm.Inst) uint64 {
	switch a := a.(type) {
	case x86asm.Reg:
		if n, size, ok := generalOf(a); ok {
			return e.R[n] << (64 - 8*size) >> (64 - 8*size)
		}
	case x86asm.Imm:
		return uint64(a)
	case x86asm.Mem:
		return e.read(e.address(a), max(in.MemBytes, 1))
	}
	return e.random.Uint64()
}

func (e *emulator) put(a x86asm.Arg, v uint64, in *x86asm.Inst) {
	switch a := a.(type) {
	case x86asm.Reg:
		n, size, ok := generalOf(a)
		switch {
		case !ok:
		case size >= 4:
			e.R[n] = v << (64 - 8*size) >> (64 - 8*size)
		default:
			mask := uint64(1)<<(8*size) - 1
			e.R[n] = e.R[n]&^mask | v&mask
		}
	case x86asm.Mem:
		addr := e.address(a)
		if in.MemBytes == 8 && addr == e.truth.R[RSP]-8 && (e.polled || e.read(addr, 8) == e.truth.PC) {
			e.truth.PC = v // the code replaces its return address
		}
		e.write(addr, v, min(in.MemBytes, 8))
	}
}

func (e *emulator) address(m x86asm.Mem) uint64 {
	if m.Segment == x86asm.FS || m.Segment == x86asm.GS || m.Base == x86asm.RIP {
		return e.random.Uint64()
	}
	addr := uint64(m.Disp)
	if n, size, ok := generalOf(m.Base); ok && size == 8 {
		addr += e.R[n]
	}
	if n, _, ok := generalOf(m.Index); ok {
		addr += e.R[n] * uint64(m.Scale)
	}
	return addr
}
