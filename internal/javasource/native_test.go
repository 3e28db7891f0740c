package javasource

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNative(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"hotspot/share/gc/g1/g1.cpp": "first\n\tsecond line\n", "hotspot/share/gc/shared/g1.cpp": "other\n",
		"a/main.c": "a\n", "b/main.c": "b\n", "c/same.h": "same\n", "d/same.h": "same\n", "zlib/deflate.c": "z\n",
		"secret.env": "password\n",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	f, err := New([]string{root})
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, Line{"g1.cpp", 2, "second line"}, f.NativeLine("/build/jdk/src/hotspot/share/gc/g1/g1.cpp", 2))
	assert.Equal(t, []string{"first", "    second line"}, f.NativeLines("../../src/hotspot/share/gc/g1/g1.cpp"))
	cases := map[string]string{
		"/x/share/gc/shared/g1.cpp":       "other",
		"/x/a/main.c":                     "a",
		"/x/main.c":                       "", // a or b
		"/x/same.h":                       "same",
		"deflate.c":                       "z",
		`C:\zlib\deflate.c`:               "z",
		"/none.c":                         "",
		"/x/secret.env":                   "", // no source
		"/x/../../../../../../etc/passwd": "",
		"":                                "",
	}
	for file, want := range cases {
		assert.Equal(t, want, f.NativeLine(file, 1).Text, file)
	}
	assert.Empty(t, f.NativeLine("deflate.c", 2).Text)
	assert.Equal(t, Line{}, f.NativeLine("deflate.c", 0))
	asked, missing, causes := f.Missing()
	assert.Equal(t, []int{12, 6}, []int{asked, missing})
	require.Len(t, causes, 1)
	assert.Contains(t, causes[0], "6 of 12 lines of native code have no source (")
}
