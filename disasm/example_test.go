package disasm_test

import (
	"fmt"

	"github.com/gasm-profiler/gasm/disasm"
)

// This example decodes the beginning of a function and prints where its direct call goes.
func ExampleDecode() {
	code := []byte{0x55, 0x48, 0x89, 0xe5, 0xe8, 0x10, 0x00, 0x00, 0x00, 0x5d, 0xc3}
	for _, syntax := range []disasm.Syntax{disasm.ATT, disasm.Intel} {
		insts, err := disasm.Decode(disasm.AMD64, syntax, code, 0x1000)
		if err != nil {
			panic(err)
		}
		for _, in := range insts {
			fmt.Printf("%#x  %s\n", in.Addr, in.Text)
			if in.Kind == disasm.Call {
				fmt.Printf("\tcalls %#x\n", in.Target)
			}
		}
	}
	// Output:
	// 0x1000  push   %rbp
	// 0x1001  mov    %rsp,%rbp
	// 0x1004  call   0x1019
	// 	calls 0x1019
	// 0x1009  pop    %rbp
	// 0x100a  ret
	// 0x1000  push   rbp
	// 0x1001  mov    rbp,rsp
	// 0x1004  call   0x1019
	// 	calls 0x1019
	// 0x1009  pop    rbp
	// 0x100a  ret
}

// This example decodes bytes that are not an instruction, followed by one that is. Undecodable bytes do not end the
// decoding: they become an instruction that is marked as Bad.
func ExampleDecode_bad() {
	insts, err := disasm.Decode(disasm.ARM64, disasm.ATT, []byte{0x98, 0x6d, 0xad, 0x03, 0xc0, 0x03, 0x5f, 0xd6},
		0x1000)
	if err != nil {
		panic(err)
	}
	for _, in := range insts {
		fmt.Printf("%#x  %s (bad: %t)\n", in.Addr, in.Text, in.Bad)
	}
	// Output:
	// 0x1000  .inst  0x03ad6d98 ; undefined (bad: true)
	// 0x1004  ret (bad: false)
}
