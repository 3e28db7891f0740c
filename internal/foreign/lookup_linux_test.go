package foreign

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestStepwise compares stepwise with the kernel's openat2: each opens the same files, and refuses the same.
func TestStepwise(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a", "b"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(root, "closed"), 0))
	for _, name := range []string{"outside", "root/file", "root/a/b/file"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	for name, target := range map[string]string{"up": "..", "inner": "a", "absolute": "/etc", "toFile": "file",
		"magic": "/proc/self/root", "nowhere": "none"} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, name)))
	}
	require.NoError(t, unix.Mkfifo(filepath.Join(root, "pipe"), 0o644))
	if os.Geteuid() == 0 {
		mounted := filepath.Join(root, "mounted")
		require.NoError(t, os.Mkdir(mounted, 0o755))
		require.NoError(t, unix.Mount(dir, mounted, "", unix.MS_BIND, ""))
		defer func() { assert.NoError(t, unix.Unmount(mounted, 0)) }()
	}
	at, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(at)
	for _, name := range []string{"file", "a/b/file", "a", "a/b", ".", "a/./b", "", "/", "/file", "none", "none/file", "..",
		"../outside", "a/../../outside", "a/b/file/x", "up", "up/outside", "inner", "inner/b/file", "absolute",
		"absolute/passwd", "toFile", "magic/etc/passwd", "nowhere", "pipe", "closed", "closed/x", "mounted",
		"mounted/outside", "mounted/root/a"} {
		for _, flags := range []int{unix.O_PATH, unix.O_PATH | unix.O_DIRECTORY, unix.O_RDONLY | unix.O_NONBLOCK,
			unix.O_RDONLY | unix.O_DIRECTORY, unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL} {
			for _, resolve := range []uint64{noLinks, noMounts} {
				how := unix.OpenHow{Flags: uint64(flags | unix.O_NOFOLLOW | unix.O_CLOEXEC), Resolve: resolve}
				mode := uint32(0)
				if flags&unix.O_CREAT != 0 {
					mode, how.Mode = 0o600, 0o600
				}
				want, wantErr := unix.Openat2(at, name, &how)
				if wantErr == nil && mode != 0 {
					require.NoError(t, unix.Unlinkat(at, name, 0)) // so that the other one can make it
				}
				got, err := stepwise(at, name, flags, mode, resolve)
				if err == nil && mode != 0 {
					require.NoError(t, unix.Unlinkat(at, name, 0))
				}
				require.Equal(t, wantErr == nil, err == nil, "%q, %x, %x: %v, and openat2: %v", name, flags, resolve, err, wantErr)
				if err != nil {
					continue
				}
				var one, other unix.Stat_t
				require.NoError(t, unix.Fstat(got, &one))
				require.NoError(t, unix.Fstat(want, &other))
				if mode == 0 {
					assert.Equal(t, [2]uint64{other.Dev, other.Ino}, [2]uint64{one.Dev, one.Ino}, name)
				}
				unix.Close(got)
				unix.Close(want)
			}
		}
	}
	_, err = stepwise(at, "a/..", unix.O_PATH, 0, noLinks) // openat2 opens it: it does not lead out
	assert.ErrorIs(t, err, unix.EXDEV)
}
