package printassembly

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// blobsText returns a line per blob.
func blobsText(x *Index) string {
	var lines []string
	for _, b := range x.Blobs {
		lines = append(lines, fmt.Sprintf("%x-%x %s %d %s %v", b.Lo, b.Hi, b.Source(), b.ID, b.Name, b.HasCode))
	}
	return strings.Join(lines, "\n")
}

// What JDK 8 prints with hsdis and without PrintNMethods.
const jdk8 = header + `<writer thread='1'/>
ICache::flush_icache_stub [0x0000000000000100, 0x0000000000000106[ (6 bytes)
Loaded disassembler from hsdis-amd64.so
[Disassembling for mach=&apos;i386:x86-64&apos;]
  0x0000000000000100: clflush (%rdi)
  0x0000000000000105: ret

Decoding RuntimeStub - wrong_method_stub 0x00000000000001b0
  0x0000000000000200: push   %rbp
  0x0000000000000201: jmp    0x0000000000000100  ;   {runtime_call}
<writer thread='2'/>
argument handler #0 for: static java.lang.Object.registerNatives()V (fingerprint = 349, 11 bytes generated)
  0x0000000000000300: movabs $0x7f0a25011a58,%rax
  0x000000000000030a: ret

Decoding compiled method 0x0000000000000390:
Code:
[Entry Point]
[Constants]
  # {method} {0x0000000000000010} &apos;&lt;init&gt;&apos; &apos;()V&apos; in &apos;java/lang/String&apos;
  #           [sp+0x40]  (sp of caller)
<writer thread='1'/>
Decoding VtableStub vtbl[3]@12
  0x0000000000000500: mov    0x8(%rsi),%eax
  0x0000000000000503: jmp    *0x40(%rbx)
<writer thread='2'/>
  0x0000000000000400: mov    0x8(%rsi),%r10d
  0x0000000000000404: jne    0x0000000000000200  ;*aload_0
                                                ; - java.lang.String::&lt;init&gt;@0 (line 1466)
                                                ;   {runtime_call}
[Verified Entry Point]
  0x000000000000040a: ret
OopMapSet contains 1 OopMaps

#0 
OopMap{rax=Oop off=902}
Decoding CodeBlob 0x0000000000001000
  0x0000000000001010: ret
`

func TestUnranged(t *testing.T) {
	l := newLog(t, jdk8)
	assert.Equal(t, `100-106 stub 0 ICache::flush_icache_stub true
200-202 runtime stub 0 wrong_method_stub true
300-30b runtime stub 0 signature handler true
400-40b compiled 0 java.lang.String::<init> true
500-504 vtable stub 0 vtbl[3] true
1010-1011 runtime stub 0 CodeBlob true`, blobsText(l.Index))
	assert.Zero(t, l.Damaged)
	insts := code(t, l, &l.Blobs[3])
	require.Len(t, insts, 3)
	assert.Equal(t, "Entry Point", insts[0].Section)
	assert.Equal(t, []string{"*aload_0", "{runtime_call}"}, insts[1].Comments)
	assert.Equal(t, []Frame{{Method: "java.lang.String::<init>", BCI: 0, Line: 1466}}, insts[1].Frames)
	assert.Equal(t, "Verified Entry Point", insts[2].Section)
	assert.Empty(t, insts[2].Comments, "oop maps are not comments")
	assert.Empty(t, code(t, l, &l.Blobs[0])[0].Section, "a remark of hsdis about itself is not a section")
	for i := range l.Blobs {
		checkCode(t, &l.Blobs[i], code(t, l, &l.Blobs[i]))
	}
}

// The same code is printed twice: after the method's own first line, and after Decoding.
func TestDecodedTwice(t *testing.T) {
	const rows = "  0x0000000000001010: push   %rbp\n  0x0000000000001011: nop             ;*nop\n" +
		"                                                ; - A::a@0 (line 1)\n  0x0000000000001012: ret             ;*return\n" +
		"                                                ; - A::a@1 (line 2)\n"
	l := newLog(t, header+"Compiled method (c1)     252    2       3       A::a (55 bytes)\n"+
		" total in heap  [0x0000000000001000,0x0000000000001100] = 256\n"+
		" main code      [0x0000000000001010,0x0000000000001013] = 3\n"+
		"Decoding CodeBlob 0x0000000000001000\n[Entry Point]\n"+rows+"Decoding compiled method 0x0000000000001000:\nCode:\n[Entry Point]\n"+rows+
		"Decoding compiled method 0x0000000000002000:\nCode:\n[Entry Point]\n  # {method} &apos;b&apos; &apos;()V&apos; in &apos;B&apos;\n  0x0000000000002010: ret\n")
	assert.Equal(t, "1010-1013 c1, level 3 2 A::a true\n2010-2011 compiled 0 B::b true", blobsText(l.Index))
	insts := code(t, l, &l.Blobs[0])
	assert.Equal(t, "push %rbp\nnop\nret", texts(insts))
	assert.Equal(t, []string{"*return"}, insts[2].Comments)
	assert.Len(t, insts[2].Frames, 1)
}

// Without PrintNMethods, JDK 8 has the name of a method only in its comments, and the rest in LogCompilation's tag. A
// capture that was changed to this form must have the same blobs.
func TestDescribedByTag(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	text := string(readCapture(t, "jdk8-full-hsdis"))
	full := captureLog(t, "jdk8-full-hsdis")
	bare := regexp.MustCompile(`(?ms)^<(print_native_nmethod|print_nmethod) .*?^</print_n`).ReplaceAllString(text, "")
	require.Less(t, strings.Count(bare, "Compiled method ("), 10)
	l := newLog(t, bare)
	describe := func(x *Index) []string {
		var found []string
		for _, b := range x.Blobs {
			if b.Kind.Java() {
				name, _, _ := strings.Cut(b.Name, "(") // intrinsics for method handles
				found = append(found, fmt.Sprintln(b.Source(), b.ID, name, b.Stamped))
			}
		}
		slices.Sort(found)
		return found
	}
	assert.Equal(t, describe(full.Index), describe(l.Index))
}

// The code after JDK 11's heading belongs to the blob that began before it.
func TestHeading(t *testing.T) {
	const ranged = "Compiled method (c1)     252    2       3       A::a (55 bytes)\n main code      [0x0000000000001010,0x0000000000001013] = 3\n"
	const unrangedMethod = "Compiled method (JVMCI)     252    2       4       A::a (55 bytes)\n"
	const heading = "----------------------------------------------------------------------\nA.a()V  [0x0000000000001010, 0x0000000000001018]  8 bytes\n  0x0000000000001010: ret\n"
	const native = "----------------------------------------------------------------------\njava/lang/B.b()V  [0x0000000000002010, 0x0000000000002018]  8 bytes\n  0x0000000000002010: ret\n"
	assert.Equal(t, "1010-1013 c1, level 3 2 A::a true\n2010-2018 native wrapper 0 java.lang.B::b true",
		blobsText(newLog(t, header+ranged+heading+native).Index))
	assert.Equal(t, "1010-1018 jvmci, level 4 2 A::a true", blobsText(newLog(t, header+unrangedMethod+heading).Index))
	assert.Equal(t, "1010-1018 native wrapper 0 A::a true\n2010-2018 native wrapper 0 java.lang.B::b true",
		blobsText(newLog(t, header+heading+native).Index))
}

// The length of a row of hex is known. A row at a distant address belongs to another blob.
func TestLearn(t *testing.T) {
	for rows, want := range map[string]string{
		"[MachCode]\n  0x1000: 5548 89e5 | 90\n  0x1005: ;   {poll}\n  0x1005: c3f4\n[/MachCode]\n": "1000-1007",
		"  0x1000: nop\n  0x1001: ret\n  0x1000: nop\n  0x2000: nop\n":                              "1000-1002",
		"  0x1000: ; a comment\n  0x1001 nop\n  0x1002:\n  0x1003: ret\n":                           "1003-1004",
		"  0xffffffffffffffff: nop\n  0x1000: ret\n":                                                "1000-1001",
	} {
		l := newLog(t, header+"Decoding X 0x0f00\n"+rows)
		require.Len(t, l.Blobs, 1, rows)
		assert.Equal(t, want, fmt.Sprintf("%x-%x", l.Blobs[0].Lo, l.Blobs[0].Hi), rows)
		checkCode(t, &l.Blobs[0], code(t, l, &l.Blobs[0]))
	}
}

// TestHandlers reads signature handlers that are printed as bytes; the captures have them as text only. The files
// have everything that java -XX:+UnlockDiagnosticVMOptions -XX:+PrintSignatureHandlers -XX:+LogVMOutput printed about
// them without hsdis. Each handler must have the size in its first line and all its rows, up to five for a handler
// with many arguments.
func TestHandlers(t *testing.T) {
	for name, handlers := range map[string]int{"handlers-jdk17.log": 49, "handlers-jdk25.log": 53} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		sizes := regexp.MustCompile(`(\d+) bytes generated`).FindAllStringSubmatch(string(text), -1)
		l := newLog(t, header+string(text))
		require.Len(t, sizes, handlers, name)
		require.Len(t, l.Blobs, handlers, name)
		assert.Zero(t, l.Damaged, name)
		for i := range l.Blobs {
			b := &l.Blobs[i]
			insts := code(t, l, b)
			checkCode(t, b, insts)
			require.Equal(t, sizes[i][1], fmt.Sprint(b.Hi-b.Lo), "%s: handler %d", name, i)
			require.NotEmpty(t, insts, "%s: handler %d", name, i)
			assert.Equal(t, b.Lo, insts[0].Lo, "%s: handler %d", name, i)
			// HotSpot prints whole cells of four bytes, so up to three bytes at the end are missing.
			assert.Less(t, b.Hi-insts[len(insts)-1].Hi, uint64(4), "%s: handler %d", name, i)
		}
	}
}

func TestCutComment(t *testing.T) {
	for in, want := range map[string]string{
		"nop":                              "nop|",
		"nop ; x":                          "nop | x",
		"call &lt;f&gt; ;  {x;y}":          "call &lt;f&gt; |  {x;y}",
		"test %eax,(%rbx);{&apos;x&apos;}": "test %eax,(%rbx)|{&apos;x&apos;}",
		"&a b;c":                           "&a b|c",
	} {
		text, comment := cutComment([]byte(in))
		assert.Equal(t, want, string(text)+"|"+string(comment))
	}
}
