package loops

import "strings"

// An effect is what an instruction does with registers, and which units it needs.
type effect struct {
	unknown bool // the instruction is not in the table, so registers have unknown values after it
	// Each register in writes depends on the registers in data and in address. It has its value at least latency cycles
	// after those in data have theirs, and latency+load cycles after those in address have theirs. The registers in
	// clears get values that depend on nothing that is known.
	data, address  []reg
	writes, clears []reg
	latency        [models]int
	load           int
	// The execution units that the instruction needs.
	reads, stores bool // memory
	wideRead      bool // into a vector register
	unit          unit
	busy          int
	free          bool // the instruction needs no unit: a nop
	idiom         bool // the result does not depend on the operands: xor %eax,%eax
}

// effectOf returns the effect of an instruction.
func effectOf(in *inst) effect {
	if !in.known || in.prefix != "" && in.prefix != "lock" || in.special() {
		return effect{unknown: true}
	}
	o := in.operation
	if in.name == "imul" && len(in.ops) == 1 {
		o.form = product
	}
	e := effect{unit: o.unit, busy: int(o.busy)}
	for m := range models {
		e.latency[m] = int(o.latency[m])
	}
	n := len(in.ops)
	var last operand
	if n > 0 {
		last = in.ops[n-1]
	}
	e.memory(in, o.form)
	switch o.form {
	case ignored:
		return effect{free: strings.HasPrefix(in.name, "nop")}
	case compare:
		e.read(in.ops...)
	case combine, accum:
		e.combine(in)
	case convert, move:
		e.convert(in, o.form)
	case address:
		e.lea(in)
	case clear: // for setcc, the flags are the inputs
		e.write(last)
	case clearAll:
		if in.name == "xchg" && n == 2 && in.ops[0].kind == register && in.ops[0].text == in.ops[1].text { // a nop
			return effect{free: true}
		}
		for _, op := range in.ops {
			if op.kind == register {
				e.clears = append(e.clears, op.reg)
			}
		}
		e.clears = append(e.clears, rax)
	case product:
		e.read(in.ops...)
		e.data, e.writes = append(e.data, rax), append(e.writes, rax, rdx)
	case quotient:
		e.read(in.ops...)
		e.data, e.writes = append(e.data, rax, rdx), append(e.writes, rax, rdx)
	case signRDX:
		e.data, e.writes = append(e.data, rax), append(e.writes, rdx)
	case signRAX:
		e.data, e.writes = append(e.data, rax), append(e.writes, rax)
	case pushed, popped: // changing the stack pointer takes no time
		if e.stores, e.reads = o.form == pushed, o.form == popped; e.reads {
			e.address, e.load = append(e.address, rsp), loadLatency
			e.write(last)
		}
	case wide:
		if n != 3 {
			return effect{unknown: true}
		}
		e.read(in.ops[0])
		e.data = append(e.data, rdx)
		e.write(in.ops[1])
		e.write(last)
	}
	e.flags(o.flags)
	e.partial(in)
	if in.prefix == "lock" { // the prefix makes it slower than in the table, and later instructions wait for it
		e.clears = append(e.clears, e.writes...)
	}
	return e
}

// special reports whether an instruction has a form that the table does not describe. These are string instructions,
// divisions of 8 bits (which write only ah and al), and shifts of APX with a separate destination.
func (in *inst) special() bool {
	inMemory, bytes := 0, strings.HasSuffix(in.mnemonic, "b")
	for i := range in.ops {
		if in.ops[i].kind == memory {
			inMemory++
		}
		bytes = bytes || in.ops[i].bits == 8 || strings.HasPrefix(in.ops[i].text, "BYTE")
	}
	switch in.name {
	case "mul", "imul":
		return inMemory > 1 || bytes || len(in.ops) == 0
	case "div", "idiv":
		return inMemory > 1 || bytes || len(in.ops) != 1
	case "shl", "sal", "shr", "sar", "rol", "ror", "rcl", "rcr":
		first := len(in.ops) == 2 && in.ops[0].kind == register
		return inMemory > 1 || len(in.ops) > 2 || first && in.ops[0].reg != rcx
	case "movsb", "movsw", "movsl", "movsd", "cmpsd":
		return inMemory > 1 || len(in.ops) < 2
	}
	return inMemory > 1
}

// memory adds the loads and stores of an instruction's operands.
func (e *effect) memory(in *inst, f form) {
	for i := range in.ops {
		op := &in.ops[i]
		if op.kind != memory || f == address || f == ignored {
			continue
		}
		stored := i == len(in.ops)-1 && f != compare && f != product && f != quotient && f != pushed
		e.stores = e.stores || stored
		if stored && (f == move || f == convert || f == clear) {
			continue
		}
		e.reads, e.load = true, loadLatency
		if in.ops[len(in.ops)-1].vector() {
			e.wideRead, e.load = true, vectorLoadLatency
		}
		for _, r := range []reg{op.base, op.index} {
			if r != noReg {
				e.address = append(e.address, r)
			}
		}
	}
}

// read adds register operands to the inputs of the result.
func (e *effect) read(ops ...operand) {
	for _, op := range ops {
		if op.kind == register {
			e.data = append(e.data, op.reg)
		}
	}
}

// write adds an operand to the results.
func (e *effect) write(op operand) {
	if op.kind == register {
		e.writes = append(e.writes, op.reg)
	}
}

// idioms are the instructions whose result does not depend on the operands if all of these are the same register. The
// names are without the v of AVX.
var idioms = map[string]bool{"xor": true, "sub": true, "sbb": true, "pxor": true, "pxord": true, "pxorq": true,
	"xorps": true, "xorpd": true, "pandn": true,
	"psubsb": true, "psubsw": true, "psubusb": true, "psubusw": true, "kxorb": true, "kxorw": true, "kxord": true,
	"kxorq": true,
	"psubb": true, "psubw": true, "psubd": true, "psubq": true, "pcmpeqb": true, "pcmpeqw": true, "pcmpeqd": true,
	"pcmpeqq": true,
	"pcmpgtb": true, "pcmpgtw": true, "pcmpgtd": true, "pcmpgtq": true}

// combine sets the effect of an instruction whose last operand becomes a function of its operands. The last operand is
// also an input if there are at most two operands that are not constants, or if the operation accumulates.
func (e *effect) combine(in *inst) {
	n := len(in.ops)
	if n == 0 {
		e.unknown = true
		return
	}
	last, first := in.ops[n-1], in.ops[0]
	if n >= 2 && idioms[in.name] && first.kind == register && first.reg == in.ops[1].reg && first.bits == in.ops[1].bits &&
		!in.masked {
		e.idiom = true
		e.write(last)
		return
	}
	// sets all bits
	if n == 4 && strings.HasPrefix(in.name, "pternlog") && in.ops[1].reg == in.ops[2].reg && in.ops[2].reg == last.reg {
		e.idiom = true
		e.write(last)
		return
	}
	e.read(in.ops[:n-1]...)
	switch {
	case in.operation.form == accum, in.vex && n == 2: // vfmadd231sd; vmovhps to memory
		e.read(last)
	case in.vex: // vpslld $1,%ymm0,%ymm1
	case n == 1, n == 2 && !unary(in.name):
		e.read(last)
	case n == 3 && (in.name == "shld" || in.name == "shrd"):
		e.read(last)
	case n == 3 && first.kind == immediate && in.operation.vector(): // shufps $1,%xmm1,%xmm0
		e.read(last)
	}
	e.write(last)
	if e.latency[newest] == 1 && in.increment() {
		e.latency[newest] = 0
	}
}

// increment reports whether an instruction adds a small constant, or subtracts one.
func (in *inst) increment() bool {
	switch in.name {
	case "inc", "dec":
		return true
	case "add", "sub":
		first := &in.ops[0]
		return first.kind == immediate && first.value > -1024 && first.value < 1024
	}
	return false
}

// unary reports whether an instruction with two operands reads only the first one. That is so for instructions that
// read only one operand, and also for their forms in APX, which may have a separate destination.
func unary(name string) bool {
	switch name {
	case "inc", "dec", "neg", "not", "blsr", "blsi", "blsmsk":
		return true
	}
	return strings.HasPrefix(name, "knot")
}

// convert sets the effect of an instruction whose last operand becomes a function of the first one that is not an
// immediate.
func (e *effect) convert(in *inst, f form) {
	n := len(in.ops)
	if n < 2 {
		e.unknown = true
		return
	}
	last := in.ops[n-1]
	from := in.ops[0]
	if from.kind == immediate && n > 2 {
		from = in.ops[1]
	}
	switch {
	case f == move && n == 3: // vmovsd %xmm1,%xmm2,%xmm0
		e.read(in.ops[:2]...)
		e.latency = [models]int{1, 1}
	default:
		e.read(from)
		if f == move && from.kind == register && last.kind == register && (from.reg < vector0) != (last.reg < vector0) {
			e.latency = [models]int{1, 1}
		}
	}
	e.write(last)
}

// lea sets the effect of lea, which computes with an address.
func (e *effect) lea(in *inst) {
	if len(in.ops) != 2 {
		e.unknown = true
		return
	}
	from := &in.ops[0]
	for _, r := range []reg{from.base, from.index} {
		if r != noReg {
			e.data = append(e.data, r)
		}
	}
	if from.index == noReg {
		e.latency[newest] = 0
	}
	e.write(in.ops[1])
}

// flags adds the flags to the inputs and results.
func (e *effect) flags(use flagUse) {
	for _, part := range []struct {
		use  flagUse
		reg  reg
		list *[]reg
	}{{readsCarry, carry, &e.data}, {readsFlags, flags, &e.data}, {writesCarry, carry, &e.writes}, {writesFlags, flags,
		&e.writes},
		{clearsCarry, carry, &e.clears}, {clearsFlags, flags, &e.clears}} {
		if use&part.use != 0 {
			*part.list = append(*part.list, part.reg)
		}
	}
}

// partial handles ah, bh, ch and dh. Processors rename them in different ways, so nothing is assumed about values that
// depend on them.
func (e *effect) partial(in *inst) {
	for i := range in.ops {
		if in.ops[i].high {
			e.clears = append(e.clears, e.writes...)
			return
		}
	}
}
