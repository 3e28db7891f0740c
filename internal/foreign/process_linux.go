package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is a process that may mean harm. It is the same one until Close: when it has ended, calls fail with an error
// that wraps [ErrEnded], also when another process has its id by then. A Process is for any goroutine.
type Process struct {
	pid   int
	proc  *os.File // /proc/PID; it never means another process (proc_pid in the kernel's fs/proc/internal.h)
	pidfd int      // -1 where the kernel has none
}

// NoProcessError is the error of an id that no process has.
type NoProcessError struct{ PID int }

func (e *NoProcessError) Error() string { return fmt.Sprintf("no process has the id %d", e.PID) }

// Is reports whether the target is [ErrEnded].
func (e *NoProcessError) Is(target error) bool { return target == ErrEnded }

// Open opens a process, which may be any user's. A process without an id is a *NoProcessError. The caller closes it.
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
	// Its id can't have been given to another process between the two, if it is still there.
	if _, err := p.Stat(); err != nil {
		p.Close()
		return nil, &NoProcessError{pid}
	}
	return p, nil
}

// Close releases the descriptors.
func (p *Process) Close() {
	p.proc.Close()
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
}

// PID is the process's id.
func (p *Process) PID() int { return p.pid }

// readTime is how long the kernel may take to answer for a process. Its command line and its environment are read out of
// its memory, which can be mapped from a file system that does not answer.
const readTime = 5 * time.Second

// Read reads a file of the process in /proc by its name ("status", "task/12/comm"), and at most limit bytes of it.
func (p *Process) Read(name string, limit int64) ([]byte, error) {
	return WithinLimit(readTime, func() ([]byte, error) {
		if err := p.checkText(name); err != nil {
			return nil, err
		}
		f, err := p.openProc(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		text, err := readAll(f, limit)
		return text, p.gone(err)
	})
}

func readAll(f *os.File, limit int64) ([]byte, error) { return io.ReadAll(io.LimitReader(f, limit)) }

// at calls f with the descriptor of /proc/PID, which stays open until f returns. After Close it fails: a Read that took too
// long may still be under way, and by then the number can be another file's.
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

// openAt opens a name in /proc/PID, and returns a descriptor.
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

// gone turns the error of a process that nobody can wait for any more into ErrEnded. The kernel knows nothing of it then.
func (p *Process) gone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return ErrEnded
	}
	return err
}

// Readlink returns where a link of the process in /proc leads ("cwd", "exe"), as text. It is a path of the process's own
// mount namespace, and to look there is for a [World].
func (p *Process) Readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax+64) // the kernel adds " (deleted)"
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

// OpenFiles returns the paths that the process's descriptors are of, without those that are no files.
func (p *Process) OpenFiles() (paths []string) {
	for _, name := range p.names("fd") {
		if target, err := p.Readlink("fd/" + name); err == nil && strings.HasPrefix(target, "/") {
			paths = append(paths, target)
		}
	}
	return paths
}

// A Status is what is used of proc(5)'s status. Everyone can read it, unless /proc is mounted with hidepid.
type Status struct {
	Name  string
	State byte // 'R', 'S', 'T' for stopped, 'Z' for a process that nobody has waited for
	User
	OwnPID  int    // in the innermost PID namespace that the process is in
	Catches uint64 // the signals that it handles: bit n-1 for signal n
}

// maxStatus is an upper bound for the size of a status, in bytes. Only a list of thousands of groups is long.
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

// effective returns the second of the four ids of a line: "Uid:	1000	1000	1000	1000".
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

// OwnTID returns the id that a thread has in the innermost PID namespace that the process is in.
func (p *Process) OwnTID(tid int) (int, error) {
	text, err := p.Read(fmt.Sprintf("task/%d/status", tid), maxStatus)
	if err != nil {
		return 0, err
	}
	s, err := parseStatus(tid, string(text))
	return s.OwnPID, err
}

// A Stat is what is used of proc(5)'s stat.
type Stat struct {
	State      byte   // as in [Status]; 'X' for a process that is being removed
	StartTicks uint64 // when it started, in hundredths of a second since the machine did
}

// Ended reports whether the process has ended. Its parent may not have waited for it.
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

// parseStat reads the 3rd and the 22nd field. The second one is the name in parentheses, which may hold anything.
func parseStat(text []byte) (s Stat) {
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return s
	}
	s.State = fields[0][0]
	s.StartTicks, _ = strconv.ParseUint(fields[19], 10, 64) // the kernel writes numbers
	return s
}

// StatOf reads the stat of the process that has an id now; it is zero where none has.
func StatOf(pid int) Stat {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Stat{}
	}
	return parseStat(text)
}

// Ended reports whether the process has ended. Its parent may not have waited for it.
func (p *Process) Ended() bool {
	s, err := p.Stat()
	return errors.Is(err, ErrEnded) || err == nil && s.Ended()
}

// Signal sends the process a signal. No other process can get it.
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

// Program opens the file of the program that the process runs, which the kernel has mapped. It is for reading. The error is
// that of Mapped.
func (p *Process) Program() (*os.File, error) { return p.openFile("exe") }

// Memory opens the memory that the process has now, for reading and writing. It takes the same user or root. When the process
// runs another program, nothing can be read or written any more. A read can wait for a file system that does not answer.
func (p *Process) Memory() (*os.File, error) {
	fd, err := p.openAt("mem", unix.O_RDWR)
	if err != nil {
		return nil, p.gone(&fs.PathError{Op: "open", Path: fmt.Sprintf("/proc/%d/mem", p.pid), Err: err})
	}
	return os.NewFile(uintptr(fd), "mem"), nil
}

// Mapped opens the regular file that the process has mapped at [lo, hi), for reading. The kernel leads there without a
// path, and also if the file has none any more. It takes root (CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN). A file of a file
// system in user space (FUSE) is an error, unless the process is this one's user's: whoever reads it can wait for ever.
func (p *Process) Mapped(lo, hi uint64) (*os.File, error) {
	return p.openFile(fmt.Sprintf("map_files/%x-%x", lo, hi))
}

// openFile opens the regular file that a link of the process in /proc leads to.
func (p *Process) openFile(name string) (*os.File, error) {
	failed := func(err error) error {
		return p.gone(&fs.PathError{Op: "open", Path: fmt.Sprintf("/proc/%d/%s", p.pid, name), Err: err})
	}
	status, err := p.Status()
	if err != nil {
		return nil, err
	}
	at, err := p.openAt(name, unix.O_PATH)
	if err != nil {
		return nil, failed(err)
	}
	defer unix.Close(at)
	if kind, err := fileSystem(at); err != nil || kind == unix.FUSE_SUPER_MAGIC && status.UID != os.Geteuid() {
		return nil, failed(cmp.Or(err, ErrUserSpace))
	}
	if _, err := regularFile(at, false); err != nil { // to open a device does something
		return nil, failed(err)
	}
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", at), os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// Threads returns the ids of the process's threads, none of one that has ended.
func (p *Process) Threads() (tids []int) {
	for _, name := range p.names("task") {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// maxEntries is an upper bound for the entries of a folder in /proc that are looked at, such as descriptors and threads.
// What a process has beyond is not found.
const maxEntries = 1 << 16

// names returns the names in a folder of the process in /proc.
func (p *Process) names(folder string) []string {
	fd, err := p.openAt(folder, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil // it has ended, or belongs to another user
	}
	dir := os.NewFile(uintptr(fd), folder)
	defer dir.Close()
	names, _ := dir.Readdirnames(maxEntries) // of one that ends in between there are fewer
	return names
}

// Namespace returns what stat says of a namespace of the process ("pid", "mnt"): its device and its inode name it.
func (p *Process) Namespace(kind string) (s unix.Stat_t, err error) {
	return p.stat("ns/" + kind)
}

// stat returns what stat says of what a link of the process in /proc leads to.
func (p *Process) stat(name string) (s unix.Stat_t, err error) {
	err = p.at(func(at int) error { return unix.Fstatat(at, name, &s, 0) })
	return s, p.gone(err)
}

// SharesFiles reports whether a process has the root folder and the mounts that this process has, so that paths lead both
// to the same files.
func SharesFiles(pid int) bool {
	p, err := Open(pid)
	if err != nil {
		return false
	}
	defer p.Close()
	theirs, err := p.Namespace("mnt")
	if err != nil {
		return false
	}
	var ours, root unix.Stat_t
	if unix.Stat("/proc/self/ns/mnt", &ours) != nil || ours.Ino != theirs.Ino || ours.Dev != theirs.Dev {
		return false
	}
	theirRoot, err := p.stat("root")
	return err == nil && unix.Stat("/", &root) == nil && root.Ino == theirRoot.Ino && root.Dev == theirRoot.Dev
}
