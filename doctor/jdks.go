package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A jdk is one that was found. The home is its real path.
type jdk struct {
	home    string
	found   []string // "PATH", "JAVA_HOME"
	version string   // "17.0.15+6-Debian-1deb12u1"
	vendor  string
	variant string // "Openj9"; "" where the release file does not say
	libjvm  string // "" if there is none
}

// findJDKs gives the JDK on PATH, that of JAVA_HOME, and what is installed where
// the package managers of Java put it, each once. The checks are about names
// that lead nowhere.
func findJDKs(ctx context.Context) (found []*jdk, checks []Finding) {
	add := func(home, how string) bool {
		home, ok := javaHome(home)
		if !ok {
			return false
		}
		i := slices.IndexFunc(found, func(j *jdk) bool { return j.home == home })
		if i < 0 {
			i = len(found)
			found = append(found, &jdk{home: home, libjvm: findLibJVM(home)})
		}
		if how != "" {
			found[i].found = append(found[i].found, how)
		}
		return true
	}

	home, pathErr := homeOnPath(ctx)
	if pathErr == nil {
		add(home, "PATH")
	}
	if home := os.Getenv("JAVA_HOME"); home != "" && !add(home, "JAVA_HOME") {
		checks = append(checks, Finding{"jdk", "JAVA_HOME", Note, home + " has no bin/java", "unset JAVA_HOME"})
	}
	user, _ := os.UserHomeDir() // without one its patterns find nothing
	for _, pattern := range jdkPatterns(user) {
		homes, _ := filepath.Glob(pattern)
		for _, home := range homes {
			add(home, "")
		}
	}
	switch {
	case len(found) == 0:
		checks = append(checks, Finding{"jdk", "java", Problem, "there is no JDK on PATH, in JAVA_HOME, or where one is installed",
			installJDK(osRelease())})
	case pathErr != nil:
		checks = append(checks, Finding{"jdk", "java", Note, pathErr.Error(), "export PATH=" + found[0].home + "/bin:$PATH"})
	}
	return found, checks
}

// jdkPatterns are the places of JDKs, on Linux and macOS.
func jdkPatterns(user string) []string {
	patterns := []string{
		"/usr/lib/jvm/*", "/usr/lib64/jvm/*", "/usr/java/*", "/opt/java", "/opt/java/*", "/opt/jdk*", "/opt/openjdk*", "/opt/jvm/*", "/opt/graalvm*",
		"/usr/local/openjdk*", "/usr/local/jdk*",
		"/Library/Java/JavaVirtualMachines/*/Contents/Home",
		"/opt/homebrew/opt/openjdk*", "/usr/local/opt/openjdk*", "/home/linuxbrew/.linuxbrew/opt/openjdk*",
	}
	for _, p := range []string{
		".sdkman/candidates/java/*", ".jdks/*", ".jdks/*/Contents/Home", ".asdf/installs/java/*", ".local/share/mise/installs/java/*",
		".jabba/jdk/*", ".gradle/jdks/*", ".gradle/jdks/*/*", "Library/Java/JavaVirtualMachines/*/Contents/Home",
	} {
		if user != "" {
			patterns = append(patterns, filepath.Join(user, p))
		}
	}
	return patterns
}

// javaHome resolves the home of a JDK or JRE: links, and the jre/ in a JDK 8.
func javaHome(dir string) (string, bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !executable(filepath.Join(real, "bin/java")) {
		return "", false
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", false
	}
	if whole := filepath.Dir(real); filepath.Base(real) == "jre" && executable(filepath.Join(whole, "bin/java")) {
		real = whole
	}
	return real, true
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// homeOnPath gives the home of the java on PATH. That may be a script of a
// version manager, or Apple's stub; then the JVM itself tells.
func homeOnPath(ctx context.Context) (string, error) {
	path, err := exec.LookPath("java")
	if err != nil {
		return "", errors.New("no java on PATH")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		if home := filepath.Dir(filepath.Dir(real)); findLibJVM(home) != "" {
			return home, nil
		}
	}
	_, stderr, err := run(ctx, nil, path, "-XshowSettings:properties", "-version")
	if m := homeProperty.FindStringSubmatch(stderr); err == nil && m != nil {
		return m[1], nil
	}
	return "", fmt.Errorf("%s, on PATH, does not run: %s", path, cmp.Or(firstLine(stderr), "it does not tell its java.home"))
}

var homeProperty = regexp.MustCompile(`(?m)^ *java\.home = (.+)$`)

// findLibJVM finds the JVM itself: since JDK 9 in lib/server, before in a folder
// named by the architecture.
func findLibJVM(home string) string {
	name := "libjvm.so"
	if runtime.GOOS == "darwin" {
		name = "libjvm.dylib"
	}
	for _, dir := range []string{"lib/server", "jre/lib/*/server", "jre/lib/server", "lib/*/server", "lib/client", "lib/minimal", "lib/zero"} {
		if paths, _ := filepath.Glob(filepath.Join(home, dir, name)); len(paths) > 0 {
			return paths[0]
		}
	}
	return ""
}

// describe fills in what the release file says, or else java -version.
func (j *jdk) describe(ctx context.Context) {
	release := parseAssignments(readTrimmed(filepath.Join(j.home, "release")))
	j.version = cmp.Or(release["JAVA_RUNTIME_VERSION"], release["JAVA_VERSION"])
	j.vendor, j.variant = release["IMPLEMENTOR"], release["JVM_VARIANT"]
	if j.version != "" && j.vendor != "" {
		return
	}
	_, stderr, err := run(ctx, nil, j.java(), "-version")
	if err != nil {
		return // the run with flags will tell
	}
	version, runtime := parseVersion(stderr)
	j.version, j.vendor = cmp.Or(j.version, version), cmp.Or(j.vendor, runtime)
	if j.variant == "" && strings.Contains(stderr, "OpenJ9") {
		j.variant = "Openj9"
	}
}

var versionLine = regexp.MustCompile(`version "([^"]+)"`)

// parseVersion reads what java -version prints: the version of the first line,
// and the name of the runtime, which has the vendor in it:
//
//	openjdk version "1.8.0_432"
//	OpenJDK Runtime Environment (Temurin)(build 1.8.0_432-b06)
func parseVersion(text string) (version, runtime string) {
	for line := range strings.Lines(text) {
		if m := versionLine.FindStringSubmatch(line); m != nil {
			version = m[1]
		}
		if i := strings.Index(line, "(build "); i >= 0 && runtime == "" && version != "" {
			runtime = strings.TrimSpace(line[:i])
			version = strings.TrimRight(strings.TrimSpace(line[i+len("(build "):]), ")")
		}
	}
	return version, runtime
}

func (j *jdk) java() string { return filepath.Join(j.home, "bin/java") }

// feature is the feature release: 17, or 8 for "1.8.0_432"; 0 if unknown.
func (j *jdk) feature() int {
	digits := strings.TrimPrefix(j.version, "1.")
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// hotspot tells whether the JVM is HotSpot, as far as is known.
func (j *jdk) hotspot() bool { return j.variant == "" || strings.EqualFold(j.variant, "hotspot") }
