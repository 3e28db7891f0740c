package foreign

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// started starts a shell and opens its process. The script ends with the constant stay: the shell prints READY and then
// becomes a process that keeps running.
func started(t *testing.T, as *syscall.SysProcAttr, script string) *Process {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = "/", os.Stderr, as
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan() && lines.Text() == "READY", "the script has failed: %s", script)
	p, err := Open(cmd.Process.Pid)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// stay is the end of a script for the function started.
const stay = "echo READY; exec sleep 600"

// runs waits until the process has started the program with the given name. /proc/PID/exe names the new program before
// the kernel has mapped it (begin_new_exec and load_elf_binary in fs/), so runs also waits until the program is in the
// process's memory.
func runs(t *testing.T, p *Process, program string) {
	t.Helper()
	require.Eventually(t, func() bool {
		name, err := p.Readlink("exe")
		if err != nil || filepath.Base(name) != program {
			return false
		}
		mapped := false
		return p.regions(func(r region) bool {
			mapped = filepath.Base(r.path) == program
			return !mapped
		}) == nil && mapped
	}, time.Minute, time.Millisecond, "the process runs %s", program)
}

// TestTrusted: root trusts root's processes, but not those of a container's root.
func TestTrusted(t *testing.T) {
	gasmtest.NeedRoot(t)
	chroot :=
		`mount -t tmpfs none /mnt; root=/mnt; for d in usr bin lib lib64; do mkdir $root/$d; mount --bind /$d $root/$d; done; `
	for what, c := range map[string]struct {
		as      *syscall.SysProcAttr
		script  string
		trusted bool
	}{
		"root": {&syscall.SysProcAttr{}, stay, true},
		"another user": {&syscall.SysProcAttr{Credential: &syscall.Credential{Uid: gasmtest.Nobody,
			Gid: gasmtest.Nobody}}, stay, false},
		"root, other mounts":  {&syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}, stay, false},
		"root, other users":   {&syscall.SysProcAttr{}, `exec unshare -U --map-root-user sh -c "` + stay + `"`, false},
		"root, the same root": {&syscall.SysProcAttr{}, `exec chroot /proc/self/root/. sh -c "` + stay + `"`, true},
		"root, another folder": {&syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS},
			chroot + `exec chroot $root sh -c "` + stay + `"`, false},
	} {
		t.Run(what, func(t *testing.T) {
			p := started(t, c.as, c.script)
			assert.Equal(t, c.trusted, p.Trusted())
		})
	}
	self, err := Open(os.Getpid())
	require.NoError(t, err)
	defer self.Close()
	assert.True(t, self.Trusted())
}

// TestDevices: a device is not opened, because that can have effects. This device has no driver, so opening it would
// fail with an error that can be recognized.
func TestDevices(t *testing.T) {
	gasmtest.NeedRoot(t)
	dir := t.TempDir()
	require.NoError(t, unix.Mknod(filepath.Join(dir, "device"), unix.S_IFCHR|0o666, int(unix.Mkdev(10, 250))))
	w, err := OwnWorld(t.Context(), User{UID: 0, GID: 0})
	require.NoError(t, err)
	defer w.Close()
	folder, err := w.Folder(dir)
	require.NoError(t, err)
	defer folder.Close()
	_, err = folder.Open("device")
	assert.ErrorContains(t, err, "not a regular file")
	_, err = folder.OpenToWrite("device")
	assert.ErrorContains(t, err, "not a regular file")
	_, err = w.Open(filepath.Join(dir, "device"))
	assert.ErrorContains(t, err, "not a regular file")
}

// overlayIn mounts an overlay with a program in it, in the folder $1. overlayHere mounts one in the shell's own /tmp.
const (
	overlayIn = `cd $1; mkdir lower upper work merged; cp $(command -v sleep) lower/program
		mount -t overlay none merged -o lowerdir=lower,upperdir=upper,workdir=work`
	overlayHere = "mount -t tmpfs -o mode=755 none /tmp; set /tmp; " + overlayIn
)

// TestOverlays: an overlay that any user can mount is not read, because it may lie over a file system that does not
// answer. Overlays of containers that root has started are read.
func TestOverlays(t *testing.T) {
	gasmtest.NeedRoot(t)
	check := func(t *testing.T, p *Process, want error) {
		t.Helper()
		runs(t, p, "program")
		assert.False(t, p.Trusted())
		f, err := p.Program()
		if want != nil {
			require.ErrorIs(t, err, want)
			assert.ErrorContains(t, p.CheckMemory(), "from an overlay that its user may have mounted")
			return
		}
		require.NoError(t, err)
		f.Close()
		require.NoError(t, p.CheckMemory())
	}
	t.Run("a user's", func(t *testing.T) {
		p, _ := stranger(t, overlayHere+",userxattr\necho READY; exec merged/program 600")
		check(t, p, ErrUserSpace)
	})
	t.Run("root's in a namespace", func(t *testing.T) {
		setpriv := "exec setpriv --reuid=65534 --regid=65534 --clear-groups "
		p := started(t, &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS},
			overlayHere+"\necho READY; "+setpriv+"merged/program 600")
		check(t, p, nil)
	})
	t.Run("root's, seen in a user namespace", func(t *testing.T) {
		dir, err := os.MkdirTemp("/var/tmp", "gasm-test-")
		require.NoError(t, err)
		require.NoError(t, unix.Mount("none", dir, "tmpfs", 0, "mode=755"))
		t.Cleanup(func() {
			assert.NoError(t, unix.Unmount(dir, unix.MNT_DETACH))
			assert.NoError(t, os.Remove(dir))
		})
		out, err := exec.Command("sh", "-ec", overlayIn, "sh", dir).CombinedOutput()
		require.NoError(t, err, "%s", out)
		p, _ := stranger(t, "echo READY; exec $1/merged/program 600", dir)
		check(t, p, nil)
	})
}

// TestMounts: the lists of mounts say which file systems may never answer.
func TestMounts(t *testing.T) {
	m := &mounts{map[string]string{}, map[string]string{}, map[uint64]string{}}
	m.add([]byte(`26 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 26 0:45 / /home/u/mnt rw master:1 - fuse.sshfs host: rw
31 26 0:46 / /var/lib/docker/overlay2/a/merged rw - overlay overlay rw
damage
x 26 0:99 / / rw - ext4 /dev/vda rw
32 26 0 / / rw - ext4 /dev/vda rw
`), m.trusted)
	m.add([]byte(`40 1 0:46 / / rw - overlay overlay rw
41 40 0:50 / /x rw - overlay overlay rw
42 40 0:51 / /tmp rw - tmpfs none rw
43 40 0:52 / /f rw - fuse none rw
`), m.others)
	for device, want := range map[string]error{
		"fe:00": nil, "00:2d": ErrUserSpace, "00:2e": nil, "00:32": errOverlay, "00:33": nil, "00:34": ErrUserSpace,
		"00:63": errNotMounted,
	} {
		assert.Equal(t, want, m.check(device), device)
	}
	assert.Equal(t, "00:2e", m.devices[40])
	assert.Len(t, m.devices, 7)
	for text, want := range map[string]string{
		"7f00-8000 r-xp 0 00:32 1 /lib/x":                        "from an overlay that its user may have mounted over",
		"7f00-8000 r-xp 0 00:34 1 /lib/x":                        "from a file system in user space",
		"7f00-8000 r-xp 0 00:63 1 /lib/x":                        "can't be found out about",
		"7f00-8000 r-xp 0 00:63 1 anon_inode:[x]":                "",
		"7f00-8000 r-xp 0 00:00 0":                               "",
		"7f00-8000 r-xp 0 fe:01 1 /lib/x":                        "",
		"7f00-8000 r-xp 0 " + kernelDevices()[0] + " 1 /memfd:x": "",
	} {
		r, ok := parseRegion(text)
		require.True(t, ok)
		err := m.checkRegion(r)
		if want == "" {
			assert.NoError(t, err, text)
			continue
		}
		assert.ErrorContains(t, err, want, text)
	}
}
