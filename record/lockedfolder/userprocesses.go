package lockedfolder

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// A Process is a process that has, or may have, the path of a locked folder in its environment or arguments.
type Process struct {
	PID  int
	Name string // as in ps -o comm
}

func (p Process) String() string { return fmt.Sprintf("%s (%d)", p.Name, p.PID) }

// usersTime limits the time for reading the environments of all processes.
const usersTime = 6 * time.Second

// maxEnviron is an upper bound for the size of an environment, in bytes. The kernel allows 6 MB for arguments and
// environment together (execve(2)).
const maxEnviron = 8 << 20

// Users returns the processes that have one of the paths in their environment or arguments. JVMs that such a process
// starts inherit the environment, and some JVMs pass their arguments on. The environment of another user's process
// can't be read. Users returns such a process, too, if gasm's command may have started it: if it started later than the
// gasm process that made the folder, and is in the same control groups. If there is no /proc, Users returns nil.
func (l *Lock) Users(paths ...string) (found []Process) {
	if !l.SameBoot() {
		return nil
	}
	users, _, err := foreign.Each(usersTime, func(pid int) (Process, bool) { return l.began.userOf(pid, paths) })
	if err != nil {
		return nil
	}
	for _, u := range users {
		found = append(found, u)
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found
}

func (m moment) userOf(pid int, paths []string) (Process, bool) {
	p, err := foreign.Open(pid)
	if err != nil {
		return Process{}, false
	}
	defer p.Close()
	environ, err := environOf(p)
	arguments, _ := p.Read("cmdline", maxEnviron) // every user may read it; if that fails, the process has ended
	uses := slices.ContainsFunc(paths, func(path string) bool {
		return bytes.Contains(environ, []byte(path)) || bytes.Contains(arguments, []byte(path))
	})
	if !uses && !(errors.Is(err, fs.ErrPermission) && m.before(p)) {
		return Process{}, false
	}
	return Process{pid, processName(p)}, true
}

// beginTime limits how long environOf waits for the environment of a process that is executing a new program. Usually
// the kernel sets the environment less than a millisecond after execve(2) has closed the close-on-exec descriptors.
const beginTime = 100 * time.Millisecond

// environOf returns a process's environment. If the process is just executing a new program, environOf waits for the
// new environment.
func environOf(p *foreign.Process) ([]byte, error) {
	environ, err := p.Read("environ", maxEnviron)
	if err != nil || len(environ) > 0 {
		return environ, err
	}
	for deadline := time.Now().Add(beginTime); beginsProgram(p) &&
		time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	return p.Read("environ", maxEnviron)
}

// beginsProgram reports whether a process without an environment may be about to get one. Such a process has memory,
// unlike a kernel thread or a zombie. It has no arguments yet, because the kernel sets the arguments and the
// environment at the same time (create_elf_tables in fs/binfmt_elf.c).
func beginsProgram(p *foreign.Process) bool {
	if _, err := p.Readlink("exe"); err != nil {
		return false
	}
	arguments, err := p.Read("cmdline", 1)
	return err == nil && len(arguments) == 0
}

// maxCgroup is an upper bound for the size of the list of a process's control groups, in bytes.
const maxCgroup = 1 << 16

// before reports whether the gasm process that m describes started before p, or in the same clock tick, and whether
// both are in the same control groups.
func (m moment) before(p *foreign.Process) bool {
	cgroup, err := p.Read("cgroup", maxCgroup)
	if err != nil || string(cgroup) != m.cgroup {
		return false
	}
	stat, err := p.Stat()
	return err == nil && stat.StartTicks >= m.ticks
}

func processName(p *foreign.Process) string {
	name, err := p.Read("comm", 64)
	if err != nil {
		return "a process"
	}
	return strings.TrimSpace(string(name))
}

// ProcessList names processes for a message: "sleep (71) and sh (72)". If there are many, it names the first four and
// says how many more there are.
func ProcessList(processes []Process) string {
	var names []string
	for _, p := range processes {
		names = append(names, p.String())
	}
	return layout.And(names, 4)
}
