package gasmtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OwnFolders returns the folders that match a pattern, except those of other runs of tests or other users' gasm on this
// machine. While gasm is attached to a JVM, gasm keeps its folder for that JVM open, and so does the JVM while it
// writes there. So OwnFolders leaves out a folder if it is open in a process that this process has not started. It
// can't leave out folders that are open only in processes of other users, if those processes are invisible.
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

// openElsewhere returns gasm's folders in /tmp, and files in them, that are open in processes which this process has
// not started. After the path of a removed file comes " (deleted)".
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
