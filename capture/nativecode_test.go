package capture

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/nativecode"
)

// writeCode writes the native code of a part, at an address in the part's JVM.
func writeCode(t *testing.T, dir string, lo uint64, code ...byte) {
	t.Helper()
	d, err := ReadDescription(dir)
	require.NoError(t, err)
	pid := d.JVMs[0].PID
	table := &nativecode.Table{}
	require.True(t, table.Add(nativecode.Function{Module: "libx.so", Symbol: "f", Arch: "amd64", Lo: 0x10, Code: code,
		Places: []nativecode.Place{{PID: pid, Lo: lo}, {PID: pid + 1, Lo: lo}}}))
	require.True(t, table.Add(nativecode.Function{Module: "kernel", Symbol: "k", Arch: "amd64", Lo: 0xffff_ffff_8100_0000,
		Code: code}))
	var text bytes.Buffer
	require.NoError(t, table.Write(&text))
	require.NoError(t, os.WriteFile(filepath.Join(dir, NativeCodeFile), text.Bytes(), 0o600))
}

// JVMs that had the same code share it when their captures are read as one. JVMs with other code at the same place in
// the library do not share it.
func TestJoinNativeCode(t *testing.T) {
	dir := t.TempDir()
	for i, code := range [][]byte{{0x90}, {0x90}, {0xc3}} {
		part := filepath.Join(dir, string(rune('a'+i)))
		writePart(t, part, "a", i, nil)
		writeCode(t, part, 0x7f00_0000_0000+uint64(i), code...)
	}
	writePart(t, filepath.Join(dir, "d"), "a", 4, nil) // which has no native code
	c, err := Open(dir)
	require.NoError(t, err)
	defer c.Close()
	code := c.NativeCode()
	require.NotNil(t, code)
	require.Len(t, code.Functions, 2, "without the kernel's")
	for i, want := range []int{0, 0, 1} {
		n, addr, ok := code.Find(c.JVMs[i].PID, 0x7f00_0000_0000+uint64(i))
		assert.True(t, ok)
		assert.Equal(t, want, n)
		assert.Equal(t, uint64(0x10), addr)
	}
	for _, f := range code.Functions {
		for _, at := range f.Places {
			assert.Contains(t, []int{c.JVMs[0].PID, c.JVMs[1].PID, c.JVMs[2].PID}, at.PID)
		}
	}
	_, _, ok := code.FindKernel(0xffff_ffff_8100_0000)
	assert.False(t, ok)
	assert.True(t, Reads(dir, filepath.Join(dir, "b", NativeCodeFile)), "it must not be written over")

	one, err := Open(filepath.Join(dir, "a"))
	require.NoError(t, err)
	defer one.Close()
	_, _, ok = one.NativeCode().FindKernel(0xffff_ffff_8100_0000)
	assert.True(t, ok)
}

func TestDamagedNativeCode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	writePart(t, dir, "a", 1, nil)
	require.NoError(t, os.WriteFile(filepath.Join(dir, NativeCodeFile),
		[]byte("function libx.so amd64 0x10 f\ncode zz\ncode 90\n"), 0o600))
	c, err := Open(dir)
	require.NoError(t, err)
	defer c.Close()
	assert.Len(t, c.NativeCode().Functions, 1)
	assert.Contains(t, strings.Join(c.Notes, "\n"), "a line of the native code could not be read: ")
}

// TestLongNotes: a note quotes no more than the beginning of a damaged line.
func TestLongNotes(t *testing.T) {
	long := strings.Repeat("x", 60_000)
	for file, text := range map[string]string{
		NativeCodeFile: "function libx.so amd64 0x10 f\ncode 90\n" + long + "\n",
		SymbolsFile:    long + " 0x1 0x2 libx.so f\n",
	} {
		dir := filepath.Join(t.TempDir(), "a")
		writePart(t, dir, "a", 1, nil)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
		c, err := Open(dir)
		require.NoError(t, err)
		notes := strings.Join(c.Notes, "\n")
		c.Close()
		assert.Contains(t, notes, "could not be read: ", file)
		assert.Contains(t, notes, "(60000 bytes)", file)
		assert.Less(t, len(notes), 1000, file)
	}
}
