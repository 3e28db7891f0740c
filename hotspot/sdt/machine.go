package sdt

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
)

// A Machine has the parts of an object that depend on the instruction set, such as machine code and the names of
// registers.
type Machine struct {
	machine   elf.Machine
	relative  uint64 // Info of a relocation that adds the load address (R_…_RELATIVE)
	site      []byte // the code of a site: a nop and a return
	registers [MaxValues]string
	code      []byte
}

// The supported machines. AMD64's nop has 5 bytes, because newer kernels replace it with a call while the site is
// traced. Older kernels put a breakpoint there.
var (
	AMD64 = &Machine{elf.EM_X86_64, 8 /* R_X86_64_RELATIVE */, []byte{0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3, 0xcc, 0xcc},
		[...]string{"%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9", "%rax", "%r10"}, unhex(amd64Code)}
	ARM64 = &Machine{elf.EM_AARCH64, 1027 /* R_AARCH64_RELATIVE */, []byte{0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6},
		[...]string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"}, unhex(arm64Code)}
)

// ThisMachine returns the machine that gasm was built for.
func ThisMachine() (*Machine, error) {
	switch runtime.GOARCH {
	case "amd64":
		return AMD64, nil
	case "arm64":
		return ARM64, nil
	}
	return nil, fmt.Errorf("--probe-sdt: gasm has no machine code for %s: it works on x86-64 and aarch64",
		runtime.GOARCH)
}

func unhex(text string) []byte {
	code, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		panic(err) // can't happen: the text is a constant, which TestCode checks
	}
	return code
}

// The machine code of testdata/amd64.s and testdata/arm64.s. TestCode assembles these files and compares the result
// with the constants.
const (
	amd64Code = `
534883ec10488b07488d742408ba06000100ff503085c07540488b5c2408488b
034889df488d35f5fdffffff50304885c074264889c64889df488b03488d15bd
4c0100b902000000ff90b806000085c07507b806000100eb0231c04883c4105b
c3cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
488b07488d35764d0100ba00200000ffa028070000cccccccccccccccccccccc
cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
554889e5534154415541564881ec401800004889fb4189d448890c244c894424
084c894c2410488b45104889442418488b45184889442420488b452048894424
28488b45284889442430488b453048894424384531ed4c8d7424404a8b74ed38
4885f674344889df488b03ff9020050000b9ff00000039c80f4cc841c6060031
d24a8b74ed384d89f04889df488b03ff90e80600004e8934ec4981c600030000
41ffc54183fd0875b24181fc0008000073354c8d1d870200004f8d1ce3488b3c
24488b742408488b542410488b4c24184c8b4424204c8b4c2428488b4424304c
8b54243841ffd3488d65e0415e415d415c5b5dc3cccccccccccccccccccccccc
cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
`
	arm64Code = `
fd7bbea9fd030091080040f9e1630091c20080522200a072081940f900013fd6
40020035e00f40f9080040f9a1efff10081940f900013fd6800100b4e10300aa
e00f40f9080040f9c2650a1043008052085d43f900013fd680000035c0008052
2000a0720200001400008052fd7bc2a8c0035fd6000000000000000000000000
080040f9e16b0a10020084d2089543f900011fd6000000000000000000000000
0000000000000000000000000000000000000000000000000000000000000000
fd7bbda9fd030091f35301a9f55b02a9ff0740d1ff0321d1f30300aaf403022a
e31300a9e51b01a9a92b43a9ab2340f9e72702a9ea2f03a9150080d2f6030191
a9230191217975f8410200b4e00313aa680240f9089142f900013fd6e31f8052
1f00036b03b0831adf02003902008052a9230191217975f8e40316aae00313aa
680240f9087543f900013fd6f67b35f8d6020c91b5060091bf2200f121fdff54
9f02207102010054c9140010294d348be00740a9e20f41a9e41742a9e61f43a9
20013fd6bf030091f35341a9f55b42a9fd7bc3a8c0035fd60000000000000000
0000000000000000000000000000000000000000000000000000000000000000
0000000000000000000000000000000000000000000000000000000000000000
0000000000000000000000000000000000000000000000000000000000000000
`
)
