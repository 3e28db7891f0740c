package attach

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// perfFile finds the process's file of performance data; "" without one. Anyone can make a
// folder of such a name in /tmp, so it must belong to the process's user, as HotSpot demands
// it, too (is_directory_secure in perfMemory_posix.cpp).
func (p process) perfFile(status processStatus) string {
	roots := []string{p.path("root")}
	if status.ownPID == int(p) { // not of another PID namespace
		roots = append(roots, "") // another user's root can't be looked into
	}
	for _, root := range roots {
		paths, _ := filepath.Glob(filepath.Join(root+"/tmp/hsperfdata_*", strconv.Itoa(status.ownPID))) // the pattern is well-formed
		for _, path := range paths {
			info, err := os.Lstat(filepath.Dir(path))
			if err != nil || !info.IsDir() {
				continue
			}
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == status.uid {
				return path
			}
		}
	}
	return ""
}

// hasPerfData tells whether there is such a file, which other users can see and not read.
func (p process) hasPerfData(status processStatus) bool { return p.perfFile(status) != "" }

// perfData reads the strings of the process's performance data; none where it can't be read.
func (p process) perfData(status processStatus) map[string]string {
	path := p.perfFile(status)
	if path == "" {
		return nil
	}
	f, _, err := regular.OpenNoLink(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPerfData))
	if err != nil {
		return nil
	}
	strs, _ := perfStrings(text) // another file tells nothing
	return strs
}
