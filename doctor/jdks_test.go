package doctor

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeJDK is a folder with a release file and a java that is a script.
func fakeJDK(t *testing.T, release, java string) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	script(t, filepath.Join(home, "bin/java"), java)
	require.NoError(t, os.WriteFile(filepath.Join(home, "release"), []byte(release), 0o644))
	return home
}

// examine runs the checks of one JDK.
func examine(t *testing.T, home string) (r jdkResult, code Finding) {
	t.Helper()
	r = (&jdk{home: home, libjvm: findLibJVM(home)}).check(t.Context(), filepath.Join(t.TempDir(), "a b.log"))
	return r, finding(t, &Report{Checks: r.checks}, "jdk "+home, "code")
}

// writesLog is a java that writes this into the log file of its options.
func writesLog(text string) string {
	return `for o in $JAVA_TOOL_OPTIONS; do case $o in *-XX:LogFile=*) echo '` + text + `' >"${o#*-XX:LogFile=}";; esac; done`
}

func TestOpenJ9(t *testing.T) {
	home := fakeJDK(t, "IMPLEMENTOR=\"IBM Corporation\"\nJAVA_VERSION=\"21.0.5\"\nJVM_VARIANT=\"Openj9\"\n", "exit 1")
	r, code := examine(t, home)
	assert.False(t, r.works)
	assert.Equal(t, Note, code.Status)
	assert.Contains(t, code.Text, "Openj9 is not HotSpot")
	assert.Equal(t, "21.0.5, IBM Corporation", r.checks[0].Text)
}

// JDKs of the time before [MachCode], with no plug-in: one whose memory gasm knows,
// and one that it does not know.
func TestNamesOnly(t *testing.T) {
	check := func(home string) jdkResult {
		return (&jdk{home: home}).check(t.Context(), filepath.Join(t.TempDir(), "asm.log"))
	}
	log := writesLog("<hotspot_log version=1>")
	r := check(fakeJDK(t, `JAVA_VERSION="11.0.25"`, log))
	code := finding(t, &Report{Checks: r.checks}, "jdk", "code")
	if runtime.GOOS == "linux" {
		assert.Equal(t, OK, code.Status)
		assert.Contains(t, code.Text, "copied out of the JVM's memory (behind a build tool names only)")
	}
	home := fakeJDK(t, `JAVA_VERSION="12.0.2"`+"\n"+`IMPLEMENTOR="Azul Systems, Inc."`, log)
	r = check(home)
	code = finding(t, &Report{Checks: r.checks}, "jdk", "code")
	assert.True(t, r.works, "the profile has names")
	assert.Equal(t, Note, code.Status)
	assert.Contains(t, code.Text, "names only, no instructions: JDK 8 to 13 need hsdis")
	assert.Regexp(t, `^sudo curl -fLo `+home+`/lib/server/hsdis-\w+\.\w+ https://\S+/hsdis-\w+\.\w+$`, code.Mend)
	copied := finding(t, &Report{Checks: r.checks}, "jdk", "copy")
	assert.Equal(t, Note, copied.Status)
	assert.Contains(t, copied.Text, "gasm does not know the memory of JDK 12")
}

func TestBrokenJDKs(t *testing.T) {
	release := `JAVA_VERSION="21"` + "\n" + `IMPLEMENTOR="x"`
	_, code := examine(t, fakeJDK(t, release, "echo 'Picked up JAVA_TOOL_OPTIONS: x' >&2; echo 'Error: no VM' >&2; exit 1"))
	assert.Equal(t, Problem, code.Status)
	assert.Equal(t, "java does not run: Error: no VM", code.Text)
	_, code = examine(t, fakeJDK(t, release, ""))
	assert.Contains(t, code.Text, "the JVM wrote no log")

	defer func(d time.Duration) { patience = d }(patience)
	patience = 200 * time.Millisecond
	began := time.Now()
	_, code = examine(t, fakeJDK(t, release, "sleep 1000 & wait"))
	assert.Equal(t, "java does not run: no answer within 200ms", code.Text)
	assert.Less(t, time.Since(began), 5*time.Second)
}

// What java says of itself counts where there is no release file.
func TestNoReleaseFile(t *testing.T) {
	home := fakeJDK(t, "", `cat >&2 <<'X'
openjdk version "1.8.0_432"
OpenJDK Runtime Environment (Temurin)(build 1.8.0_432-b06)
OpenJDK 64-Bit Server VM (Temurin)(build 25.432-b06, mixed mode)
X`)
	r, _ := examine(t, home)
	assert.Equal(t, "1.8.0_432-b06, OpenJDK Runtime Environment (Temurin)", r.checks[0].Text)
	assert.Equal(t, 8, r.feature())
}

// The JDK that a version manager's script starts is found, and each one once.
func TestFindJDKs(t *testing.T) {
	java := needJava(t)
	home := filepath.Dir(filepath.Dir(java))
	dir := t.TempDir()
	script(t, filepath.Join(dir, "shims/java"), `exec '`+java+`' "$@"`)
	t.Setenv("PATH", filepath.Join(dir, "shims")+":"+os.Getenv("PATH"))
	t.Setenv("HOME", dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".sdkman/candidates/java"), 0o755))
	require.NoError(t, os.Symlink(home, filepath.Join(dir, ".sdkman/candidates/java/current")))
	script(t, filepath.Join(dir, ".jdks/graal/bin/java"), "")
	script(t, filepath.Join(dir, "jdk8/bin/java"), "")
	script(t, filepath.Join(dir, "jdk8/jre/bin/java"), "")
	t.Setenv("JAVA_HOME", filepath.Join(dir, "jdk8/jre"))
	found, checks := findJDKs(t.Context())
	assert.Empty(t, checks)
	homes := map[string][]string{}
	for _, j := range found {
		assert.NotContains(t, homes, j.home)
		homes[j.home] = j.found
	}
	assert.Equal(t, []string{"PATH"}, homes[home])
	assert.Equal(t, home, found[0].home)
	assert.Contains(t, homes, filepath.Join(dir, ".jdks/graal"))
	assert.Equal(t, []string{"JAVA_HOME"}, homes[filepath.Join(dir, "jdk8")])

	t.Setenv("JAVA_HOME", filepath.Join(dir, "none"))
	script(t, filepath.Join(dir, "shims/java"), "echo 'No version is set' >&2; exit 126")
	_, checks = findJDKs(t.Context())
	require.Len(t, checks, 2)
	assert.Equal(t, Finding{"jdk", "JAVA_HOME", Note, filepath.Join(dir, "none") + " has no bin/java", "unset JAVA_HOME"}, checks[0])
	assert.Contains(t, checks[1].Text, "shims/java, on PATH, does not run: No version is set")
	assert.Regexp(t, `^export PATH=/.*/bin:\$PATH$`, checks[1].Mend)
}

// compile makes a shared library, for the architecture that HotSpot names so.
func compile(t *testing.T, dir string, args ...string) string {
	t.Helper()
	arch := map[string]string{"amd64": "amd64", "arm64": "aarch64"}[runtime.GOARCH]
	gcc, err := exec.LookPath("gcc")
	if err != nil || runtime.GOOS != "linux" || arch == "" {
		t.Skip("no gcc on PATH: scripts/setup.sh installs it")
	}
	path := filepath.Join(dir, "hsdis-"+arch+".so")
	args = append([]string{"-shared", "-fPIC", "-o", path}, args...)
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Skipf("does not compile: %s", out)
	}
	return path
}

// Plug-ins on a real JVM: one that works, one with the old entry point alone,
// and one that can't be loaded.
func TestPlugins(t *testing.T) {
	java := needJava(t)
	home := filepath.Dir(filepath.Dir(java))
	tryPlugin := func(path string) (code, hsdis Finding) {
		t.Helper()
		t.Setenv("LD_LIBRARY_PATH", filepath.Dir(path))
		r, code := examine(t, home)
		assert.True(t, r.works)
		return code, finding(t, &Report{Checks: r.checks}, "jdk", "hsdis")
	}
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "x.c")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}

	path := compile(t, t.TempDir(), write("int decode_instructions(void) { return 0; }"))
	code, hsdis := tryPlugin(path)
	assert.Contains(t, code.Text, "printed as bytes")
	assert.Equal(t, Finding{"jdk " + home, "hsdis", Note, path + " lacks decode_instructions_virtual: HotSpot does not use it; not needed", ""}, hsdis)

	path = compile(t, t.TempDir(), write("extern int gone(void); int decode_instructions_virtual(void) { return gone(); } int (*p)(void) = gone;"))
	code, hsdis = tryPlugin(path)
	assert.Contains(t, code.Text, "printed as bytes")
	assert.Contains(t, hsdis.Text, "was not loaded")
	assert.Equal(t, "ldd "+path, hsdis.Mend)

	path = compile(t, t.TempDir(), "-O2", "../testdata/tools/hsdis/hsdis.c", "-lopcodes", "-lbfd")
	code, hsdis = tryPlugin(path)
	assert.Equal(t, "printed as text by hsdis", code.Text)
	assert.Equal(t, Finding{"jdk " + home, "hsdis", OK, path + " has decode_instructions_virtual and is used", ""}, hsdis)
}

// HotSpot looks beside libjvm first, then one folder up.
func TestPluginPlaces(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "")
	home := t.TempDir()
	j := &jdk{home: home, libjvm: filepath.Join(home, "lib/server/libjvm.so")}
	name := j.pluginName()
	for _, place := range []string{"lib/" + name, "lib/server/" + name, "lib/server/lib" + name} {
		path := filepath.Join(home, place)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("no library"), 0o644))
		p, ok := j.findPlugin()
		assert.True(t, ok)
		assert.Equal(t, plugin{path, false}, p)
	}
}

// The logs of real JVMs, with plug-in and without.
func TestPrintedAs(t *testing.T) {
	logs, err := filepath.Glob("../testdata/captures/*/asm.log.gz")
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	for _, path := range logs {
		f, err := os.Open(path)
		require.NoError(t, err)
		r, err := gzip.NewReader(f)
		require.NoError(t, err)
		text, err := io.ReadAll(io.LimitReader(r, 2<<20))
		require.NoError(t, err)
		f.Close()
		want := codeBytes
		if strings.Contains(path, "hsdis") {
			want = codeText
		} else if strings.Contains(path, "jdk11") || strings.Contains(path, "jdk8") {
			want = codeNone
		}
		assert.Equal(t, want, printedAs(text), path)
	}
}

func TestFeature(t *testing.T) {
	for version, want := range map[string]int{"1.8.0_432-b06": 8, "17.0.15+6-Debian": 17, "25": 25, "26-ea+3": 26, "": 0, "x": 0} {
		assert.Equal(t, want, (&jdk{version: version}).feature(), version)
	}
}

func TestToolOptions(t *testing.T) {
	assert.Equal(t, `-Xa "-XX:LogFile=/a b/it's"`, toolOptions([]string{"-Xa", "-XX:LogFile=/a b/it's"}))
}
