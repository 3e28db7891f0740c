package browsertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// The scripts and style sheets of all pages are formatted by prettier, and eslint reports nothing about the scripts.
// testdata/web has the versions and the rules of both.
func TestFormat(t *testing.T) {
	tool := func(t *testing.T, path ...string) string {
		t.Helper()
		found := gasmtest.Testdata(append([]string{"web", "node_modules"}, path...)...)
		if _, err := os.Stat(found); err != nil {
			t.Skip("no testdata/web/node_modules: scripts/setup.sh installs it")
		}
		return found
	}
	check := func(t *testing.T, args ...string) {
		t.Helper()
		cmd := exec.Command("node", args...)
		cmd.Dir = root()
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s", out)
	}
	files := func(t *testing.T, pattern string) []string {
		t.Helper()
		var all []string
		for _, dir := range []string{"report/page", "diff", "internal/htmlpage"} {
			found, err := filepath.Glob(filepath.Join(root(), dir, pattern))
			require.NoError(t, err)
			all = append(all, found...)
		}
		require.NotEmpty(t, all)
		return all
	}
	t.Run("prettier", func(t *testing.T) {
		t.Parallel()
		args := []string{tool(t, "prettier", "bin", "prettier.cjs"), "--config", gasmtest.Testdata("web", "prettier.json"),
			"--check"}
		check(t, append(append(args, files(t, "*.js")...), files(t, "*.css")...)...)
	})
	t.Run("eslint", func(t *testing.T) {
		t.Parallel()
		args := []string{tool(t, "eslint", "bin", "eslint.js"), "--max-warnings", "0", "-c",
			gasmtest.Testdata("web", "eslint.config.mjs")}
		check(t, append(args, files(t, "*.js")...)...)
	})
}
