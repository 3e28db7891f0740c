package regular

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// within fails the test if do does not return in time.
func within(t *testing.T, limit time.Duration, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("not done within %s", limit)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("text"), 0o600))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
	require.NoError(t, os.Symlink("pipe", at("link-to-pipe")))
	socket, err := net.Listen("unix", at("socket"))
	require.NoError(t, err)
	defer socket.Close()
	reader, writer, err := os.Pipe() // like a shell's <(command)
	require.NoError(t, err)
	defer reader.Close()
	defer writer.Close()

	cases := map[string]string{at("pipe"): "a pipe", at("link-to-pipe"): "a pipe", at("socket"): "a socket",
		dir:         "a folder",
		"/dev/zero": "a device", os.DevNull: "a device"}
	if runtime.GOOS == "linux" {
		cases[fmt.Sprintf("/proc/self/fd/%d", reader.Fd())] = "a pipe"
		cases["/proc/self/status"] = "a file of the kernel's (proc)"
		// reading it waits for the kernel's next message
		cases["/proc/kmsg"] = "a file of the kernel's (proc)"
		// can't be opened for reading: it must not be tried
		cases["/proc/sys/vm/compact_memory"] = "a file of the kernel's (proc)"
		cases["/sys/kernel/notes"] = "a file of the kernel's (sysfs)"
	}
	for path, kind := range cases {
		if _, err := os.Stat(path); err != nil && filepath.Dir(path) != dir {
			continue // a container may not have it
		}
		within(t, time.Minute, func() {
			_, _, err := Open(path)
			var wrong *Error
			if assert.ErrorAs(t, err, &wrong, path) {
				assert.Equal(t, Error{path, kind}, *wrong)
				assert.Contains(t, err.Error(), path+" is "+kind+", ")
			}
		})
	}
	for _, path := range []string{at("file"), at("link")} {
		f, size, err := Open(path)
		require.NoError(t, err)
		text, err := io.ReadAll(f)
		require.NoError(t, err)
		assert.Equal(t, "text", string(text))
		assert.EqualValues(t, 4, size)
		f.Close()
		text, err = ReadFile(path, 4)
		require.NoError(t, err)
		assert.Equal(t, "text", string(text))
		_, err = ReadFile(path, 3)
		assert.ErrorContains(t, err, path+" has")
	}
	f, _, err := OpenNoLink(at("file"))
	require.NoError(t, err)
	f.Close()
	_, _, err = OpenNoLink(at("link"))
	assert.Equal(t, &Error{at("link"), "a link"}, err)
	require.NoError(t, os.Mkdir(at("folder"), 0o700))
	require.NoError(t, os.WriteFile(at("folder/file"), nil, 0o600))
	require.NoError(t, os.Symlink("folder", at("folder-link")))
	f, _, err = OpenWithoutLinks(at("folder/file"))
	require.NoError(t, err)
	f.Close()
	for _, path := range []string{at("link"), at("folder-link/file"), at("folder"), at("pipe")} {
		_, _, err = OpenWithoutLinks(path)
		assert.ErrorAs(t, err, new(*Error), path)
	}
	_, _, err = OpenWithoutLinks(at("nothing"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, _, err = Open(at("nothing"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// TestOpenReplaced: Open never blocks for a path that is a pipe at one time and a file at another.
func TestOpenReplaced(t *testing.T) {
	dir := t.TempDir()
	path, file, pipe := filepath.Join(dir, "path"), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Link(file, path))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		next := filepath.Join(dir, "next")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if os.Link([]string{pipe, file}[i%2], next) == nil {
				_ = os.Rename(next, path)
			}
		}
	}()
	within(t, time.Minute, func() {
		for range 5000 {
			if f, _, err := Open(path); err == nil {
				info, err := f.Stat()
				assert.NoError(t, err)
				assert.True(t, info.Mode().IsRegular())
				f.Close()
			}
		}
	})
	close(stop)
	<-stopped
}
