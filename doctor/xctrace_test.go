package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gasm finds xctrace with the program xcrun. In this test, a script takes the place of xcrun.
func TestXCTrace(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	r := checkXCTrace(t.Context())
	assert.False(t, r.works)
	assert.Equal(t, []Finding{{"xctrace", "found", Note, "there is no xcrun on PATH",
		"xctrace is a part of Xcode, which is for macOS alone"}}, r.checks)
	for _, c := range []struct {
		script string
		works  bool
		text   string
	}{
		{"[ $1 = --find ] && echo /X/xctrace && exit; echo xctrace version 26.0 \\(17A324\\)", true,
			"/X/xctrace, version 26.0 (17A324); needs no root, and was not tried"},
		{"echo xcrun: error: unable to find utility >&2; exit 72", false,
			"xcrun does not find it, because it is not in Xcode's command line tools"},
		{"[ $1 = --find ] && echo /X/xctrace && exit; echo You have not agreed to the license >&2; exit 69", false,
			"it does not run: You have not agreed to the license"},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "xcrun"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o755))
		r := checkXCTrace(t.Context())
		assert.Equal(t, c.works, r.works, c.script)
		require.Len(t, r.checks, 1)
		assert.Equal(t, c.text, r.checks[0].Text)
		assert.Equal(t, !c.works, r.checks[0].Fix != "")
	}
}
