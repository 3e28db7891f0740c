package javasource

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/jdk"
)

// ForeignJDK returns a note if a src.zip belongs to another JDK version than the JVM that ran, because line numbers
// then differ. It returns "" if the versions agree or either is unknown. ran is the version in HotSpot's log:
// "17.0.15+6-Debian-1deb12u1".
func ForeignJDK(path string, pid int, ran string) string {
	version := sourceVersion(path)
	ran, _, _ = strings.Cut(strings.ReplaceAll(ran, "-", "+"), "+")
	if version == "" || ran == "" || ran == version {
		return ""
	}
	return fmt.Sprintf("--source %s is for JDK %s, but pid %d ran %s: lines of the JDK's own classes may be wrong",
		path, version, pid, ran)
}

// JDKSource returns the path of the src.zip of a JDK on this machine with the version that ran, or "" if there is
// none.
func JDKSource(ran string) string {
	homes := []string{os.Getenv("JAVA_HOME")}
	if java, err := exec.LookPath("java"); err == nil {
		if java, err = filepath.EvalSymlinks(java); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(java)))
		}
	}
	for _, pattern := range []string{"/usr/lib/jvm/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home"} {
		installed, _ := filepath.Glob(pattern) // the patterns are valid
		homes = append(homes, installed...)
	}
	for _, home := range homes {
		path := filepath.Join(home, "lib", "src.zip")
		if home == "" || ran == "" || sourceVersion(path) == "" || ForeignJDK(path, 0, ran) != "" {
			continue
		}
		if _, err := os.Stat(path); err == nil { // Debian has dangling links
			return path
		}
	}
	return ""
}

// SplitPaths splits lists of paths like class paths. A value that exists as a file is not split.
func SplitPaths(values []string) (paths []string) {
	for _, value := range values {
		if _, err := os.Stat(value); err == nil {
			paths = append(paths, value)
			continue
		}
		several := slices.DeleteFunc(filepath.SplitList(value), func(path string) bool { return path == "" })
		if len(several) == 0 {
			several = []string{value}
		}
		paths = append(paths, several...)
	}
	return paths
}

// sourceVersion returns the version of the JDK that a src.zip belongs to. A JDK has its src.zip in lib; JDK 8 and
// older have it in their own directory. It returns "" for other files, and for JDK 8, whose JVM reports a version
// ("25.402-b06") that is in no release file.
func sourceVersion(path string) string {
	if filepath.Base(path) != "src.zip" {
		return ""
	}
	version := jdk.Version(filepath.Join(filepath.Dir(path), ".."))
	if strings.HasPrefix(version, "1.") {
		return ""
	}
	return version
}
