package native

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMappedAs: a mapping matches its own file and no other one by device and inode, even if stat returns other numbers
// than the list of mappings.
func TestMappedAs(t *testing.T) {
	open := func(data string) *os.File {
		f, err := os.Open(write(t, filepath.Join(t.TempDir(), "a b"), []byte(data)))
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	for _, data := range []string{"", "text"} {
		f, other := open(data), open(data)
		m, err := mappedAs(f)
		require.NoError(t, err)
		assert.Equal(t, f.Name(), m.Path)
		assert.NotZero(t, m.Inode)
		assert.True(t, isFileOf(f, &m))
		assert.False(t, isFileOf(other, &m))
		m.Inode = 0
		assert.True(t, isFileOf(other, &m), "unknown")
	}
}

// TestReplacedWhileMapped: the path of a mapping now leads to another file.
func TestReplacedWhileMapped(t *testing.T) {
	lib := compile(t, shared...)
	f, err := os.Open(lib)
	require.NoError(t, err)
	defer f.Close()
	m, err := mappedAs(f)
	require.NoError(t, err)
	m.PID = os.Getpid()
	img, failure := NewResolver().load(&m)
	assert.NotNil(t, img)
	assert.Empty(t, failure)

	data, err := os.ReadFile(lib)
	require.NoError(t, err)
	require.NoError(t, os.Rename(write(t, lib+".new", data), lib))
	img, failure = NewResolver().load(&m)
	assert.Nil(t, img)
	assert.Equal(t, "was replaced while the command ran", failure)
	m, err = mappedAs(f)
	require.NoError(t, err)
	assert.True(t, m.Deleted, "and the kernel knows it")
}
