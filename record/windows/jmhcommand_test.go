package windows

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writeJar writes a jar with these files.
func writeJar(t *testing.T, path string, files map[string]string) string {
	t.Helper()
	out, err := os.Create(path)
	require.NoError(t, err)
	defer out.Close()
	w := zip.NewWriter(out)
	for name, text := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return path
}

func TestRunsJMH(t *testing.T) {
	dir := t.TempDir()
	jar := func(name string, files map[string]string) string { return writeJar(t, filepath.Join(dir, name), files) }
	listed := jar("listed.jar", map[string]string{"META-INF/MANIFEST.MF": "Main-Class: com.acme.Main\r\n",
		"META-INF/BenchmarkList": ""})
	main :=
		jar("main.jar", map[string]string{"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\r\nMain-Class: org.openjdk.jmh.Main\r\n"})
	blank := jar("my benchmarks.jar", map[string]string{"META-INF/BenchmarkList": ""})
	app :=
		jar("app.jar", map[string]string{"META-INF/MANIFEST.MF": "Main-Class: com.acme.Main\r\nX: org.openjdk.jmh.Main\r\n",
			"org/openjdk/jmh/Main.class": ""})
	text := filepath.Join(dir, "text.jar")
	require.NoError(t, os.WriteFile(text, []byte("no jar"), 0o600))
	for _, c := range []struct {
		want    bool
		command []string
	}{
		{true, []string{"java", "-jar", listed, "-f", "1"}},
		{true, []string{"taskset", "-c", "1", "java", "-Xmx1g", "-jar", main}},
		{true, []string{"sh", "-c", "cd /tmp && java -jar " + main + " -wi 1"}},
		{true, []string{"java", "-jar", blank}},
		{true, []string{"java", "-cp", "a.jar:b.jar", "org.openjdk.jmh.Main", "Bench"}},
		{true, []string{"/jdk/bin/java", "-cp", "a.jar", "org.openjdk.jmh.runner.ForkedMain", "127.0.0.1", "4711"}},
		{false, []string{"java", "-jar", app}},
		{false, []string{"java", "-jar", text}},
		{false, []string{"java", "-jar", dir}},
		{false, []string{"java", "-jar", filepath.Join(dir, "missing.jar")}},
		{false, []string{"java", "-jar"}},
		{false, []string{"java", "-cp", listed, "com.acme.Main"}},
		{false, []string{"java", "-Dorg.openjdk.jmh.Main=x", "com.acme.Main"}},
		{false, []string{"mvn", "verify"}},
		{false, nil},
	} {
		assert.Equal(t, c.want, RunsJMH(c.command), "%q", c.command)
	}
}
