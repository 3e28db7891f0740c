package stack

import (
	"encoding/binary"
	"runtime"

	"github.com/gasm-profiler/gasm/hotspot/stack/exec"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A processor is what walks need to know about an instruction set, and about HotSpot's conventions on it. Registers
// have DWARF's numbers.
type processor struct {
	exec *exec.Arch
	// before20 replaces exec for JDK 8 to 19, whose conventions may differ.
	before20 *exec.Arch
	// numbers maps DWARF's numbers of registers to those of package exec.
	numbers []int
	// sampled maps DWARF's numbers of registers to indexes in a sample's registers. pc is the index of the program
	// counter.
	sampled []int
	pc      int

	sp, fp int
	// link is the register in which a call leaves the return address; -1 if a call pushes it.
	link int
	// preserved has a bit for each register that C functions preserve, except for sp.
	preserved uint32
	// low is true if an interpreter frame reserves stack space for everything that its method may push. When such a
	// frame calls another method, its stack pointer is below this space, but the frame of the called method begins
	// inside it.
	low bool
	// pushes is true if methods push registers before they call C functions, which makes their frame larger during the
	// call (MacroAssembler::call_VM_leaf_base).
	pushes bool
	// signs is true if return addresses may have a signature in their upper bits.
	signs bool

	// bcp is the register with the address of the bytecode that the interpreter executes. method is the register with
	// the address of the Method when the interpreter enters a method.
	bcp, method int
	// methodSlot and bcpSlot say where an interpreter frame has these two addresses, in bytes below fp. For JDK 8,
	// bcpSlot8 replaces bcpSlot.
	methodSlot, bcpSlot, bcpSlot8 uint64
	// monitorsBelowBCP is the distance in bytes from the slot with the bytecode's address down to the slot that says
	// where the monitors are.
	monitorsBelowBCP uint64

	// endsWithCall reports whether the last instruction of a piece of code is a call.
	endsWithCall func(code []byte) bool
}

// processors are the supported processors, by the names that Go has for their architectures.
var processors = map[string]*processor{"amd64": amd64, "arm64": arm64}

// Supported reports whether stacks can be walked on this machine's processor.
func Supported() bool { return processors[runtime.GOARCH] != nil }

// DWARF's numbers of x86-64 registers (System V ABI, AMD64 supplement, figure 3.36).
const (
	rax = iota
	rdx
	rcx
	rbx
	rsi
	rdi
	rbp
	rsp
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15
)

var amd64 = &processor{
	exec: exec.AMD64, before20: exec.AMD64,
	numbers: []int{rax: exec.RAX, rdx: exec.RDX, rcx: exec.RCX, rbx: exec.RBX, rsi: exec.RSI, rdi: exec.RDI, rbp: exec.RBP,
		rsp: exec.RSP,
		r8:  exec.R8, r9: exec.R9, r10: exec.R10, r11: exec.R11, r12: exec.R12, r13: exec.R13, r14: exec.R14, r15: exec.R15},
	sampled: []int{perfevent.AX, perfevent.DX, perfevent.CX, perfevent.BX, perfevent.SI, perfevent.DI, perfevent.BP,
		perfevent.SP,
		perfevent.R8, perfevent.R9, perfevent.R10, perfevent.R11, perfevent.R12, perfevent.R13, perfevent.R14, perfevent.R15},
	pc: perfevent.IP, sp: rsp, fp: rbp, link: -1,
	preserved: 1<<rbx | 1<<rbp | 1<<r12 | 1<<r13 | 1<<r14 | 1<<r15,
	bcp:       r13, method: rbx, // frame_x86.hpp
	// JDK 8's frames have no slot for the mirror of the class
	methodSlot: 24, bcpSlot: 64, bcpSlot8: 56, monitorsBelowBCP: 8,
	endsWithCall: func(code []byte) bool {
		b := code[len(code)-7:]
		if b[2] == 0xe8 { // call rel32
			return true
		}
		for n := 2; n <= 7; n++ { // call r/m: FF /2, of 2 to 7 bytes
			if b[7-n] == 0xff && b[8-n]>>3&7 == 2 {
				return true
			}
		}
		return false
	},
}

// DWARF, the kernel and package exec give aarch64's registers the same numbers: 0 to 30 are x0 to x30, and 31 is sp.
const (
	x12   = 12
	x22   = 22
	x29   = 29
	x30   = 30
	armSP = 31
)

var arm64 = &processor{
	exec: exec.ARM64, before20: exec.ARM64JDK17, numbers: upTo(armSP), sampled: upTo(armSP), pc: perfevent.ARM64PC,
	sp: armSP, fp: x29, link: x30, preserved: 0x3ff80000, low: true, pushes: true, signs: true,
	bcp: x22, method: x12, // frame_aarch64.hpp
	// JDK 9 and newer have two more slots: the mirror and another word
	methodSlot: 24, bcpSlot: 72, bcpSlot8: 56, monitorsBelowBCP: 8,
	endsWithCall: func(code []byte) bool {
		const armLen = 4
		switch x := binary.LittleEndian.Uint32(code[len(code)-armLen:]); {
		case x>>26 == 0x25: // bl
			return true
		case x&0xfefff000 == 0xd63f0000: // blr, blraa
			return true
		}
		return false
	},
}

// upTo returns the numbers from 0 to n.
func upTo(n int) (numbers []int) {
	for i := range n + 1 {
		numbers = append(numbers, i)
	}
	return numbers
}
