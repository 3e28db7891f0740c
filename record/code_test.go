package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHasCaptureFlags(t *testing.T) {
	dir := t.TempDir()
	jdk := func(name, release string) string {
		bin := filepath.Join(dir, name, "bin")
		require.NoError(t, os.MkdirAll(bin, 0o755))
		java := filepath.Join(bin, "java")
		require.NoError(t, os.WriteFile(java, []byte("#!/bin/sh\n"), 0o755))
		if release != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name, "release"), []byte(release), 0o644))
		}
		return java
	}
	java17 := jdk("17", "IMPLEMENTOR=\"Debian\"\nJAVA_RUNTIME_VERSION=\"17.0.15+6\"\nJAVA_VERSION=\"17.0.15\"\n")
	link := filepath.Join(dir, "java")
	require.NoError(t, os.Symlink(java17, link))
	for _, c := range []struct {
		command []string
		want    bool
	}{
		{[]string{java17, "-version"}, true},
		{[]string{link}, true},
		{[]string{jdk("25", "JAVA_VERSION=\"25\"\n")}, true},
		{[]string{jdk("8", "JAVA_VERSION=\"1.8.0_504\"\n")}, false},
		{[]string{jdk("28", "JAVA_VERSION=\"28-ea\"\n")}, false},
		{[]string{jdk("none", "")}, false},
		{[]string{jdk("strange", "JAVA_VERSION=17\n")}, false},
		{[]string{java17, "-jar", "b.jar", "-jvm", "/opt/jdk8/bin/java"}, false},
		{[]string{"/no/such/java"}, false},
		{[]string{"mvn", "test"}, false},
	} {
		assert.Equal(t, c.want, hasCaptureFlags(c.command), "%q", c.command)
	}
}
