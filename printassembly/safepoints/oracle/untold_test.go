package oracle

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

func frames(methods ...string) (chain []printassembly.Frame) {
	for i, m := range methods {
		chain = append(chain, printassembly.Frame{Method: m, BCI: i + 1})
	}
	return chain
}

// scatter returns n pieces of code with the record of the same bytecode in b, each followed by the record of other
// code.
func scatter(n int, kind disasm.Kind, bytecode string) (insts []printassembly.Instruction) {
	for i := range n {
		insts = append(insts,
			printassembly.Instruction{Text: "cmp %eax,%ebx"}, // it has the next record
			printassembly.Instruction{Kind: kind, OwnFrames: true, Frames: frames("b", "a"), Comments: []string{bytecode}},
			printassembly.Instruction{OwnFrames: true, Frames: frames("c"+strconv.Itoa(i), "a"),
				Comments: []string{"*getfield x"}})
	}
	for i := range insts {
		insts[i].Lo, insts[i].Hi = uint64(i), uint64(i+1)
		if !insts[i].OwnFrames {
			insts[i].Frames = insts[i+1].Frames
		}
	}
	return insts
}

func TestLateInlining(t *testing.T) {
	for _, c := range []struct {
		name     string
		pieces   int
		kind     disasm.Kind
		bytecode string
		compiler string
		want     Reason
	}{
		{"many pieces", scattered, disasm.Plain, "*invokevirtual equals {reexecute=0}", "c2", LateInlining},
		{"few pieces", scattered - 1, disasm.Plain, "*invokevirtual equals {reexecute=0}", "c2", ""},
		{"calls", scattered, disasm.Call, "*invokevirtual equals {reexecute=0}", "c2", ""},
		{"another bytecode", scattered, disasm.Plain, "*getfield value", "c2", ""},
		{"C1", scattered, disasm.Plain, "*invokevirtual equals {reexecute=0}", "c1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			insts := scatter(c.pieces, c.kind, c.bytecode)
			j := newJudge(&printassembly.Blob{Name: "a", Compiler: c.compiler}, insts,
				make([]printassembly.Instruction, len(insts)))
			for i := range 2 {
				record, reason := j.record(i, false)
				assert.Equal(t, c.want, reason, "at %d", i)
				assert.Equal(t, reason == "", record != nil)
			}
			_, reason := j.record(2, false)
			assert.Empty(t, reason, "the record of other code")
			record, _ := j.record(1, true)
			assert.Equal(t, frames("b", "a"), record, "a record that the rules get")
		})
	}
}

// TestRecordOfCode checks that the oracle prefers the method that an instruction shows to the one in its record.
func TestRecordOfCode(t *testing.T) {
	const data = "{metadata(method data for {method} {0x00007f011b57d540} 'x' '()V' in 'p/C')}"
	counter := printassembly.Instruction{Text: "movabs $0x7f011b57d540,%rax", Comments: []string{data}}
	pop := printassembly.Instruction{Text: "pop %rbp"}
	for _, c := range []struct {
		name     string
		in       printassembly.Instruction
		compiler string
		own      bool
		chain    []printassembly.Frame
		want     []printassembly.Frame
		reason   Reason
	}{
		{"a counter of the caller", counter, "c1", false, frames("b", "p.C::x", "a"), frames("b", "p.C::x", "a")[1:], ""},
		{"a counter with a record of its own", counter, "c1", true, frames("p.C::x", "a"), frames("p.C::x", "a"), ""},
		{"a counter with the record of other code", counter, "c1", false, frames("b", "a"), nil, Counter},
		{"an epilog", pop, "c2", false, frames("b", "a"), frames("b", "a")[1:], ""},
		{"an epilog with a record of its own", pop, "c2", true, frames("b", "a"), frames("b", "a"), ""},
		{"an epilog of C1", pop, "c1", false, frames("b", "a"), frames("b", "a"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.in
			in.OwnFrames, in.Frames = c.own, c.chain
			insts := []printassembly.Instruction{in}
			j := newJudge(&printassembly.Blob{Name: "a", Compiler: c.compiler}, insts, []printassembly.Instruction{c.in})
			record, reason := j.record(0, false)
			assert.Equal(t, c.want, record)
			assert.Equal(t, c.reason, reason)
		})
	}
}
