package safepoints

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/printassembly"
)

func TestByteRead(t *testing.T) {
	for _, c := range []struct {
		text, base string
		offset     bool
	}{
		{"cmpb   $0x0,0x40(%r15)", "r15", true},
		{"movsbl 0x40(%r15),%r11d", "r15", true},
		{"cmpb   $0x2,(%rdi)", "rdi", false},
		{"movsbl (%rdi),%r10d", "rdi", false},
		{"movsbl 0x10(%rdi,%rcx,1),%r10d", "", true},
		{"movsbl 0x10(%rdi),%r10d", "rdi", true},
		{"cmp    BYTE PTR [r15+0x40],0x0", "r15", true},
		{"movsx  r11d,BYTE PTR [r15+0x40]", "r15", true},
		{"cmp    BYTE PTR [rdi],0x2", "rdi", false},
		{"movsx  r10d,BYTE PTR [rdi+rcx*1+0x10]", "", false},
		{"cmp    0x40(%r15),%rsp", "", false},
		{"cmp    rsp,QWORD PTR [r15+0x40]", "", false},
		{"mov    %rax,%rbx", "", false},
		{"ldrb   w0, [x28, #64]", "", false},
	} {
		base, offset := byteRead(&printassembly.Instruction{Text: c.text})
		assert.Equal(t, c.base, base, c.text)
		if base != "" {
			assert.Equal(t, c.offset, offset, c.text)
		}
	}
}

// the code that C2 makes with G1 for a store of a reference
const stored = `
	cmpb $0x0,0x40(%r15)
	jne 90
	mov %rbx,%r10
	mov %r13,%r11
	mov %r11d,0x20(%rbx)
	mov %r13,%r11
	xor %r10,%r11
	shr $0x14,%r11
	test %r11,%r11
	je 14
	shr $0x9,%r10
	movabs $0x7f57d8800000,%rdi
	add %r10,%rdi
	cmpb $0x2,(%rdi)
	mov 0x8(%rdx),%eax`

func TestGuarded(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       []int // for each instruction, the store to which it belongs; none if it belongs to no store
	}{
		{"a store", stored, []int{4, 4, none, none, none, none, 4, 4, 4, 4, 4, 4, 4, 4, none}},
		{"the flag is loaded", `
			movsbl 0x40(%r15),%r11d
			test %r11d,%r11d
			jne 90
			mov %r10d,0x20(%rbx)`, []int{3, 3, 3, none}},
		{"a call in between", `
			cmpb $0x0,0x40(%r15)
			call 100
			mov %r10d,0x20(%rbx)`, []int{none, none, none}},
		{"a byte that is not a card's", `
			mov %r10d,0x20(%rbx)
			cmpb $0x2,(%rdi)`, []int{none, none}},
		{"no store", `
			shr $0x9,%r10
			cmpb $0x2,(%rdi)`, []int{none, none}},
		{"Intel's syntax", `
			cmp BYTE PTR [r15+0x40],0x0
			mov DWORD PTR [rbx+0x20],r11d
			shr r10,0x9
			add rdi,r10
			cmp BYTE PTR [rdi],0x2`, []int{1, none, 1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spreader{graph: controlFlow(c.code)}
			var got []int
			for i := range s.insts {
				got = append(got, s.guarded(i))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// controlFlow returns the graph of code whose last instruction has a record. The targets of jumps are indices of
// instructions.
func controlFlow(code string) *graph {
	insts := assemble(code)
	for i := range insts {
		if k := insts[i].Kind; k == 0 {
			continue
		}
		_, operands := split(&insts[i])
		n, _ := number(operands)
		insts[i].Target = uint64(n)
	}
	last := &insts[len(insts)-1]
	last.OwnFrames, last.Frames = true, []printassembly.Frame{{Method: "a"}}
	g := newGraph(insts, nil)
	g.findAnchors()
	return g
}

func TestFailure(t *testing.T) {
	const class = " ; {metadata('p/C')}"
	for _, c := range []struct {
		name, code string
		want       []int32 // for each instruction, the record of the code for the case that the check fails
	}{
		{"the class is one of two", `
			mov 0x8(%rax),%r11d
			cmp $0x1561000,%r11d` + class + `
			je 8
			cmp $0x1081b58,%r11d` + class + `
			je 8
			mov 0x10(%rsp),%rbp
			call 100 ; {runtime_call Stub::lookup_secondary_supers_table_slow_path}
			jmp 9
			mov 0x20(%rax),%rbx
			call 200`, []int32{9, 9, 9, 9, 9, none, none, none, none, none}},
		{"the other class is elsewhere", `
			cmp $0x1561000,%r11d` + class + `
			jne 3
			ret
			mov %rax,%rbx
			call 200`, []int32{4, 4, none, none, none}},
		{"no record", `
			cmp $0x1561000,%r11d` + class + `
			je 3
			ret
			call 200`, []int32{none, none, none, none}},
		{"a comparison of numbers", `
			mov 0x8(%rax),%r11d
			cmp $0x1561000,%r11d
			je 4
			nop
			call 200`, []int32{none, none, none, none, none}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spreader{graph: controlFlow(c.code)}
			var got []int32
			for i := range s.insts {
				got = append(got, s.failure(i))
			}
			assert.Equal(t, c.want, got)
		})
	}
}
