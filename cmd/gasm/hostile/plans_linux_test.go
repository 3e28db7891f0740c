package hostile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attackPlans has the attacks, by their names.
var attackPlans = map[string]attackPlan{
	// A program of the system is mapped from a folder of the attacker's. Everybody else sees links in that folder.
	"links at debug files": {before: func(a *attacker) error { return bind(filepath.Dir(shell()), a.canary+debugFolder) }},

	// A folder of root's is mounted over the folder for probes.
	"mount over the folder": {after: func(a *attacker) error {
		return bind(filepath.Join(a.canary, "plain"),
			a.probes(""))
	}},

	// A folder in it is one.
	"mount below the folder": {after: func(a *attacker) error {
		a.all.Go(func() {
			for a.await(a.probes("agent.jar")) {
				if bind(filepath.Join(a.canary, "plain"), a.probes("below")) == nil {
					return
				}
			}
		})
		return nil
	}},

	// A folder of root's is mounted over the folder for events as soon as that folder exists. Its name can't be known
	// earlier.
	"mount over the events": {before: (*attacker).own, jvm: inOwnRoot, during: func(a *attacker) {
		found, _ := filepath.Glob(a.tmp("gasm-jvm-*"))
		for _, path := range found {
			if !isMounted(path) {
				_ = bind(filepath.Join(a.canary, "plain"), path)
			}
		}
		time.Sleep(50 * time.Microsecond)
	}},

	// Each file that gasm writes is replaced by a link to a file of root's.
	"links at the agent": {during: func(a *attacker) {
		for _, name := range []string{"agent.jar", "agent.classes", "probes", "sites.so"} {
			_ = os.Symlink(filepath.Join(a.canary, "shadow"), a.probes(name))
		}
	}},

	// A file that gasm writes is a pipe, and is replaced by a link as soon as gasm has opened it.
	"a pipe at the agent": {during: func(a *attacker) {
		path := a.probes("agent.jar")
		if syscall.Mkfifo(path, 0o666) != nil {
			return
		}
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return
		}
		defer syscall.Close(fd)
		buf := make([]byte, 1<<16)
		for {
			select {
			case <-a.stop:
				return
			default:
			}
			if n, _ := syscall.Read(fd, buf); n > 0 {
				break
			}
		}
		_ = os.Remove(path)
		_ = os.Symlink(filepath.Join(a.canary, "shadow"), path)
		for {
			n, err := syscall.Read(fd, buf)
			if n == 0 || err != nil && !errors.Is(err, syscall.EAGAIN) {
				break
			}
		}
		time.Sleep(20 * time.Millisecond)
	}},

	// A file that gasm writes is a pipe that nobody reads.
	"a pipe for ever": {after: func(a *attacker) error {
		if err := os.Mkdir(a.probes(""), 0o700); err != nil {
			return err
		}
		return syscall.Mkfifo(a.probes("probes"), 0o666)
	}, during: func(a *attacker) {
		_ = syscall.Mkfifo(a.probes("agent.jar"), 0o666)
	}},

	// /tmp itself is replaced again and again by another folder, in which the folder for probes belongs to root.
	"another tmp": {before: (*attacker).own, jvm: inOwnRoot, after: func(a *attacker) error {
		return bind(filepath.Join(a.canary, "plain"), filepath.Join(a.root, "tmp2", fmt.Sprintf("gasm-probes-%d", a.pid)))
	}, during: func(a *attacker) {
		_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(a.root, "tmp"), unix.AT_FDCWD, filepath.Join(a.root, "tmp2"),
			unix.RENAME_EXCHANGE)
		time.Sleep(20 * time.Microsecond)
	}},

	// A process has mapped a library with the name of HotSpot's. The release file of its JDK has no end, or is a pipe
	// to which nobody writes.
	"a release pipe": {noJVM: true, before: func(a *attacker) error {
		return mapLibrary(func(release string) error { return syscall.Mkfifo(release, 0o666) })
	}},
	"a release without end": {noJVM: true, before: func(a *attacker) error {
		return mapLibrary(func(release string) error { return os.Symlink("/dev/zero", release) })
	}},

	// The agent's report is a sparse file of two gigabytes that takes no space on the disk.
	"a sparse report": {during: func(a *attacker) {
		found, _ := filepath.Glob(a.probes(fmt.Sprintf("*/probes-%d.txt", a.pid)))
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && info.Size() < 2<<30 {
				text, err := os.ReadFile(path)
				if err == nil && strings.Contains(string(text), "started") {
					_ = os.Truncate(path, 2<<30)
				}
			}
		}
		time.Sleep(time.Millisecond)
	}},

	// The JVM's working directory belongs to root, and the file that asks the JVM to listen can't be made in /tmp.
	"working in a folder of root's": {jvm: func(a *attacker,
		cmd *exec.Cmd) {
		cmd.Dir = filepath.Join(a.canary, "folder")
	}, after: func(a *attacker) error {
		return os.MkdirAll(a.tmp(fmt.Sprintf(".attach_pid%d/full", a.pid)), 0o700)
	}},

	// The JVM's socket is replaced again and again by a link to a socket that root's group may use.
	"another socket": {before: (*attacker).own, jvm: inOwnRoot, after: func(a *attacker) error { return a.listen() },
		during: func(a *attacker) {
			socket, away := a.tmp(fmt.Sprintf(".java_pid%d", a.pid)), a.tmp(fmt.Sprintf(".away%d", a.pid))
			_ = os.Rename(socket, away)
			_ = os.Symlink(filepath.Join(a.canary, "..", "socket"), socket)
			spinFor(time.Duration(rand.IntN(300)) * time.Microsecond)
			_ = os.Rename(away, socket)
			spinFor(time.Duration(rand.IntN(300)) * time.Microsecond)
		}},

	// There is no attack: the JVM belongs to another user, and has namespaces of its own.
	"no attack":             {},
	"no attack, own folder": {before: (*attacker).own, jvm: inOwnRoot},
}

// spinFor waits without giving up the CPU.
func spinFor(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}

// isMounted reports whether a path is a mount of another file system, or of another folder of the same one.
func isMounted(path string) bool {
	text, err := os.ReadFile("/proc/self/mountinfo")
	return err == nil && strings.Contains(string(text), " "+path+" ")
}

// mapLibrary maps an empty library that seems to be that of a JDK, and calls release to make the JDK's release file.
func mapLibrary(release func(path string) error) error {
	home := fmt.Sprintf("/tmp/gasm-test-jdk-%d", os.Getpid())
	library := filepath.Join(home, "lib/server/libjvm.so")
	if err := os.MkdirAll(filepath.Dir(library), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(library, make([]byte, 4096), 0o755); err != nil {
		return err
	}
	f, err := os.Open(library)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE); err != nil {
		return err
	}
	return release(filepath.Join(home, "release"))
}

// listen makes the JVM create its socket, as jcmd does.
func (a *attacker) listen() error {
	trigger := a.tmp(fmt.Sprintf(".attach_pid%d", a.pid))
	if err := os.WriteFile(trigger, nil, 0o600); err != nil {
		return err
	}
	defer os.Remove(trigger)
	if err := syscall.Kill(a.pid, syscall.SIGQUIT); err != nil {
		return err
	}
	for range 10_000 {
		if _, err := os.Lstat(a.tmp(fmt.Sprintf(".java_pid%d", a.pid))); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("the JVM does not listen")
}
