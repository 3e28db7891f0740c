package printassembly

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
)

// blobCode reads the code of an nmethod at [0x1000, 0x1000+size). The argument lines has the log's lines after those
// with the nmethod's ranges.
func blobCode(t *testing.T, size int, lines string) []Instruction {
	t.Helper()
	l := newLog(t, fmt.Sprintf("%sCompiled method (c1) 10    7       3       A::a (28 bytes)\n"+
		" main code      [0x0000000000001000,0x%016x] = 1\n\n%s\n", header, 0x1000+size, lines))
	require.Len(t, l.Blobs, 1)
	insts := code(t, l, &l.Blobs[0])
	checkCode(t, &l.Blobs[0], insts)
	return insts
}

// describe returns a line per instruction: offset, text, section, comments, and frames. A * marks the instruction's
// own frames.
func describe(insts []Instruction) string {
	var out strings.Builder
	for _, in := range insts {
		fmt.Fprintf(&out, "%d %s", in.Lo-0x1000, strings.Join(strings.Fields(in.Text), " "))
		if in.Section != "" {
			fmt.Fprintf(&out, " [%s]", in.Section)
		}
		for _, c := range in.Comments {
			fmt.Fprintf(&out, " ;%s", c)
		}
		if in.OwnFrames {
			out.WriteString(" *")
		}
		for _, f := range in.Frames {
			fmt.Fprintf(&out, " %s@%d:%d", f.Method, f.BCI, f.Line)
		}
		out.WriteByte('\n')
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Rows begin inside instructions: the second one begins with the last byte of a movabs.
func TestHexRows(t *testing.T) {
	insts := blobCode(t, 16, `[MachCode]
  0x0000000000001000: 5548 ba88 | 7766 5544 | 

  0x0000000000001008: 3322 11c3 | f4f4 f4f4 
[/MachCode]
`)
	assert.Equal(t, "0 push %rbp\n1 movabs $0x1122334455667788,%rdx\n11 ret\n12 hlt\n13 hlt\n14 hlt\n15 hlt",
		describe(insts))
}

func TestHexComments(t *testing.T) {
	insts := blobCode(t, 24, `[Constant Pool (empty)]

[MachCode]
[Entry Point]
  # {method} {0x00007fad93400ec8} &apos;dot&apos; &apos;([I[I)I&apos; in &apos;Workload&apos;
  # parm0:    rsi:rsi   = &apos;[I&apos;
  0x0000000000001000: 5548 89e5 

  0x0000000000001004: ; implicit exception: dispatches to 0x0000000000001014
  0x0000000000001004: 8b46 0c85 

  0x0000000000001008: ;*iload_3 {reexecute=0 rethrow=0 return_oop=0}
                      ; - A::inner@4 (line 12)
                      ; - A::a@9 (line 3)
  0x0000000000001008: c090 9090 

  0x000000000000100c: ;   {runtime_call Stub::x}
  0x000000000000100c: e8ef 0000 

  0x0000000000001010: ; ImmutableOopMap {rsi=Oop }
                      ;*invokestatic x {reexecute=0 rethrow=0 return_oop=1}
                      ; - (reexecute) A::a@-1 (line 4)
[Exception Handler]
  0x0000000000001010: 0090 9090 | 9090 90c3 
[/MachCode]
`)
	assert.Equal(t, `0 push %rbp [Entry Point] ;{method} {0x00007fad93400ec8} 'dot' '([I[I)I' in 'Workload' ;parm0: rsi:rsi   = '[I' A::inner@4:12 A::a@9:3
1 mov %rsp,%rbp A::inner@4:12 A::a@9:3
4 mov 0xc(%rsi),%eax ;implicit exception: dispatches to 0x0000000000001014 A::inner@4:12 A::a@9:3
7 test %eax,%eax ;*iload_3 {reexecute=0 rethrow=0 return_oop=0} * A::inner@4:12 A::a@9:3
9 nop A::a@-1:4
10 nop A::a@-1:4
11 nop A::a@-1:4
12 call 0x1100 [Exception Handler] ;{runtime_call Stub::x} ;ImmutableOopMap {rsi=Oop } ;*invokestatic x {reexecute=0 rethrow=0 return_oop=1} * A::a@-1:4
17 nop
18 nop
19 nop
20 nop
21 nop
22 nop
23 ret`, strings.ReplaceAll(describe(insts), "parm0:    rsi", "parm0: rsi"))
}

// Each dump has one comment at the cell [4, 8). The field want is the offset of the instruction that gets the comment.
func TestPlace(t *testing.T) {
	const debug = ";*iadd {reexecute=0 rethrow=0 return_oop=0}\n                      ; - A::a@4 (line 12)"
	const reloc = ";   {metadata(x)}"
	for _, c := range []struct {
		name, note string
		code       string // 12 bytes; the dump splits them at the note's cell
		want       uint64
	}{
		{"debug info: ends at X+4", debug, "4889 c290 | 4801 d090 | 9090 90c3", 4},
		{"debug info: ends at X+4, alone", debug, "4889 c290 | 488b 1424 | 9090 90c3", 4},
		{"debug info: ends in the cell, starts before it", debug, "9090 4c8b | 5424 0890 | 9090 90c3", 2},
		{"debug info: not the one that ends at X", debug, "4801 d090 | 4801 d090 | 9090 90c3", 4},
		{"debug info: no instruction ends in the cell", debug, "9048 ba88 | 7766 5544 | 3322 11c3", 1},
		{"debug info: the first of equals", debug, "9090 9090 | ffc0 ffc1 | 9090 90c3", 4},
		{"debug info: not on padding", debug, "9090 9090 | 90ff c190 | 9090 90c3", 5},
		{"debug info: not on a move between registers", debug, "9090 9090 | 89c2 ffc1 | 9090 90c3", 6},
		{"debug info: a jump rather than a compare", debug, "9090 9090 | 85c0 7400 | 9090 90c3", 6},
		{"debug info: a return rather than a jump", debug, "9090 9090 | 7400 90c3 | 9090 90c3", 7},
		{"debug info: the last of moves between registers", debug, "9090 9090 | 89c2 89c3 | 9090 90c3", 6},
		{"debug info: what the bytecode does", debug, "9090 9090 | ffc0 7400 | 9090 90c3", 4},
		{"debug info: a branch's jump", strings.Replace(debug, "iadd", "if_icmpge", 1), "9090 9090 | ffc0 7400 | 9090 90c3",
			6},
		{"debug info: a field's memory", strings.Replace(debug, "iadd", "getfield x", 1), "9090 9090 | ffc0 8b03 | 9090 90c3",
			6},
		{"debug info: not the stack", strings.Replace(debug, "iadd", "getfield x", 1), "9090 908b | 0424 ffc0 | 9090 90c3",
			6},
		{"relocation: no short jump", ";   {runtime_call Stub::x}", "9090 9090 | 7400 e800 | 0000 00c3", 6},
		{"relocation: no small constant", reloc, "9090 9083 | f800 b801 | 0000 00c3", 6},
		{"debug info: a call rather than what follows", debug, "90e8 0000 | 0000 75f8 | 9090 90c3", 1},
		{"oop map: a call", "; ImmutableOopMap {rsi=Oop }", "90e8 0000 | 0000 ffc0 | 9090 90c3", 1},
		{"relocation: starts at X", reloc, "9090 9090 | 4801 d090 | 9090 90c3", 4},
		{"relocation: starts in the cell", reloc, "4c8b 5424 | 08b8 0100 | 0000 90c3", 5},
		{"relocation: an address needs a constant", reloc, "9090 9090 | 90b8 0100 | 0000 90c3", 5},
		{"relocation: a call", ";   {runtime_call Stub::x}", "9090 9090 | 90e8 0000 | 0000 90c3", 5},
		{"relocation: a poll reads memory", ";   {poll}", "9090 9090 | 85c0 8506 | 9090 90c3", 6},
		{"relocation: the nop after a call", ";   {post_call_nop}", "9090 9090 | 89c2 9090 | 9090 90c3", 6},
		{"relocation: an address of the code's", ";   {section_word}", "9090 9090 | 9048 8d05 | 0000 0000", 5},
		{"relocation: nothing fits", ";   {runtime_call Stub::x}", "9090 9090 | 89c2 89c2 | 9090 90c3", 4},
		{"relocation: no instruction starts in the cell", reloc, "9048 ba88 | 7766 5544 | 3322 11c3", 1},
	} {
		cells := strings.Split(c.code, " | ")
		insts := blobCode(t, 12, fmt.Sprintf("[MachCode]\n  0x0000000000001000: %s \n\n  0x0000000000001004: %s\n"+
			"  0x0000000000001004: %s | %s \n[/MachCode]\n", cells[0], c.note, cells[1], cells[2]))
		var got []uint64
		for _, in := range insts {
			if len(in.Comments) > 0 {
				got = append(got, in.Lo-0x1000)
			}
		}
		assert.Equal(t, []uint64{c.want}, got, "%s\n%s", c.name, describe(insts))
	}
}

// Newer JDKs may begin comments with #, and omit the blank after "; -".
func TestCommentMarks(t *testing.T) {
	insts :=
		blobCode(t, 4, "[MachCode]\n  0x0000000000001000: #*iadd {reexecute=0}\n                      # -A::a@4 (line 12)\n"+
			"  0x0000000000001000: ; -A::b@5 (line 13)\n  0x0000000000001000: 9090 90c3\n")
	assert.Equal(t, strings.ReplaceAll("0 nop F\n1 nop F\n2 nop F\n3 ret ;*iadd {reexecute=0} * F", "F",
		"A::a@4:12 A::b@5:13"), describe(insts))
}

func TestHexDamage(t *testing.T) {
	for _, c := range []struct{ name, rows, want string }{
		{"a gap", "0x1000: 9090 90c3\n  0x1008: 5dc3 9090", "0 nop\n1 nop\n2 nop\n3 ret\n8 pop %rbp\n9 ret\n10 nop\n11 nop"},
		{"a bad byte", "0x1000: 9090 x0c3\n  0x1004: 5dc3 9090", "0 nop\n1 nop\n4 pop %rbp\n5 ret\n6 nop\n7 nop"},
		{"half a byte", "0x1000: 9090 9", "0 nop\n1 nop"},
		{"a row again", "0x1000: 9090 90c3\n  0x1000: 5dc3 5dc3\n  0x1004: 5dc3",
			"0 nop\n1 nop\n2 nop\n3 ret\n4 pop %rbp\n5 ret"},
		{"an overlap", "0x1000: 9090 90c3\n  0x1002: 5dc3 5dc3", "0 nop\n1 nop\n2 nop\n3 ret\n4 pop %rbp\n5 ret"},
		{"backwards", "0x1008: 5dc3\n  0x1000: 9090", "8 pop %rbp\n9 ret"},
		{"outside", "0xffe: 9090 5dc3\n  0x100e: 5dc3 9090", "0 pop %rbp\n1 ret\n14 pop %rbp\n15 ret"},
		{"an empty row", "0x1000:", ""},
		{"the last address", "0xffffffffffffffff: 9090\n  0x1000: 90", "0 nop"},
		{"a comment in a gap", "0x1000: 90\n  0x1004: ; x\n  0x1008: c3", "0 nop\n8 ret"},
	} {
		assert.Equal(t, c.want, describe(blobCode(t, 16, "[MachCode]\n  "+c.rows+"\n[/MachCode]\n")), c.name)
	}
}

func TestTextCode(t *testing.T) {
	insts := blobCode(t, 24, `[Disassembly]
--------------------------------------------------------------------------------
[Constant Pool (empty)]

--------------------------------------------------------------------------------

[Verified Entry Point]
  # {method} {0x00007efc83400ec8} &apos;dot&apos; &apos;([I[I)I&apos; in &apos;Workload&apos;
  0x0000000000001000:   cmp    $0x6c28,%r11d                ;   {metadata({type array int})}
  0x0000000000001007:   jne    0x0000000000001010           ;*iload_3 {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - A::inner@4 (line 12)
                                                            ; - A::a@9 (line 3)
  0x0000000000001009:   mov    0xc(%r11),%r9d               ; implicit exception: dispatches to 0x0000000000001010
                                                            ;*arraylength {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - A::a@6 (line 12)
  0x000000000000100d:   ret
[Stub Code]
  0x0000000000001010:   call   0x0000000000002000           ;   {runtime_call &lt;x&gt;}
--------------------------------------------------------------------------------
[/Disassembly]
  0x0000000000001014:   nop
`)
	assert.Equal(t, `0 cmp $0x6c28,%r11d [Verified Entry Point] ;{method} {0x00007efc83400ec8} 'dot' '([I[I)I' in 'Workload' ;{metadata({type array int})} A::inner@4:12 A::a@9:3
7 jne 0x0000000000001010 ;*iload_3 {reexecute=0 rethrow=0 return_oop=0} * A::inner@4:12 A::a@9:3
9 mov 0xc(%r11),%r9d ;implicit exception: dispatches to 0x0000000000001010 ;*arraylength {reexecute=0 rethrow=0 return_oop=0} * A::a@6:12
13 ret
16 call 0x0000000000002000 [Stub Code] ;{runtime_call <x>}`, describe(insts))
	assert.Equal(t, disasm.CondJump, insts[1].Kind)
	assert.EqualValues(t, 0x1010, insts[1].Target)
	assert.EqualValues(t, 0x1018, insts[4].Hi, "the last one extends to the blob's end")
}

// The text is that of PrintAssemblyOptions=intel, and has a name that contains a semicolon after it has been escaped.
func TestIntelText(t *testing.T) {
	insts :=
		blobCode(t, 16, "[Disassembly]\n  0x0000000000001000:   mov    eax,DWORD PTR [rsi+0xc]              ;*getfield x {reexecute=0}\n"+
			"  0x0000000000001003:   jge    0x000000000000100c\n  0x0000000000001005:   call   QWORD PTR [rax]\n"+
			"  0x0000000000001007:   call   &lt;f&gt;              ;   {runtime_call}\n  0x000000000000100c:   ret\n[/Disassembly]\n")
	assert.Equal(t, "0 mov eax,DWORD PTR [rsi+0xc] ;*getfield x {reexecute=0}\n3 jge 0x000000000000100c\n5 call QWORD PTR [rax]\n"+
		"7 call <f> ;{runtime_call}\n12 ret", describe(insts))
	assert.EqualValues(t, 0x100c, insts[1].Target)
	assert.Equal(t, disasm.Call, insts[2].Kind)
	assert.Zero(t, insts[2].Target)
}

func TestTextDamage(t *testing.T) {
	for _, c := range []struct{ name, rows, want string }{
		{"printed twice", "0x1000:   push %rbp\n  0x1001:   ret\n  0x1000:   push %rbp\n  0x1001:   ret",
			"0 push %rbp\n1 ret"},
		{"outside", "0xfff:   nop\n  0x1000:   ret\n  0x1010:   hlt", "0 ret"},
		{"no colon", "0x1000   nop\n  0x1004:   ret", "4 ret"},
		{"no text", "0x1000:   ", "0"},
		{"tabs", "0x1000:   bl\t0x0000000000001004", "0 bl 0x0000000000001004"},
		{"a comment on a line of its own", "0x1000:   nop\n  0x1004: ;   {poll}\n  0x1004:   ret", "0 nop ;{poll}\n4 ret"},
	} {
		got := describe(blobCode(t, 16, "[Disassembly]\n  "+c.rows+"\n[/Disassembly]\n"))
		assert.Equal(t, c.want, strings.TrimRight(got, " "), c.name)
	}
}

// A method whose text is followed by a hex dump of the same addresses.
func TestTextAndHex(t *testing.T) {
	insts :=
		blobCode(t, 4, "  0x0000000000001000:   push %rbp\n  0x0000000000001002:   hlt\n[MachCode]\n  0x0000000000001000: 9090 90c3\n")
	assert.Equal(t, "0 nop\n1 nop\n2 nop\n3 ret", describe(insts))
}

// Code of an instruction set that disasm does not support is shown word by word.
func TestUnknownArch(t *testing.T) {
	l := newLog(t, header+"<info>\nX VM (1) for linux-pdp11 JRE (1)\n</info>\n"+nmethod(1, "A::a", 0x1000))
	insts := code(t, l, &l.Blobs[0])
	assert.Equal(t, ".byte 55 48 89 e5\n.byte 90 90 5d c3", texts(insts))
	assert.True(t, insts[0].Bad)
}

func TestSource(t *testing.T) {
	for want, b := range map[string]Blob{
		"c2, level 4":      {Kind: NMethod, Compiler: "c2", Level: 4},
		"c1, level 3, osr": {Kind: NMethod, Compiler: "c1", Level: 3, OSR: true},
		"native wrapper":   {Kind: Native},
		"stub":             {Kind: Stub},
		"runtime stub":     {Kind: RuntimeBlob},
		"adapter":          {Kind: Adapter},
		"vtable stub":      {Kind: VtableStub},
		"interpreter":      {Kind: Interpreter},
	} {
		assert.Equal(t, want, b.Source())
		assert.Equal(t, b.Kind.Java(), strings.Contains(want, "level") || want == "native wrapper")
		assert.Equal(t, b.Kind.IsStub(), strings.Contains(want, "stub") || want == "adapter")
	}
}
