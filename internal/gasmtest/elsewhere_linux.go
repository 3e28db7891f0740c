package gasmtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OwnFolders returns the folders that match a pattern and that are not of another run of tests on this machine, or of
// anybody else's gasm: no process has one open that this process has not started. As far as this user can see, gasm has
// its folders for a JVM open while it is attached, and so has the JVM while it writes there.
func OwnFolders(pattern string) (own []string) {
	found, _ := filepath.Glob(pattern) // the patterns are well-formed
	if len(found) == 0 {
		return nil
	}
	open := openElsewhere()
	for _, path := range found {
		used := false
		for _, other := range open {
			used = used || other == path || strings.HasPrefix(other, path+"/")
		}
		if _, err := os.Lstat(path); err == nil && !used {
			own = append(own, path)
		}
	}
	return own
}

// openElsewhere returns gasm's folders in /tmp, and the files in them, that processes have open that this one has not
// started. A removed one has " (deleted)" after its path.
func openElsewhere() (paths []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	started := map[string]bool{}
	for _, link := range links {
		path, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(path, "/tmp/gasm-") {
			continue // it was closed, or belongs to another user
		}
		pid := strings.Split(link, "/")[2]
		own, known := started[pid]
		if !known {
			own = isStarted(pid)
			started[pid] = own
		}
		if !own {
			paths = append(paths, path)
		}
	}
	return paths
}

// isStarted reports whether a process is this one, or was started by it or by its children.
func isStarted(pid string) bool {
	for range 100 {
		if pid == strconv.Itoa(os.Getpid()) {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", pid))
		if err != nil {
			return false
		}
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the state, the parent, …
		if len(fields) < 2 {
			return false
		}
		pid = string(fields[1])
	}
	return false
}
