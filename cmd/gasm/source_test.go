package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
)

// TestSource checks that the report shows lines of Java after the frames that they belong to. The sources are a
// folder and an archive.
func TestSource(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none")
	jdk := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(jdk, "lib"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(jdk, "release"),
		[]byte("JAVA_RUNTIME_VERSION=\"25.0.3+9\"\nJAVA_VERSION=\"25.0.3\"\n"), 0o644))
	jar := filepath.Join(jdk, "lib", "src.zip")
	file, err := os.Create(jar)
	require.NoError(t, err)
	defer file.Close()
	w := zip.NewWriter(file)
	entry, err := w.Create("java.base/java/util/HashMap.java")
	require.NoError(t, err)
	// This is not the JDK's own file. All its lines differ, so that the test sees whether the right one is shown.
	text := "package java.util;"
	for line := 1; line < 3000; line++ {
		text += "\n\t// line " + string(rune('a'+line%26)) + "\tof HashMap"
	}
	_, err = entry.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())

	args := []string{"report", "--comments", "full", "--hot-threshold", "0.02", "--source", gasmtest.Testdata("captures"),
		"--source", jar, samples, log}
	r := runGasm(t, args)
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `; - Workload::roots@30 \(line 13\)    static double roots\(double\[\] a\) \{ double t = 0; for`,
		r.stdout)
	assert.Regexp(t, `; - java\.util\.HashMap\$Node::getValue@1 \(line \d+\)    // line [a-z]   of HashMap\n`, r.stdout)
	assert.NotRegexp(t, `; - Workload::main@276 \(line \d+\) `, r.stdout, "a caller")

	assert.Contains(t, strings.Join(strings.Fields(r.stdout), " "), "src.zip is for JDK 25.0.3, but pid")
	require.NoError(t, os.WriteFile(filepath.Join(jdk, "release"), []byte("JAVA_VERSION=\"17.0.21.0.3\"\n"), 0o644))
	assert.False(t, strings.Contains(runGasm(t, args).stdout, "is for JDK"))

	folded := runGasm(t, append([]string{"report"}, args[3:]...)).stdout
	assert.Regexp(t,
		`\n +;; Workload::roots in Workload::main:37\n +;; :13  static double roots\(double\[\] a\) \{ double t = 0; for`,
		folded)
	assert.Regexp(t, `;; :\d+  // line [a-z]   of HashMap\n`, folded)

	plain := runGasm(t, append([]string{"report", "--format", "json"}, args[5:]...))
	require.Equal(t, 0, plain.code, plain.stderr)
	assert.NotContains(t, plain.stdout, "static double roots")
}

// TestSourceErrors checks that a path that can't be used is an error before anything runs.
func TestSourceErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	for path, want := range map[string]string{
		filepath.Join(dir, "nosuch"): "nosuch: no such file or directory",
		"source_test.go":             "source_test.go is neither a folder nor a jar or zip",
	} {
		for _, args := range [][]string{
			{"profile", "--source", "..", "--source", path, "--", "touch", ran},
			{"report", "--source", path, "no-such-samples", "no-such-log"},
		} {
			r := runGasm(t, args)
			assert.Equal(t, 2, r.code)
			assert.Contains(t, r.said(), "gasm: --source: ")
			assert.Contains(t, r.said(), want)
			assert.Empty(t, r.stdout)
			assert.NoFileExists(t, ran)
		}
	}
}

// TestClassPathOfOthers checks that if gasm runs as root, it opens no class path that another user may have chosen,
// and says so.
func TestClassPathOfOthers(t *testing.T) {
	t.Parallel()
	gasmtest.NeedRoot(t)
	samples, saved := savedCapture(t, "jdk17-lean-none")
	text, err := os.ReadFile(saved)
	require.NoError(t, err)
	log := filepath.Join(t.TempDir(), "asm-1.log")
	require.NoError(t, os.WriteFile(log, text, 0o600))
	closed := func(change func(j *capture.JVM)) []int {
		t.Helper()
		c, err := capture.OpenFiles(samples, []string{log})
		require.NoError(t, err)
		defer c.Close()
		c.JVMs[0].Log.ClassPath = "/nothing.jar"
		change(&c.JVMs[0])
		src, err := openSources([]string{gasmtest.Testdata("captures")})
		require.NoError(t, err)
		defer src.close()
		var o report.Options
		src.findLines(&profile.Profiles{Capture: c.Description}, &o.Code)
		require.NotNil(t, o.Code.Source)
		src.finder.Line("a.NoSuch", 1)
		var said strings.Builder
		src.sayMissing(&said)
		assert.Equal(t, len(src.closed) > 0, strings.Contains(said.String(), "did not open the class path of pid"),
			said.String())
		return src.closed
	}
	assert.Empty(t, closed(func(*capture.JVM) {}))
	assert.Len(t, closed(func(j *capture.JVM) { j.OfOther = true }), 1)
	assert.Empty(t, closed(func(j *capture.JVM) { j.OfOther, j.Log.ClassPath = true, "" }))
	require.NoError(t, os.Chown(log, 65534, 65534))
	assert.Len(t, closed(func(*capture.JVM) {}), 1, "another user's capture")
}
