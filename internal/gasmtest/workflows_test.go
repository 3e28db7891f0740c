package gasmtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	usesLine = regexp.MustCompile(`^\s*(?:- )?uses: (\S+)(.*)$`)
	pinned   = regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
)

// TestActionsArePinned checks that workflows use each action by its commit, with the version in a comment, and that
// each workflow has at most the permission to read the contents by default, so that its jobs must request all other
// permissions.
func TestActionsArePinned(t *testing.T) {
	uses := 0
	root := filepath.Join(filepath.Dir(Testdata()), ".github")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if m := usesLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				uses++
				assert.Regexp(t, pinned, m[1], path)
				assert.Regexp(t, `^ # v\d+\.\d+\.\d+$`, m[2], "%s: the version of %s", path, m[1])
			}
		}
		if filepath.Base(filepath.Dir(path)) == "workflows" {
			assert.Regexp(t, `(?m)^permissions:( \{\}|\n  contents: read\n\n)`, string(text), path)
		}
		return nil
	}))
	assert.Positive(t, uses)
}
