package javasource

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A classWriter writes class files that contain only what is added to it.
type classWriter struct {
	constants bytes.Buffer
	count     uint16
}

func (w *classWriter) utf8(text string) uint16 {
	w.constants.WriteByte(1)
	_ = binary.Write(&w.constants, binary.BigEndian, uint16(len(text)))
	w.constants.WriteString(text)
	w.count++
	return w.count
}

// other adds a constant of another kind; some kinds take two indices.
func (w *classWriter) other(tag byte, size int, indices uint16) {
	w.constants.WriteByte(tag)
	w.constants.Write(make([]byte, size))
	w.count += indices
}

func be(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if text, ok := v.(string); ok {
			v = []byte(text)
		}
		_ = binary.Write(&b, binary.BigEndian, v)
	}
	return b.Bytes()
}

// classBytes returns a class file with a field, a method with code, and constants of all kinds.
func classBytes(source, debug string) []byte {
	w := &classWriter{}
	for tag, size := range map[byte]int{3: 4, 4: 4, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4,
		19: 2, 20: 2} {
		w.other(tag, size, 1)
	}
	w.other(5, 8, 2)
	w.other(6, 8, 2)
	name, code, file, extension, synthetic := w.utf8("name"), w.utf8("Code"), w.utf8("SourceFile"),
		w.utf8("SourceDebugExtension"), w.utf8("Synthetic")
	sourceName := w.utf8(source)
	member := be(uint16(1), name, name, uint16(1), code, uint32(3), "abc")
	attributes := [][]byte{be(synthetic, uint32(0))}
	if source != "" {
		attributes = append(attributes, be(file, uint32(2), sourceName))
	}
	if debug != "" {
		attributes = append(attributes, be(extension, uint32(len(debug)), debug))
	}
	head := be(uint32(0xcafebabe), uint32(61), w.count+1, w.constants.Bytes(), uint16(0x21), uint16(1), uint16(1),
		uint16(2), uint16(1), uint16(1))
	return bytes.Join([][]byte{head, be(uint16(1)), member, be(uint16(2)), member, member, be(uint16(len(attributes))),
		bytes.Join(attributes, nil)}, nil)
}

func TestParseClass(t *testing.T) {
	for _, c := range []classFile{{}, {source: "Range.scala"}, {source: "Main.kt", debug: kotlinMap}, {debug: "SMAP"}} {
		data := classBytes(c.source, c.debug)
		got, err := parseClass(data)
		require.NoError(t, err)
		assert.Equal(t, c, got)
		for cut := range data {
			_, err := parseClass(data[:cut])
			assert.ErrorIs(t, err, errNoClass, "cut at %d", cut)
		}
	}
	bad := classBytes("A.java", "")
	bad[10] = 99 // the tag of the first constant
	_, err := parseClass(bad)
	assert.ErrorIs(t, err, errNoClass)
}

// FuzzParseClass reads class files with arbitrary contents.
func FuzzParseClass(f *testing.F) {
	f.Add(classBytes("Main.kt", kotlinMap))
	f.Add(classBytes("", ""))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseClass(data)
		if len(c.source)+len(c.debug) > 2*len(data) || err != nil && c != (classFile{}) {
			t.Fatalf("%d bytes gave %d and %d: %v", len(data), len(c.source), len(c.debug), err)
		}
		parseSMAP(c.debug)
	})
}

// kotlinMap is what Kotlin 2.0.21 writes into a class that uses an inline function.
const kotlinMap = `SMAP
Main.kt
Kotlin
*S Kotlin
*F
+ 1 Main.kt
org/acme/MainKt
+ 2 _Arrays.kt
kotlin/collections/ArraysKt___ArraysKt
+ 3 fake.kt
kotlin/jvm/internal/FakeKt
*L
1#1,30:1
13579#2,4:31
1#3:35
*S KotlinDebug
*F
+ 1 Main.kt
org/acme/MainKt
*L
10#1:31,4
*E
`

// jsp is a map as the compilers of JSP write it: each line of the page stands for several lines of Java.
const jsp = `SMAP
hello_jsp.java
JSP
*O Other
nothing
*C Other
*S JSP
*F
+ 0 hello.jsp
pages/hello.jsp
1 greeting.jsp
*L
1:53
2:54,5
10,3:70,2
4#1,2:90
*E
`

// mapped converts m to a Go map with one entry for each line number. That is slower and needs more memory than an smap.
func mapped(m smap) map[int]string {
	all := map[int]string{}
	for n := range 200 {
		if file, line, ok := m.find(n); ok {
			all[n] = file.path() + ":" + string(rune('0'+line/10%10)) + string(rune('0'+line%10))
		}
	}
	return all
}

func TestSMAP(t *testing.T) {
	want := map[int]string{53: "pages/hello.jsp:01", 54: "pages/hello.jsp:02", 55: "pages/hello.jsp:02",
		56: "pages/hello.jsp:02", 57: "pages/hello.jsp:02", 58: "pages/hello.jsp:02",
		70: "pages/hello.jsp:10", 71: "pages/hello.jsp:10", 72: "pages/hello.jsp:11", 73: "pages/hello.jsp:11",
		74: "pages/hello.jsp:12", 75: "pages/hello.jsp:12",
		90: "?/greeting.jsp:04", 91: "?/greeting.jsp:05"}
	assert.Equal(t, want, mapped(parseSMAP(jsp)))
	assert.Equal(t, want, mapped(parseSMAP(strings.ReplaceAll(jsp, "\n", "\r\n"))))

	kotlin := mapped(parseSMAP(kotlinMap))
	assert.Len(t, kotlin, 35)
	assert.Equal(t, "org/acme/Main.kt:30", kotlin[30])
	assert.Equal(t, "kotlin/collections/_Arrays.kt:79", kotlin[31])
	assert.Equal(t, "kotlin/collections/_Arrays.kt:82", kotlin[34])
	assert.Equal(t, nowhere.path()+":01", kotlin[35])

	for _, bad := range []string{"", "SMAP", "SMAP\na\nb", "SMAP\na\nb\n*S c\n*F\n1 x\n*L\n1:1",
		"SMAP\na\nb\n*S b\n*F\n1 x\n*L\n1:1",
		"SMAP\na\nb\n*S b\n*F\n0 x\n*L\n1\n:\n-1:1\n1:x\n1,99999999999:1\n1,1073741824:1,2"} {
		assert.Empty(t, mapped(parseSMAP(bad)), "%q", bad)
	}
}

// FuzzSMAP reads maps with arbitrary contents.
func FuzzSMAP(f *testing.F) {
	f.Add(kotlinMap, 33)
	f.Add(jsp, 72)
	f.Fuzz(func(t *testing.T, text string, number int) {
		m := parseSMAP(text)
		if len(m) > strings.Count(text, "\n")+1 {
			t.Fatalf("%d ranges", len(m))
		}
		if file, line, ok := m.find(number); ok && (file.base == "" || line < 0 || line > 2*maxLine) {
			t.Fatalf("line %d of %q", line, file)
		}
	})
}

func TestClassPath(t *testing.T) {
	jar := archiveOf(t, map[string]string{"a/B.class": string(classBytes("B.kt", "")),
		"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\r\nClass-Path: more/ ../x%20y.jar http://x/y.jar file:/opt/\r\n z.jar\r\n"})
	dir := filepath.Dir(jar)
	require.NoError(t, os.Rename(jar, filepath.Join(dir, "lib.jar")))
	jar = filepath.Join(dir, "lib.jar")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "more", "a"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "more", "a", "C.class"), classBytes("C.scala", ""), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "more", "a", "Bad.class"), []byte("no class"), 0o644))
	assert.Equal(t, []string{filepath.Join(dir, "more"), filepath.Join(filepath.Dir(dir), "x y.jar"), "/opt/z.jar"},
		manifestClassPath("Class-Path: more/ ../x%20y.jar http://x/y.jar file:/opt/\r\n z.jar\r\n", jar))

	for _, paths := range [][]string{{"/no/such.jar", jar, jar}, {filepath.Join(dir, "*")}} {
		c := classPath{left: maxRead}
		c.add(paths...)
		for class, want := range map[string]string{"a.B": "B.kt lib.jar", "a.C": "C.scala more", "a.Bad": "", "a.D": "",
			"": "", "..a": "", "/etc/passwd": ""} {
			found, root, _ := c.find(class)
			assert.Equal(t, want, strings.TrimSpace(found.source+" "+root), class)
		}
		for _, err := range c.close() {
			assert.NoError(t, err)
		}
	}
}
