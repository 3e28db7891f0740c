package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two logs of one process are two logs: none is written over.
func TestNameLogs(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"asm-pid1.log": "one", "asm-pid2.log": "two", "asm-2.log": "earlier", "asm-pidx.log": "other"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "asm-3.log")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "asm-pid3.log"), []byte("three"), 0o600))
	nameLogs(dir)
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		text, _ := os.ReadFile(filepath.Join(dir, e.Name())) // the link leads nowhere
		got[e.Name()] = string(text)
	}
	assert.Equal(t, map[string]string{"asm-1.log": "one", "asm-pid2.log": "two", "asm-2.log": "earlier", "asm-pidx.log": "other",
		"asm-3.log": "", "asm-pid3.log": "three"}, got)
}
