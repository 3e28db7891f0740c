package printassembly

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/regular"
)

const header = "<?xml version='1.0' encoding='UTF-8'?>\n<hotspot_log version='160 1' process='2490' time_ms='1795221479359'>\n"

// nmethod returns what HotSpot prints for a compiled method of 8 bytes at addr.
func nmethod(ms int, name string, addr uint64) string {
	return fmt.Sprintf(`Compiled method (c2) %d    7       4       %s (28 bytes)
 total in heap  [0x%016x,0x%016x] = 2368
 main code      [0x%016x,0x%016x] = 8
 scopes data    [0x%016x,0x%016x] = 144

[MachCode]
[Verified Entry Point]
  0x%016x: 5548 89e5 | 9090 5dc3 
[/MachCode]
`, ms, name, addr-16, addr+64, addr, addr+8, addr+8, addr+64, addr)
}

const nmethodText = "push %rbp\nmov %rsp,%rbp\nnop\nnop\npop %rbp\nret"

func blobNames(x *Index) string {
	var names []string
	for _, b := range x.Blobs {
		names = append(names, b.Name)
	}
	return strings.Join(names, " ")
}

func TestHeader(t *testing.T) {
	l := captureLog(t, "jdk17-lean-none")
	assert.Equal(t, 24997, l.PID)
	assert.EqualValues(t, 1795223087175, l.StartWallMillis)
	assert.Equal(t, "17.0.21.0.3+1-1-Debian", l.VMVersion)
	assert.Contains(t, l.VMInfo, `OpenJDK 64-Bit Server VM (17.0.21.0.3+1-1-Debian) for linux-amd64 JRE`)
	assert.Contains(t, l.VMInfo, `by "sbuild"`)
	assert.Equal(t, "Workload", l.Command)
	assert.Equal(t, disasm.AMD64, l.arch)
	assert.Equal(t, disasm.ArchOf("aarch64"),
		(&Header{VMInfo: "OpenJDK 64-Bit Server VM (21) for linux-aarch64 JRE (21)"}).arch())
	assert.Equal(t, disasm.AMD64, (&Header{VMInfo: "x (21) for bsd-amd64 JRE (21)"}).arch())
	assert.Equal(t, disasm.AMD64, new(Header).arch())
}

// Code after a first line of an unknown form, as a new JDK may print it, counts as damage. Its rows must not silently
// become part of the previous blob.
func TestVersion(t *testing.T) {
	for info, want := range map[string]string{
		"OpenJDK 64-Bit Server VM (25.504-b01) for linux-amd64 JRE (1.8.0_504-8u504-ga-1-b01), built on Aug 20 2026": "1.8.0_504",
		"OpenJDK 64-Bit Server VM (25.432-b06) for linux-amd64 JRE (1.8.0_432-b06), built":                           "1.8.0_432",
		"": "1.8.0",
	} {
		assert.Equal(t, want, (&Header{VMVersion: "25.504-b01", VMInfo: info}).Version())
	}
	for _, own := range []string{"25.0.3+9", "25+36-LTS", "25", "25.1-ea+3", "17.0.15+6-Debian-1deb12u1", ""} {
		assert.Equal(t, own, (&Header{VMVersion: own, VMInfo: "x (25) for linux-amd64 JRE (1.8.0)"}).Version())
	}
}

func TestUnknownKindOfBlob(t *testing.T) {
	const unknown = "NewStub (0x00007f0000009000 - 0x00007f0000009080) [128 bytes] libmLog\n" +
		"[MachCode]\n  0x00007f0000009000: 5548 89e5 | 9090 5dc3 \n[/MachCode]\n"
	known := nmethod(100, "A::a", 0x7f0000001000)
	for text, damaged := range map[string]int{
		known:                                0,
		known + known:                        0,
		unknown + known:                      1,
		known + unknown:                      1,
		known + unknown + unknown + known:    2,
		"Compiled method (\n" + "[MachCode]": 1, // its first line is damaged; counted once
	} {
		x, err := readIndex(strings.NewReader(header+text), int64(len(header+text)), "test.log")
		require.NoError(t, err)
		assert.Equal(t, damaged, x.Damaged, text)
	}
}

// A blob's lines are interrupted by another thread's lines, once in the middle of a line. Both blobs must be
// complete.
func TestInterleavedWriters(t *testing.T) {
	a, b := nmethod(10, "A::a", 0x1000), nmethod(11, "B::b", 0x2000)
	for cut :=
		len("Compiled method (c2) 10    7       4       A::a (28 bytes)\n"); cut < len(a)-len("[/MachCode]\n"); cut++ {
		first, second := a[:cut], a[cut:]
		inRow := !strings.HasSuffix(first, "\n")
		if _, row, _ := strings.Cut(first, "Point]\n  0x0000000000001000:"); inRow && row == "" {
			continue // a line that is not code stays cut in two
		}
		if inRow {
			first += "\n"
		}
		if b0 := second[0]; inRow && (b0 == ' ' || b0 == '\n') {
			continue // HotSpot prints nothing that starts like this
		}
		l := newLog(t, header+"<writer thread='1'/>\n"+first+"<writer thread='2'/>\n"+b+"<writer thread='1'/>\n"+second)
		require.Equal(t, "A::a B::b", blobNames(l.Index), "cut at %d", cut)
		for i, lo := range []uint64{0x1000, 0x2000} {
			insts := code(t, l, &l.Blobs[i])
			require.Equal(t, nmethodText, texts(insts), "%q cut at %d", l.Blobs[i].Name, cut)
			require.Equal(t, lo, insts[0].Lo)
		}
	}
}

// In jdk25-full-hsdis a line is cut in two twice, in jdk17-lean-none a row once.
func TestCutRows(t *testing.T) {
	l := captureLog(t, "jdk17-lean-none")
	require.Contains(t, blobNames(l.Index), "itbl[0]")
	for i := range l.Blobs {
		if b := &l.Blobs[i]; b.Name == "itbl[0]" {
			insts := code(t, l, b)
			assert.Contains(t, texts(insts), "jne 0x7fae08a496e4\njmp 0x7fae08a49711\ntest %r13,%r13")
		}
	}
	l = captureLog(t, "jdk25-full-hsdis")
	for i := range l.Blobs {
		for _, in := range code(t, l, &l.Blobs[i]) {
			assert.NotEmpty(t, in.Text, "%#x", in.Lo)
			if in.Lo == 0x00007f9f8bc89bf0 {
				assert.Equal(t, "mov    0x18(%rax),%r14", in.Text)
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	for _, n := range []int{64<<10 + 1, 256<<10 + 1, 1 << 20} {
		long := strings.Repeat("x", n)
		name := "A::" + long[:min(n, 1<<16)]
		l := newLog(t, header+long+"\n"+nmethod(10, name, 0x1000)+"  "+long+"\n"+nmethod(11, "B::b", 0x2000))
		require.Equal(t, name+" B::b", blobNames(l.Index))
		assert.Equal(t, nmethodText, texts(code(t, l, &l.Blobs[0])))
		assert.Equal(t, nmethodText, texts(code(t, l, &l.Blobs[1])))
	}
}

func TestCRLF(t *testing.T) {
	l := newLog(t, strings.ReplaceAll(header+nmethod(10, "A::a", 0x1000)+"</hotspot_log>\n", "\n", "\r\n"))
	assert.Equal(t, 2490, l.PID)
	require.Equal(t, "A::a", blobNames(l.Index))
	assert.Equal(t, nmethodText, texts(code(t, l, &l.Blobs[0])))
	assert.False(t, l.Cut)
}

func TestCutAndDamaged(t *testing.T) {
	method, other := nmethod(10, "A::a", 0x1000), nmethod(11, "B::b", 0x2000)
	noRanges, _, _ := strings.Cut(other, " main code")
	for _, c := range []struct {
		name, log string
		blobs     string
		damaged   int
		cut       bool
	}{
		{"whole", header + method + "</hotspot_log>\n", "A::a", 0, false},
		{"no newline at the end", header + method + "</hotspot_log>", "A::a", 0, false},
		{"killed between lines", header + method, "A::a", 0, true},
		{"killed in a line", header + method + "  0x00", "A::a", 0, true},
		{"header only", header, "", 0, true},
		{"without a header", method + other, "A::a B::b", 0, false},
		{"without a header, cut", method + "Compi", "A::a", 0, true},
		{"no ranges", header + noRanges + method + "</hotspot_log>\n", "A::a", 1, false},
		{"no ranges at the end", header + method + noRanges, "A::a", 1, true},
		{"a first line that is invalid", header + "Compiled method (c2) soon\n" + method + "</hotspot_log>\n", "A::a", 1,
			false},
		{"a range of more than any code cache", header +
			strings.Replace(method, "0000000000001008]", "ffffffffffffffff]", 1) + other + "</hotspot_log>\n", "B::b",
			1, false},
		{"a backward range", header +
			strings.Replace(method, "0000000000001008] = 8", "0000000000000008] = 8", 1) + other + "</hotspot_log>\n",
			"A::a B::b", 0, false},
		{"no main code", header + strings.Replace(method, " main code ", " some code ", 1) + "</hotspot_log>\n", "A::a", 0,
			false},
	} {
		l := newLog(t, c.log)
		assert.Equal(t, c.blobs, blobNames(l.Index), c.name)
		assert.Equal(t, c.damaged, l.Damaged, c.name)
		assert.Equal(t, c.cut, l.Cut, c.name)
		for i := range l.Blobs {
			assert.Equal(t, nmethodText, texts(code(t, l, &l.Blobs[i])), c.name)
		}
	}
}

// Native wrappers are printed twice with the flags that JMH's perfasm sets.
func TestPrintedTwice(t *testing.T) {
	method := nmethod(10, "A::a", 0x1000)
	bare, _, _ := strings.Cut(nmethod(9, "A::a", 0x1000), "[MachCode]")
	l := newLog(t, header+bare+method+nmethod(12, "A::a", 0x1000)+nmethod(13, "A::a", 0x1004)+"</hotspot_log>\n")
	require.Equal(t, "A::a A::a", blobNames(l.Index))
	assert.EqualValues(t, 9, l.Blobs[0].UptimeMillis)
	assert.Equal(t, nmethodText, texts(code(t, l, &l.Blobs[0])))
	assert.EqualValues(t, 13, l.Blobs[1].UptimeMillis)
	assert.Zero(t, l.Damaged)

	// The printed method that has the code keeps its position in the log.
	l = newLog(t, header+bare+nmethod(10, "B::b", 0x2000)+nmethod(12, "A::a", 0x1000)+"</hotspot_log>\n")
	require.Equal(t, "B::b A::a", blobNames(l.Index))
	checkIndex(t, l.Index)
	assert.EqualValues(t, 9, l.Blobs[1].UptimeMillis)

	seen := map[string]int{}
	full := captureLog(t, "jdk25-full-hsdis")
	for _, b := range full.Blobs {
		if b.Kind.Java() {
			seen[fmt.Sprint(b.ID, b.OSR, b.Name)]++
		}
	}
	assert.Len(t, seen, 204, "228 prints, 24 of them again")
	for key, n := range seen {
		assert.Equal(t, 1, n, key)
	}
}

// A log without a header, as java -XX:+PrintAssembly prints it to stdout.
func TestNoHeader(t *testing.T) {
	log := string(readCapture(t, "jdk17-lean-none"))
	_, body, _ := strings.Cut(log, "<tty>\n")
	l := newLog(t, body)
	assert.Equal(t, Header{ReservedCodeCache: defaultCodeCache}, l.Header)
	assert.Len(t, l.Blobs, len(captureLog(t, "jdk17-lean-none").Blobs))
}

func TestUptimes(t *testing.T) {
	l :=
		newLog(t, header+"StubRoutines::a [0x10, 0x20] (16 bytes)\n<task stamp='0.500'/>\nStubRoutines::b [0x20, 0x30] (16 bytes)\n"+
			nmethod(700, "A::a", 0x1000)+"StubRoutines::c [0x30, 0x40] (16 bytes)\n<task stamp='0.600'/>\n"+nmethod(650,
			"B::b", 0x2000)+
			"StubRoutines::d [0x40, 0x50] (16 bytes)\n")
	var got []int64
	for _, b := range l.Blobs {
		got = append(got, b.UptimeMillis)
		assert.Equal(t, b.Kind == NMethod, b.Stamped, b.Name)
	}
	assert.Equal(t, []int64{0, 500, 700, 700, 650, 700}, got)
}

func TestForeignFiles(t *testing.T) {
	elf := "\x7fELF\x02\x01\x01\x00\x00\x00" + strings.Repeat("\x00\x01\n\xff[0x1, 0x2 bytes", 1000)
	for name, text := range map[string]string{
		"empty":       "",
		"stack trace": "Exception in thread \"main\" java.lang.RuntimeException: x\n\tat A.b(A.java:12)\n\tat A.main(A.java:3)\n",
		"perf script": "24997/24997  1884.742374599: cpu-clock:  ffffffff821f5127 exc_page_fault ([kernel.kallsyms])\n",
		"junk":        elf,
		"blank lines": "\n\n    \n",
	} {
		_, err := NewLog(strings.NewReader(text), int64(len(text)), "some.log")
		var format *FormatError
		require.ErrorAs(t, err, &format, name)
		assert.Equal(t, "some.log", format.File, name)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	var kind *regular.Error
	_, err := Open(dir)
	assert.ErrorAs(t, err, &kind)
	_, err = Open(filepath.Join(dir, "none.log"))
	assert.ErrorIs(t, err, os.ErrNotExist)

	path := filepath.Join(dir, "asm.log")
	require.NoError(t, os.WriteFile(path, []byte(header+nmethod(10, "A::a", 0x1000)), 0o644))
	l, err := Open(path)
	require.NoError(t, err)
	assert.Equal(t, path, l.Name())
	assert.Equal(t, nmethodText, texts(code(t, l, &l.Blobs[0])))
	require.NoError(t, l.Close())
	_, err = l.Code(&l.Blobs[0], disasm.ATT)
	assert.ErrorIs(t, err, os.ErrClosed)
	assert.ErrorContains(t, err, "A::a")

	require.NoError(t, os.WriteFile(path, nil, 0o644))
	_, err = Open(path)
	assert.ErrorAs(t, err, new(*FormatError))
}

// brokenAt is a text that can only be read up to an offset.
type brokenAt struct {
	text string
	at   int64
}

var errBroken = errors.New("broken disk")

func (b brokenAt) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, b.text[min(off, b.at):b.at])
	if n < len(p) {
		return n, errBroken
	}
	return n, nil
}

func TestReadErrors(t *testing.T) {
	log := header + nmethod(10, "A::a", 0x1000) + strings.Repeat("x", 1<<20)
	for _, at := range []int64{0, 10, 300_000} {
		_, err := NewLog(brokenAt{log, at}, int64(len(log)), "asm.log")
		require.ErrorIs(t, err, errBroken)
		assert.ErrorContains(t, err, "asm.log at offset")
	}
	_, err := NewLog(io.NewSectionReader(strings.NewReader(log), 0, 10), 1<<20, "asm.log")
	assert.Error(t, err, "a file that became shorter")
}

func TestNotAFile(t *testing.T) {
	_, err := NewLog(strings.NewReader("\x1f\x8b\x08\x00abc"), 7, "asm.log.gz")
	require.EqualError(t, err, "asm.log.gz: is compressed: unpack it first, if it is a log; "+
		"'go tool pprof' shows the profiles of gasm watch")
	_, err = Open(os.DevNull)
	require.ErrorContains(t, err, os.DevNull+" is a device")
}
