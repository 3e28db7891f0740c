package windows

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestJMHFileSparse checks a sparse file that begins like JMH's. It may be of any size without taking space on the
// disk. When gasm ends, it must not read the file to its end.
func TestJMHFileSparse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.txt")
	require.NoError(t, os.WriteFile(path, []byte(jmhHead), 0o600))
	f := newJMHFile(path, nil, func([]byte, int64) {})
	require.NoError(t, os.Truncate(path, 1<<42))
	go f.run()
	require.Eventually(t, func() bool { // it is being read
		_, info, err := f.open()
		return err == nil && info.Size == 1<<42
	}, time.Minute, time.Millisecond)
	f.stop()
	select {
	case <-f.done:
	case <-time.After(30 * time.Second):
		t.Fatal("it is still being read")
	}
}

// TestJMHFileOfUser checks that the file of another user's JVM is read with the rights of that user, because the path
// may lead to a file of this user.
func TestJMHFileOfUser(t *testing.T) {
	gasmtest.NeedRoot(t)
	dir, err := os.MkdirTemp("/var/tmp", "gasm-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, gasmtest.Nobody, gasmtest.Nobody))
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	text := jmhHead + "# Fork: 1 of 1\n"
	path, ours := filepath.Join(dir, "out.txt"), filepath.Join(t.TempDir(), "ours.txt")
	require.NoError(t, os.WriteFile(ours, []byte(text), 0o600))
	for what, create := range map[string]func() error{
		"a file":             func() error { return os.WriteFile(path, []byte(text), 0o644) },
		"a file of root's":   func() error { return os.WriteFile(path, []byte(text), 0o600) },
		"a link to root's":   func() error { return os.Symlink(ours, path) },
		"a pipe":             func() error { return syscall.Mkfifo(path, 0o666) },
		"a name of a folder": func() error { return os.Mkdir(path, 0o777) },
	} {
		t.Run(what, func(t *testing.T) {
			p, err := foreign.Open(cmd.Process.Pid)
			require.NoError(t, err)
			w, err := p.World(t.Context())
			require.NoError(t, err)
			defer p.Close()
			seen := make(chan string, 100)
			f := newJMHFile(path, w, func(out []byte, _ int64) { seen <- string(out) })
			go f.run()
			require.NoError(t, create())
			defer os.Remove(path)
			if what == "a file" { // otherwise, it may be taken for an older run's
				require.Eventually(t, func() bool { return len(seen) > 0 || create() != nil }, time.Minute, pollJMHFile)
				assert.Contains(t, <-seen, text)
			} else {
				time.Sleep(3 * pollJMHFile)
			}
			f.stop()
			<-f.done
			if what != "a file" {
				assert.Empty(t, seen)
			}
		})
	}
}
