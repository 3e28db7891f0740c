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
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/jdk"
)

// A foundJDK is a JDK or JRE on this machine.
type foundJDK struct {
	home    string   // its path without symbolic links
	foundBy []string // "PATH", "JAVA_HOME"; empty if the JDK was only found in an installer's folder
	version string   // "17.0.15+6-Debian-1deb12u1"
	vendor  string
	variant string // "Hotspot", "Openj9"; "" if the release file does not say
	libjvm  string // path of the JVM's library; "" if the JDK has none
	// startTime is how long java -version took.
	startTime time.Duration
}

// limit returns how long a JVM of this JDK may take for one step of a check. A JVM that starts slowly, for example in
// an emulated machine, gets more time for everything.
func (j *foundJDK) limit() time.Duration { return max(patience, min(10*j.startTime, 9*patience)) }

// findJDKs looks for JDKs on PATH, in JAVA_HOME and where Java's installers put them. It returns each JDK once. It
// returns findings about a JAVA_HOME that is not a JDK, about a java on PATH that is missing or does not run, and about
// a machine without any JDK.
func findJDKs(ctx context.Context) (found []*foundJDK, checks []Finding) {
	add := func(home, by string) bool {
		home, ok := javaHome(home)
		if !ok {
			return false
		}
		i := slices.IndexFunc(found, func(j *foundJDK) bool { return j.home == home })
		if i < 0 {
			i = len(found)
			found = append(found, &foundJDK{home: home, libjvm: jdk.LibJVM(home)})
		}
		if by != "" {
			found[i].foundBy = append(found[i].foundBy, by)
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
	user, _ := os.UserHomeDir() // the error says that there is none
	for _, pattern := range jdkPatterns(user) {
		homes, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, home := range homes {
			add(home, "")
		}
	}
	switch {
	case len(found) == 0:
		checks = append(checks, Finding{"jdk", "java", Problem,
			"there is no JDK on PATH, in JAVA_HOME, or where one is installed",
			installJDK(osRelease())})
	case pathErr != nil:
		checks = append(checks, Finding{"jdk", "java", Note, pathErr.Error(), "export PATH=" + found[0].home + "/bin:$PATH"})
	}
	return found, checks
}

// jdkPatterns returns glob patterns for the places where JDKs are installed on Linux and macOS: by packages and, in the
// user's home folder, by version managers, IDEs and build tools. user is the home folder, or "" if there is none.
func jdkPatterns(user string) []string {
	patterns := []string{
		"/usr/lib/jvm/*", "/usr/lib64/jvm/*", "/usr/java/*", "/opt/java", "/opt/java/*", "/opt/jdk*", "/opt/openjdk*",
		"/opt/jvm/*", "/opt/graalvm*",
		"/usr/local/openjdk*", "/usr/local/jdk*",
		"/Library/Java/JavaVirtualMachines/*/Contents/Home",
		"/opt/homebrew/opt/openjdk*", "/usr/local/opt/openjdk*", "/home/linuxbrew/.linuxbrew/opt/openjdk*",
	}
	for _, p := range []string{
		".sdkman/candidates/java/*", ".jdks/*", ".jdks/*/Contents/Home", ".asdf/installs/java/*",
		".local/share/mise/installs/java/*",
		".jabba/jdk/*", ".gradle/jdks/*", ".gradle/jdks/*/*", "Library/Java/JavaVirtualMachines/*/Contents/Home",
	} {
		if user != "" {
			patterns = append(patterns, filepath.Join(user, p))
		}
	}
	return patterns
}

// javaHome resolves the symbolic links in the path of a JDK or JRE. If the path is that of the folder jre in a JDK 8,
// the result is the path of the whole JDK. ok is false if the folder has no bin/java.
func javaHome(dir string) (home string, ok bool) {
	home, err := filepath.EvalSymlinks(dir)
	if err != nil || !executable(filepath.Join(home, "bin/java")) {
		return "", false
	}
	if home, err = filepath.Abs(home); err != nil {
		return "", false
	}
	if whole := filepath.Dir(home); filepath.Base(home) == "jre" && executable(filepath.Join(whole, "bin/java")) {
		home = whole
	}
	return home, true
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// homeOnPath returns the home folder of the java on PATH. That java may be a script of a version manager, or macOS's
// stub. In that case homeOnPath runs it: a JVM starts and prints its home.
func homeOnPath(ctx context.Context) (string, error) {
	path, err := exec.LookPath("java")
	if err != nil {
		return "", errors.New("no java on PATH")
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		if home := filepath.Dir(filepath.Dir(target)); jdk.LibJVM(home) != "" {
			return home, nil
		}
	}
	_, stderr, err := run(ctx, path, "-XshowSettings:properties", "-version")
	if m := homeProperty.FindStringSubmatch(stderr); err == nil && m != nil {
		return m[1], nil
	}
	return "", fmt.Errorf("%s, on PATH, does not run: %s", path,
		cmp.Or(firstLine(stderr), "it does not print its java.home"))
}

// homeProperty matches the line with the JDK's home in the output of java -XshowSettings:properties:
//
//	java.home = /usr/lib/jvm/temurin-25
var homeProperty = regexp.MustCompile(`(?m)^ *java\.home = (.+)$`)

// start runs java -version, and notes how long that takes. It returns what java printed. If java does not end within
// three times the usual patience, the error is a noAnswerError.
func (j *foundJDK) start(ctx context.Context) (text string, err error) {
	begin := time.Now()
	_, text, err = runWithin(ctx, 3*patience, os.Environ(), j.java(), "-version")
	j.startTime = time.Since(begin)
	return text, err
}

// describe sets the version, vendor and variant from the JDK's file "release". If they are missing there, it takes them
// from printed, which is the output of java -version, or "" if java failed.
func (j *foundJDK) describe(printed string) {
	release := jdk.Properties(j.home)
	j.version = cmp.Or(release["JAVA_RUNTIME_VERSION"], release["JAVA_VERSION"])
	j.vendor, j.variant = release["IMPLEMENTOR"], release["JVM_VARIANT"]
	if j.version != "" && j.vendor != "" {
		return
	}
	version, vendor := parseVersion(printed)
	j.version, j.vendor = cmp.Or(j.version, version), cmp.Or(j.vendor, vendor)
	if j.variant == "" && strings.Contains(printed, "OpenJ9") {
		j.variant = "Openj9"
	}
}

var versionLine = regexp.MustCompile(`version "([^"]+)"`)

// parseVersion parses the output of java -version. It returns the runtime's name in the second line as the vendor,
// because vendors add their own name there:
//
//	openjdk version "1.8.0_432"
//	OpenJDK Runtime Environment (Temurin)(build 1.8.0_432-b06)
func parseVersion(text string) (version, vendor string) {
	for line := range strings.Lines(text) {
		if m := versionLine.FindStringSubmatch(line); m != nil {
			version = m[1]
		}
		if i := strings.Index(line, "(build "); i >= 0 && vendor == "" && version != "" {
			vendor = strings.TrimSpace(line[:i])
			version = strings.TrimRight(strings.TrimSpace(line[i+len("(build "):]), ")")
		}
	}
	return version, vendor
}

func (j *foundJDK) java() string { return filepath.Join(j.home, "bin/java") }

// feature returns the feature release (17), or 0 if it is unknown.
func (j *foundJDK) feature() int { return jdk.Feature(j.version) }

// hotspot reports whether the JVM is HotSpot. It also returns true if the JDK does not say which JVM it has.
func (j *foundJDK) hotspot() bool { return j.variant == "" || strings.EqualFold(j.variant, "hotspot") }
