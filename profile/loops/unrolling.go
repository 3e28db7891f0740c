package loops

import (
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile/code"
)

// An origin identifies instructions that are copies of one another.
type origin struct {
	chain    int // the number of the chain of inlined methods
	mnemonic string
}

// unrolling finds out how often a loop is unrolled. If a loop is unrolled n times, n copies of an instruction were made
// from one bytecode, and the loop's counter is increased by n or a multiple of n. A loop that is too large is not
// examined.
func (c *Code) unrolling(f *Facts, l *code.Loop) {
	if l.Lines > maxBoundLines {
		return
	}
	step := c.step(l)
	if step == 0 {
		return
	}
	if step == 1 {
		f.Unrolled = 1
	}
	copies := map[origin]int{}
	var order []origin
	for _, i := range c.linesOf(l) {
		in, line := c.inst(i), &c.lines[i]
		form := in.operation.form
		if e := c.effect(i); len(line.Frames) == 0 || line.Kind != disasm.Plain || form == ignored || form == compare ||
			form == move && !e.reads && !e.stores {
			continue
		}
		from := origin{c.chains.Number(line.Frames), in.mnemonic}
		if copies[from] == 0 {
			order = append(order, from)
		}
		copies[from]++
	}
	for _, from := range order {
		if n := copies[from]; n > max(f.Unrolled, 1) && step%int64(n) == 0 {
			f.Unrolled, f.Copied = n, from.mnemonic
		}
	}
}

// linesOf returns the indexes of a loop's lines, in the order of their addresses.
func (c *Code) linesOf(l *code.Loop) []int {
	blocks := slices.Clone(l.Blocks)
	slices.Sort(blocks)
	var lines []int
	for _, b := range blocks {
		for i := c.blocks[b].From; i < c.blocks[b].To; i++ {
			lines = append(lines, i)
		}
	}
	return lines
}

// step returns by how much a loop increases or decreases its counter in a round, or 0 if no counter was found. The
// counter is a register that is compared at the end of the loop, and changed once in it:
//
//	add  $0x10,%r9d               lea  0x40(%rbx),%ecx
//	cmp  %r11d,%r9d               cmp  %r11d,%ecx
//	jl   top                      jl   top             ; top: mov %ecx,%ebx
func (c *Code) step(l *code.Loop) int64 {
	ends := l.Ends(c.lines, c.blocks)
	if len(ends) != 1 || c.lines[ends[0]].Kind != disasm.CondJump {
		return 0
	}
	at := ends[0] - 1
	if at < c.blocks[code.BlockAt(c.blocks, ends[0])].From {
		return 0
	}
	in := c.inst(at)
	if in.operation.form != compare {
		return 0
	}
	lines := c.linesOf(l)
	for _, op := range in.ops {
		if op.kind != register || op.reg >= vector0 {
			continue
		}
		if n := c.stepOf(op.reg, lines); n != 0 {
			return max(n, -n)
		}
	}
	return 0
}

// stepOf returns the number that a loop adds to a register in a round, or 0 if it is not known.
func (c *Code) stepOf(r reg, lines []int) int64 {
	by := c.onlyWrite(r, lines)
	if by < 0 {
		return 0
	}
	in := c.inst(by)
	if len(in.ops) == 0 { // cltq
		return 0
	}
	switch first := in.ops[0]; {
	case in.name == "inc", in.name == "dec":
		return 1
	case (in.name == "add" || in.name == "sub") && first.kind == immediate && len(in.ops) == 2:
		return int64(int32(first.value)) // $0xfffffff9 of a 32-bit register is -7
	case in.name == "lea" && first.index == noReg && first.base != noReg:
		if first.base == r {
			return first.value
		}
		if copied := c.onlyWrite(first.base, lines); copied >= 0 {
			if m := c.inst(copied); m.name == "mov" && m.ops[0].kind == register && m.ops[0].reg == r {
				return first.value
			}
		}
	}
	return 0
}

// onlyWrite returns the line of a loop that writes a register, or -1 if there is not exactly one.
func (c *Code) onlyWrite(r reg, lines []int) int {
	by := -1
	for _, i := range lines {
		e := c.effect(i)
		if e.unknown || slices.Contains(e.clears, r) {
			return -1
		}
		if slices.Contains(e.writes, r) {
			if by >= 0 {
				return -1
			}
			by = i
		}
	}
	return by
}

// rangeChecks counts the jumps out of a loop that follow an unsigned comparison and lead to a trap or to code that
// throws an exception.
func (c *Code) rangeChecks(l *code.Loop) int {
	in := c.members(l)
	n := 0
	for _, b := range l.Blocks {
		last := c.blocks[b].To - 1
		if last-1 < c.blocks[b].From || !c.unsigned(last-1, last) {
			continue
		}
		for _, to := range c.next[b] {
			if !in[to] && c.traps(to) {
				n++
				break
			}
		}
	}
	return n
}

// unsigned reports whether a comparison and a jump compare unsigned numbers. Range checks do that, because a negative
// index is then too large.
func (c *Code) unsigned(compared, jump int) bool {
	name := mnemonicOf(c.lines[compared].Text)
	switch cond := mnemonicOf(c.lines[jump].Text); c.isa {
	case amd64:
		return len(name) >= 3 && name[:3] == "cmp" && slices.Contains([]string{"jae", "jbe", "ja", "jb", "jnb", "jna"}, cond)
	case arm64:
		return name == "cmp" && slices.Contains([]string{"b.cs", "b.hs", "b.cc", "b.lo", "b.hi", "b.ls"}, cond)
	}
	return false
}

// mnemonicOf returns the first word of an instruction.
func mnemonicOf(text string) string {
	for i := range len(text) {
		if text[i] == ' ' || text[i] == '\t' {
			return text[:i]
		}
	}
	return text
}

// traps reports whether the code that begins with a block leads to a call that does not return, without branching on
// the way.
func (c *Code) traps(block int) bool {
	const most = 16 // the code that leads to the traps of an unrolled loop may run from one into the next
	for range most {
		if b := &c.blocks[block]; code.NeverReturns(&c.lines[b.To-1]) {
			return true
		}
		if len(c.next[block]) != 1 {
			return false
		}
		block = c.next[block][0]
	}
	return false
}
