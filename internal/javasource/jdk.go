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

// ForeignJDK returns a note if a src.zip belongs to a different JDK version than the JVM that ran, because the line
// numbers of two versions differ. It returns "" if the versions agree or either is unknown. The JVM's version is given
// as it is in HotSpot's log: "17.0.15+6-Debian-1deb12u1".
func ForeignJDK(path string, pid int, ran string) string {
	version := sourceVersion(path)
	ran, _, _ = strings.Cut(strings.ReplaceAll(ran, "-", "+"), "+")
	if version == "" || ran == "" || ran == version {
		return ""
	}
	return fmt.Sprintf("--source %s is for JDK %s, but pid %d ran %s: lines of the JDK's own classes may be wrong",
		path, version, pid, ran)
}

// JDKSource searches this machine for a JDK of the version that ran, and returns the path of its src.zip. It returns ""
// if there is no such JDK, or none that has a src.zip.
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
		if _, err := os.Stat(path); err == nil { // in Debian, src.zip can be a dangling link
			return path
		}
	}
	return ""
}

// SplitPaths splits each value into paths as a class path is split, at ':' or ';'. A value that is the path of an
// existing file is not split.
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

// sourceVersion returns the version of the JDK that a src.zip belongs to. A JDK of version 9 or newer has its src.zip
// in the directory lib, and an older JDK in its top directory. sourceVersion returns "" for files with other names. It
// also returns "" for JDK 8, because the version that a JVM of JDK 8 reports ("25.402-b06") can't be compared with the
// one in the JDK's release file.
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
