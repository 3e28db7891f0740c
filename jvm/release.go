package jvm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// KnowsFlags tells whether a command is a JDK that surely has all capture
// flags, so that it need not be told to ignore flags that it does not know:
// under IgnoreUnrecognizedVMOptions it would also ignore what the user mistyped,
// and run what the user did not mean. The JDK says its version in its release
// file. A command that names another JVM (JMH's -jvm) does not count.
func KnowsFlags(command []string, oldest, newest int) bool {
	if !StartsJava(command) || slices.Contains(command, "-jvm") || slices.Contains(command, "--jvm") {
		return false
	}
	major := Release(command)
	return oldest <= major && major <= newest
}

// Release gives the feature release (17, 25) of the JDK whose program a command
// is: java, javac, jshell …; 0 for any other command.
func Release(command []string) int {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return 0
	}
	return javaRelease(path)
}

// javaRelease reads the feature release (17, 25; 8 for "1.8.0") of the JDK that
// a java program belongs to; 0 when that can't be found out.
func javaRelease(java string) int {
	real, err := filepath.EvalSymlinks(java)
	if err != nil {
		return 0
	}
	feature := strings.TrimPrefix(ReleaseVersion(filepath.Dir(filepath.Dir(real))), "1.")
	if end := strings.IndexFunc(feature, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		feature = feature[:end]
	}
	n, _ := strconv.Atoi(feature)
	return n
}

// ReleaseVersion reads the version of the JDK in a folder from its release
// file: "17.0.15", "1.8.0_402"; "" when that can't be found out.
func ReleaseVersion(home string) string {
	text, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return ""
	}
	_, after, _ := bytes.Cut(text, []byte(`JAVA_VERSION="`))
	version, _, _ := bytes.Cut(after, []byte(`"`))
	return string(version)
}
