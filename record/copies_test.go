package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the JVM writes later does not get into the copy.
func TestReplaceByCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	writer, err := os.Create(path)
	require.NoError(t, err)
	defer writer.Close()
	_, err = writer.WriteString("before\n")
	require.NoError(t, err)
	require.NoError(t, replaceByCopy(path))
	_, err = writer.WriteString("after\n")
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "before\n", string(text))
	require.ErrorIs(t, replaceByCopy(path+"2"), os.ErrNotExist)
}
