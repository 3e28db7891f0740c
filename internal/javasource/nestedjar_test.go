package javasource

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nestingJar returns a jar that contains the same jar several times.
func nestingJar(t *testing.T, method uint16, inner string, names ...string) string {
	t.Helper()
	data, err := os.ReadFile(inner)
	require.NoError(t, err)
	file, err := os.Create(filepath.Join(t.TempDir(), "app.jar"))
	require.NoError(t, err)
	defer file.Close()
	w := zip.NewWriter(file)
	for _, name := range names {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		require.NoError(t, err)
		_, err = entry.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return file.Name()
}

// TestNestedJars reads class files in jars that are inside another jar. In Spring Boot's jars, the inner jars are
// stored without compression; in web applications they are compressed.
func TestNestedJars(t *testing.T) {
	inner := archiveOf(t, map[string]string{"org/acme/Named.class": string(classBytes("Script.groovy", ""))})
	for _, c := range []struct {
		method uint16
		name   string
		file   string
	}{
		{zip.Store, "BOOT-INF/lib/acme-1.0.jar", "Script.groovy"},
		{zip.Deflate, "WEB-INF/lib/acme-1.0.jar", "Script.groovy"},
		{zip.Store, "WEB-INF/lib-provided/acme-1.0.jar", "Script.groovy"},
		{zip.Store, "lib/acme-1.0.jar", "Named.java"}, // the class is not loaded from anywhere, so the name is guessed
		{zip.Store, "BOOT-INF/lib/acme-1.0.txt", "Named.java"},
	} {
		f := finder(t, folderOf(t, languageSources))
		f.Know(nil, []string{nestingJar(t, c.method, inner, c.name)})
		assert.Equal(t, c.file, f.Line("org.acme.Named::run", 2).File, c.name)
	}
}

// A file that is not a jar is skipped, and those after it are found.
func TestNestedNoJar(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("no jar"), 0o600))
	behind := archiveOf(t, map[string]string{"org/acme/Named.class": string(classBytes("Script.groovy", ""))})
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		f := finder(t, folderOf(t, languageSources))
		f.Know(nil, []string{nestingJar(t, method, text, "BOOT-INF/lib/a.jar", "BOOT-INF/lib/b.jar"), behind})
		assert.Equal(t, Line{"Script.groovy", 2, "println 1"}, f.Line("org.acme.Named::run", 2))
	}
}

// A hostile jar can contain the same library under many names. After a number of files, no more libraries are opened.
func TestNestedBomb(t *testing.T) {
	inner := archiveOf(t, map[string]string{"org/acme/Other.class": "", "org/acme/Another.class": ""})
	for entries, opened := range map[int]int{0: 4, maxNestedEntries - 3: 3, maxNestedEntries - 1: 2,
		maxNestedEntries: 1} {
		f := finder(t, folderOf(t, languageSources))
		f.Know(nil, []string{nestingJar(t, zip.Store, inner, "BOOT-INF/lib/a.jar", "BOOT-INF/lib/b.jar",
			"BOOT-INF/lib/c.jar")})
		f.classPath.nestedEntries = entries
		assert.Equal(t, "Named.java", f.Line("org.acme.Named::run", 2).File)
		assert.Len(t, f.classPath.open, opened, "the jar itself, and those in it")
	}
}
