package main

import (
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVersion checks that the version is the one that the linker has set, or else the one that `go install …@v1.2.3`
// has asked for.
func TestVersion(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]string{"v1.2.3": "1.2.3",
		"v0.0.0-20260102030405-0123456789ab": "0.0.0-20260102030405-0123456789ab",
		"(devel)":                            "development build", "": "development build"} {
		assert.Equal(t, want, builtVersion(&debug.BuildInfo{Main: debug.Module{Version: of}}, true), of)
	}
	assert.Equal(t, "development build", builtVersion(nil, false))

	linked := filepath.Join(t.TempDir(), "gasm")
	out, err := exec.Command("go", "build", "-ldflags", "-X main.version=9.8.7", "-o", linked, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(linked, "version").Output()
	require.NoError(t, err)
	assert.Equal(t, "gasm 9.8.7\n", string(out))
}
