package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// stranger starts a shell as the user nobody, with its own namespaces and its own /tmp. The shell runs a script and
// then waits. $CANARY is a folder that belongs to root and that everyone can read, and $1 is the first of args.
func stranger(t *testing.T, script string, args ...string) (p *Process, canary string) {
	t.Helper()
	gasmtest.NeedRoot(t)
	for _, tool := range []string{"setpriv", "unshare"} {
		gasmtest.NeedTool(t, tool, "apt install util-linux")
	}
	canary, err := os.MkdirTemp("/var/tmp", "gasm-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(canary) })
	require.NoError(t, os.Chmod(canary, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(canary, "file"), []byte("canary"), 0o644))
	script = "mount -t tmpfs none /tmp && cd /tmp && " + script + "\necho READY; exec sleep 600"
	cmd := exec.Command("setpriv", append([]string{"--reuid=65534", "--regid=65534", "--groups=65534,4242",
		"unshare", "-Urm", "sh", "-ec", script, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), "CANARY="+canary)
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "the stranger's script has failed")
	require.Equal(t, "READY", lines.Text())
	p, err = Open(cmd.Process.Pid)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p, canary
}

// tmpOf enters the file system of a process and opens its /tmp.
func tmpOf(t *testing.T, p *Process) *Folder {
	t.Helper()
	w, err := p.World(t.Context())
	require.NoError(t, err)
	t.Cleanup(w.Close)
	tmp, err := w.Tmp()
	require.NoError(t, err)
	t.Cleanup(tmp.Close)
	return tmp
}

// isWhole checks that the canary is unchanged.
func isWhole(t *testing.T, canary string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(canary, "file"))
	require.NoError(t, err)
	assert.Equal(t, "canary", string(text))
	for _, path := range []string{canary, filepath.Join(canary, "file")} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Zero(t, info.Sys().(*syscall.Stat_t).Uid, path)
	}
	entries, err := os.ReadDir(canary)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// TestWhatIsPlanted: a process can put any kind of file where gasm expects its own. Whatever gasm does with that name,
// no file of root's changes, and no call blocks.
func TestWhatIsPlanted(t *testing.T) {
	for what, c := range map[string]struct {
		plant string // at /tmp/x
		open  string // what the error of opening it as a file says
		enter string // what the error of opening it as a folder says
	}{
		"a link to a file":        {`ln -s "$CANARY/file" x`, "a link", "not a folder"},
		"a link to a folder":      {`ln -s "$CANARY" x`, "a link", "not a folder"},
		"a link to nowhere":       {`ln -s nowhere x`, "a link", "not a folder"},
		"a named pipe":            {`mkfifo x`, "not a regular file", "not a folder"},
		"a folder under a mount":  {`mkdir x; mount --bind "$CANARY" x`, "a mount point", "a mount point"},
		"a file under a mount":    {`touch x; mount --bind "$CANARY/file" x`, "a mount point", "a mount point"},
		"a file of the kernel's":  {`touch x; mount --bind /proc/kmsg x`, "a mount point", "a mount point"},
		"a file with two names":   {`touch y; ln y x`, "several links", "not a folder"},
		"a folder that is closed": {`mkdir -m 0 x`, "not a regular file", "permission denied"},
		"a file that is closed":   {`touch x; chmod 0 x`, "permission denied", "not a folder"},
		"a link through /proc":    {`ln -s /proc/1/root x`, "a link", "not a folder"},
		"another file system":     {`mkdir x; mount -t tmpfs none x`, "a mount point", "a mount point"},
	} {
		t.Run(what, func(t *testing.T) {
			p, canary := stranger(t, c.plant)
			tmp := tmpOf(t, p)
			_, err := tmp.Open("x")
			assert.ErrorContains(t, err, c.open)
			_, err = tmp.OpenToWrite("x")
			require.Error(t, err)
			_, err = tmp.Folder("x")
			assert.ErrorContains(t, err, c.enter)
			_, err = tmp.MakeFolder("x")
			assert.ErrorIs(t, err, fs.ErrExist)
			assert.Error(t, tmp.Create("x", []byte("overwritten")))
			has, err := tmp.HasSocket("x")
			assert.False(t, has)
			assert.Error(t, err)
			_, err = tmp.Dial(t.Context(), "x")
			assert.Error(t, err)
			_ = tmp.Remove("x") // removes only a file of the stranger's, if anything
			_ = tmp.RemoveFolder("x")
			isWhole(t, canary)
		})
	}
}

// TestOwnFolder: files that the process will load or write are in folders that other users can neither change nor
// replace.
func TestOwnFolder(t *testing.T) {
	for what, c := range map[string]struct{ plant, want string }{
		"own":              {`mkdir -m 700 x`, ""},
		"no folder":        {`true`, "no such file"},
		"others can write": {`mkdir x; chmod 702 x`, "/tmp/x can be accessed by other users (mode 702): remove it"},
		"others can look":  {`mkdir x; chmod 755 x`, "(mode 755)"},
		"closed":           {`mkdir -m 0 x`, "/tmp/x is not a folder that gasm can use (permission denied): remove it"},
		"a link": {`mkdir -m 700 y; ln -s y x`,
			"/tmp/x is not a folder that gasm can use (it is not a folder, and gasm does not follow links): remove it"},
		"a mount": {`mkdir x; mount --bind "$CANARY" x`,
			"/tmp/x is not a folder that gasm can use (it is a mount point or leads out of its folder, and gasm follows neither): remove it"},
		"others can replace it": {`mkdir -m 700 x; chmod 777 .`,
			"in /tmp other users can replace any file, because it is not sticky: chmod +t /tmp"},
		"nobody can replace it": {`mkdir -m 700 x; chmod 755 .`, ""},
	} {
		t.Run(what, func(t *testing.T) {
			p, _ := stranger(t, c.plant)
			folder, err := tmpOf(t, p).OwnFolder("x")
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			folder.Close()
		})
	}
	p, _ := stranger(t, "chmod 777 .")
	_, err := tmpOf(t, p).MakeFolder("x")
	assert.ErrorContains(t, err, "is not sticky")

	gasmtest.NeedRoot(t)
	w, err := OwnWorld(t.Context(), User{UID: 12345, GID: 12345})
	require.NoError(t, err)
	defer w.Close()
	tmp, err := w.Tmp()
	require.NoError(t, err)
	defer tmp.Close()
	dir, err := os.MkdirTemp("/tmp", "gasm-test-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = tmp.OwnFolder(filepath.Base(dir))
	assert.EqualError(t, err, dir+" belongs to another user (0): remove it")
}

// TestNames: a name can't lead out of its folder.
func TestNames(t *testing.T) {
	p, canary := stranger(t, "mkdir x")
	tmp := tmpOf(t, p)
	for _, name := range []string{"", ".", "..", "/", "a/b", "../etc", "/etc/passwd", "a\x00b"} {
		_, err := tmp.Open(name)
		assert.ErrorContains(t, err, "is not the name of a file", name)
		_, err = tmp.Folder(name)
		assert.Error(t, err, name)
		assert.Error(t, tmp.Remove(name), name)
		assert.Error(t, tmp.RemoveFolder(name), name)
		assert.Error(t, tmp.Create(name, nil), name)
	}
	_, err := tmp.World().Folder("/tmp/../tmp/x")
	require.NoError(t, err, "as text it is clean")
	isWhole(t, canary)
}

// TestAsTheUser: everything is done as the process's user. New files belong to that user, and what the user may not do
// is refused, inside /tmp and outside.
func TestAsTheUser(t *testing.T) {
	p, _ := stranger(t, `mkdir -m 700 secret; echo text >secret/file; chmod 600 secret/file; touch -d @0 secret`)
	tmp := tmpOf(t, p)
	made, err := tmp.MakeFolder("made")
	require.NoError(t, err)
	defer made.Close()
	require.NoError(t, made.Create("file", []byte("content")))
	f, err := made.Open("file")
	require.NoError(t, err)
	text, err := f.ReadAll(100)
	require.NoError(t, err)
	assert.Equal(t, "content", string(text))
	owner, err := made.Owner()
	require.NoError(t, err)
	assert.Equal(t, gasmtest.Nobody, owner)
	info, err := os.Stat(fmt.Sprintf("/proc/%d/root/tmp/made/file", p.PID()))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	assert.EqualValues(t, gasmtest.Nobody, info.Sys().(*syscall.Stat_t).Uid)

	w := tmp.World()
	_, err = w.Open("/tmp/secret/file")
	require.NoError(t, err, "the user's own")
	for _, path := range []string{"/etc/shadow", "/root/x", "/proc/1/environ", "/proc/self/environ"} {
		_, err = w.Open(path)
		assert.Error(t, err, path)
	}
	etc, err := w.Folder("/etc")
	require.NoError(t, err)
	defer etc.Close()
	assert.ErrorIs(t, etc.Create("gasm-was-here", nil), fs.ErrPermission)
	assert.ErrorIs(t, etc.Remove("passwd"), fs.ErrPermission)
	_, err = etc.OpenToWrite("passwd")
	assert.ErrorIs(t, err, fs.ErrPermission)

	names, err := made.Names()
	require.NoError(t, err)
	assert.Equal(t, []string{"file"}, names)
	require.NoError(t, made.Remove("file"))
	require.NoError(t, made.Remove("file"), "a second time there is nothing to remove")
	require.NoError(t, tmp.RemoveFolder("made"))
	gone, err := made.Removed()
	require.NoError(t, err)
	assert.True(t, gone)
}

// identity returns what the kernel says about the identity of a thread.
func identity(t *testing.T, tid int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", tid))
	require.NoError(t, err)
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		found[key] = strings.Join(strings.Fields(value), " ")
	}
	return found
}

func threadOf(t *testing.T, w *World) int {
	t.Helper()
	tid, err := call(w, func() (int, error) { return unix.Gettid(), nil }, nil)
	require.NoError(t, err)
	return tid
}

// TestIdentity: the thread has the user's rights and no others. The user has no power over it, and gasm's other threads
// keep their identity.
func TestIdentity(t *testing.T) {
	p, _ := stranger(t, ":")
	w := tmpOf(t, p).World()
	tid := threadOf(t, w)
	assert.NotEqual(t, os.Getpid(), tid, "the first thread")
	is := identity(t, tid)
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		assert.Equal(t, strings.Repeat("0", 16), is[set], set)
	}
	assert.Equal(t, "1", is["NoNewPrivs"])
	assert.Equal(t, "0 0 0 65534", is["Uid"], "real, effective, saved, of file systems")
	assert.Equal(t, "65534 65534 65534 65534", is["Gid"])
	assert.Equal(t, "4242 65534", is["Groups"])
	self := identity(t, os.Getpid())
	assert.Equal(t, "0 0 0 0", self["Uid"])
	assert.NotEqual(t, strings.Repeat("0", 16), self["CapEff"])
	for _, id := range []int{tid, os.Getpid()} {
		out, err := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c",
			"kill -KILL "+strconv.Itoa(id)).CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(out), "not permitted")
		// In its own user namespace a process has all capabilities, and the kernel's cap_safe_nice compares only these.
		for _, change := range []string{"taskset -p 1 %d", "chrt --idle --pid 0 %d", "renice -n 19 -p %d",
			"ionice -c 3 -p %d"} {
			out, err := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "unshare",
				"-Ur", "sh", "-c",
				fmt.Sprintf(change, id)).CombinedOutput()
			assert.Error(t, err, change)
			assert.Contains(t, string(out), "not permitted", change)
		}
	}

	threads := sync.Map{}
	var all sync.WaitGroup
	for range 40 { // enough goroutines that one would run on the process's first thread
		all.Go(func() {
			w, err := p.World(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			id, err := call(w, func() (int, error) { return unix.Gettid(), nil }, nil)
			if err != nil {
				t.Error(err)
			}
			threads.Store(id, true)
			w.Close()
		})
	}
	all.Wait()
	_, first := threads.Load(os.Getpid())
	assert.False(t, first, "the first thread has become another user")
	w.Close()
	require.Eventually(t, func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
		return errors.Is(err, fs.ErrNotExist)
	}, time.Minute, time.Millisecond, "the thread ends with its World")
	_, err := w.Tmp()
	assert.ErrorIs(t, err, errClosed)
	assert.Equal(t, 0, os.Geteuid())
}

// TestRootWithoutCapabilities: in a container, the process may have root's user id. The capabilities are given up
// nevertheless, so another user's files stay inaccessible.
func TestRootWithoutCapabilities(t *testing.T) {
	gasmtest.NeedRoot(t)
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Groups: []uint32{7}}}
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	p, err := Open(cmd.Process.Pid)
	require.NoError(t, err)
	defer p.Close()
	w, err := p.World(t.Context())
	require.NoError(t, err)
	defer w.Close()
	is := identity(t, threadOf(t, w))
	assert.Equal(t, []string{"0 0 0 0", "7", strings.Repeat("0", 16)}, []string{is["Uid"], is["Groups"], is["CapEff"]})
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = w.Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Chown(path, gasmtest.Nobody, gasmtest.Nobody))
	_, err = w.Open(path)
	assert.ErrorIs(t, err, fs.ErrPermission)
}

// TestTmp: in containers /tmp is usually a mount point. If /tmp is a symbolic link, gasm must not follow it, because it
// would lead to a folder in gasm's own root.
func TestTmp(t *testing.T) {
	p, _ := stranger(t, "touch here") // in a tmpfs
	_, err := tmpOf(t, p).Stat("here")
	require.NoError(t, err)

	linked, _ := stranger(t, `mkdir root; for d in usr bin lib lib64 etc; do mkdir root/$d; mount --rbind /$d root/$d; done
		mkdir root/elsewhere; ln -s elsewhere root/tmp; exec chroot root sh -c "echo READY; exec sleep 600"`)
	w, err := linked.World(t.Context())
	require.NoError(t, err)
	defer w.Close()
	_, err = w.Tmp()
	assert.ErrorContains(t, err, "open /tmp: it is not a folder, and gasm does not follow links")
}

// TestFiles: files are copied within their limits, and holes stay holes.
func TestFiles(t *testing.T) {
	p, _ := stranger(t, `truncate -s 1T sparse; truncate -s 100M holes; echo begin | dd of=holes conv=notrunc status=none
		echo end | dd of=holes bs=1M seek=99 conv=notrunc status=none; truncate -s 100M holes; printf 0123456789 >small`)
	tmp := tmpOf(t, p)
	opened := func(name string) *File {
		f, err := tmp.Open(name)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	to := func() *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), "copy"))
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	var tooLarge *TooLargeError
	_, err := opened("sparse").ReadAll(1 << 20)
	require.ErrorAs(t, err, &tooLarge)
	assert.EqualError(t, err, "/tmp/sparse has 1099511627776 bytes, more than the 1048576 that such a file may have")
	require.ErrorAs(t, opened("sparse").CopyTo(to(), 1<<30), &tooLarge)

	copied := to()
	require.NoError(t, opened("holes").CopyTo(copied, 100<<20))
	info, err := copied.Stat()
	require.NoError(t, err)
	assert.EqualValues(t, 100<<20, info.Size())
	assert.Less(t, info.Sys().(*syscall.Stat_t).Blocks*512, int64(4<<20))
	content, err := os.ReadFile(copied.Name())
	require.NoError(t, err)
	assert.Equal(t, "begin\n", string(content[:6]))
	assert.Equal(t, "end\n", string(content[99<<20:][:4]))

	small := opened("small")
	buf := make([]byte, 4)
	n, err := small.ReadAt(buf, 8)
	assert.Equal(t, 2, n)
	require.ErrorIs(t, err, io.EOF)
	all, err := io.ReadAll(small)
	require.NoError(t, err)
	assert.Equal(t, "0123456789", string(all))
	assert.EqualValues(t, 10, small.Size())
	written, err := tmp.OpenToWrite("small")
	require.NoError(t, err)
	defer written.Close()
	_, err = written.WriteAt([]byte("ab"), 2)
	require.NoError(t, err)
	n, err = small.ReadAt(buf, 1)
	require.NoError(t, err)
	assert.Equal(t, "1ab4", string(buf[:n]))
	_, err = small.WriteAt([]byte("x"), 0)
	require.Error(t, err, "it is open for reading")
	released, err := opened("small").Release()
	require.NoError(t, err)
	defer released.Close()
	_, err = released.ReadAt(buf, 0)
	require.NoError(t, err)
	assert.Equal(t, "01ab", string(buf))
}

// TestLock: only one gasm can lock a folder.
func TestLock(t *testing.T) {
	p, _ := stranger(t, `mkdir x`)
	tmp := tmpOf(t, p)
	one, err := tmp.Folder("x")
	require.NoError(t, err)
	two, err := tmp.Folder("x")
	require.NoError(t, err)
	defer two.Close()
	require.NoError(t, one.Lock())
	require.ErrorIs(t, two.Lock(), ErrLocked)
	one.Close()
	require.NoError(t, two.Lock())
}

// TestHangs: gasm waits for a call that does not return only until its time limit, or until the context is done. Until
// that call has returned, further calls fail at once.
func TestHangs(t *testing.T) {
	w, err := OwnWorld(t.Context(), User{UID: os.Geteuid(), GID: os.Getegid()})
	require.NoError(t, err)
	defer w.Close()
	hang, undone := make(chan struct{}), make(chan int)
	go func() {
		_, err := call(w, func() (int, error) { <-hang; return 7, nil }, func(n int) { undone <- n })
		assert.ErrorIs(t, err, ErrLate)
	}()
	require.Eventually(t, func() bool { return w.hangs.Load() > 0 }, time.Minute, time.Millisecond)
	began := time.Now()
	for range 100 {
		_, err = w.Tmp()
		require.ErrorIs(t, err, ErrLate)
	}
	assert.Less(t, time.Since(began), callTime)
	close(hang)
	assert.Equal(t, 7, <-undone, "what came too late is undone")
	require.Eventually(t, func() bool { _, err := w.Tmp(); return err == nil }, time.Minute, time.Millisecond)
}

// TestEnded: a Process always means the process that was opened, even after that has ended, and its files are still
// accessible then.
func TestEnded(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	require.NoError(t, cmd.Start())
	p, err := Open(cmd.Process.Pid)
	require.NoError(t, err)
	defer p.Close()
	assert.False(t, p.Ended())
	status, err := p.Status()
	require.NoError(t, err)
	assert.Equal(t, []any{"sleep", os.Geteuid(), cmd.Process.Pid}, []any{status.Name, status.UID, status.OwnPID})
	stat, err := p.Stat()
	require.NoError(t, err)
	assert.Equal(t, StatOf(cmd.Process.Pid).StartTicks, stat.StartTicks)
	w, err := p.World(t.Context())
	require.NoError(t, err)
	defer w.Close()
	require.NoError(t, p.Signal(unix.SIGKILL))
	require.Eventually(t, p.Ended, time.Minute, time.Millisecond)
	_, err = p.World(t.Context())
	require.ErrorIs(t, err, ErrEnded, "nobody has waited for it")
	_ = cmd.Wait() // the error says that it was killed
	for _, err := range []error{
		p.Signal(unix.SIGTERM),
		func() error { _, err := p.Status(); return err }(),
		func() error { _, err := p.Read("cmdline", 10); return err }(),
		func() error { _, err := p.Readlink("cwd"); return err }(),
		func() error { _, err := p.World(t.Context()); return err }(),
		func() error { _, err := Open(cmd.Process.Pid); return err }(),
	} {
		assert.ErrorIs(t, err, ErrEnded)
	}
	assert.Empty(t, p.OpenFiles())
	assert.Empty(t, p.Threads())
	_, err = w.Tmp()
	require.NoError(t, err, "its files")
	_, err = Open(1 << 22)
	assert.EqualError(t, err, "no process has the id 4194304")
}

// TestDial: a socket must belong to the process's user, and the process itself must listen there. If its queue is full,
// Dial waits until the context is done.
func TestDial(t *testing.T) {
	path := fmt.Sprintf("/tmp/gasm-test-%d.sock", os.Getpid())
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	self, err := Open(os.Getpid())
	require.NoError(t, err)
	defer self.Close()
	tmp := tmpOf(t, self)
	has, err := tmp.HasSocket(filepath.Base(path))
	require.NoError(t, err)
	require.True(t, has)
	has, err = tmp.HasSocket("gasm-test-none")
	require.NoError(t, err)
	assert.False(t, has)
	conn, err := tmp.Dial(t.Context(), filepath.Base(path))
	require.NoError(t, err)
	go func() {
		other, err := l.Accept()
		if err == nil {
			_, _ = io.WriteString(other, "hello")
			other.Close()
		}
	}()
	text, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(text))

	cmd := exec.Command("sleep", "600")
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	other, err := Open(cmd.Process.Pid)
	require.NoError(t, err)
	defer other.Close()
	_, err = tmpOf(t, other).Dial(t.Context(), filepath.Base(path))
	assert.ErrorContains(t, err, fmt.Sprintf("process %d listens there", os.Getpid()))
}

func TestDialFull(t *testing.T) {
	path := fmt.Sprintf("/tmp/gasm-test-full-%d.sock", os.Getpid())
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
	defer os.Remove(path)
	require.NoError(t, unix.Listen(fd, 0))
	self, err := Open(os.Getpid())
	require.NoError(t, err)
	defer self.Close()
	ctx, cancel := contextWithin(t, 300*time.Millisecond)
	defer cancel()
	w, err := self.World(ctx)
	require.NoError(t, err)
	defer w.Close()
	tmp, err := w.Tmp()
	require.NoError(t, err)
	for range 100 { // nobody accepts the connections
		conn, err := tmp.Dial(t.Context(), filepath.Base(path))
		if err != nil {
			assert.ErrorContains(t, err, "the test waits no longer")
			return
		}
		defer conn.Close()
	}
	t.Error("the queue is never full")
}
