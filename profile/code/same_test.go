package code

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/printassembly"
)

func TestNormalText(t *testing.T) {
	check := func(text, comment, want string) {
		t.Helper()
		in := printassembly.Instruction{Text: text}
		if comment != "" {
			in.Comments = []string{comment}
		}
		assert.Equal(t, want, normalText(&in), text)
	}
	check("mov    $0x1,%eax", "", "mov    $0x1,%eax")
	check("mov    $0xffff,%eax", "", "mov    $0xffff,%eax")
	check("movabs $0x7f00aa,%rax", "", "movabs $#,%rax")
	check("mov    -0x2968f(%rip),%rax        # 0x7fae0142b528", "", "mov    #(%rip),%rax        # #")
	check("cmp    $0x6c28,%r11d", "{metadata({type array int})}", "cmp    $#,%r11d")
	check("cmp    $0x6c28,%r11d", "*ifeq {reexecute=0}", "cmp    $0x6c28,%r11d")
	check("call   0x1000", "{runtime_call x}", "call   #")
	check("mov    0x10(%rsi),%eax", "{no_reloc}", "mov    0x10(%rsi),%eax")
	check("ret", "", "ret")
	check("0x", "", "0x")
}
