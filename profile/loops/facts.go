package loops

import (
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/framechains"
)

// Facts is what is known about a loop, including its inner loops.
type Facts struct {
	// Known is true if the loop's instruction set is x86-64 or aarch64. For other instruction sets, only Innermost,
	// Polls and Calls are known.
	Known     bool
	Innermost bool // no other loop is in it
	// Vector is the width in bits of the widest registers on which the loop computes with packed values, or which it
	// copies: 128, 256 or 512. It is 0 if the loop does neither. On aarch64 it is -1 for the vectors of SVE, whose
	// width is not in the code.
	Vector int
	// Scalar is true if the loop computes with single floating-point numbers.
	Scalar bool
	// Unrolled is the number of copies of the loop's body in a round. It is found from the steps of the loop's counter
	// and from the number of instructions that were made from one bytecode. It is 1 for a loop that is not unrolled,
	// and 0 if nothing is known.
	Unrolled int
	// Copied is the mnemonic of an instruction that occurs as often as Unrolled says.
	Copied      string
	RangeChecks int // comparisons after which a jump leads out of the loop, to a trap
	Polls       int // safepoint polls
	Calls       int
	Reloads     int // instructions that read the stack's frame
	Spills      int // instructions that write to the stack's frame
	Bound       *Bound
	Unbounded   string // why there is no Bound: "it calls other code"; "" if there is one, or none was computed
	Modelled    *Model // the result of another program; nil if none was asked

	body []string // the texts of the instructions on the path that Assembly returns
}

// A Model is the result of a program that models a processor, for a loop.
type Model struct {
	Tool    string // "llvm-mca -mcpu=znver3"
	Verdict string // "40 cycles a round; 4.5 by ports alone", or why there is none
	Text    string // what the program printed; may be ""
}

// known says which instruction set a piece of code has, as far as this package knows it.
type known int8

const (
	foreign known = iota // the code has an instruction set that this package does not know
	amd64
	arm64
)

// Code is a piece of code whose loops can be described.
type Code struct {
	lines   []code.Line
	blocks  []code.Block
	loops   []code.Loop
	next    [][]int // next[b] lists the blocks that can follow block b
	outer   []bool  // outer[i] is true if other loops are in loop i
	isa     known
	effects map[int]*effect
	parsed  map[int]*inst
	chains  framechains.Chains
	counted []*Facts // counted[b] has the facts about block b, from the method count; nil if they were not needed yet
}

// New returns code with its blocks and loops, as [code.BlocksOf] and [code.FindLoops] have found them.
func New(lines []code.Line, blocks []code.Block, all []code.Loop) *Code {
	c := &Code{lines: lines, blocks: blocks, loops: all, outer: make([]bool, len(all)),
		counted: make([]*Facts, len(blocks)), effects: map[int]*effect{}, parsed: map[int]*inst{}}
	if len(all) == 0 {
		return c
	}
	c.next = code.Successors(lines, blocks)
	for i := range all {
		if p := all[i].Parent; p >= 0 {
			c.outer[p] = true
		}
	}
	c.isa = recognize(lines)
	return c
}

// recognize returns the instruction set of some code, by the first register with a name that only one of them has.
func recognize(lines []code.Line) known {
	for i := range lines {
		_, operands, _ := strings.Cut(lines[i].Text, " ")
		for word := range strings.FieldsFuncSeq(operands, func(r rune) bool {
			return strings.ContainsRune(" ,()[]{}*+-!",
				r)
		}) {
			word = strings.TrimPrefix(word, "%")
			// sp is aarch64's, too
			if r, bits, _ := registerOf(word); r != noReg && bits != 16 && (r < 8 || r >= vector0 && r < mask0) {
				return amd64
			}
			if name := armRegister.FindString(word); name != "" {
				return arm64
			}
		}
	}
	return foreign
}

// inst returns the parsed instruction of a line.
func (c *Code) inst(line int) *inst {
	in := c.parsed[line]
	if in == nil {
		parsed := parse(c.lines[line].Text)
		in = &parsed
		c.parsed[line] = in
	}
	return in
}

// effect returns the effect of the instruction of a line.
func (c *Code) effect(line int) *effect {
	e := c.effects[line]
	if e == nil {
		new := effectOf(c.inst(line))
		if l := &c.lines[line]; l.Bad || l.Kind == disasm.Call || l.Kind == disasm.Return {
			new = effect{unknown: true}
		}
		e = &new
		c.effects[line] = e
	}
	return e
}

// Describe returns what is known about the loop with the given index.
func (c *Code) Describe(loop int) *Facts {
	l := &c.loops[loop]
	f := &Facts{Known: c.isa != foreign, Innermost: !c.outer[loop]}
	for _, b := range l.Blocks {
		f.add(c.block(b))
	}
	f.RangeChecks = c.rangeChecks(l)
	if !f.Innermost || c.isa != amd64 {
		return f
	}
	c.unrolling(f, l)
	c.bound(f, l)
	return f
}

// block returns the facts about the lines of a block. Each line is read only once, however many loops it is in.
func (c *Code) block(b int) *Facts {
	f := c.counted[b]
	if f == nil {
		f = &Facts{}
		for i := c.blocks[b].From; i < c.blocks[b].To; i++ {
			c.count(f, i)
		}
		c.counted[b] = f
	}
	return f
}

// add adds the facts about a block's lines to those about a loop.
func (f *Facts) add(b *Facts) {
	if f.Vector >= 0 && b.Vector >= 0 {
		f.Vector = max(f.Vector, b.Vector)
	} else {
		f.Vector = -1
	}
	f.Scalar = f.Scalar || b.Scalar
	f.Polls += b.Polls
	f.Calls += b.Calls
	f.Reloads += b.Reloads
	f.Spills += b.Spills
}

// count adds a line to the facts about its block.
func (c *Code) count(f *Facts, i int) {
	line := &c.lines[i]
	if line.Kind == disasm.Call {
		f.Calls++
	}
	for _, comment := range line.Comments {
		if c := strings.TrimSpace(comment); strings.HasPrefix(c, "{poll") && !strings.HasPrefix(c, "{poll_return") {
			f.Polls++
			break
		}
	}
	switch c.isa {
	case amd64:
		in := c.inst(i)
		f.Vector = max(f.Vector, packed(in, c.effect(i)))
		f.Scalar = f.Scalar || scalar(in)
		switch to, from := in.stack(); {
		case to:
			f.Spills++
		case from:
			f.Reloads++
		}
	case arm64:
		countARM(f, line.Text)
	}
}

// packed returns the width in bits of the registers on which an instruction computes with packed values. It returns 0
// if there are no packed values, or if the instruction only moves them from register to register or sets them to zero.
// Moves to and from memory count if they move a whole register, because that is what the copy of an array consists of.
func packed(in *inst, e *effect) int {
	name := in.name
	width := 0
	for i := range in.ops {
		if in.ops[i].vector() {
			width = max(width, in.ops[i].bits)
		}
	}
	if width == 0 || e.idiom || scalar(in) {
		return 0
	}
	if to, from := in.stack(); to || from {
		return 0
	}
	switch o := &in.operation; {
	case !in.known, name == "movd", name == "movq", strings.HasPrefix(name, "movs"), strings.HasPrefix(name, "cvt") &&
		strings.HasSuffix(name, "si"):
		return 0
	case strings.HasPrefix(name, "pextr"), strings.HasPrefix(name, "pinsr"), strings.HasPrefix(name,
		"cvtsi"), strings.HasPrefix(name, "ucomis"), strings.HasPrefix(name, "comis"):
		return 0
	case o.form == move && !e.reads && !e.stores, width == 128 && o.form == convert &&
		strings.HasPrefix(name, "pbroadcast"):
		return 0
	}
	return width
}

// scalar reports whether an instruction computes with a single floating-point number.
func scalar(in *inst) bool {
	if !in.known || !in.operation.vector() || in.operation.form == move || strings.HasPrefix(in.name, "p") {
		return false
	}
	return strings.HasSuffix(in.name, "sd") || strings.HasSuffix(in.name, "ss")
}

// stack reports whether an instruction writes to the stack's frame (to) or reads from it (from).
func (in *inst) stack() (to, from bool) {
	for i := range in.ops {
		if op := &in.ops[i]; op.kind == memory && op.base == rsp && op.index == noReg && in.operation.form != address &&
			in.operation.form != ignored {
			if i == len(in.ops)-1 && in.operation.form != compare {
				return true, false
			}
			return false, true
		}
	}
	return false, false
}
