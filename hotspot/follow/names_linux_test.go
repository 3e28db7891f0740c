package follow

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/threads"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/printassembly"
)

// TestNames: the log has the whole names of the threads, with the ids that a sampler outside of the JVM's PID namespace
// sees.
func TestNames(t *testing.T) {
	gasmtest.NeedTime(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Names.java"))
	java := []string{gasmtest.NeedJava(t), "-cp", classes, "Names"}
	t.Run("same namespace", func(t *testing.T) {
		cmd := startNames(t, java)
		checkLoggedNames(t, cmd.Process.Pid)
	})
	t.Run("another namespace", func(t *testing.T) {
		gasmtest.NeedRoot(t)
		unshare := gasmtest.NeedTool(t, "unshare", "apt install util-linux")
		cmd := startNames(t, append([]string{unshare, "-pf", "--kill-child", "--mount-proc"}, java...))
		text, err := exec.Command("pgrep", "-P", strconv.Itoa(cmd.Process.Pid)).Output()
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		checkLoggedNames(t, pid)
	})
}

// startNames starts the program, and returns when its threads run.
func startNames(t *testing.T, command []string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		input.Close() // ends the program
		assert.NoError(t, cmd.Wait())
	})
	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan())
	require.Equal(t, "ready", lines.Text())
	return cmd
}

// If gasm finds a JVM while it is starting, the names of its threads can be read later.
func TestNamesOfStartingJVM(t *testing.T) {
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Names.java"))
	command := []string{gasmtest.NeedJava(t), "-cp", classes, "Names"}
	for range 20 { // on a busy machine, the process may run for longer than intended
		if n, pid := stoppedEarly(t, command); n != nil {
			require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
			require.Eventually(t, func() bool {
				return slices.ContainsFunc(n.read(), func(thread threads.Thread) bool { return thread.Name == "main" })
			}, time.Minute, 10*time.Millisecond)
			return
		}
	}
	t.Error("no JVM was stopped between the making of its code cache and the loading of class Thread")
}

// stoppedEarly starts the program, and lets it run for some 100 µs at a time until it has a code cache. Then the
// process stays stopped. stoppedEarly returns nil if the class Thread is already loaded by then.
func stoppedEarly(t *testing.T, command []string) (n *names, pid int) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	pid = cmd.Process.Pid
	t.Cleanup(func() {
		input.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p, err := foreign.Open(pid)
	require.NoError(t, err)
	defer p.Close()
	f := &Follower{pid: pid, o: Options{JVMs: shared.NewJVMs()}}
	for limit := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Microsecond) {
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		require.Eventually(t, func() bool {
			stat, err := p.Stat()
			return err == nil && stat.Stopped()
		}, time.Minute, 10*time.Microsecond)
		err := f.open()
		if err == nil {
			break
		}
		require.True(t, time.Now().Before(limit), "%v", err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	}
	n = newNames(pid, f.jvm.VM)
	if len(n.read()) > 0 || n.reader != nil {
		return nil, pid
	}
	return n, pid
}

func checkLoggedNames(t *testing.T, pid int) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "asm.log")
	f, err := Start(pid, Options{Log: log, StartMonoNanos: monotonic.Nanos(), StartWallMillis: time.Now().UnixMilli()})
	require.NoError(t, err)
	f.Stop() // Stop reads the names once more
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	read, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), log)
	require.NoError(t, err)
	p, err := foreign.Open(pid)
	require.NoError(t, err)
	defer p.Close()
	running := p.Threads()
	found := map[string]bool{}
	for tid, names := range read.ThreadNames {
		assert.Contains(t, running, tid, "%v", names)
		assert.Len(t, names, 1, "written once")
		found[names[0]] = true
	}
	for _, name := range []string{"main", "exactly-15-byte", "one more than the kernel keeps", "线程-1 一个很长的名字",
		"a 'quoted' <name> & more"} {
		assert.True(t, found[name], "%s; there are %v", name, read.ThreadNames)
	}
}
