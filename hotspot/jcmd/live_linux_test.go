package jcmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

const waiterSource = `public class Waiter {
    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        System.in.read();
    }
}
`

// waiterClasses compiles a program that waits for its stdin, for JDK 8 and newer and for all users. It returns the
// class path.
func waiterClasses(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "Waiter.java")
	require.NoError(t, os.WriteFile(source, []byte(waiterSource), 0o644))
	gasmtest.CompileJava(t, dir, 8, source)
	for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o755))
	}
	return dir
}

// A waiting is a program that waits, and the lines of its output.
type waiting struct {
	pid   int
	lines *bufio.Scanner
	stdin io.Closer
}

// startWaiter starts a command that becomes the program, and waits until the program's main runs. The process is
// ended when the test ends.
func startWaiter(t *testing.T, cmd *exec.Cmd) *waiting {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	})
	w := &waiting{cmd.Process.Pid, bufio.NewScanner(stdout), stdin}
	for w.lines.Scan() && w.lines.Text() != "READY" {
	}
	require.Equal(t, "READY", w.lines.Text())
	return w
}

// rest ends the program, and returns what it has printed since it was ready.
func (w *waiting) rest() (text []string) {
	w.stdin.Close()
	for w.lines.Scan() {
		text = append(text, w.lines.Text())
	}
	return text
}

func allJDKs(gasmtest.JDK) bool { return true }

func run(t *testing.T, pid int, command string) (string, error) {
	t.Helper()
	p, err := foreign.Open(pid)
	if err != nil {
		return "", err
	}
	defer p.Close()
	return Run(limited(t), p, command)
}

// opened opens a process for the duration of the test.
func opened(t *testing.T, pid int) *foreign.Process {
	t.Helper()
	p, err := foreign.Open(pid)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// TestRun talks to JVMs of all releases on this machine.
func TestRun(t *testing.T) {
	classes := waiterClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, allJDKs) {
		t.Run(j.Name()+"-Xrs", func(t *testing.T) {
			w := startWaiter(t, exec.Command(j.Java(), "-Xrs", "-cp", classes, "Waiter"))
			_, err := run(t, w.pid, "VM.version")
			require.NoError(t, err)
			assert.Empty(t, w.rest())
		})
		t.Run(j.Name(), func(t *testing.T) {
			w := startWaiter(t, exec.Command(j.Java(), "-cp", classes, "Waiter"))
			for range 2 { // the second time, the JVM listens already
				text, err := run(t, w.pid, "VM.version")
				require.NoError(t, err)
				assert.Contains(t, text, "JDK "+strings.TrimPrefix(fmt.Sprint(j.Feature), "1."))
			}
			_, err := run(t, w.pid, "VM.none")
			var failed *FailedError
			require.ErrorAs(t, err, &failed)
			assert.ErrorContains(t, err, "Unknown diagnostic command")
			assert.NoFileExists(t, fmt.Sprintf("/tmp/.attach_pid%d", w.pid))
			assert.Empty(t, w.rest(), "nothing is printed")
		})
	}
}

// TestLog makes JVMs log to a file whose name contains blanks, and then makes them stop.
func TestLog(t *testing.T) {
	classes := waiterClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature > 8 }) {
		t.Run(j.Name(), func(t *testing.T) {
			w := startWaiter(t, exec.Command(j.Java(), "-cp", classes, "Waiter"))
			path := filepath.Join(t.TempDir(), "it's a log.txt")
			ctx, p := limited(t), opened(t, w.pid)
			require.NoError(t, StartLog(ctx, p, path, "gc,safepoint=debug", "tn,tg", "filecount=0"))
			_, err := run(t, w.pid, "GC.run")
			require.NoError(t, err)
			assert.True(t, hasOpen(t, w.pid, path))
			require.NoError(t, StopLog(ctx, p, path))
			assert.False(t, hasOpen(t, w.pid, path))
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Regexp(t, `(?m)^\[\d+ns\]\[gc *\] GC\(0\) Pause Full`, string(text))
			var failed *FailedError
			err = StartLog(ctx, p, "/none/such/file", "gc", "", "")
			require.ErrorAs(t, err, &failed)
			assert.ErrorContains(t, err,
				"did not do VM.log: Error opening log file '/none/such/file': No such file or directory")
			require.ErrorAs(t, StartLog(ctx, p, path, "nonsense", "", ""), &failed)
			assert.Empty(t, w.rest(), "nothing is printed")
		})
	}
}

// limited returns a context that ends after two minutes.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// hasOpen reports whether a process has a file open.
func hasOpen(t *testing.T, pid int, path string) bool {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && target == path {
			return true
		}
	}
	return false
}

// TestRecording makes JVMs start, dump and end a recording with gasm's settings, and reads the files.
func TestRecording(t *testing.T) {
	classes := waiterClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, allJDKs) {
		t.Run(j.Name(), func(t *testing.T) {
			w := startWaiter(t, exec.Command(j.Java(), "-cp", classes, "Waiter"))
			dir := filepath.Join(t.TempDir(), "a folder")
			require.NoError(t, os.Mkdir(dir, 0o755))
			text, err := jfr.Settings(j.Feature, jfr.Kinds())
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "gasm.jfc"), []byte(text), 0o644))
			ctx, p := limited(t), opened(t, w.pid)
			require.NoError(t, StartRecording(ctx, p, "gasm", filepath.Join(dir, "gasm.jfc"), "", Kept{}))
			list, err := run(t, w.pid, "JFR.check")
			require.NoError(t, err)
			assert.Contains(t, list, "name=gasm")
			_, err = run(t, w.pid, "GC.run")
			require.NoError(t, err)
			require.NoError(t, DumpRecording(ctx, p, "gasm", filepath.Join(dir, "dump.jfr")))
			assert.FileExists(t, filepath.Join(dir, "dump.jfr"))
			require.NoError(t, StopRecording(ctx, p, "gasm", filepath.Join(dir, "run.jfr")))
			list, err = run(t, w.pid, "JFR.check")
			require.NoError(t, err)
			assert.NotContains(t, list, "gasm")
			require.NoError(t, StartRecording(ctx, p, "other", "profile", "", Kept{}))
			require.NoError(t, StopRecording(ctx, p, "other", ""))
			var failed *FailedError
			require.ErrorAs(t, StartRecording(ctx, p, "gasm", "/none.jfc", "", Kept{}), &failed)
			require.ErrorAs(t, DumpRecording(ctx, p, "none", filepath.Join(dir, "none.jfr")), &failed)
			require.ErrorAs(t, StopRecording(ctx, p, "none", ""), &failed)
			f, err := os.Open(filepath.Join(dir, "run.jfr"))
			require.NoError(t, err)
			defer f.Close()
			info, err := f.Stat()
			require.NoError(t, err)
			collections := 0
			r := jfr.NewReader(f, info.Size(), "run.jfr")
			for r.Scan() {
				if r.Event().Type().Name == "jdk.GarbageCollection" {
					collections++
				}
			}
			require.NoError(t, r.Err())
			assert.False(t, r.Damage().Any())
			assert.Positive(t, collections)
			assert.Empty(t, w.rest(), "nothing is printed")
		})
	}
}

// TestRefused: Run refuses to send SIGQUIT to JVMs for which that would have other effects, and to a program that is
// not a JVM. They keep running and print nothing.
func TestRefused(t *testing.T) {
	classes := waiterClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, allJDKs) {
		t.Run(j.Name(), func(t *testing.T) {
			w := startWaiter(t, exec.Command(j.Java(), "-XX:+DisableAttachMechanism", "-cp", classes, "Waiter"))
			_, err := run(t, w.pid, "VM.version")
			require.ErrorContains(t, err, "can't be told anything: it was started with -XX:+DisableAttachMechanism")
			assert.NoFileExists(t, fmt.Sprintf("/tmp/.attach_pid%d", w.pid))
			assert.Empty(t, w.rest())
		})
	}
	sleeper := exec.Command("sleep", "60")
	require.NoError(t, sleeper.Start())
	defer func() {
		require.NoError(t, sleeper.Process.Kill())
		_ = sleeper.Wait()
	}()
	_, err := run(t, sleeper.Process.Pid, "VM.version")
	require.ErrorContains(t, err, "it is not a JVM with HotSpot")
	_, err = run(t, os.Getpid(), "VM.version") // this process handles SIGQUIT by ending
	require.ErrorContains(t, err, "it is not a JVM with HotSpot")
	_, err = run(t, 1<<22, "VM.version")
	assert.ErrorContains(t, err, "no process has the id 4194304")
}

// TestStopped calls Run for a stopped JVM. Run returns when its time is over.
func TestStopped(t *testing.T) {
	w := startWaiter(t, exec.Command(gasmtest.NeedJava(t), "-cp", waiterClasses(t), "Waiter"))
	for _, listens := range []bool{false, true} {
		gasmtest.Stop(t, w.pid)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := Run(ctx, opened(t, w.pid), "VM.version")
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, "listens: %t", listens)
		require.NoError(t, unix.Kill(w.pid, unix.SIGCONT))
		_, err = run(t, w.pid, "VM.version")
		require.NoError(t, err)
	}
}

// TestOthers talks, as root, to JVMs of another user, and to one with its own /tmp and process ids.
func TestOthers(t *testing.T) {
	gasmtest.NeedRoot(t)
	classes := waiterClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, allJDKs) {
		t.Run(j.Name(), func(t *testing.T) {
			cmd := exec.Command(j.Java(), "-cp", classes, "Waiter")
			cmd.Dir = "/"
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: gasmtest.JVMOfNobody(t)}
			w := startWaiter(t, cmd)
			_, err := run(t, w.pid, "VM.version")
			require.NoError(t, err)
			assert.Empty(t, w.rest())
			assert.Equal(t, 0, os.Geteuid())
		})
		t.Run(j.Name()+"/namespaces", func(t *testing.T) {
			const script = `mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs none /mnt && cp "$1"/*.class /mnt &&
				mount -t tmpfs none /tmp && exec "$0" -cp /mnt Waiter`
			cmd := exec.Command("/bin/sh", "-c", script, j.Java(), classes)
			cmd.Dir = "/"
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID}
			w := startWaiter(t, cmd)
			_, err := run(t, w.pid, "VM.version")
			require.NoError(t, err)
			assert.NoFileExists(t, fmt.Sprintf("/tmp/.java_pid%d", w.pid))
		})
	}
}
