package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A Process is a process that may be hostile. It always refers to the same process. When that process has ended, calls
// fail with an error that wraps [ErrEnded], even if a new process has the same id. Several goroutines may use a Process
// at once.
type Process struct {
	pid   int
	proc  *os.File // /proc/PID; never refers to another process (proc_pid in the kernel's fs/proc/internal.h)
	pidfd int      // -1 if the kernel does not have pidfds
	reads monotonic.Spent
}

// A NoProcessError means that no process has the given id. errors.Is reports it as [ErrEnded].
type NoProcessError struct{ PID int }

func (e *NoProcessError) Error() string { return fmt.Sprintf("no process has the id %d", e.PID) }

// Is reports whether the target is [ErrEnded].
func (e *NoProcessError) Is(target error) bool { return target == ErrEnded }

// Open opens a process of any user. If no process has the id, the error is a *NoProcessError. The caller must close the
// Process.
func Open(pid int) (*Process, error) {
	proc, err := os.OpenFile(fmt.Sprintf("/proc/%d", pid), os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoProcessError{pid}
	}
	if err != nil {
		return nil, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	p := &Process{pid: pid, proc: proc}
	if p.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		p.pidfd = -1
	}
	// If the process whose folder is open as proc still exists, the pidfd refers to the same process: the id can't have
	// been given to another one.
	if _, err := p.Stat(); err != nil {
		p.Close()
		return nil, &NoProcessError{pid}
	}
	return p, nil
}

// Close releases the descriptors. All later calls fail.
func (p *Process) Close() {
	p.proc.Close()
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
}

// PID returns the process's id.
func (p *Process) PID() int { return p.pid }

// readTime is the time limit for reading a file in /proc. The kernel reads a process's command line and environment
// from its memory, which can be mapped from a file system that does not answer.
const readTime = 5 * time.Second

// Read returns the first limit bytes of one of the process's files in /proc. name is relative to /proc/PID: "status",
// "task/12/comm". If gasm may not open "environ", but may read the process's memory, Read reads the environment there.
func (p *Process) Read(name string, limit int64) ([]byte, error) {
	return WithinLimit(readTime, func() (text []byte, err error) {
		p.reads.During(func() { text, err = p.read(name, limit) })
		return text, err
	})
}

func (p *Process) read(name string, limit int64) ([]byte, error) {
	if err := p.checkText(name); err != nil {
		return nil, err
	}
	f, err := p.openProc(name)
	if name == "environ" && errors.Is(err, fs.ErrPermission) {
		return p.environment(limit)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := readAll(f, limit)
	return text, p.gone(err)
}

// ReadCPU returns the CPU time that all calls of Read have used so far. Each of them works in a goroutine of its own,
// so the CPU time of the caller's thread does not include it.
func (p *Process) ReadCPU() time.Duration { return p.reads.Total() }

func readAll(f *os.File, limit int64) ([]byte, error) { return io.ReadAll(io.LimitReader(f, limit)) }

// at calls f(fd) with the descriptor of /proc/PID, and keeps the descriptor open until f returns. If the Process was
// closed, it returns an error instead. That protects a Read that took too long and is still running after Close. By
// that time, the number of the closed descriptor may already belong to another file.
func (p *Process) at(f func(fd int) error) error {
	conn, err := p.proc.SyscallConn()
	if err != nil {
		return err
	}
	if closed := conn.Control(func(fd uintptr) { err = f(int(fd)) }); closed != nil {
		return closed
	}
	return err
}

// openAt opens a file in /proc/PID and returns a descriptor. name is relative to /proc/PID.
func (p *Process) openAt(name string, flags int) (fd int, err error) {
	err = p.at(func(at int) error {
		fd, err = unix.Openat(at, name, flags|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

// openProc opens a file of the process in /proc.
func (p *Process) openProc(name string) (*os.File, error) {
	fd, err := p.openAt(name, unix.O_RDONLY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, p.gone(&fs.PathError{Op: "open", Path: fmt.Sprintf("/proc/%d/%s", p.pid, name), Err: err})
	}
	return os.NewFile(uintptr(fd), name), nil
}

// gone returns ErrEnded if err is the kernel's error for a process that no longer exists, and otherwise err.
func (p *Process) gone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return ErrEnded
	}
	return err
}

// Readlink returns the target of a link of the process in /proc ("cwd", "exe") as text. It is a path in the process's
// own mount namespace; use a [World] to open it.
func (p *Process) Readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax+64) // 64 more because the kernel may append " (deleted)"
	n := 0
	err := p.at(func(at int) (err error) {
		n, err = unix.Readlinkat(at, name, buf)
		return err
	})
	if err != nil {
		return "", p.gone(&fs.PathError{Op: "readlink", Path: fmt.Sprintf("/proc/%d/%s", p.pid, name), Err: err})
	}
	return string(buf[:n]), nil
}

// OpenFiles returns the paths of the files that the process has open. Descriptors without a path, such as pipes and
// sockets, are left out.
func (p *Process) OpenFiles() (paths []string) {
	for _, name := range p.names("fd") {
		if target, err := p.Readlink("fd/" + name); err == nil && strings.HasPrefix(target, "/") {
			paths = append(paths, target)
		}
	}
	return paths
}

// A Status has some of the fields of /proc/PID/status (see proc(5)). Every user can read that file, unless /proc is
// mounted with hidepid.
type Status struct {
	Name  string
	State byte // 'R' for running, 'S' for sleeping, 'T' for stopped, 'Z' for ended but not waited for by its parent
	User
	OwnPID  int    // the process's id in its own (innermost) PID namespace
	Catches uint64 // the signals that the process handles: bit n-1 for signal n
}

// maxStatus is the maximum number of bytes of a status file that are read. Only a process with thousands of groups has
// a long status file.
const maxStatus = 1 << 20

// Status reads the status of the process.
func (p *Process) Status() (Status, error) {
	text, err := p.Read("status", maxStatus)
	if err != nil {
		return Status{}, err
	}
	return parseStatus(p.pid, string(text))
}

func parseStatus(pid int, text string) (s Status, err error) {
	s.OwnPID, s.UID, s.GID = pid, -1, -1
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if key == "Name" {
			s.Name = strings.TrimSpace(value)
		}
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "State":
			s.State = fields[0][0]
		case "Uid":
			s.UID, err = effective(fields)
		case "Gid":
			s.GID, err = effective(fields)
		case "Groups":
			s.Groups, err = numbers(fields)
		case "NSpid":
			s.OwnPID, err = strconv.Atoi(fields[len(fields)-1])
		case "SigCgt":
			s.Catches, err = strconv.ParseUint(fields[0], 16, 64)
		}
		if err != nil {
			return s, fmt.Errorf("looking at process %d: %w", pid, err)
		}
	}
	if s.UID < 0 || s.GID < 0 {
		return s, fmt.Errorf("looking at process %d: its status names no user", pid)
	}
	return s, nil
}

// effective returns the effective id, which is the second of the four numbers in a line like "Uid: 1000 1000 1000
// 1000". fields are these four numbers.
func effective(fields []string) (int, error) {
	if len(fields) < 2 {
		return -1, errors.New("its status has no effective user or group")
	}
	return strconv.Atoi(fields[1])
}

func numbers(fields []string) ([]int, error) {
	all := make([]int, len(fields))
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		all[i] = n
	}
	return all, nil
}

// OwnTID returns a thread's id in the process's own (innermost) PID namespace.
func (p *Process) OwnTID(tid int) (int, error) {
	text, err := p.Read(fmt.Sprintf("task/%d/status", tid), maxStatus)
	if err != nil {
		return 0, err
	}
	s, err := parseStatus(tid, string(text))
	return s.OwnPID, err
}

// A Stat has some of the fields of /proc/PID/stat (see proc(5)).
type Stat struct {
	State      byte // as in [Status]; 'X' for a process that is being removed
	Threads    int
	StartTicks uint64 // when it started, in hundredths of a second since the machine's start
}

// Ended reports whether the process has ended, even if its parent has not waited for it yet.
func (s Stat) Ended() bool { return s.State == 0 || s.State == 'Z' || s.State == 'X' }

// Stopped reports whether the process is stopped: by SIGSTOP, Ctrl-Z or a debugger.
func (s Stat) Stopped() bool { return s.State == 'T' || s.State == 't' }

// Stat reads the stat of the process.
func (p *Process) Stat() (Stat, error) {
	f, err := p.openProc("stat")
	if err != nil {
		return Stat{}, err
	}
	defer f.Close()
	text, err := readAll(f, 1<<12)
	if err != nil {
		return Stat{}, p.gone(err)
	}
	return parseStat(text), nil
}

// parseStat parses the third, the 20th and the 22nd field of /proc/PID/stat. It begins after the last closing
// parenthesis, because the second field is the program's name in parentheses, which may contain any character. If text
// is incomplete, the result is zero.
func parseStat(text []byte) (s Stat) {
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return s
	}
	s.State = fields[0][0]
	s.Threads, _ = strconv.Atoi(fields[17])
	s.StartTicks, _ = strconv.ParseUint(fields[19], 10, 64) // the kernel writes only digits here
	return s
}

// StatOf returns the Stat of the process that has the id pid at present. The Stat is zero if there is no such process.
func StatOf(pid int) Stat {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Stat{}
	}
	return parseStat(text)
}

// Ended reports whether the process has ended, even if its parent has not waited for it yet.
func (p *Process) Ended() bool {
	s, err := p.Stat()
	return errors.Is(err, ErrEnded) || err == nil && s.Ended()
}

// Signal sends the process a signal. The signal can't reach a later process with the same id.
func (p *Process) Signal(sig unix.Signal) error {
	if p.pidfd < 0 {
		return errors.New("the kernel has no pidfd_open, which Linux has since 5.3, or a seccomp filter refuses it")
	}
	err := unix.PidfdSendSignal(p.pidfd, sig, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrEnded
	}
	return err
}

// Program opens the executable file that the process runs, for reading. It returns the same errors as Mapped.
func (p *Process) Program() (*os.File, error) { return p.openFile("exe") }

// Memory opens the process's memory for reading and writing. gasm must run as the process's user or as root. After the
// process has started another program (exec), reads and writes fail. A read can block if the memory is mapped from a
// file system that does not answer; see CheckMemory.
func (p *Process) Memory() (*os.File, error) {
	fd, err := p.openAt("mem", unix.O_RDWR)
	if err != nil {
		return nil, p.gone(&fs.PathError{Op: "open", Path: fmt.Sprintf("/proc/%d/mem", p.pid), Err: err})
	}
	return os.NewFile(uintptr(fd), "mem"), nil
}

// Mapped opens the regular file that the process has mapped at [lo, hi), for reading. The kernel needs no path for
// that, so it also works for a deleted file. Root is needed (CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN). If the file is
// in a file system that may never answer, the error wraps [ErrUserSpace], unless the process is trusted.
func (p *Process) Mapped(lo, hi uint64) (*os.File, error) {
	return p.openFile(fmt.Sprintf("map_files/%x-%x", lo, hi))
}

// openFile opens the regular file to which a link of the process in /proc leads. name is relative to /proc/PID: "exe".
func (p *Process) openFile(name string) (*os.File, error) {
	failed := func(err error) error {
		return p.gone(&fs.PathError{Op: "open", Path: fmt.Sprintf("/proc/%d/%s", p.pid, name), Err: err})
	}
	at, err := p.openAt(name, unix.O_PATH)
	if err != nil {
		return nil, failed(err)
	}
	defer unix.Close(at)
	if !p.Trusted() {
		if err := mountsOf(p).checkFile(at); err != nil {
			return nil, failed(err)
		}
	}
	if _, err := regularFile(at, false); err != nil { // opening a device can have side effects
		return nil, failed(err)
	}
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", at), os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// Threads returns the ids of the process's threads, or nil if it has ended.
func (p *Process) Threads() (tids []int) {
	for _, name := range p.names("task") {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// maxEntries is the maximum number of entries of a folder in /proc that are read, for example of a process's threads.
// The rest are ignored.
const maxEntries = 1 << 16

// names returns the names in a folder of the process in /proc, or nil if the folder can't be read.
func (p *Process) names(folder string) []string {
	fd, err := p.openAt(folder, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil // the process has ended, or belongs to another user
	}
	dir := os.NewFile(uintptr(fd), folder)
	defer dir.Close()
	// An error means that the process ended while the names were read. The names up to then are returned.
	names, _ := dir.Readdirnames(maxEntries)
	return names
}

// Namespace returns the stat of one of the process's namespaces. kind is a name in /proc/PID/ns, such as "pid" or
// "mnt". Device and inode together identify the namespace.
func (p *Process) Namespace(kind string) (s unix.Stat_t, err error) {
	return p.stat("ns/" + kind)
}

// stat returns the stat of the file to which a link of the process in /proc leads.
func (p *Process) stat(name string) (s unix.Stat_t, err error) {
	err = p.at(func(at int) error { return unix.Fstatat(at, name, &s, 0) })
	return s, p.gone(err)
}

// StateIn returns the state that the text of a process's or a thread's stat file contains, as in [Status]. It returns 0
// if the text is incomplete.
func StateIn(stat string) byte { return parseStat([]byte(stat)).State }
