package safepoints

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

func TestAccessOf(t *testing.T) {
	field, store, element := access{offset: 16}, access{offset: 16, store: true}, access{offset: 16, array: true}
	for _, c := range []struct {
		text string
		want access
		no   bool
	}{
		{"mov    0x10(%rsi),%r11d", field, false},
		{"mov    0x10(%r12,%r11,8),%r10d", field, false},
		{"mov    0x10(,%r11,8),%r10d", field, false},
		{"cmp    0x10(%rsi),%r11d", field, false},
		{"cmpl   $0x1,0x10(%rsi)", field, false},
		{"mov    %r10d,0x10(%rsi)", store, false},
		{"movl   $0x1,0x10(%rsi)", store, false},
		{"movb   $0x1,(%rsi)", access{store: true}, false},
		{"mov    0x10(%rdi,%rdx,4),%r9d", element, false},
		{"mov    0x10(%rdi,%rdx,8),%r9", element, false},
		{"mov    0x10(%rsp),%r9", access{}, true},
		{"mov    0x10(%r15),%r9", access{}, true},
		{"mov    0x10(%rip),%r9", access{}, true},
		{"mov    -0x10(%rsi),%r9", access{}, true},
		{"lea    0x10(%rsi),%r9", access{}, true},
		{"nopl   0x10(%rax,%rax,1)", access{}, true},
		{"mov    %r10,%r9", access{}, true},
		{"mov    0x10(%rsi", access{}, true},
		{"mov    r11d,DWORD PTR [rsi+0x10]", field, false},
		{"mov    r10d,DWORD PTR [r12+r11*8+0x10]", field, false},
		{"mov    r10d,DWORD PTR [r11*8+0x10]", field, false},
		{"mov    DWORD PTR [rsi+0x10],r10d", store, false},
		{"cmp    DWORD PTR [rsi+0x10],0x1", field, false},
		{"mov    r9d,DWORD PTR [rdi+rdx*4+0x10]", element, false},
		{"mov    r9d,DWORD PTR [rdi+rdx*8+0x10]", element, false},
		{"mov    r9,QWORD PTR [rsp+0x10]", access{}, true},
		{"mov    r9,QWORD PTR [rsi-0x10]", access{}, true},
		{"mov    r9,QWORD PTR [rsi+0x10", access{}, true},
		{"ldr    w0, [x1, #16]", field, false},
		{"ldr    w0, [x1]", access{}, false},
		{"str    w0, [x1, #16]", store, false},
		{"ldr    w0, [x1, x2, lsl #3]", access{array: true}, false},
		{"ldr    x0, [sp, #16]", access{}, true},
		{"ldr    x0, [x28, #16]", access{}, true},
		{"ldur   x0, [x1, #-8]", access{}, true},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, ok := accessOf(&printassembly.Instruction{Text: c.text})
			assert.Equal(t, !c.no, ok)
			if ok {
				assert.Equal(t, c.want, got)
			}
		})
	}
	_, ok := accessOf(&printassembly.Instruction{Text: "jmp    *0x10(%rsi)", Kind: disasm.Jump})
	assert.False(t, ok)
}

// The instructions of these cases have letters: r reads the field at the offset that follows, w writes it, and e reads
// an element of an array.
var accesses = strings.NewReplacer("r12", "mov 0xc(%rsi),%eax", "r16", "mov 0x10(%rsi),%eax", "w16",
	"mov %eax,0x10(%rsi)",
	"w0", "movq $0x1,(%rsi)", "e", "mov 0x10(%rsi,%rdi,4),%eax")

func TestWitnesses(t *testing.T) {
	const bodies = `
<method_body id='1' method='get' refs='1g16'/>
<method_body id='2' method='outer' refs='1c1'/>
<method_body id='3' method='set' refs='2p16'/>
<method_body id='4' method='a' refs='3c1 5c3 20c2 30a'/>
<method_body id='5' method='b' refs='2g16 9a'/>
`
	for _, c := range []struct{ name, code, compiler, want string }{
		{"a getter without a record", `
			0 call | a@1
			1 op
			2 op
			3 op
			4 r16
			5 op
			6 op
			7 call | a@4
			8 ret`, "c2", `
			2: a@~1
			3: ~get@~-1 < a@~4
			4: ~get@~-1 < a@~4
			5: a@~4`},
		{"a setter without a record", `
			0 call | a@1
			1 op
			2 op
			3 w16
			4 op
			5 op
			6 op
			7 call | a@9
			8 ret`, "c2", `
			3: ~set@~-1 < a@~9`},
		{"a getter in a method without a record", `
			0 call | a@10
			1 op
			2 op
			3 op
			4 r16
			5 op
			6 op
			7 op
			8 call | a@25
			9 ret`, "c2", `
			4: ~get@~-1 < ~outer@~-1 < a@~25`},
		{"no bytecode between the records reads the field", `
			0 call | a@6
			1 op
			2 op
			3 op
			4 r16
			5 op
			6 op
			7 op
			8 call | a@15
			9 ret`, "c2", `
			4: a@~15`},
		{"control returns from the method that reads the field", `
			0 call | b@1 < a@6
			1 op
			2 op
			3 op
			4 r16
			5 op
			6 op
			7 op
			8 call | a@7
			9 ret`, "c2", `
			4: ~b@~1 < a@~6
			6: a@~7`},
		{"a loop goes on behind its record first", `
			0 op
			1 call | a@9
			2 op
			3 op
			4 r16
			5 op
			6 op
			7 op
			8 jcc 1
			9 call | a@40
			10 ret`, "c2", `
			4: ~get@~-1 < ~outer@~-1 < a@~9`},
		{"the check for null of a call", `
			0 call | a@1
			1 op
			2 op
			3 op
			4 r16 ; implicit exception: dispatches to 0x9
			5 op
			6 op
			7 call | a@9
			8 ret
			9 call | a@3 ; {runtime_call UncommonTrapBlob}`, "c2", `
			4: ~get@~-1 < a@~3`},
		{"the check for null of the method itself", `
			0 call | b@1 < a@1
			1 op
			2 r16 ; implicit exception: dispatches to 0x5
			3 op
			4 ret
			5 call | b@2 < a@1 ; {runtime_call UncommonTrapBlob}`, "c2", `
			2: ~b@~2 < a@~1`},
		{"the header of a new object", `
			0 op
			1 jcc 9
			2 op
			3 w0
			4 op
			5 op
			6 op
			7 call | a@9
			8 ret
			9 call | new@0 < a@4 ; {runtime_call _new_instance_Java}
			10 jmp 4`, "c2", `
			3: ~new@~0 < a@~4`},
		{"elements of arrays", `
			0 call | b@1 < a@6
			1 op
			2 op
			3 op
			4 e
			5 op
			6 op
			7 call | a@7
			8 ret`, "c2", `
			4: ~b@~1 < a@~6`},
		{"C1 checks arrays anywhere", `
			0 call | b@1 < a@6
			1 op
			2 op
			3 op
			4 op
			5 e
			6 op
			7 call | a@7
			8 ret`, "c1", `
			5: a@~7`},
	} {
		t.Run(c.name, func(t *testing.T) {
			insts := parse(t, c.code)
			for i := range insts {
				if text := accesses.Replace(insts[i].Text); text != insts[i].Text && insts[i].Kind == disasm.Plain {
					insts[i].Text = text
				}
			}
			text := "<hotspot_log version='160 1' process='1' time_ms='1'>\n<writer thread='gasm'/>" + bodies
			log, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), c.name)
			require.NoError(t, err)
			Spread(&printassembly.Blob{Name: "a", Compiler: c.compiler}, insts, &log.Bodies)
			for line := range strings.Lines(strings.TrimSpace(c.want)) {
				at, want, _ := strings.Cut(strings.TrimSpace(line), ":")
				i, err := strconv.Atoi(at)
				require.NoError(t, err)
				assert.Equal(t, strings.TrimSpace(want), show(&insts[i]), "at %d", i)
			}
		})
	}
}

// A hostile log may have methods that call each other so often that not all calls can be followed, and a chain of any
// number of frames in these methods.
func TestManyBodies(t *testing.T) {
	var text strings.Builder
	text.WriteString("<hotspot_log version='160 1' process='1' time_ms='1'>\n<writer thread='gasm'/>\n")
	for id := range 6 {
		text.WriteString("<method_body id='" + strconv.Itoa(id) + "' method='a' refs='")
		for bci := range 1000 {
			text.WriteString(" " + strconv.Itoa(bci) + "c" + strconv.Itoa(max(0, id-1)))
		}
		text.WriteString("'/>\n")
	}
	log, err := printassembly.NewLog(strings.NewReader(text.String()), int64(text.Len()), "many")
	require.NoError(t, err)
	insts := parse(t, `
		1 call | a@1
		2 op
		3 op
		4 call | a@900
		5 ret`)
	insts[1].Text = "mov 0x10(%rsi),%eax"
	Spread(&printassembly.Blob{Name: "a"}, insts, &log.Bodies)
	assert.Equal(t, "a@~900", show(&insts[1]))
}
