// Package jdk finds out which version of the JDK is in a folder. It also adds options to the
// environment variables that JVMs read.
package jdk

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// Release returns the feature release, such as 17, of the JDK that a command belongs to. The
// command may be java, javac or jshell, for example. Release returns 0 if the command is not a
// program of a JDK.
func Release(command []string) int {
	home := homeOf(command)
	if home == "" {
		return 0
	}
	if release := Feature(Version(home)); release > 0 {
		return release
	}
	// Debian's JDK 8 has no release file. JDK 8 is the last release whose classes are in a jar.
	if _, err := os.Stat(filepath.Join(home, "lib/rt.jar")); err == nil {
		return 8
	}
	return 0
}

// Has reports whether the JDK that a command belongs to has a module, such as "jdk.jfr". It returns false if the JDK's
// release file does not list its modules.
func Has(command []string, module string) bool {
	home := homeOf(command)
	return home != "" && slices.Contains(strings.Fields(Properties(home)["MODULES"]), module)
}

// homeOf returns the parent of the folder that contains a command's program. For bin/java of a JDK, that is the JDK's
// folder. homeOf returns "" if the program does not exist.
func homeOf(command []string) string {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return ""
	}
	program, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return filepath.Dir(filepath.Dir(program))
}

// LibJVM returns the path of the JVM's library in a JDK's folder. It returns "" if there is none.
// Since JDK 9 the library is in lib/server. In JDK 8 it is in a folder with the name of the
// architecture, for example in jre/lib/amd64/server.
func LibJVM(home string) string {
	name := "libjvm.so"
	if runtime.GOOS == "darwin" {
		name = "libjvm.dylib"
	}
	for _, dir := range []string{"lib/server", "jre/lib/*/server", "jre/lib/server", "lib/*/server", "lib/client",
		"lib/minimal", "lib/zero"} {
		if paths, _ := filepath.Glob(filepath.Join(home, dir, name)); len(paths) > 0 {
			return paths[0]
		}
	}
	return ""
}

// Feature returns the feature release of a version: 17 for "17.0.15+6" and 8 for "1.8.0_432". It
// returns 0 if the version does not begin with a number.
func Feature(version string) int {
	digits := strings.TrimPrefix(version, "1.")
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// Version returns the version of the JDK in a folder, such as "17.0.15" or "1.8.0_402". It reads
// the version from the release file. If the version can't be found there, the result is "".
func Version(home string) string { return Properties(home)["JAVA_VERSION"] }

// MaxRelease is an upper bound for the size of a release file, in bytes. A larger file is not read.
// The release files of all vendors are smaller than 4 kB.
const MaxRelease = 1 << 16

// Properties returns the properties in the release file of a JDK's folder. The file has lines such
// as JAVA_VERSION="17.0.15". If there is no such file, the map is empty.
func Properties(home string) map[string]string {
	text, _ := regular.ReadFile(filepath.Join(home, "release"), MaxRelease) // if this fails, there are no properties
	return ParseRelease(text)
}

// ParseRelease parses the properties in a release file. It skips lines whose value is not in quotes.
func ParseRelease(text []byte) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
			values[key] = value[1 : n-1]
		}
	}
	return values
}
