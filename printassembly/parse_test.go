package printassembly

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseCompiled(t *testing.T) {
	check := func(in string, want Blob) {
		t.Helper()
		got, ok := parseCompiled([]byte(in))
		assert.True(t, ok, in)
		want.Stamped = true
		assert.Equal(t, want, got, in)
	}
	checkErr := func(in string) {
		t.Helper()
		_, ok := parseCompiled([]byte(in))
		assert.False(t, ok, in)
	}
	check("c2) 363   73       4       Workload::dot (28 bytes)",
		Blob{UptimeMillis: 363, ID: 73, Level: 4, Name: "Workload::dot", Compiler: "c2", BytecodeSize: 28})
	check("c2) 363   73 %     4       Workload::dot @ 4 (28 bytes)",
		Blob{UptimeMillis: 363, ID: 73, Level: 4, Name: "Workload::dot", Compiler: "c2", OSR: true, OSRBCI: 4,
			BytecodeSize: 28})
	check("c1)      26    1   s!b  3       A::b (1 bytes)",
		Blob{UptimeMillis: 26, ID: 1, Level: 3, Name: "A::b", Compiler: "c1", BytecodeSize: 1})
	check("c1)      26    1 %s!b  3       A::b @ 0 (1 bytes)",
		Blob{UptimeMillis: 26, ID: 1, Level: 3, Name: "A::b", Compiler: "c1", OSR: true, BytecodeSize: 1})
	check("c1)      26    1 % !   3       A::b @ 12 (1 bytes)",
		Blob{UptimeMillis: 26, ID: 1, Level: 3, Name: "A::b", Compiler: "c1", OSR: true, OSRBCI: 12, BytecodeSize: 1})
	check("n/a) 124    7     n 0       java.lang.System::arraycopy (native)",
		Blob{Kind: Native, UptimeMillis: 124, ID: 7, Name: "java.lang.System::arraycopy"})
	check("c1) 124    7    sn 0       A::locked (native)   (static)",
		Blob{Kind: Native, UptimeMillis: 124, ID: 7, Name: "A::locked", Compiler: "c1"})
	check("c1) 571    1       3       java.lang.Object::&lt;init&gt; (1 bytes)",
		Blob{UptimeMillis: 571, ID: 1, Level: 3, Name: "java.lang.Object::<init>", Compiler: "c1", BytecodeSize: 1})
	check("c2)363   73 %     4       Workload::dot @ 4 (28 bytes)", // JDK 28
		Blob{UptimeMillis: 363, ID: 73, Level: 4, Name: "Workload::dot", Compiler: "c2", OSR: true, OSRBCI: 4,
			BytecodeSize: 28})
	check("c2)     363   73             Workload::dot (28 bytes)", // -XX:-TieredCompilation
		Blob{UptimeMillis: 363, ID: 73, Name: "Workload::dot", Compiler: "c2", BytecodeSize: 28})
	check("c2)     363   73       -       Workload::dot (28 bytes)",
		Blob{UptimeMillis: 363, ID: 73, Name: "Workload::dot", Compiler: "c2", BytecodeSize: 28})
	check("JVMCI) 1363   73       4       b::n (28 bytes)   made not entrant",
		Blob{UptimeMillis: 1363, ID: 73, Level: 4, Name: "b::n", Compiler: "jvmci", BytecodeSize: 28})

	check("c2) 363   73 %     4       p.Test::adds (two) @ 3 @ 4 (28 bytes)", // Kotlin
		Blob{UptimeMillis: 363, ID: 73, Level: 4, Name: "p.Test::adds (two) @ 3", Compiler: "c2", OSR: true, OSRBCI: 4,
			BytecodeSize: 28})
	check("c2) 363   73       4       A\xed\xa0\xb5\xed\xb2\x9cö::\\u001b]0;gr\\u00f6\\u00dfe\\u000a (28 bytes)",
		Blob{UptimeMillis: 363, ID: 73, Level: 4, Name: "A𝒜ö::\x1b]0;größe\n", Compiler: "c2", BytecodeSize: 28})
	check("c2) 363   73 %     4       Workload::dot @ 4 28", // cut off
		Blob{UptimeMillis: 363, ID: 73, Level: 4, Name: "Workload::dot", Compiler: "c2", OSR: true})

	checkErr("")
	checkErr("c2")
	checkErr("c2) ")
	checkErr("c2) soon  73       4       Workload::dot (28 bytes)")
	checkErr("c2) 363   x3       4       Workload::dot (28 bytes)")
	checkErr("c2) 363   73")
	checkErr("c2) 363   73 %     4")
	checkErr("c2) 363   73 %     b")
}

func TestParseDecoding(t *testing.T) {
	check := func(in string, want Blob) {
		t.Helper()
		got, ok := parseDecoding([]byte(in))
		assert.True(t, ok, in)
		if strings.Contains(in, "[0x") {
			want.Lo, want.Hi = 0x1000, 0x1080
		}
		assert.Equal(t, want, got, in)
	}
	checkErr := func(in string) {
		t.Helper()
		_, ok := parseDecoding([]byte(in))
		assert.False(t, ok, in)
	}
	const at = "0x0000000000000f90 [0x0000000000001000, 0x0000000000001080] (128 bytes)"
	check("RuntimeStub - wrong_method_stub "+at, Blob{Kind: RuntimeBlob, Name: "wrong_method_stub"})
	check("RuntimeStub - Shared Runtime wrong_method_blob "+at,
		Blob{Kind: RuntimeBlob, Name: "Shared Runtime wrong_method_blob"})
	check("ExceptionBlob "+at, Blob{Kind: RuntimeBlob, Name: "ExceptionBlob"})
	check("VtableStub itbl[0]@0x000000000000000c [0x1000, 0x1080] (128 bytes)", Blob{Kind: VtableStub, Name: "itbl[0]"})
	check("VtableStub vtbl[3]@12 [0x1000, 0x1080[ (128 bytes)", Blob{Kind: VtableStub, Name: "vtbl[3]"}) // JDK 8
	check("VtableStub vtbl[3]@12", Blob{Kind: VtableStub, Name: "vtbl[3]"})                              // JDK 8
	check("RuntimeStub - wrong_method_stub 0x00007f0a250faba0", Blob{Kind: RuntimeBlob, Name: "wrong_method_stub"})
	check("I2C/C2I adapters "+at, Blob{Kind: Adapter, Name: "I2C/C2I adapters"})
	check("AdapterBlob [0x1000, 0x1080]", Blob{Kind: Adapter, Name: "AdapterBlob"})

	checkErr("")
	checkErr("RuntimeStub - x 0x0f90 [0x1000, 0x")
	checkErr("RuntimeStub - x 0x0f90 [0x1080, 0x1000] (128 bytes)")
}

func TestParseRanged(t *testing.T) {
	check := func(in string, kind Kind, name string) {
		t.Helper()
		got, ok := parseRanged([]byte(in))
		assert.True(t, ok, in)
		assert.Equal(t, Blob{Kind: kind, Name: name, Lo: 0x1000, Hi: 0x1300}, got, in)
	}
	checkErr := func(in string) {
		t.Helper()
		_, ok := parseRanged([]byte(in))
		assert.False(t, ok, in)
	}
	check("StubRoutines::libmLog [0x1000, 0x1300] (768 bytes)", Stub, "StubRoutines::libmLog")
	check("StubRoutines::libmLog [0x1000, 0x1300[ (768 bytes)", Stub, "StubRoutines::libmLog") // JDK 11
	check("StubRoutines::forward exception [0x1000, 0x1300] (768 bytes)", Stub, "StubRoutines::forward exception")
	check("invokehandle  233 invokehandle  [0x1000, 0x1300]  768 bytes", Interpreter, "invokehandle")
	check("deoptimization entry points  [0x1000, 0x1300]  768 bytes", Interpreter, "deoptimization entry points")
	check("method entry point (kind = zerolocals)  [0x1000, 0x1300]  768 bytes", Interpreter,
		"method entry point (kind = zerolocals)")

	// JDK 11's heading above a disassembly. Native wrappers have no other first line.
	check("java/lang/Object.hashCode()I  [0x1000, 0x1300]  768 bytes", Native, "java.lang.Object::hashCode")
	check("java/lang/Object.&lt;init&gt;()V  [0x1000, 0x1300]  768 bytes", Native, "java.lang.Object::<init>")
	check("p/A$$Lambda$14/0x0000000800066840.run([Lp/B;)V  [0x1000, 0x1300]  768 bytes", Native,
		"p.A$$Lambda$14/0x0000000800066840::run")
	checkErr("run()V  [0x1000, 0x1300]  768 bytes")
	checkErr("StubRoutines::libmLog [0x1000, 0x12ff (768 bytes)")
	checkErr(" [0x1000, 0x1300] (768 bytes)")
	checkErr("  [0x1000, 0x1300]  768 bytes")
	checkErr("libmLog [0x1300, 0x1000] (768 bytes)")
	checkErr("read 768 bytes")
	checkErr("")
}

func TestAddrRange(t *testing.T) {
	check := func(in string, lo, hi uint64, before, after string) {
		t.Helper()
		gotLo, gotHi, at, end, ok := addrRange([]byte(in))
		if assert.True(t, ok, in) {
			assert.Equal(t, []uint64{lo, hi}, []uint64{gotLo, gotHi}, in)
			assert.Equal(t, []string{before, after}, []string{in[:at], in[end:]}, in)
		}
	}
	checkErr := func(in string) {
		t.Helper()
		_, _, _, _, ok := addrRange([]byte(in))
		assert.False(t, ok, in)
	}
	check(" main code      [0x00007fae08ed77a0,0x00007fae08ed7c80] = 1248", 0x7fae08ed77a0, 0x7fae08ed7c80,
		" main code      ", " = 1248")
	check("[0x1, 0x2]", 1, 2, "", "")
	check("[0x1, 0x2[", 1, 2, "", "")
	check("itbl[0x3] [0x1,  0xFF] x", 1, 255, "itbl[0x3] ", " x")
	check("[0x1,[0x1, 0xffffffffffffffff]", 1, 1<<64-1, "[0x1,", "")

	checkErr("")
	checkErr("[0x1, 0x1]")
	checkErr("[0x2, 0x1]")
	checkErr("[0x1 0x2]")
	checkErr("[0x1, 2]")
	checkErr("[0x1, 0x2")
	checkErr("[0x, 0x2]")
	checkErr("[0x12345678901234567, 0x2]")
}

func TestParseFrame(t *testing.T) {
	check := func(in string, want Frame) {
		t.Helper()
		got, ok := parseFrame(in)
		assert.True(t, ok, in)
		assert.Equal(t, want, got, in)
	}
	checkErr := func(in string) {
		t.Helper()
		_, ok := parseFrame(in)
		assert.False(t, ok, in)
	}
	check(" Workload::dot@13 (line 12)", Frame{Method: "Workload::dot", BCI: 13, Line: 12})
	check("Workload::dot@13 (line 12)", Frame{Method: "Workload::dot", BCI: 13, Line: 12})
	check(" (reexecute) java.lang.Object::<init>@-1 (line 44)",
		Frame{Method: "java.lang.Object::<init>", BCI: -1, Line: 44})
	check("A$$Lambda/0x00007f3e5c001000::get@7", Frame{Method: "A$$Lambda/0x00007f3e5c001000::get", BCI: 7, Line: 0})
	check("A@b::c@7 (line x)", Frame{Method: "A@b::c", BCI: 7, Line: 0})

	checkErr("")
	checkErr("@1")
	checkErr("Workload::dot")
	checkErr("Workload::dot@")
	checkErr("Workload::dot@x (line 12)")
	checkErr("user@1 (line 12)")
}

func TestStampMillis(t *testing.T) {
	check := func(in string, want int64, wantOK bool) {
		t.Helper()
		got, ok := stampMillis([]byte(in))
		assert.Equal(t, wantOK, ok, in)
		assert.Equal(t, want, got, in)
	}
	check("0.364", 364, true)
	check("12", 12000, true)
	check("12.", 12000, true)
	check("1.5", 1500, true)
	check("1.23456", 1234, true)
	check("", 0, false)
	check(".5", 0, false)
	check("-1.000", 0, false)
	check("1.x", 0, false)
	check("99999999999999999999", 0, false)
	check("9007199254740993", 0, false)
}

func TestAttr(t *testing.T) {
	const tag = `<task compile_id='7' xstamp='9' id='8' method='A b (I)V' stamp='0.364' cut='`
	check := func(name, want string) {
		t.Helper()
		assert.Equal(t, want, string(attr([]byte(tag), name)), name)
	}
	check("compile_id", "7")
	check("id", "8")
	check("stamp", "0.364")
	check("method", "A b (I)V")
	check("cut", "")
	check("<task", "")
	check("none", "")
	assert.Nil(t, attr(nil, "id"))
}

func TestUnescape(t *testing.T) {
	check := func(in, want string) { t.Helper(); assert.Equal(t, want, unescape([]byte(in))) }
	check("plain", "plain")
	check("&lt;init&gt; &apos;x&apos; &quot;y&quot;", `<init> 'x' "y"`)
	check("&amp;lt;", "&lt;")
	check("a & b &unknown; &", "a & b &unknown; &")
	check("", "")
}

func TestFlow(t *testing.T) {
	check := func(text string, want string, target uint64) {
		t.Helper()
		kind, got := flow(text)
		assert.Equal(t, want, []string{"plain", "call", "jump", "condjump", "return"}[kind], text)
		assert.Equal(t, target, got, text)
	}
	check("call   0x00007efd102f3600", "call", 0x7efd102f3600)
	check("callq  *%r10", "call", 0)
	check("jmp    0x10", "jump", 0x10)
	check("jmp    QWORD PTR [rip+0x10]", "jump", 0)
	check("jge    0x10", "condjump", 0x10)
	check("bnd jmp 0x10", "jump", 0x10)
	check("{rex2 0x18} call *%r16", "call", 0)
	check("jmpabs $0x987654321", "jump", 0x987654321)
	check("{nf} add $0x7b,%ecx,%edx", "plain", 0)
	check("{evex", "plain", 0)
	check("retq", "return", 0)
	check("ret    $0x10", "return", 0)
	check("mov    %eax,0x10", "plain", 0)
	check("bl 0x10", "call", 0x10)
	check("b.ne 0x10", "condjump", 0x10)
	check("tbz w8, #3, 0x10", "condjump", 0x10)
	check("", "plain", 0)
}

func TestLines(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 1<<18+70_000)
	in := append([]byte("a\r\n\nb\r\r\n"), long...)
	in = append(in, "\n  cut"...)
	r := lineReader{r: bufio.NewReader(bytes.NewReader(in))}
	var got []string
	for r.next() {
		got = append(got, string(r.line))
	}
	assert.Equal(t, []string{"a", "", "b\r", string(long), "  cut"}, got)
	assert.NoError(t, r.err)
}

// Escaped text is read back as it was, except that control characters stay escaped.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"pkg.Class::method":   "pkg.Class::method",
		"<init> & 'a' \"b\"":  "&lt;init&gt; &amp; &apos;a&apos; &quot;b&quot;",
		"größe::日本":           "größe::日本",
		`half \ud835`:         `half \ud835`,
		"two\nlines\x00":      `two\u000alines\u0000`,
		"two\nlines\x1b\x7fx": `two\u000alines\u001b\u007fx`,
	} {
		assert.Equal(t, want, Escape(text))
		if !strings.Contains(want, `\u`) {
			assert.Equal(t, text, unescape([]byte(want)))
		}
	}
}
