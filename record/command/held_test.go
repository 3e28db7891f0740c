package command

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func TestMain(m *testing.M) {
	if code, held := RunHolder(); held {
		os.Exit(code)
	}
	gasmtest.ProtectTmp()
	os.Exit(m.Run())
}

// A launched is a command whose stdout and stderr are pipes that the test reads.
type launched struct {
	*Held
	out, err       *os.File
	outEnd, errEnd *os.File
}

// start starts a held command, with the options of opts except for the outputs.
func start(t testing.TB, opts Options, command ...string) launched {
	t.Helper()
	var l launched
	var err error
	l.out, l.outEnd = pipe(t)
	l.err, l.errEnd = pipe(t)
	opts.Command, opts.Stdout, opts.Stderr = command, l.outEnd, l.errEnd
	if l.Held, err = Start(opts); err != nil {
		t.Fatal(err)
	}
	return l
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// finish releases the command and returns all that it printed.
func (l launched) finish(t testing.TB) (out, stderr []byte, code int) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	return l.printed()
}

// printed waits for the end of a command that was released, and returns all that it printed.
func (l launched) printed() (out, stderr []byte, code int) {
	outs, errs := make(chan []byte), make(chan []byte)
	read := func(f *os.File, to chan []byte) {
		text, _ := io.ReadAll(f)
		to <- text
	}
	go read(l.out, outs)
	go read(l.err, errs)
	code = l.Wait()
	l.outEnd.Close()
	l.errEnd.Close()
	return <-outs, <-errs, code
}

func sh(t testing.TB, script string, args ...string) (out, stderr string, code int) {
	t.Helper()
	o, e, code := start(t, Options{}, append([]string{"sh", "-c", script, "name"}, args...)...).finish(t)
	return string(o), string(e), code
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestLaunchHolds(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	l := start(t, Options{}, "sh", "-c", `touch "$0"; echo $$`, marker)
	time.Sleep(50 * time.Millisecond)
	if _, err := os.Stat(marker); err == nil {
		t.Error("the command ran before its release")
	}
	pid := l.PID()
	if !alive(pid) {
		t.Error("no process to attach to")
	}
	out, _, code := l.finish(t)
	if code != 0 || string(out) != strconv.Itoa(pid)+"\n" || l.PID() != pid {
		t.Errorf("got code %d, pid %q, want %d", code, out, pid)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Error("the command did not run after its release")
	}
}

func TestLaunchPassesThrough(t *testing.T) {
	t.Setenv("GASM_TEST", "a b\n'c'")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	out, stderr, code := sh(t, `printf '%s|' "$0" "$@" "$GASM_TEST" "$(pwd)"; echo oops >&2; exit 3`, "", "a b", "-x",
		"$y")
	if want := "name||a b|-x|$y|a b\n'c'|" + dir + "|"; out != want || stderr != "oops\n" || code != 3 {
		t.Errorf("got %q, %q, code %d, want %q, oops, code 3", out, stderr, code, want)
	}
	// The program is named by a relative path, and argv[0] must be what the user wrote.
	if err := os.WriteFile("tool", []byte("#!/bin/sh\necho \"$0\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, _, code := start(t, Options{}, "./tool").finish(t); string(out) != "./tool\n" || code != 0 {
		t.Errorf("got %q, code %d, want ./tool", out, code)
	}
	stdin, stdinEnd := pipe(t)
	stdinEnd.WriteString("typed")
	stdinEnd.Close()
	if out, _, _ := start(t, Options{Stdin: stdin}, "cat").finish(t); string(out) != "typed" {
		t.Errorf("got %q from stdin", out)
	}
}

func TestLaunchExitCodes(t *testing.T) {
	for script, want := range map[string]int{
		"true": 0, "exit 3": 3, "exit 255": 255, "kill -9 $$": 137, "kill -15 $$": 143, "nosuchcommand": 127,
	} {
		if _, _, code := sh(t, script); code != want {
			t.Errorf("%q: got %d, want %d", script, code, want)
		}
	}
	l := start(t, Options{}, "sleep", "100")
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	l.signal(syscall.SIGTERM)
	if _, _, code := l.printed(); code != 143 {
		t.Errorf("after SIGTERM: got %d, want 143", code)
	}
	l.signal(syscall.SIGTERM) // does nothing, because the process has ended
}

// TestLaunchProcess compares what a process gets from its parent with what it
// gets from a plain start: signals, limits, open files.
func TestLaunchProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	// The descriptors are those with which this test was started, and some more.
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	passed := []int{3, 5, 8, 10, 200}
	for _, fd := range passed {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			t.Logf("descriptor %d is open already, with flags %d", fd, flags)
			continue
		}
		if err := unix.Dup2(int(null.Fd()), fd); err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(fd)
	}
	script :=
		`grep ^Sig /proc/self/status | grep -v SigQ; ulimit -n; ulimit -Hn; ls /proc/self/fd; umask; ps -o pgid= -p $$; ls -l /proc/self/fd >&2`
	cmd := exec.Command("sh", "-c", script)
	// Go's fork needs a descriptor for itself. It uses the first number above those that it passes on, and that may
	// be one of these descriptors.
	high, err := unix.FcntlInt(null.Fd(), unix.F_DUPFD_CLOEXEC, 900)
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.NewFile(uintptr(high), os.DevNull)
	defer stdin.Close()
	cmd.Stdin = stdin
	var wantErr strings.Builder // the targets of the descriptors, to find out which one is too many
	cmd.Stderr = &wantErr
	want, err := cmd.Output()
	if err != nil {
		t.Skip(err)
	}
	for _, fd := range passed {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 &&
			!strings.Contains(string(want), fmt.Sprintf("\n%d\n", fd)) {
			t.Errorf("descriptor %d is not passed on: %s", fd, want)
		}
	}
	if got, gotErr, _ := sh(t, script); got != string(want) {
		t.Errorf("got\n%s\n%s\nwant\n%s\n%s", got, gotErr, want, &wantErr)
	}
}

func TestLaunchStdoutBytes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "random")
	want := make([]byte, 1<<20)
	rand.Read(want)
	if err := os.WriteFile(file, want, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, see := range []func([]byte, int64){nil, func([]byte, int64) {}} {
		out, _, code := start(t, Options{SeeStdout: see}, "cat", file).finish(t)
		if code != 0 || !bytes.Equal(out, want) {
			t.Errorf("got code %d and %d bytes, which are other ones", code, len(out))
		}
	}
}

func TestLaunchSlowReader(t *testing.T) {
	l := start(t, Options{}, "sh", "-c", "head -c 5000000 /dev/zero")
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	total := make(chan int)
	go func() {
		sum, buf := 0, make([]byte, 1<<18)
		time.Sleep(1500 * time.Millisecond) // longer than gasm waits for a silent background process
		for {
			n, err := l.out.Read(buf)
			sum += n
			if err != nil {
				total <- sum
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	code := l.Wait()
	l.outEnd.Close()
	if sum := <-total; code != 0 || sum != 5000000 {
		t.Errorf("got code %d, %d bytes", code, sum)
	}
}

func TestLaunchBackgroundChild(t *testing.T) {
	began := time.Now()
	l := start(t, Options{}, "sh", "-c", "sleep 600 2>/dev/null & echo $!")
	out, _, code := l.finish(t)
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("waited %v", took)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if code != 0 || err != nil {
		t.Fatalf("got code %d, %q", code, out)
	}
	if !alive(pid) {
		t.Error("the child in the background is gone")
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestLaunchClosedStdout(t *testing.T) {
	l := start(t, Options{}, "sh", "-c", "exec yes")
	l.out.Close()
	if _, _, code := l.finish(t); code != 128+int(syscall.SIGPIPE) {
		t.Errorf("got %d, want death by SIGPIPE", code)
	}
}

func TestAbandon(t *testing.T) {
	l := start(t, Options{}, "touch", filepath.Join(t.TempDir(), "ran"))
	pid, marker := l.PID(), l.cmd.Args[len(l.cmd.Args)-1]
	l.Abandon()
	if alive(pid) {
		t.Error("the process is still there")
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the command ran")
	}
}

// awaitEnd waits until the held process has ended, with all its threads. It is still a zombie, because nobody has
// waited for it.
func (l launched) awaitEnd(t *testing.T) {
	t.Helper()
	l.awaitThreads(t, "stat", "the held process ends", func(all []string) bool {
		return !slices.ContainsFunc(all, func(stat string) bool { return !strings.Contains(stat, ") Z ") })
	})
}

// awaitGate waits until the held process waits for its release, which means that one of its threads reads a byte from
// the gate.
func (l launched) awaitGate(t *testing.T) {
	t.Helper()
	l.awaitThreads(t, "syscall", "the held process waits", func(all []string) bool {
		return slices.ContainsFunc(all, func(call string) bool { // "0 0x3 0xc00001a0a8 0x1 …": read(3, …, 1)
			words := strings.Fields(call)
			return len(words) > 3 && words[1] == "0x3" && words[3] == "0x1"
		})
	})
}

// awaitThreads waits until ok returns true for the contents of a file in /proc, of all threads of the held process.
func (l launched) awaitThreads(t *testing.T, file, what string, ok func(all []string) bool) {
	t.Helper()
	if runtime.GOOS != "linux" {
		time.Sleep(300 * time.Millisecond) // there is no /proc
		return
	}
	eventually(t, what, func() bool {
		var all []string
		paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", l.PID(), file)) // the pattern is well-formed
		for _, path := range paths {
			if text, err := os.ReadFile(path); err == nil { // otherwise the thread has ended
				all = append(all, string(text))
			}
		}
		return ok(all)
	})
}

// eventually waits until ok returns true. what describes this for the error message.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// TestHolderKilled ends the held process before its release.
func TestHolderKilled(t *testing.T) {
	l := start(t, Options{}, "true")
	l.signal(syscall.SIGKILL)
	l.awaitEnd(t)
	err := l.Release()
	if err == nil || !strings.Contains(err.Error(), "launching true: ") {
		t.Errorf("got %v", err)
	}
}

// TestHolderStopped checks that a signal to stop ends the held process, whenever the signal comes. It must not print
// anything, not even the stacks that the Go runtime prints at SIGQUIT.
func TestHolderStopped(t *testing.T) {
	const whenHeld = time.Hour // not a time: it means that the signal comes when the process waits for its release
	marker := filepath.Join(t.TempDir(), "ran")
	check := func(sig syscall.Signal, after time.Duration) {
		l := start(t, Options{}, "touch", marker)
		if after == whenHeld {
			l.awaitGate(t)
		} else {
			time.Sleep(after)
		}
		l.signal(sig)
		l.awaitEnd(t)
		if err := l.Release(); err == nil {
			t.Errorf("%v after %v: the command ran with exit code %d", sig, after, l.Wait())
			return
		}
		// In its first moments, the Go runtime ends with an exit code of its own.
		if got := l.StoppedBy(); got != sig && after == whenHeld {
			t.Errorf("%v after %v: got %v", sig, after, got)
		}
		l.outEnd.Close()
		l.errEnd.Close()
		if text, _ := io.ReadAll(l.err); len(text) > 0 {
			t.Errorf("%v after %v: stderr %q", sig, after, text)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			t.Logf("%v is ignored here, as below nohup, and so it is in the command", sig)
			continue
		}
		for _, after := range []time.Duration{0, 3 * time.Millisecond, 10 * time.Millisecond, whenHeld} {
			check(sig, after)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the command ran")
	}
}

func TestCommandErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "hello", 0o644)
	write("noprogram", "hello", 0o755)
	write("empty", "", 0o755)
	write("nointerpreter", "#!/no/such/shell\n", 0o755)
	write("loop", "#!"+filepath.Join(dir, "loop")+"\n", 0o755)
	check := func(command, want string, is error) {
		t.Helper()
		out, outEnd := pipe(t)
		defer out.Close()
		l, err := Start(Options{Command: []string{command, "arg"}, Stdout: outEnd})
		if err == nil {
			err = l.Release()
		}
		var commandErr *Error
		if !errors.As(err, &commandErr) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", command, err, want)
		}
		if is != nil && !errors.Is(err, is) {
			t.Errorf("%s: %v is not %v", command, err, is)
		}
	}
	check("nosuchcommand", "command not found: nosuchcommand (is it on your PATH?)", exec.ErrNotFound)
	check("./nosuchcommand", "command not found: ./nosuchcommand", os.ErrNotExist)
	check("", "command not found:  (is it on your PATH?)", exec.ErrNotFound)
	check("./plain", "cannot run ./plain: permission denied (is it executable?)", os.ErrPermission)
	check("plain", "command not found: plain (is it on your PATH?)", nil)
	check(dir, "cannot run "+dir+": is a directory", syscall.EISDIR)
	check("./noprogram", "cannot run ./noprogram: it is neither a program nor a script with a #! line", syscall.ENOEXEC)
	check("empty", "cannot run empty: it is neither a program nor a script with a #! line", syscall.ENOEXEC)
	check("nointerpreter", "cannot run nointerpreter: "+errNoInterpreter.Error(), nil)
	check("loop", "cannot run loop: too many levels of symbolic links", nil)
	check("./plain/x", "cannot run ./plain/x: not a directory", nil)
}

// TestLaunchLeaks checks that many launches leave no descriptors and no goroutines behind.
func TestLaunchLeaks(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("hello"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	launch := func(command string) *Held {
		l, err := Start(Options{Command: []string{command}, Stdout: out, Stderr: out})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	once := func() {
		l := launch("true")
		if err := l.Release(); err != nil || l.Wait() != 0 {
			t.Fatalf("true failed: %v", err)
		}
		launch("true").Abandon()
		if err := launch(bad).Release(); err == nil {
			t.Fatal("no error")
		}
	}
	runtime.GC() // closes the files that earlier tests have left open
	once()
	time.Sleep(50 * time.Millisecond) // by then, its goroutines should have ended
	files, goroutines := openFiles(t), runtime.NumGoroutine()
	for range 17 {
		once()
	}
	if n := openFiles(t); !slices.Equal(n, files) {
		t.Errorf("open files: %q, before %q", n, files)
	}
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
}

func openFiles(t *testing.T) []string {
	t.Helper()
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if f, err := os.Open(dir); err == nil {
			names, _ := f.Readdirnames(-1)
			f.Close()
			slices.Sort(names)
			return names
		}
	}
	t.Skip("no list of open files here")
	return nil
}
