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

// ForeignJDK says that a src.zip is of another version of the JDK than the one that ran,
// so that its lines are not those that ran; "" when it is of the same version, or none of
// the two is known. ran is the version that HotSpot's log has: "17.0.15+6-Debian-1deb12u1".
func ForeignJDK(path string, pid int, ran string) string {
	version := sourceVersion(path)
	ran, _, _ = strings.Cut(strings.ReplaceAll(ran, "-", "+"), "+")
	if version == "" || ran == "" || ran == version {
		return ""
	}
	return fmt.Sprintf("--source %s is of JDK %s, and pid %d ran %s: lines of the JDK's own classes may be others", path, version, pid, ran)
}

// JDKSource finds the src.zip of the JDK that ran on this machine; "" when there is none of
// its version.
func JDKSource(ran string) string {
	homes := []string{os.Getenv("JAVA_HOME")}
	if java, err := exec.LookPath("java"); err == nil {
		if java, err = filepath.EvalSymlinks(java); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(java)))
		}
	}
	for _, pattern := range []string{"/usr/lib/jvm/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home"} {
		installed, _ := filepath.Glob(pattern) // the patterns are right
		homes = append(homes, installed...)
	}
	for _, home := range homes {
		path := filepath.Join(home, "lib", "src.zip")
		if home == "" || ran == "" || sourceVersion(path) == "" || ForeignJDK(path, 0, ran) != "" {
			continue
		}
		if _, err := os.Stat(path); err == nil { // Debian has links to what another package brings
			return path
		}
	}
	return ""
}

// SplitPaths takes lists of paths apart, as class paths are: what is no path as a whole may
// be several.
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

// sourceVersion gives the version of the JDK that a src.zip belongs to. A JDK has it in
// lib, up to JDK 8 in its own folder. It is "" for other files, and for JDK 8, whose JVM
// gives its own version ("25.402-b06"), which no release file has.
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
