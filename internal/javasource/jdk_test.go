package javasource

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The source of a JDK is found if it has the version that ran, and not otherwise.
func TestJDKSource(t *testing.T) {
	home := folderOf(t, map[string]string{"release": "JAVA_VERSION=\"99.0.3\"\n", "lib/src.zip": ""})
	t.Setenv("JAVA_HOME", home)
	path := filepath.Join(home, "lib", "src.zip")
	for ran, want := range map[string]string{"99.0.3+9-LTS": path, "99.0.3-internal": path, "99.0.4+1": "", "99": "",
		"": ""} {
		assert.Equal(t, want, JDKSource(ran), ran)
	}
	require.NoError(t, os.Remove(path))
	assert.Empty(t, JDKSource("99.0.3+9"), "there is a release file, and no source")
}

func TestSplitPaths(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "a"+string(filepath.ListSeparator)+"b")
	require.NoError(t, os.Mkdir(odd, 0o755))
	list := strings.Join([]string{dir, "", "no such"}, string(filepath.ListSeparator))
	assert.Equal(t, []string{odd, dir, "no such", "", dir}, SplitPaths([]string{odd, list, "", dir}))
	assert.Empty(t, SplitPaths(nil))
}
