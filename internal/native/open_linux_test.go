package native

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// watchOpens returns a function that reports whether a file was opened since the last call.
func watchOpens(t *testing.T, path string) func() bool {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	_, err = unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
	require.NoError(t, err)
	return func() bool {
		n, err := unix.Read(fd, make([]byte, 4096))
		return err == nil && n > 0
	}
}

// foreignFolder returns a folder of the user "nobody", and the identity of that user.
func foreignFolder(t *testing.T) (string, foreign.User) {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir(); at = filepath.Dir(at) {
		require.NoError(t, os.Chmod(at, 0o755))
	}
	require.NoError(t, os.Chown(dir, 65534, 65534))
	return dir, foreign.User{UID: 65534, GID: 65534, Groups: []int{}}
}

// TestEndedProcess: if a process has ended, root opens its file with the rights of the process's user. It follows no
// link, because a link may have replaced the file since.
func TestEndedProcess(t *testing.T) {
	gasmtest.NeedRoot(t)
	const ended = 1 << 30 // no process has such an id
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	opened := watchOpens(t, secret)
	dir, nobody := foreignFolder(t)
	link, folderLink, file := filepath.Join(dir, "link"), filepath.Join(dir, "folder"), filepath.Join(dir, "file")
	require.NoError(t, os.Symlink(secret, link))
	require.NoError(t, os.Symlink(filepath.Dir(secret), folderLink))
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
	require.NoError(t, os.Chown(file, 65534, 65534))
	ours, ok := ownerOf(os.Getpid())
	require.True(t, ok)

	for name, o := range map[string]owner{"unknown": {}, "another user": {known: true, user: nobody, here: true},
		"a container's root": {known: true, user: ours.user}, "root": ours} {
		for _, path := range []string{link, filepath.Join(folderLink, "secret")} {
			_, _, err := openMapped(&Mapping{PID: ended, Path: path}, o)
			assert.Error(t, err, name)
			assert.False(t, opened(), "%s: %s leads to root's file, which was opened", name, path)
		}
	}
	_, _, err := openMapped(&Mapping{PID: ended, Path: secret}, owner{known: true, user: nobody, here: true})
	assert.ErrorIs(t, err, fs.ErrPermission)
	_, _, err = openMapped(&Mapping{PID: ended, Path: file}, owner{})
	assert.ErrorIs(t, err, errUnknownUser)
	_, _, err = OpenMapped(&Mapping{PID: ended, Path: file})
	assert.ErrorIs(t, err, errUnknownUser)
	for _, o := range []owner{ours, {known: true, user: nobody, here: true}} {
		f, _, err := openMapped(&Mapping{PID: ended, Path: file}, o)
		if assert.NoError(t, err) {
			f.Close()
		}
	}
}

// TestNote: a Resolver remembers the user of a process that has ended. If it never learned that user, it takes the user
// of the parent.
func TestNote(t *testing.T) {
	r := NewResolver()
	const ended, child = 1 << 30, 1<<30 + 1
	self := os.Getpid()
	r.Add(Mapping{PID: self, Lo: 1 << 20, Hi: 1 << 21, Path: "/file"})
	assert.Equal(t, os.Geteuid(), r.owners[self].user.UID)
	assert.True(t, r.owners[self].known && r.owners[self].here)
	r.Fork(self, ended)
	r.Add(Mapping{PID: ended, Lo: 1 << 20, Hi: 1 << 21, Path: "/file"})
	assert.Equal(t, r.owners[self].owner, r.owners[ended].owner)
	r.Exec(ended)
	r.Fork(ended, child)
	assert.Equal(t, r.owners[self].owner, r.owners[child].owner)
	r.Forget(ended)
	r.Fork(ended, child)
	assert.False(t, r.owners[child].known, "the parent is unknown")
	r.Fork(self, child)
	r.Forget(child)
	assert.Len(t, r.owners, 1, "what has ended leaves nothing")
}

// TestFailureOfOneUser: functions of a file that could not be opened as one user are still named in the processes of
// another user.
func TestFailureOfOneUser(t *testing.T) {
	gasmtest.NeedRoot(t)
	lib := compile(t, shared...)
	r := NewResolver()
	a := symbolOf(t, lib, "exported_a")
	const unknown, known = 1 << 30, 1<<30 + 1
	mapLibrary(t, r, lib, known, base)
	mapLibrary(t, r, lib, unknown, base)
	r.owners[unknown] = notedOwner{}
	for range 2 {
		got, ok := r.Resolve(unknown, base+a.lo, "")
		assert.True(t, ok)
		assert.Empty(t, got.Symbol)
		assert.Len(t, r.Notes(), 1)
	}
	got, _ := r.Resolve(known, base+a.lo, "")
	assert.Equal(t, "exported_a", got.Symbol)
}

// TestDebugFileOfOthers: a debug file beside a library is not opened if another user can decide where its name leads
// to.
func TestDebugFileOfOthers(t *testing.T) {
	lib := compile(t, shared...)
	dir := filepath.Dir(lib)
	debug, stripped := filepath.Join(dir, "lib.debug"), filepath.Join(dir, "stripped.so")
	run(t, "objcopy", "--only-keep-debug", lib, debug)
	run(t, "objcopy", "-S", "--add-gnu-debuglink="+debug, lib, stripped)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.Rename(debug, secret)) // its checksum is right
	opened := watchOpens(t, secret)
	ours, ok := ownerOf(os.Getpid())
	require.True(t, ok)
	read := func(path string, o owner) *image {
		t.Helper()
		finder := debugFinder{folder: t.TempDir(), note: func(string) {}}
		img, failure := readMapped(newReading(t), &Mapping{PID: 1 << 30, Path: path}, o, finder)
		require.Empty(t, failure)
		return img
	}

	require.NoError(t, os.Symlink(secret, debug))
	assert.False(t, read(stripped, ours).complete)
	assert.False(t, opened(), "through a link")
	require.NoError(t, os.Remove(debug))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".debug"), 0o755))
	require.NoError(t, os.Link(secret, filepath.Join(dir, ".debug", "lib.debug")))
	assert.True(t, read(stripped, ours).complete, "nobody else can have made it")
	assert.True(t, opened())

	elsewhere := ours
	elsewhere.here = false
	assert.False(t, read(stripped, elsewhere).complete)
	assert.False(t, opened(), "the path may be one in other mounts")
	for folder, mode := range map[string]os.FileMode{filepath.Join(dir, ".debug"): 0o777 | os.ModeSticky, dir: 0o777} {
		require.NoError(t, os.Chmod(folder, mode))
		assert.False(t, read(stripped, ours).complete)
		assert.False(t, opened(), "others can write to %s", folder)
		require.NoError(t, os.Chmod(folder, 0o755))
	}
	assert.True(t, read(stripped, ours).complete)
	opened()

	f, _, err := regular.Open(stripped)
	require.NoError(t, err)
	defer f.Close()
	assert.True(t, leadsTo(stripped, f))
	assert.False(t, leadsTo(lib, f))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, 65534, 65534))
		assert.False(t, read(stripped, ours).complete)
		assert.False(t, opened(), "the folder is another user's")
	}
	assert.False(t, isTrusted(filepath.Join(dir, "nothing")))
}

// TestOpenMappingOf checks that the file of a resolver's mapping can be opened.
func TestOpenMappingOf(t *testing.T) {
	code, _, _, _ := runtime.Caller(0)
	mappings, err := ReadMaps(os.Getpid())
	require.NoError(t, err)
	r := NewResolver()
	r.Add(mappings...)
	m, ok := r.Mapping(os.Getpid(), uint64(code))
	require.True(t, ok)
	f, size, err := OpenMapped(&m)
	require.NoError(t, err)
	defer f.Close()
	self, err := os.Stat("/proc/self/exe")
	require.NoError(t, err)
	assert.Equal(t, self.Size(), size)
	opened, err := f.Stat()
	require.NoError(t, err)
	assert.True(t, os.SameFile(self, opened))
}
