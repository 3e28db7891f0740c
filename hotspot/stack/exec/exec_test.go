package exec

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/asm"
)

const testLo = 0x1000

// A listing is code with the expected frames. Each line has the bytes of an instruction, the instruction as a
// comment, and the frame. The comment is compared with disasm/amd64 to make sure that it is right. A frame of "-"
// means that there is none.
type listing struct {
	code   []byte
	frames map[uint64]string
}

func parseListing(t *testing.T, text string) (l listing) {
	t.Helper()
	l.frames = map[uint64]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fields := strings.Split(line, "|")
		require.Len(t, fields, 3, line)
		code, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(fields[0]), " ", ""))
		require.NoError(t, err, line)
		pc := uint64(testLo + len(l.code))
		insts := amd64.Decode(asm.ATT, code, pc)
		require.Len(t, insts, 1, line)
		require.Equal(t, strings.TrimSpace(fields[1]), strings.Join(strings.Fields(insts[0].Text), " "))
		l.frames[pc] = strings.TrimSpace(fields[2])
		l.code = append(l.code, code...)
	}
	return l
}

// check analyzes the code of a listing as makeCode returns it, and compares the frames.
func check(t *testing.T, text string, makeCode func(code []byte) Code) {
	t.Helper()
	l := parseListing(t, text)
	c := makeCode(l.code)
	table := Analyze(c)
	for _, in := range amd64.Decode(asm.ATT, l.code, testLo) {
		got := "-"
		if f, ok := table.At(in.Addr); ok {
			got = f.String()
		}
		assert.Equal(t, expand(l.frames[in.Addr]), got, "%#x: %s", in.Addr, in.Text)
	}
	emulateAll(t, c, table, 20)
}

// expand completes the text of a frame with what most frames have: the return address below the CFA.
func expand(frame string) string {
	cfa, rest, _ := strings.Cut(frame, " ")
	if cfa == "-" || strings.Contains(rest, "ra=") {
		return frame
	}
	return strings.TrimSpace(cfa + " ra=[cfa-8] " + rest)
}

func method(frameSize, frameComplete int) func([]byte) Code {
	return func(code []byte) Code {
		return AMD64.NMethod(testLo, code, Method{VerifiedEntry: testLo, FrameSize: frameSize, FrameComplete: frameComplete})
	}
}

func stub(name string) func([]byte) Code {
	return func(code []byte) Code { return AMD64.Stub(testLo, code, name) }
}

func codelet(name string) func([]byte) Code {
	return func(code []byte) Code { return AMD64.Codelet(testLo, code, name) }
}

// TestNMethod: C2's prologue, an epilogue with a poll, the out-of-line stub of the poll, which is entered without a
// frame, and a handler that is entered from outside.
func TestNMethod(t *testing.T) {
	check(t, `
		89 84 24 00 c0 fe ff | mov %eax,-0x14000(%rsp)  | cfa=rsp+8
		55                   | push %rbp                | cfa=rsp+8
		48 83 ec 20          | sub $0x20,%rsp           | cfa=rsp+16 rbp=[cfa-16]
		48 8b ee             | mov %rsi,%rbp            | cfa=rsp+48 rbp=[cfa-16]
		85 f6                | test %esi,%esi           | cfa=rsp+48 rbp=[cfa-16]
		74 1b                | je 0x102e                | cfa=rsp+48 rbp=[cfa-16]
		e8 00 10 00 00       | call 0x2018              | cfa=rsp+48 rbp=[cfa-16]
		48 83 c4 20          | add $0x20,%rsp           | cfa=rsp+48 rbp=[cfa-16]
		5d                   | pop %rbp                 | cfa=rsp+16 rbp=[cfa-16]
		49 3b a7 48 04 00 00 | cmp 0x448(%r15),%rsp     | cfa=rsp+8
		0f 87 11 00 00 00    | ja 0x103b                | cfa=rsp+8
		c3                   | ret                      | cfa=rsp+8
		cc                   | int3                     | -
		cc                   | int3                     | -
		cc                   | int3                     | -
		48 8b d5             | mov %rbp,%rdx            | cfa=rsp+48 rbp=[cfa-16]
		be 45 ff ff ff       | mov $0xffffff45,%esi     | cfa=rsp+48 rbp=[cfa-16]
		e8 00 10 00 00       | call 0x203b              | cfa=rsp+48 rbp=[cfa-16]
		4c 8d 15 e7 ff ff ff | lea -0x19(%rip),%r10 # 0x1029 | cfa=rsp+8
		4d 89 97 60 04 00 00 | mov %r10,0x460(%r15)     | cfa=rsp+8
		e9 00 10 00 00       | jmp 0x204e               | cfa=rsp+8
		f4                   | hlt                      | -
		f4                   | hlt                      | -
		e8 00 00 00 00       | call 0x1055              | cfa=rsp+48 rbp=[cfa-16] assumed
		48 83 2c 24 05       | subq $0x5,(%rsp)         | cfa=rsp+56 rbp=[cfa-16] assumed
		e9 00 10 00 00       | jmp 0x205f               | cfa=rsp+56 rbp=[cfa-16] assumed
		`, method(48, 12))
}

// TestPolledReturn: the end of a method on JDK 11, and a method that makes its frame without a push.
func TestPolledReturn(t *testing.T) {
	check(t, `
		48 81 ec 18 00 00 00 | sub $0x18,%rsp           | cfa=rsp+8
		48 89 6c 24 10       | mov %rbp,0x10(%rsp)      | cfa=rsp+32
		31 ed                | xor %ebp,%ebp            | cfa=rsp+32 rbp=[cfa-16]
		48 83 c4 10          | add $0x10,%rsp           | cfa=rsp+32 rbp=[cfa-16]
		5d                   | pop %rbp                 | cfa=rsp+16 rbp=[cfa-16]
		4d 8b 97 08 01 00 00 | mov 0x108(%r15),%r10     | cfa=rsp+8
		41 85 02             | test %eax,(%r10)         | cfa=rsp+8
		c3                   | ret                      | cfa=rsp+8
		`, method(32, 12))
}

// TestNotEntrant: HotSpot has overwritten the first bytes of the verified entry with a jmp.
func TestNotEntrant(t *testing.T) {
	text := `
		89 84 24 00 c0 fe ff | mov %eax,-0x14000(%rsp)  | cfa=rsp+8
		e9 00 10 00 00       | jmp 0x200c               | cfa=rsp+8
		fe                   | .byte 0xfe               | -
		ff                   | .byte 0xff               | -
		55                   | push %rbp                | cfa=rsp+8
		48 83 ec 20          | sub $0x20,%rsp           | cfa=rsp+16 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+48 rbp=[cfa-16]
		`
	l := parseListing(t, text)
	table := Analyze(AMD64.NMethod(testLo, l.code, Method{VerifiedEntry: testLo + 7, FrameSize: 48, FrameComplete: 19}))
	for pc, want := range l.frames {
		got := "-"
		if f, ok := table.At(pc); ok {
			got = f.String()
		}
		assert.Equal(t, expand(want), got, "%#x", pc)
	}
	check(t, `
		e9 00 10 00 00       | jmp 0x2005               | cfa=rsp+8
		00 00                | add %al,(%rax)           | -
		48 89 6c 24 10       | mov %rbp,0x10(%rsp)      | cfa=rsp+32
		c3                   | ret                      | cfa=rsp+32 rbp=[cfa-16]
		`, method(32, 12))
	check(t, `
		e9 00 10 00 00       | jmp 0x2005               | cfa=rsp+8
		55                   | push %rbp                | cfa=rsp+8
		48 8b ec             | mov %rsp,%rbp            | cfa=rsp+16 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+16 rbp=[cfa-16]
		`, method(32, 12))
}

// TestOSR: the entry of an OSR method in the middle of the code, where the frame is not made yet.
func TestOSR(t *testing.T) {
	check(t, `
		55                   | push %rbp                | cfa=rsp+8
		48 83 ec 20          | sub $0x20,%rsp           | cfa=rsp+16 rbp=[cfa-16]
		48 83 c4 20          | add $0x20,%rsp           | cfa=rsp+48 rbp=[cfa-16]
		5d                   | pop %rbp                 | cfa=rsp+16 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+8
		89 84 24 00 c0 fe ff | mov %eax,-0x14000(%rsp)  | cfa=rsp+8
		55                   | push %rbp                | cfa=rsp+8
		48 83 ec 20          | sub $0x20,%rsp           | cfa=rsp+16 rbp=[cfa-16]
		eb ec                | jmp 0x1005               | cfa=rsp+48 rbp=[cfa-16]
		`, func(code []byte) Code {
		return AMD64.NMethod(testLo, code, Method{VerifiedEntry: testLo, OSREntry: testLo + 11, FrameSize: 48,
			FrameComplete: 5})
	})
}

// TestNativeWrapper: rbp points into the frame even where rsp is aligned for a call of C code.
func TestNativeWrapper(t *testing.T) {
	check(t, `
		89 84 24 00 c0 fe ff | mov %eax,-0x14000(%rsp)  | cfa=rsp+8
		55                   | push %rbp                | cfa=rsp+8
		48 8b ec             | mov %rsp,%rbp            | cfa=rsp+16 rbp=[cfa-16]
		48 83 ec 40          | sub $0x40,%rsp           | cfa=rsp+16 rbp=[cfa-16]
		ff d0                | call *%rax               | cfa=rsp+80 rbp=[cfa-16]
		85 c0                | test %eax,%eax           | cfa=rsp+80 rbp=[cfa-16]
		75 02                | jne 0x1017               | cfa=rsp+80 rbp=[cfa-16]
		c9                   | leave                    | cfa=rsp+80 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+8
		4c 8b e4             | mov %rsp,%r12            | cfa=rsp+80 rbp=[cfa-16]
		48 83 e4 f0          | and $0xfffffffffffffff0,%rsp | cfa=rsp+80 rbp=[cfa-16]
		ff d0                | call *%rax               | cfa=rsp+80 rbp=[cfa-16]
		49 8b e4             | mov %r12,%rsp            | cfa=rsp+80 rbp=[cfa-16]
		eb ee                | jmp 0x1013               | cfa=rsp+80 rbp=[cfa-16]
		ff d1                | call *%rcx               | cfa=rsp+80 rbp=[cfa-16] assumed
		eb ea                | jmp 0x1013               | cfa=rsp+80 rbp=[cfa-16] assumed
		`, func(code []byte) Code {
		return AMD64.NMethod(testLo, code, Method{VerifiedEntry: testLo, FrameSize: 80, FrameComplete: 15, Native: true})
	})
}

// TestMovedStack: C2's intrinsic of String.indexOf pushes within the frame, and so does a barrier.
func TestMovedStack(t *testing.T) {
	check(t, `
		55                   | push %rbp                | cfa=rsp+8
		48 83 ec 10          | sub $0x10,%rsp           | cfa=rsp+16 rbp=[cfa-16]
		54                   | push %rsp                | cfa=rsp+32 rbp=[cfa-16]
		57                   | push %rdi                | cfa=rsp+40 rbp=[cfa-16]
		52                   | push %rdx                | cfa=rsp+48 rbp=[cfa-16]
		5a                   | pop %rdx                 | cfa=rsp+56 rbp=[cfa-16]
		48 83 f9 08          | cmp $0x8,%rcx            | cfa=rsp+48 rbp=[cfa-16]
		7c 04                | jl 0x1013                | cfa=rsp+48 rbp=[cfa-16]
		5f                   | pop %rdi                 | cfa=rsp+48 rbp=[cfa-16]
		5c                   | pop %rsp                 | cfa=rsp+40 rbp=[cfa-16]
		eb 05                | jmp 0x1018               | cfa=rsp+32 rbp=[cfa-16]
		48 8b 64 24 08       | mov 0x8(%rsp),%rsp       | cfa=rsp+48 rbp=[cfa-16]
		48 83 c4 10          | add $0x10,%rsp           | cfa=rsp+32 rbp=[cfa-16]
		5d                   | pop %rbp                 | cfa=rsp+16 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+8
		`, method(32, -1))
}

// TestUnknownMove: C2's intrinsic of String.indexOf for SSE 4.2 moves rsp by a distance that differs from call to call,
// and then pushes the old rsp.
func TestUnknownMove(t *testing.T) {
	check(t, `
		55                   | push %rbp                | cfa=rsp+8
		48 83 ec 10          | sub $0x10,%rsp           | cfa=rsp+16 rbp=[cfa-16]
		e8 f6 0f 00 00       | call 0x2000              | cfa=rsp+32 rbp=[cfa-16]
		48 8b cc             | mov %rsp,%rcx            | cfa=rsp+32 rbp=[cfa-16]
		83 fa 10             | cmp $0x10,%edx           | cfa=rsp+32 rbp=[cfa-16]
		73 0b                | jae 0x101d               | cfa=rsp+32 rbp=[cfa-16]
		48 83 ec 10          | sub $0x10,%rsp           | cfa=rsp+32 rbp=[cfa-16]
		ff c8                | dec %eax                 | cfa=rsp+48 rbp=[cfa-16]
		75 fc                | jne 0x1016               | cfa=rsp+48 rbp=[cfa-16]
		48 8b fc             | mov %rsp,%rdi            | cfa=rsp+48 rbp=[cfa-16]
		51                   | push %rcx                | cfa=rcx+32 rbp=[cfa-16]
		66 0f 3a 61 03 0c    | pcmpestri $0xc,(%rbx),%xmm0 | cfa=[rsp]+32 rbp=[cfa-16]
		83 ea 10             | sub $0x10,%edx           | cfa=[rsp]+32 rbp=[cfa-16]
		7d f5                | jge 0x101e               | cfa=[rsp]+32 rbp=[cfa-16]
		5c                   | pop %rsp                 | cfa=[rsp]+32 rbp=[cfa-16]
		48 83 c4 10          | add $0x10,%rsp           | cfa=rsp+32 rbp=[cfa-16]
		5d                   | pop %rbp                 | cfa=rsp+16 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+8
		`, method(32, -1))
}

// TestPopPush: an adapter takes the return address off the stack and puts it back.
func TestPopPush(t *testing.T) {
	check(t, `
		58                   | pop %rax                 | cfa=rsp+8
		4c 8b ec             | mov %rsp,%r13            | cfa=rsp ra=rax
		48 83 ec 20          | sub $0x20,%rsp           | cfa=rsp ra=rax
		48 83 e4 f0          | and $0xfffffffffffffff0,%rsp | cfa=rsp+32 ra=rax
		50                   | push %rax                | cfa=r13 ra=rax
		ff e1                | jmp *%rcx                | cfa=r13 ra=[rsp]
		`, func(code []byte) Code { return AMD64.Adapter(testLo, code) })
}

// TestCallStub: native code calls Java through a stub that saves all registers that C functions must preserve, and
// restores them.
func TestCallStub(t *testing.T) {
	check(t, `
		55                   | push %rbp                | cfa=rsp+8
		48 8b ec             | mov %rsp,%rbp            | cfa=rsp+16 rbp=[cfa-16]
		48 83 ec 60          | sub $0x60,%rsp           | cfa=rsp+16 rbp=[cfa-16]
		4c 89 7d a0          | mov %r15,-0x60(%rbp)     | cfa=rsp+112 rbp=[cfa-16]
		48 89 5d c0          | mov %rbx,-0x40(%rbp)     | cfa=rsp+112 rbp=[cfa-16] r15=[cfa-112]
		ff 75 08             | push 0x8(%rbp)           | cfa=rsp+112 rbp=[cfa-16] rbx=[cfa-80] r15=[cfa-112]
		ff d1                | call *%rcx               | cfa=rsp+120 rbp=[cfa-16] rbx=[cfa-80] r15=[cfa-112]
		48 8d 65 a0          | lea -0x60(%rbp),%rsp     | cfa=rsp+120 rbp=[cfa-16] rbx=[cfa-80] r15=[cfa-112]
		4c 8b 7d a0          | mov -0x60(%rbp),%r15     | cfa=rsp+112 rbp=[cfa-16] rbx=[cfa-80] r15=[cfa-112]
		48 8b 5d c0          | mov -0x40(%rbp),%rbx     | cfa=rsp+112 rbp=[cfa-16] rbx=[cfa-80] r15=[cfa-112]
		48 83 c4 60          | add $0x60,%rsp           | cfa=rsp+112 rbp=[cfa-16] rbx=[cfa-80] r15=[cfa-112]
		5d                   | pop %rbp                 | cfa=rsp+16 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+8
		`, stub("StubRoutines::call_stub"))
}

// TestEnter: enter makes a frame as push and mov do, and popf and pushf move rsp.
func TestEnter(t *testing.T) {
	check(t, `
		c8 10 00 00          | enter $0x10,$0x0         | cfa=rsp+8
		9c                   | pushf                    | cfa=rsp+32 rbp=[cfa-16]
		48 87 fd             | xchg %rdi,%rbp           | cfa=rsp+40 rbp=[cfa-16]
		5f                   | pop %rdi                 | cfa=rsp+40 rbp=[cfa-16]
		9d                   | popf                     | cfa=rsp+32 rbp=[cfa-16]
		48 81 cc f0 00 00 00 | or $0xf0,%rsp            | cfa=rsp+24 rbp=[cfa-16]
		c3                   | ret                      | -
		`, stub(""))
}

// TestExceptionBlob: the address at which an exception was thrown is in rdx. It becomes the return address of a frame
// whose rsp is aligned.
func TestExceptionBlob(t *testing.T) {
	check(t, `
		52                   | push %rdx                | cfa=rsp ra=rdx
		48 83 ec 18          | sub $0x18,%rsp           | cfa=rsp+8
		48 83 e4 f0          | and $0xfffffffffffffff0,%rsp | cfa=rsp+32
		e8 00 10 00 00       | call 0x200e              | cfa=rsp+32
		48 83 c4 18          | add $0x18,%rsp           | cfa=rsp+32
		5a                   | pop %rdx                 | cfa=rsp+8
		ff e1                | jmp *%rcx                | cfa=rsp ra=rdx
		`, stub("ExceptionBlob"))
	check(t, `
		55                   | push %rbp                | cfa=rsp+8
		48 8b ec             | mov %rsp,%rbp            | cfa=rsp+16 rbp=[cfa-16]
		48 89 55 08          | mov %rdx,0x8(%rbp)       | cfa=rsp+16 rbp=[cfa-16]
		c9                   | leave                    | cfa=rsp+16 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+8
		`, stub("handle_exception_from_callee Runtime1 stub"))
}

// TestSafepointBlob: a thread that polls in a loop has no return address on the stack.
func TestSafepointBlob(t *testing.T) {
	check(t, `
		53                   | push %rbx                | -
		55                   | push %rbp                | -
		48 8b ec             | mov %rsp,%rbp            | -
		49 8b 9f d8 03 00 00 | mov 0x3d8(%r15),%rbx     | -
		48 89 5d 08          | mov %rbx,0x8(%rbp)       | -
		e8 00 10 00 00       | call 0x2015              | cfa=rsp+16 rbp=[cfa-16]
		5d                   | pop %rbp                 | cfa=rsp+16 rbp=[cfa-16]
		c3                   | ret                      | cfa=rsp+8
		`, stub("SafepointBlob"))
	check(t, `
		55                   | push %rbp                | cfa=rsp+8
		c3                   | ret                      | cfa=rsp+16 rbp=[cfa-16]
		`, stub("SafepointBlob"))
}

// TestCodelet: for a call of the runtime, the codelet makes a return address by a call to its own code. rbp points to
// the frame all the time. There is an entry for each type of the value on top of the stack; these entries are not
// reached from the start.
func TestCodelet(t *testing.T) {
	const frame = "cfa=[rbp-8] ra=[rbp+8] rbp=[rbp]"
	check(t, strings.ReplaceAll(`
		50                   | push %rax                | FRAME
		eb 01                | jmp 0x1004               | FRAME
		53                   | push %rbx                | FRAME assumed
		e8 04 00 00 00       | call 0x100d              | FRAME
		eb 0b                | jmp 0x1016               | FRAME
		cc                   | int3                     | -
		cc                   | int3                     | -
		48 8d 44 24 08       | lea 0x8(%rsp),%rax       | FRAME
		ff d1                | call *%rcx               | FRAME
		c3                   | ret                      | FRAME
		cc                   | int3                     | -
		48 8b 65 f0          | mov -0x10(%rbp),%rsp     | FRAME
		48 8b 5d f8          | mov -0x8(%rbp),%rbx      | FRAME
		c9                   | leave                    | FRAME
		5a                   | pop %rdx                 | cfa=rbx ra=[rsp]
		48 8b e3             | mov %rbx,%rsp            | cfa=rbx ra=rdx
		ff e2                | jmp *%rdx                | cfa=rsp ra=rdx
		`, "FRAME", frame), codelet("ireturn  172 ireturn"))
}

// TestMethodEntry: the interpreter pushes as many zeros as a method has local variables, so that rsp has no constant
// distance to the caller's frame, and then makes its frame.
func TestMethodEntry(t *testing.T) {
	check(t, `
		58                   | pop %rax                 | cfa=r13 ra=[rsp]
		85 d2                | test %edx,%edx           | cfa=r13 ra=rax
		7e 06                | jle 0x100b               | cfa=r13 ra=rax
		6a 00                | push $0x0                | cfa=r13 ra=rax
		ff ca                | dec %edx                 | cfa=r13 ra=rax
		7f fa                | jg 0x1005                | cfa=r13 ra=rax
		50                   | push %rax                | cfa=r13 ra=rax
		55                   | push %rbp                | cfa=r13 ra=[rsp]
		48 8b ec             | mov %rsp,%rbp            | cfa=r13 ra=[rsp+8] rbp=[rsp]
		41 55                | push %r13                | cfa=r13 ra=[rsp+8] rbp=[rsp]
		4c 8b 6b 10          | mov 0x10(%rbx),%r13      | cfa=[rsp] ra=[rsp+16] rbp=[rsp+8]
		6a 00                | push $0x0                | cfa=[rsp] ra=[rsp+16] rbp=[rsp+8]
		ff e1                | jmp *%rcx                | cfa=[rsp+8] ra=[rsp+24] rbp=[rsp+16]
		`, codelet("native method entry point (kind = native)"))
}

// TestFrames: the frames that need no Table lead to the caller.
func TestFrames(t *testing.T) {
	memory := map[uint64]uint64{0x1000 - 8: 0xa0, 0x1000 - 16: 0xb0, 0x900: 0xb1, 0x908: 0xa1, 0x8f8: 0x1234}
	read := func(addr uint64) (uint64, bool) { v, ok := memory[addr]; return v, ok }
	var r Registers
	r.Set(RSP, 0x1000-48)
	for _, c := range []struct {
		frame  Frame
		rbp    uint64
		caller []uint64 // pc, rsp, rbp
	}{
		{AMD64.Complete(48), 7, []uint64{0xa0, 0x1000, 0xb0}},
		{AMD64.Interpreted(), 0x900, []uint64{0xa1, 0x1234, 0xb1}},
		{AMD64.ByFramePointer(), 0x1000 - 16, []uint64{0xa0, 0x1000, 0xb0}},
	} {
		r.Set(RBP, c.rbp)
		caller, ok := c.frame.Caller(&r, read)
		require.True(t, ok, c.frame)
		assert.Equal(t, c.caller, []uint64{caller.PC, caller.R[RSP], caller.R[RBP]}, c.frame)
		assert.Equal(t, uint32(1<<RSP|1<<RBP), caller.Known)
	}
	frame := AMD64.Interpreted()
	_, ok := frame.Caller(&Registers{}, read)
	assert.False(t, ok, "rbp is not known")
	frame = AMD64.Complete(64)
	_, ok = frame.Caller(&r, read)
	assert.False(t, ok, "there is no such memory")
}

// TestLimits: code with far too many jumps, or with a frame that is too large, has no frames.
func TestLimits(t *testing.T) {
	var code []byte
	for i := range 100_000 { // each jump goes to somewhere else
		code = append(code, 0x70, byte(i*37))
	}
	assert.NotPanics(t, func() { Analyze(AMD64.Stub(testLo, code, "")) })
	assert.NotPanics(t, func() {
		Analyze(AMD64.Stub(^uint64(0)-10, []byte{0x55, 0xeb, 0x7f, 0xe9, 0, 0, 0, 0x80, 0xc3},
			""))
	})
	_, ok := Analyze(AMD64.Stub(testLo, make([]byte, maxCode+1), "")).At(testLo)
	assert.False(t, ok)
	table := Analyze(AMD64.Stub(testLo, []byte{0x48, 0x81, 0xec, 0, 0, 0, 0x7f, 0xc3}, "")) // sub $0x7f000000,%rsp
	_, ok = table.At(testLo + 7)
	assert.False(t, ok)
	for _, pc := range []uint64{0, testLo - 1, testLo + 1, testLo + 8, ^uint64(0)} {
		_, ok = table.At(pc)
		assert.False(t, ok, "%#x", pc)
	}
}

// TestStores writes to memory that overlaps a slot of the frame, and to memory close to it.
func TestStores(t *testing.T) {
	check(t, `
		55                   | push %rbp                | cfa=rsp+8
		0f ae 5c 24 fc       | stmxcsr -0x4(%rsp)       | cfa=rsp+16 rbp=[cfa-16]
		0f ae 54 24 04       | ldmxcsr 0x4(%rsp)        | cfa=rsp+16 rbp=[cfa-16]
		c5 fe 7f 44 24 e0    | vmovdqu %ymm0,-0x20(%rsp) | cfa=rsp+16 rbp=[cfa-16]
		62 f1 fe 48 7f 44 24 ff | vmovdqu64 %zmm0,-0x40(%rsp) | cfa=rsp+16 rbp=[cfa-16]
		53                   | push %rbx                | cfa=rsp+16 rbp=[cfa-16]
		31 db                | xor %ebx,%ebx            | cfa=rsp+24 rbp=[cfa-16] rbx=[cfa-24]
		c6 44 24 07 00       | movb $0x0,0x7(%rsp)      | cfa=rsp+24 rbp=[cfa-16] rbx=[cfa-24]
		31 ed                | xor %ebp,%ebp            | cfa=rsp+24 rbp=[cfa-16]
		0f 29 04 24          | movaps %xmm0,(%rsp)      | cfa=rsp+24 rbp=[cfa-16]
		48 83 c4 10          | add $0x10,%rsp           | cfa=rsp+24
		c3                   | ret                      | cfa=rsp+8
		`, stub(""))
}
