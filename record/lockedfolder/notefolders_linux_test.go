package lockedfolder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestNoteFolders checks that root's notes are in a folder where nobody else can make files, unless there is no such
// folder.
func TestNoteFolders(t *testing.T) {
	gasmtest.NeedRoot(t)
	t.Setenv("TMPDIR", "/tmp")
	defer func(was string) { runFolder = was }(runFolder)
	runFolder = filepath.Join(t.TempDir(), "run")
	everyones := []string{"/var/tmp", "/tmp"}
	assert.Equal(t, everyones, NoteFolders(), "without /run")
	require.NoError(t, os.Mkdir(runFolder, 0o755))
	assert.Equal(t, []string{runFolder}, NoteFolders())
	require.NoError(t, os.Chmod(runFolder, 0o777))
	assert.Equal(t, everyones, NoteFolders(), "others can write to it")
	require.NoError(t, os.Chmod(runFolder, 0o755))
	require.NoError(t, os.Chown(runFolder, gasmtest.Nobody, 0))
	assert.Equal(t, everyones, NoteFolders(), "it is another user's")
}
