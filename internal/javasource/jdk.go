package javasource

import (
	"fmt"
	"path/filepath"
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
