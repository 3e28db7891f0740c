package safepoints

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
)

func TestSetsUpFrame(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       string // one character per instruction: f if it belongs to the frame, otherwise a dot
	}{
		{"a prolog and an epilog", `
			mov %eax,-0x14000(%rsp)
			push %rbp
			sub $0x30,%rsp
			mov 0x8(%rsi),%eax
			add $0x30,%rsp
			pop %rbp
			cmp 0x28(%r15),%rsp ; {poll_return}
			ja 100
			ret`, "fff.fffff"},
		{"without a check of the stack", `
			sub $0x18,%rsp
			mov %rbp,0x10(%rsp)
			mov %rsi,0x8(%rsp)`, "ff."},
		{"a stack that is used for a moment", `
			sub $0x8,%rsp
			movsd %xmm0,(%rsp)
			call 100
			add $0x8,%rsp
			pop %rax
			ja 100`, "......"},
		{"Intel's syntax", `
			mov dword ptr [rsp-0x14000],eax
			push rbp
			sub rsp,0x30
			add rsp,0x30
			pop rbp
			ret`, "ffffff"},
		{"aarch64", `
			sub sp, sp, #0x20
			stp x29, x30, [sp, #16]
			ldr w1, [x2, #12]
			ldp x29, x30, [sp, #16]
			add sp, sp, #0x20
			ret`, "ff.fff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			insts := assemble(c.code)
			got := ""
			for i := range insts {
				if SetsUpFrame(insts, i) {
					got += "f"
				} else {
					got += "."
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestFrameAndCopies tests instructions for the frame, and copies of registers, between the records of inlined methods.
func TestFrameAndCopies(t *testing.T) {
	insts := assemble(`
		push %rbp
		call 100
		mov 0x10(%rcx),%edx
		mov 0x14(%rcx),%esi
		call 100
		mov %rax,%rdi
		mov 0x18(%rcx),%ecx
		mov 0x1c(%rdi),%edi
		mov 0x1c(%rdi),%edi
		mov 0x1c(%rdi),%edi
		mov %rax,%rsi
		call 100
		pop %rbp
		ret`)
	record := func(i int, frames ...printassembly.Frame) { insts[i].OwnFrames, insts[i].Frames = true, frames }
	record(1, printassembly.Frame{Method: "b", BCI: 1}, printassembly.Frame{Method: "a", BCI: 1})
	record(4, printassembly.Frame{Method: "c", BCI: 1}, printassembly.Frame{Method: "a", BCI: 2})
	record(11, printassembly.Frame{Method: "d", BCI: 1}, printassembly.Frame{Method: "a", BCI: 3})
	require.True(t, Spread(&printassembly.Blob{Name: "a", Compiler: "c2"}, insts, nil))
	for i, want := range map[int]string{0: "a@~1", 5: "~c@~1 < a@~2", 9: "~d@~1 < a@~3", 10: "~c@~1 < a@~2", 12: "a@~3",
		13: "a@~3"} {
		assert.Equal(t, want, show(&insts[i]), "at %d", i)
	}
}

func TestDefinition(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       int // index of the last instruction
	}{
		{"a load", "mov 0x8(%rax),%ebx\nadd $0x1,%ecx\nmov %rbx,%rdx", 0},
		{"a copy of a copy", "mov 0x8(%rax),%ebx\nmov %rbx,%rcx\nmov %rcx,%rdx", 0},
		{"a call's result", "call 100\nmov %rax,%rdx", 0},
		{"a register that a call leaves undefined", "mov 0x8(%rax),%ebx\ncall 100\nmov %rbx,%rdx", none},
		{"a jump before it", "mov 0x8(%rax),%ebx\njmp 100\nmov %rbx,%rdx", none},
		{"no copy", "mov 0x8(%rax),%ebx\nmov %ebx,0x8(%rdx)", none},
		{"a spill", "mov 0x8(%rax),%ebx\nmov %ebx,0x8(%rsp)", none},
		{"a constant", "mov 0x8(%rax),%ebx\nmov $0x1,%ebx", none},
		{"Intel's syntax", "mov ebx,dword ptr [rax+0x8]\nmov rdx,rbx", 0},
		{"aarch64", "ldr w1, [x2, #12]\nmov w3, w1", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			insts := assemble(c.code)
			s := spreader{graph: &graph{insts: insts}}
			assert.Equal(t, c.want, s.definition(len(insts)-1))
		})
	}
}
