package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/jdk"
)

// fakeJDK makes a folder with a release file and a java that is a shell script.
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
	log := filepath.Join(t.TempDir(), "a b.log") // a blank must be quoted
	r = (&foundJDK{home: home, libjvm: jdk.LibJVM(home)}).check(t.Context(), log)
	return r, finding(t, r.checks, "jdk "+home, "code")
}

// writesLog is a java that writes a text to the log file that its options name.
func writesLog(text string) string {
	return `for o in $JAVA_TOOL_OPTIONS; do case $o in *-XX:LogFile=*) echo '` + text +
		`' >"${o#*-XX:LogFile=}";; esac; done`
}

func TestOpenJ9(t *testing.T) {
	home := fakeJDK(t, "IMPLEMENTOR=\"IBM Corporation\"\nJAVA_VERSION=\"21.0.5\"\nJVM_VARIANT=\"Openj9\"\n", "exit 1")
	r, code := examine(t, home)
	assert.False(t, r.works)
	assert.Equal(t, Note, code.Status)
	assert.Contains(t, code.Text, "Openj9 is not HotSpot")
	assert.Equal(t, "21.0.5, IBM Corporation", r.checks[0].Text)
}

// Two JDKs that print no code without the plug-in hsdis, and do not have it: one from whose memory gasm can copy code,
// and one that gasm does not know.
func TestNamesOnly(t *testing.T) {
	check := func(home string) jdkResult {
		// The file name must not have a blank, because writesLog does not handle quotes.
		return (&foundJDK{home: home}).check(t.Context(), filepath.Join(t.TempDir(), "asm.log"))
	}
	log := writesLog("<hotspot_log version=1>")
	r := check(fakeJDK(t, `JAVA_VERSION="11.0.25"`, log))
	code := finding(t, r.checks, "jdk", "code")
	assert.True(t, r.works)
	assert.Equal(t, Note, code.Status, "the JVM can't be read: it is none")
	assert.Contains(t, code.Text, "names only, no lines: JDK 8 to 13 need hsdis")
	home := fakeJDK(t, `JAVA_VERSION="12.0.2"`+"\n"+`IMPLEMENTOR="Azul Systems, Inc."`, log)
	r = check(home)
	code = finding(t, r.checks, "jdk", "code")
	assert.True(t, r.works, "the profile has names")
	assert.Equal(t, Note, code.Status)
	assert.Contains(t, code.Text, "names only, no lines: JDK 8 to 13 need hsdis")
	assert.Regexp(t, `^sudo curl -fLo `+home+`/lib/server/hsdis-\w+\.\w+ https://\S+/hsdis-\w+\.\w+$`, code.Fix)
	attached := finding(t, r.checks, "jdk", "attach")
	assert.Equal(t, Note, attached.Status)
	if runtime.GOOS == "linux" {
		assert.Equal(t, "gasm attach can't read a JVM's code: java ended at once", attached.Text)
	}
}

func TestBrokenJDKs(t *testing.T) {
	release := `JAVA_VERSION="21"` + "\n" + `IMPLEMENTOR="x"`
	_, code := examine(t, fakeJDK(t, release,
		"echo 'Picked up JAVA_TOOL_OPTIONS: x' >&2; echo 'Error: no VM' >&2; exit 1"))
	assert.Equal(t, Problem, code.Status)
	assert.Equal(t, "java does not run: Error: no VM", code.Text)
	_, code = examine(t, fakeJDK(t, release, ""))
	assert.Contains(t, code.Text, "the JVM wrote no log")

	defer func(d time.Duration) { patience = d }(patience)
	patience = 200 * time.Millisecond
	began := time.Now()
	sleep := fmt.Sprintf("sleep 1017.%d", os.Getpid()) // no other test's
	_, code = examine(t, fakeJDK(t, release, sleep+" & wait"))
	assert.Eventually(t, func() bool {
		left, _ := exec.Command("pgrep", "-xf", sleep).Output() // a killed process may still be listed for a moment
		return len(left) == 0
	}, time.Minute, 10*time.Millisecond, "a process that java started")
	assert.Equal(t, "java does not run: no answer within 600ms", code.Text)
	assert.Less(t, time.Since(began), 100*time.Second, "nothing waits for sleep, which is killed too")

	// The JVM was killed after its time limit. What it printed before that is not the error.
	_, code = examine(t, fakeJDK(t, release,
		`echo 'openjdk version "25.0.5" 2026-10-20' >&2; case $JAVA_TOOL_OPTIONS in *LogFile*) exec `+sleep+";; esac"))
	assert.Regexp(t, `^java does not run: no answer within [0-9.]+m?s$`, code.Text)
}

// TestPatience checks that the doctor waits longer for a JDK whose java starts slowly.
func TestPatience(t *testing.T) {
	j := &foundJDK{home: fakeJDK(t, "", "echo 'openjdk version \"21\"' >&2; sleep 0.2")}
	text, err := j.start(t.Context())
	require.NoError(t, err)
	assert.Contains(t, text, `openjdk version "21"`)
	assert.GreaterOrEqual(t, j.startTime, 200*time.Millisecond)
	for start, limit := range map[time.Duration]time.Duration{50 * time.Millisecond: 20 * time.Second,
		10 * time.Second: 100 * time.Second, 50 * time.Second: 180 * time.Second} {
		assert.Equal(t, limit, (&foundJDK{startTime: start}).limit())
	}
}

// Without a release file, the output of java -version counts.
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

// The JDK that a version manager's script starts is found, and each JDK is found once.
func TestFindJDKs(t *testing.T) {
	java := gasmtest.NeedJava(t)
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
		homes[j.home] = j.foundBy
	}
	assert.Equal(t, []string{"PATH"}, homes[home])
	assert.Equal(t, home, found[0].home)
	assert.Contains(t, homes, filepath.Join(dir, ".jdks/graal"))
	assert.Equal(t, []string{"JAVA_HOME"}, homes[filepath.Join(dir, "jdk8")])

	t.Setenv("JAVA_HOME", filepath.Join(dir, "none"))
	script(t, filepath.Join(dir, "shims/java"), "echo 'No version is set' >&2; exit 126")
	_, checks = findJDKs(t.Context())
	require.Len(t, checks, 2)
	assert.Equal(t, Finding{"jdk", "JAVA_HOME", Note, filepath.Join(dir, "none") + " has no bin/java", "unset JAVA_HOME"},
		checks[0])
	assert.Contains(t, checks[1].Text, "shims/java, on PATH, does not run: No version is set")
	assert.Regexp(t, `^export PATH=/.*/bin:\$PATH$`, checks[1].Fix)
}

// compilePlugin compiles a plug-in. Its file name has the architecture as HotSpot names
// it.
func compilePlugin(t *testing.T, args ...string) (path string, err error) {
	t.Helper()
	arch := map[string]string{"amd64": "amd64", "arm64": "aarch64"}[runtime.GOARCH]
	if runtime.GOOS != "linux" || arch == "" {
		t.Skipf("there is no hsdis for %s/%s: run the test on Linux, on x86-64 or aarch64", runtime.GOOS, runtime.GOARCH)
	}
	gcc := gasmtest.NeedTool(t, "gcc", "scripts/setup.sh test installs it")
	path = filepath.Join(t.TempDir(), "hsdis-"+arch+".so")
	out, err := exec.Command(gcc, append([]string{"-shared", "-fPIC", "-o", path}, args...)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
}

// tryPlugin examines the JDK on PATH with the given plug-in.
func tryPlugin(t *testing.T, path string) (home string, code, hsdis Finding) {
	t.Helper()
	home = filepath.Dir(filepath.Dir(gasmtest.NeedJava(t)))
	t.Setenv("LD_LIBRARY_PATH", filepath.Dir(path))
	r, code := examine(t, home)
	assert.True(t, r.works)
	return home, code, finding(t, r.checks, "jdk", "hsdis")
}

// source writes a file of C.
func source(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.c")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// A plug-in that has only the function of the old interface is not used.
func TestOldPlugin(t *testing.T) {
	path, err := compilePlugin(t, source(t, "int decode_instructions(void) { return 0; }"))
	require.NoError(t, err)
	home, code, hsdis := tryPlugin(t, path)
	assert.Contains(t, code.Text, "HotSpot prints bytes")
	assert.Equal(t, Finding{"jdk " + home, "hsdis", Note, path +
		" lacks decode_instructions_virtual: HotSpot does not use it; not needed", ""}, hsdis)
}

// A plug-in that lacks a library can't be loaded.
func TestBrokenPlugin(t *testing.T) {
	path, err := compilePlugin(t, source(t,
		"extern int gone(void); int decode_instructions_virtual(void) { return gone(); } int (*p)(void) = gone;"))
	require.NoError(t, err)
	_, code, hsdis := tryPlugin(t, path)
	assert.Contains(t, code.Text, "HotSpot prints bytes")
	assert.Contains(t, hsdis.Text, "was not loaded")
	assert.Equal(t, "ldd "+path, hsdis.Fix)
}

func TestWorkingPlugin(t *testing.T) {
	if _, err := os.Stat("/usr/include/dis-asm.h"); err != nil {
		t.Skip("no dis-asm.h: scripts/setup.sh test installs binutils-dev")
	}
	args := []string{"-O2", gasmtest.Testdata("tools", "hsdis", "hsdis.c"), "-lopcodes", "-lbfd"}
	path, err := compilePlugin(t, args...)
	if err != nil { // binutils before 2.39
		var second error
		path, second = compilePlugin(t, append(args, "-DNO_STYLES")...)
		require.NoError(t, second, "without -DNO_STYLES: %v", err)
	}
	home, code, hsdis := tryPlugin(t, path)
	assert.Equal(t, "with --code print, HotSpot prints text with hsdis", code.Text)
	assert.Equal(t, Finding{"jdk " + home, "hsdis", OK, path + " has decode_instructions_virtual and is used", ""}, hsdis)
}

// HotSpot looks beside libjvm first, then one folder up.
func TestPluginPlaces(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "")
	home := t.TempDir()
	j := &foundJDK{home: home, libjvm: filepath.Join(home, "lib/server/libjvm.so")}
	name := j.pluginName()
	places := []string{"lib/" + name, "lib/server/" + name, "lib/server/lib" + name} // the last one first
	require.NotEmpty(t, places)
	for _, place := range places {
		path := filepath.Join(home, place)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("no library"), 0o644))
		p, ok := j.findPlugin()
		assert.True(t, ok)
		assert.Equal(t, plugin{path, false}, p)
	}
}

// The committed captures have logs of real JVMs, with a plug-in and without.
func TestPrintedForm(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	require.NotEmpty(t, gasmtest.Captures)
	for _, name := range gasmtest.Captures {
		want := codeBytes
		switch {
		case strings.Contains(name, "hsdis"):
			want = codeText
		case strings.HasPrefix(name, "jdk11-"):
			want = codeNone
		}
		assert.Equal(t, want, printedForm(gasmtest.Capture(t, name, gasmtest.Log)), name)
	}
}
