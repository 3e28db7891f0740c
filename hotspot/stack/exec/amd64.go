package exec

// AMD64 is x86-64.
var AMD64 = &Arch{
	registers: 16, sp: rsp, fp: rbp, link: noReg,
	preserved: []int{RBP, RBX, R12, R13, R14, R15},
	kept:      1<<rsp | 1<<rbp | 1<<rbx | 0xf000,
	names: []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
	senderSP: r13, exceptionPC: rdx, followsCalls: true,
	step: 1, decode: decode, padding: padding, notEntrant: notEntrant, polls: polls,
}

// notEntrant returns the seed of a verified entry. code begins at that entry. When HotSpot makes a method not entrant,
// it overwrites the first five bytes of the entry with a jmp (NativeJump::patch_verified_entry). Threads may still be
// in the code after the overwritten instruction, which was one of these:
//
//	89 84 24 00 c0 fe ff    mov    %eax,-0x14000(%rsp)    the check for a stack overflow
//	48 81 ec 30 00 00 00    sub    $0x30,%rsp             a method of C2's that needs no such check
//	0f 1f 44 00 00          nopl   0x0(%rax,%rax,1)       a native wrapper that needs no such check
//
// The bytes after the jmp show which one it was.
func notEntrant(entry uint64, code []byte, frameSize int) Seed {
	const jmpLen, wholeLen = 5, 7
	if len(code) < wholeLen || code[0] != 0xe9 {
		return Called(entry)
	}
	switch last := code[jmpLen:wholeLen]; {
	case last[0] == 0 && last[1] == 0:
		s := FullFrame(entry+wholeLen, frameSize)
		s.start.keepsFP = true
		return s
	case last[1] == 0xff:
		return Called(entry + wholeLen)
	}
	return Called(entry + jmpLen)
}

// polls reports whether a SafepointBlob begins with "push %rbx", which makes room for the return address.
func polls(code []byte) bool { return len(code) > 0 && code[0] == 0x53 }

// padding reports whether code begins with hlt, int3 or 0, with which HotSpot fills the space between pieces of code.
func padding(code []byte) bool { return code[0] == 0xf4 || code[0] == 0xcc || code[0] == 0 }
