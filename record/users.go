package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A process is one that has a folder of gasm's in its environment.
type process struct {
	pid  int
	name string
}

func (p process) String() string { return fmt.Sprintf("%s (%d)", p.name, p.pid) }

// usersOf finds the processes that have one of the paths in their environment, and so the JVMs
// that they may start. A process whose environment can't be read is another user's: it
// counts when it has started after gasm in gasm's own control group, as what the command
// started has. Where there is no /proc, none is found.
func usersOf(began moment, paths ...string) (found []process) {
	if now := thisMoment(); now.boot != began.boot {
		return nil // the machine was started anew
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		uses := func(path string) bool { return bytes.Contains(environ, []byte(path)) }
		if slices.ContainsFunc(paths, uses) || errors.Is(err, fs.ErrPermission) && startedIn(pid, began) {
			found = append(found, process{pid, processName(dir)})
		}
	}
	return found
}

// startedIn tells whether a process started after a moment, in its control groups.
func startedIn(pid int, began moment) bool {
	cgroup, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	return err == nil && string(cgroup) == began.cgroup && startTicks(pid) >= began.ticks
}

// startTicks is when a process started, in clock ticks since the machine's start; 0 when
// that is unknown.
func startTicks(pid int) uint64 {
	_, ticks := processStat(pid)
	return ticks
}

// hasEnded tells whether the process that started at a time has ended. Its id may be another
// one's by now, or still be its own, until its parent has waited for it (Z).
func hasEnded(pid int, ticks uint64) bool {
	state, now := processStat(pid)
	return now != ticks || state == "Z" || state == "X"
}

// processStat reads the state and the start of a process, the 3rd and the 22nd field of
// proc(5)'s stat. The second one is the name in parentheses, which may hold anything.
func processStat(pid int) (state string, startTicks uint64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // it has ended: no fields
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return "", 0
	}
	ticks, _ := strconv.ParseUint(fields[19], 10, 64)
	return fields[0], ticks
}

func processName(dir string) string {
	name, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return "a process"
	}
	return strings.TrimSpace(string(name))
}

// processList names processes, the first few of many.
func processList(processes []process) string {
	const named = 4
	var names []string
	for i, p := range processes {
		if i == named && len(processes) > named+1 {
			names = append(names, fmt.Sprintf("%d more", len(processes)-named))
			break
		}
		names = append(names, p.String())
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
