package printassembly

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
)

// copiedLog is HotSpot's log of three methods. HotSpot printed the code of the second one. gasm's copies of the other
// two are at the end.
const copiedLog = `<hotspot_log version='160 1' process='7' time_ms='1000'>
<nmethod compile_id='1' compiler='c1' level='3' size='400' address='0x1000' insts_offset='256' method='A one ()V' bytes='3' stamp='0.100'/>
<nmethod compile_id='2' compiler='c2' level='4' size='400' address='0x2000' insts_offset='256' method='A two ()V' bytes='3' stamp='0.200'/>
<print_nmethod compile_id='2' compiler='c2' level='4' stamp='0.201'>
Compiled method (c2)     201    2       4       A::two (3 bytes)
 main code      [0x0000000000002100,0x0000000000002108] = 8
[MachCode]
  0x0000000000002100: 9090 9090 | 9090 90c3
[/MachCode]
</print_nmethod>
<nmethod compile_id='3' compiler='c1' level='2' size='400' address='0x1000' insts_offset='256' method='A three ()V' bytes='3' stamp='0.300'/>
<hotspot_log_done stamp='0.400'/>
</hotspot_log>

<writer thread='gasm'/>
Compiled method (c1) 100 1   3 A::one (3 bytes)
 total in heap  [0x0000000000001000,0x0000000000001190] = 400
 main code      [0x0000000000001100,0x0000000000001108] = 8
[MachCode]
` + ExactMark + `
  0x0000000000001100: ;*iconst_0
 ; - A::one@0 (line 10)
  0x0000000000001101: ;*nop
 ; - B::inlined@1 (line 3)
 ; - A::one@1 (line 11)
  0x0000000000001104: ;   {metadata({type array int})}
  0x0000000000001105: ;*pop
 ; - A::one@2 (line 12)
  0x0000000000001106: ;*ireturn
 ; - A::one@3 (line 13)
  0x0000000000001100: 9031 c090 | 4889 c0c3
[/MachCode]
Compiled method (c1) 300 3   2 A::three (3 bytes)
 main code      [0x0000000000001100,0x0000000000001104] = 4
[MachCode]
` + ExactMark + `
[Verified Entry Point]
  0x0000000000001100: 9090 90c3
[/MachCode]
`

// Copies are at the end of the log, but their methods are sorted by when they were installed.
func TestCopiedOrder(t *testing.T) {
	l, err := NewLog(strings.NewReader(copiedLog), int64(len(copiedLog)), "log")
	require.NoError(t, err)
	checkIndex(t, l.Index)
	assert.False(t, l.Cut)
	var names []string
	for i := range l.Blobs {
		b := &l.Blobs[i]
		assert.True(t, b.HasCode && b.Stamped && b.Lo > 0, "%+v", b)
		names = append(names, b.Name)
	}
	assert.Equal(t, []string{"A::one", "A::two", "A::three"}, names)
	assert.Equal(t, []int64{100, 201, 300},
		[]int64{l.Blobs[0].UptimeMillis, l.Blobs[1].UptimeMillis, l.Blobs[2].UptimeMillis})
}

// gasm puts a mark into the log before code that it has copied. In such code, a comment belongs to the instruction that
// contains its byte. Without the mark, the comment could belong to any of the three instructions in its cell of four
// bytes.
func TestExactComments(t *testing.T) {
	for _, log := range []string{copiedLog, strings.ReplaceAll(copiedLog, ExactMark, oldExactMark)} {
		testExactComments(t, log)
	}
}

func testExactComments(t *testing.T, log string) {
	t.Helper()
	l, err := NewLog(strings.NewReader(log), int64(len(log)), "log")
	require.NoError(t, err)
	insts := code(t, l, &l.Blobs[0])
	type row struct {
		text     string
		comments string
		frames   []Frame
		own      bool
	}
	one, last := []Frame{{Method: "A::one", BCI: 0, Line: 10}}, []Frame{{Method: "A::one", BCI: 2, Line: 12}}
	inlined := []Frame{{Method: "B::inlined", BCI: 1, Line: 3}, {Method: "A::one", BCI: 1, Line: 11}}
	want := []row{
		{"nop", "*iconst_0", one, true},
		{"xor    %eax,%eax", "*nop", inlined, true},
		{"nop", "", last, false},
		{"mov    %rax,%rax", "{metadata({type array int})},*pop,*ireturn", last, true},
		{"ret", "", nil, false},
	}
	var got []row
	for _, in := range insts {
		got = append(got, row{in.Text, strings.Join(in.Comments, ","), in.Frames, in.OwnFrames})
	}
	assert.Equal(t, want, got)
	three, err := l.Code(&l.Blobs[2], disasm.ATT)
	require.NoError(t, err)
	assert.Equal(t, "Verified Entry Point", three[0].Section)
}

func TestParseInstalled(t *testing.T) {
	const tag = "<nmethod compile_id='71' compile_kind='osr' compiler='C2' level='4' entry='0x1100' size='400' address='0x1000' " +
		"relocation_offset='-7' insts_offset='256' stub_offset='300' scopes_data_offset='-8589930496' scopes_pcs_offset='320' " +
		"metadata_offset='316' method='p/A &lt;init&gt; (I)V' bytes='28' count='5' stamp='1.5'/>"
	got, ok := ParseInstalled([]byte(tag))
	require.True(t, ok)
	assert.Equal(t, Installed{ID: 71, Compiler: "c2", Kind: "osr", Level: 4, Name: "p.A::<init>", BytecodeSize: 28,
		UptimeMillis: 1500,
		Address:      0x1000, Size: 400, Lo: 0x1100, Stub: 0x112c, Hi: 0x113c, ScopesPCs: 0x1140,
		ScopesData: 0xfffffffe00002000, Metadata: 0x113c}, got)
	for _, lacking := range []string{" size='400'", " address='0x1000'", " insts_offset='256'", " stamp='1.5'",
		" (I)V"} {
		_, ok := ParseInstalled([]byte(strings.Replace(tag, lacking, "", 1)))
		assert.False(t, ok, lacking)
	}
	for method, want := range map[string]string{
		`p/\u00fcb\u65e5$\ud83d\ude00 h\u00fct ()V`:     `p.üb日$😀::hüt`,
		"p/\xed\xa0\xbd\xed\xb8\x80 adds two (Lp/A;I)V": "p.😀::adds two",
		`p/\u00f x ()V`: `p.\u00f::x`,
		"java.lang.invoke.MethodHandle linkToStatic (Ljava/lang/Object;[IZJ)D": "java.lang.invoke.MethodHandle::linkToStatic(LLIJ)D",
		"java.lang.invoke.MethodHandle invokeBasic ()V":                        "java.lang.invoke.MethodHandle::invokeBasic()V",
		"java.lang.invoke.MethodHandle linkToVirtual (L":                       "java.lang.invoke.MethodHandle::linkToVirtual(L",
		"java.lang.invoke.MethodHandle asType (I)V":                            "java.lang.invoke.MethodHandle::asType",
	} {
		got, ok := ParseInstalled([]byte(strings.Replace(tag, "p/A &lt;init&gt; (I)V", method, 1)))
		assert.True(t, ok)
		assert.Equal(t, want, got.Name)
	}
}

func FuzzParseInstalled(f *testing.F) {
	for line := range strings.Lines(copiedLog) {
		if strings.HasPrefix(line, "<nmethod ") {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, tag []byte) {
		i, ok := ParseInstalled(tag)
		if ok && !(i.Address < i.Lo && i.Lo < i.Hi && i.Lo <= i.Stub && i.Stub <= i.Hi && i.Hi <= i.Address+i.Size) {
			t.Fatalf("%+v", i)
		}
	})
}
