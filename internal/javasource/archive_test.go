package javasource

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// largeEnd returns the end of a large zip file (zip64) that says how many files it has. The end begins at the offset in
// the first argument.
func largeEnd(at, records, directory uint64) []byte {
	end := make([]byte, largeSize+locatorSize+endSize)
	copy(end, "PK\x06\x06")
	binary.LittleEndian.PutUint64(end[4:], largeSize-12)
	binary.LittleEndian.PutUint64(end[24:], records)
	binary.LittleEndian.PutUint64(end[32:], records)
	binary.LittleEndian.PutUint64(end[48:], directory)
	locator := end[largeSize:]
	copy(locator, "PK\x06\x07")
	binary.LittleEndian.PutUint64(locator[8:], at)
	binary.LittleEndian.PutUint32(locator[16:], 1)
	last := locator[locatorSize:]
	copy(last, "PK\x05\x06")
	for i := 8; i < 20; i++ {
		last[i] = 0xff
	}
	return end
}

// sparse returns a sparse file that ends in end.
func sparse(t *testing.T, size int64, end []byte) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse.jar"))
	require.NoError(t, err)
	defer f.Close()
	if _, err := f.WriteAt(end, size-int64(len(end))); err != nil {
		t.Skipf("this file system has no files of %d bytes: %v", size, err)
	}
	return f.Name()
}

// TestForgedCount: a sparse file that says that it has a hundred thousand million files must not make gasm reserve
// memory for them.
func TestForgedCount(t *testing.T) {
	const size = 3 << 40
	at := uint64(size - largeSize - locatorSize - endSize)
	for _, records := range []uint64{size / 46, 1 << 20, 1 << 63} {
		path := sparse(t, size, largeEnd(at, records, 0))
		_, err := New([]string{path})
		assert.ErrorContains(t, err, fmt.Sprintf("it says that there are %d", records))
		c := classPath{left: maxRead}
		c.add(path)
		_, _, ok := c.find("a.B")
		assert.False(t, ok)
	}
	_, err := New([]string{sparse(t, size, largeEnd(1<<62, 5, 0))})
	assert.ErrorContains(t, err, "neither a folder nor a jar or zip")
}

// TestLargeZip: a large zip file with a right count is read.
func TestLargeZip(t *testing.T) {
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	const files = 1<<16 + 1 // package zip writes the record of a large file for that many files
	for i := range files {
		_, err := w.Create(fmt.Sprintf("a/B%d.java", i))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	archive, err := new(lists).archive(bytes.NewReader(data.Bytes()), int64(data.Len()))
	require.NoError(t, err)
	assert.Len(t, archive.File, files)
}

// TestLongLists: the lists of files of all archives together have a limit, however many archives there are.
func TestLongLists(t *testing.T) {
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for i := range 100 {
		_, err := w.Create(fmt.Sprintf("a/B%d.class", i))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	read := lists(0)
	open := func() error {
		_, err := read.archive(bytes.NewReader(data.Bytes()), int64(data.Len()))
		return err
	}
	require.NoError(t, open())
	assert.Greater(t, int(read), 5000)
	read = maxLists - 5000
	assert.ErrorIs(t, open(), errLongList)
}

// TestJarsIn: a folder in a class path such as "lib/*" stands for the jars in it. gasm looks at a bounded number of its
// files.
func TestJarsIn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.jar", "a.JAR", "c.txt", "[d].jar"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	assert.Equal(t, []string{filepath.Join(dir, "[d].jar"), filepath.Join(dir, "a.JAR"), filepath.Join(dir, "b.jar")},
		jarsIn(dir))
	assert.Empty(t, jarsIn(filepath.Join(dir, "nothing")))
}
