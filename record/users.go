package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// A process is one that has a folder of gasm's in its environment.
type process struct {
	pid  int
	name string
}

func (p process) String() string { return fmt.Sprintf("%s (%d)", p.name, p.pid) }

// usersTime is how long the environments of all processes may take to be read.
const usersTime = 6 * time.Second

// maxEnviron is an upper bound for an environment, in bytes: the kernel takes 6 MB of arguments and environment together
// (execve(2)).
const maxEnviron = 8 << 20

// usersOf finds the processes that have one of the paths in their environment, and so the JVMs
// that they may start. A process whose environment can't be read is another user's: it
// counts when it has started after gasm in gasm's own control group, as what the command
// started has. Where there is no /proc, none is found.
func usersOf(began moment, paths ...string) (found []process) {
	if now := thisMoment(); now.boot != began.boot {
		return nil // the machine was started anew
	}
	users, _, err := foreign.Each(usersTime, func(pid int) (process, bool) { return userOf(pid, began, paths) })
	if err != nil {
		return nil
	}
	for _, u := range users {
		found = append(found, u)
	}
	slices.SortFunc(found, func(a, b process) int { return a.pid - b.pid })
	return found
}

func userOf(pid int, began moment, paths []string) (process, bool) {
	p, err := foreign.Open(pid)
	if err != nil {
		return process{}, false
	}
	defer p.Close()
	environ, err := p.Read("environ", maxEnviron)
	uses := slices.ContainsFunc(paths, func(path string) bool { return bytes.Contains(environ, []byte(path)) })
	if !uses && !(errors.Is(err, fs.ErrPermission) && startedIn(p, began)) {
		return process{}, false
	}
	return process{pid, processName(p)}, true
}

// maxCgroup is an upper bound for the list of a process's control groups, in bytes.
const maxCgroup = 1 << 16

// startedIn reports whether a process started after a moment, in its control groups.
func startedIn(p *foreign.Process, began moment) bool {
	cgroup, err := p.Read("cgroup", maxCgroup)
	if err != nil || string(cgroup) != began.cgroup {
		return false
	}
	stat, err := p.Stat()
	return err == nil && stat.StartTicks >= began.ticks
}

// startTicks is when a process started, in clock ticks since the machine's start; 0 when
// that is unknown.
func startTicks(pid int) uint64 { return foreign.StatOf(pid).StartTicks }

// hasEnded reports whether the process that started at a time has ended. Its id may be another
// one's by now, or still be its own, until its parent has waited for it (Z).
func hasEnded(pid int, ticks uint64) bool {
	now := foreign.StatOf(pid)
	return now.StartTicks != ticks || now.Ended()
}

func processName(p *foreign.Process) string {
	name, err := p.Read("comm", 64)
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
