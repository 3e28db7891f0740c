package jdk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFeature(t *testing.T) {
	cases := map[string]int{"1.8.0_432-b06": 8, "17.0.15+6-Debian": 17, "25": 25, "26-ea+3": 26, "": 0, "x": 0}
	require.NotEmpty(t, cases)
	for version, want := range cases {
		assert.Equal(t, want, Feature(version), version)
	}
}

func TestProperties(t *testing.T) {
	home := t.TempDir()
	assert.Empty(t, Properties(home))
	assert.Empty(t, Version(home))
	text :=
		"IMPLEMENTOR=\"Azul Systems, Inc.\"\nJAVA_VERSION=\"17.0.15\"\nSOURCE=\".:git:x=y\"\nnonsense\nID=unquoted\nCUT=\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "release"), []byte(text), 0o644))
	assert.Equal(t, map[string]string{"IMPLEMENTOR": "Azul Systems, Inc.", "JAVA_VERSION": "17.0.15",
		"SOURCE": ".:git:x=y"}, Properties(home))
	assert.Equal(t, "17.0.15", Version(home))
}

// TestRelease reads folders with the layouts of Temurin's JDK and of Debian's JRE 8, and folders that are no JDK.
func TestRelease(t *testing.T) {
	cases := []struct {
		name   string
		files  map[string]string
		java   string
		want   int
		libjvm string // on Linux
	}{
		{"JDK 25", map[string]string{"release": "JAVA_VERSION=\"25.0.1\"\n", "lib/server/libjvm.so": ""}, "bin/java",
			25, "lib/server/libjvm.so"},
		{"Debian's JRE 8", map[string]string{"lib/rt.jar": "", "lib/amd64/server/libjvm.so": ""}, "bin/java", 8,
			"lib/amd64/server/libjvm.so"},
		{"JDK 8", map[string]string{"release": "JAVA_VERSION=\"1.8.0_402\"\n", "jre/lib/rt.jar": "",
			"jre/lib/amd64/server/libjvm.so": ""}, "bin/javac", 8,
			"jre/lib/amd64/server/libjvm.so"},
		{"no JDK", map[string]string{"lib/tools.jar": ""}, "bin/java", 0, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			home, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			c.files[c.java] = "#!/bin/sh\n"
			for name, text := range c.files {
				path := filepath.Join(home, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
			}
			assert.Equal(t, c.want, Release([]string{filepath.Join(home, c.java)}))
			want := ""
			if c.libjvm != "" && runtime.GOOS == "linux" {
				want = filepath.Join(home, c.libjvm)
			}
			assert.Equal(t, want, LibJVM(home))
		})
	}
}
