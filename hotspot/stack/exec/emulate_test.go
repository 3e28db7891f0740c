package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/arm64"
	"github.com/gasm-profiler/gasm/disasm/asm"
)

// An emulator executes code with numbers, as a processor would. It knows who has called the code, and compares this
// with what a Table says. It takes random branches, whose targets come from packages disasm/amd64 and disasm/arm64.
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
	for _, in := range disassemble(c) {
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

// disassemble returns the instructions of some code.
func disassemble(c Code) []asm.Inst {
	if c.arch != AMD64 {
		return arm64.Decode(c.Bytes, c.Lo)
	}
	return amd64.Decode(asm.ATT, c.Bytes, c.Lo)
}

// begin sets registers and memory to what the seed promises.
func (e *emulator) begin(s Seed) {
	e.memory, e.polled = map[uint64]byte{}, s.start.kind == polled
	e.Registers = Registers{PC: s.At}
	a := e.code.arch
	for r := range a.registers {
		e.Set(r, e.random.Uint64())
	}
	sp := 0x7ffe_0000_0000 + e.random.Uint64N(1<<20)*8
	if s.start.kind == thrown || s.start.exceptionPC || s.start.java || a != AMD64 {
		sp &^= 15
	}
	e.truth = e.Registers
	e.truth.PC = e.random.Uint64()
	e.truth.R[a.sp] = sp
	e.R[a.sp] = sp
	switch s.start.kind {
	case called:
		e.call(e.truth.PC)
	case methodEntry:
		e.R[a.sp] -= 16 * e.random.Uint64N(4)
		e.call(e.truth.PC)
		e.R[a.senderSP] = sp
	case interpreted:
		e.R[a.fp] = sp - 0x100
		e.R[a.sp] = sp - 0x180
		e.write(sp-0xf8, e.truth.PC, 8)
		e.write(sp-0x100, e.truth.R[a.fp], 8)
		e.write(sp-0x108, sp, 8)
	case completeFrame:
		e.R[a.sp] -= uint64(s.start.frameSize)
		e.write(sp-8, e.truth.PC, 8)
	case framed:
		e.R[a.sp] -= 0x180
		e.R[a.fp] = sp - 16
		e.write(sp-8, e.truth.PC, 8)
		e.write(sp-16, e.truth.R[a.fp], 8)
	case thrown:
		e.R[a.exceptionPC] = e.truth.PC
		if a.link != noReg {
			e.R[a.link] = e.truth.PC
		}
	}
	if s.start.senderSP {
		e.R[a.senderSP] = sp
	}
	if s.start.exceptionPC {
		e.R[a.exceptionPC] = e.truth.PC
	}
}

// run executes a path, and reports whether the Table was right at every instruction.
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
			if e.ret(); !e.inside(e.PC) {
				return e.PC == e.truth.PC && e.R[e.code.arch.sp] == e.truth.R[e.code.arch.sp]
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
				for r := range e.code.arch.registers {
					if e.code.arch.kept>>r&1 == 0 {
						e.R[r] = e.random.Uint64()
					}
				}
			}
		default:
			if e.code.arch != AMD64 {
				e.executeARM64(in)
			} else {
				e.executeAMD64(next)
			}
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
	if !ok || got.PC != e.truth.PC || got.R[e.code.arch.sp] != e.truth.R[e.code.arch.sp] {
		e.t.Errorf("%#x: %s: %v: pc %#x, want %#x; sp %#x, want %#x", e.PC, in.Text, f,
			got.PC, e.truth.PC, got.R[e.code.arch.sp], e.truth.R[e.code.arch.sp])
		return false
	}
	for _, r := range e.code.arch.preserved {
		if got.Has(r) && got.R[r] != e.truth.R[r] {
			e.t.Errorf("%#x: %s: %v: %s is %#x, want %#x", e.PC, in.Text, f, e.code.arch.names[r], got.R[r], e.truth.R[r])
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

// call stores the return address as a call instruction does.
func (e *emulator) call(from uint64) {
	if e.code.arch.link == noReg {
		e.push(from)
	} else {
		e.R[e.code.arch.link] = from
	}
}

func (e *emulator) ret() {
	if e.code.arch.link == noReg {
		e.PC = e.pop()
	} else {
		e.PC = e.R[e.code.arch.link]
	}
}

// store writes to the stack. Code that replaces its return address has another caller after that.
func (e *emulator) store(addr, v uint64, n int) {
	if n == 8 && addr == e.truth.R[e.code.arch.sp]-8 && (e.polled || e.read(addr, 8) == e.truth.PC) {
		e.truth.PC = v
	}
	e.write(addr, v, n)
}
