package jdk

import (
	"os"
	"path/filepath"
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
	text := "IMPLEMENTOR=\"Azul Systems, Inc.\"\nJAVA_VERSION=\"17.0.15\"\nSOURCE=\".:git:x=y\"\nnonsense\nID=unquoted\nCUT=\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "release"), []byte(text), 0o644))
	assert.Equal(t, map[string]string{"IMPLEMENTOR": "Azul Systems, Inc.", "JAVA_VERSION": "17.0.15", "SOURCE": ".:git:x=y"}, Properties(home))
	assert.Equal(t, "17.0.15", Version(home))
}
