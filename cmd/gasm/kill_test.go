package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var (
	kills    = flag.Int("kills", 12, "how many runs TestKills kills")
	seedFlag = flag.Uint64("seed", 0, "the `seed` of TestKills and TestMutated; 0 for a new one")
)

// randomSeed returns the seed of a test that does something at random.
func randomSeed() uint64 {
	if *seedFlag != 0 {
		return *seedFlag
	}
	return uint64(time.Now().UnixNano()) % 1_000_000
}

// What a kill is sent to.
const (
	toGasm    = "gasm"
	toGroup   = "its group"
	toSampler = "the sampler"
	toJVM     = "the JVM"
)

// A kill describes a run of gasm in which a process is killed at some time.
type kill struct {
	target   string
	signal   syscall.Signal
	after    time.Duration // since gasm's start
	again    time.Duration // time until the same signal is sent once more; 0 for never
	terminal bool
	named    bool // by -o
	sampler  string
}

func (k kill) String() string {
	text := fmt.Sprintf("%v to %s after %v, %s", k.signal, k.target, k.after, k.sampler)
	for what, is := range map[string]bool{fmt.Sprintf("again after %v", k.again): k.again > 0, "on a terminal": k.terminal,
		"with -o": k.named} {
		if is {
			text += ", " + what
		}
	}
	return text
}

// randomKill returns a random kill within the 1.5 s that a run takes, or soon after that.
func randomKill(r *rand.Rand, dtrace bool) kill {
	k := kill{target: []string{toGasm, toGroup, toSampler, toJVM}[r.IntN(4)],
		signal: []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
			syscall.SIGKILL}[r.IntN(5)],
		after: time.Duration(r.Int64N(int64(2000 * time.Millisecond))), terminal: r.IntN(2) == 0, named: r.IntN(2) == 0,
		sampler: "perf"}
	if k.target != toSampler && r.IntN(2) == 0 {
		k.sampler = "native" // native sampling is done by gasm itself
	}
	if r.IntN(5) == 0 {
		k.again = time.Duration(r.Int64N(int64(500 * time.Millisecond)))
	}
	if dtrace && r.IntN(15) == 0 {
		k.sampler = "dtrace"
	}
	return k
}

// codes returns the exit codes that gasm may have. They depend on which process was killed, and when. 0 is possible
// if the run had already ended, or went on. text is what gasm and the JVM have printed.
func (k kill) codes(text string) []int {
	killed := 128 + int(k.signal)
	switch {
	case k.target == toSampler:
		return []int{0, 1}
	case k.target == toJVM: // 1: it was killed before it became the JVM, or its initialization has failed
		return []int{0, 1, killed}
	case strings.Contains(text, "Error occurred during initialization of VM"): // the JVM got the signal, too
		return []int{0, 1, killed}
	}
	return []int{0, killed}
}

// TestKills kills gasm, its process group, its sampler or the JVM at a random time. Each time, gasm must end soon
// with the right exit code, and the terminal must be as before. No process may be left, and no folder except those
// that gasm has announced. `go test ./cmd/gasm -run TestKills -kills 300` runs a longer test.
func TestKills(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedPerf(t)
	javaPrograms(t)
	_, err := exec.LookPath("dtrace")
	dtrace := err == nil && *kills > 100 && os.Geteuid() == 0 // a run with DTrace takes many seconds
	seed := randomSeed()
	t.Logf("-kills %d -seed %d", *kills, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range *kills {
		k := randomKill(random, dtrace)
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel() // each run has its own folder and terminal
			k.check(t)
		})
	}
}

// fileTick is an upper bound for the delay of the clock for the times of files. The kernel sets this clock at each of
// its ticks, at least 100 times a second.
const fileTick = 20 * time.Millisecond

// check runs gasm, kills a process, and checks what is left.
func (k kill) check(t *testing.T) {
	t.Log(k)
	began := time.Now().Add(-fileTick)
	temp := shortTemp(t)
	dir := filepath.Join(temp, "capture")
	args := []string{"profile", "--sampler", k.sampler}
	if k.named {
		args = append(args, "-o", dir)
	}
	r := startKilled(t, k.terminal, temp, append(args, "--", "java", "-Dsec=0.5", "-cp", classes, "Spin"))
	jvm := r.sendAll(k)
	r.awaitEnd(t)
	if r.tty != nil {
		assert.Equal(t, r.modes, modesOf(t, r.tty), "the terminal")
	}
	// If gasm is killed, the JVM continues to its own end.
	assertGone(t, temp)
	r.drain(t)
	code := r.code()
	assert.Contains(t, k.codes(r.out.String()), code, r.out.String())
	assert.NotContains(t, r.out.String(), "goroutine ", "a stack trace")
	assert.NotContains(t, r.out.String(), "DATA RACE")
	gone := code == 128+int(syscall.SIGKILL) && k.signal == syscall.SIGKILL && k.target != toJVM // killed: no cleanup
	k.checkFolders(t, temp, dir, r.out.String(), gone)
	if left := gasmtest.RemoveCompilerLogs(jvm, began); len(left) > 0 && !gone {
		t.Errorf("left by LogCompilation: %q", left)
	}
}

var keptIn = regexp.MustCompile(`the capture is kept in (\S+)`)

// checkFolders checks that the user asked for each folder that is left, or that gasm has announced it. A gasm that
// was killed can't announce anything; the next gasm removes its folder.
func (k kill) checkFolders(t *testing.T, temp, dir, text string, gone bool) {
	t.Helper()
	var told string
	if m := keptIn.FindStringSubmatch(text); m != nil {
		told = m[1]
		assert.DirExists(t, told)
		r := runGasm(t, []string{"report", told})
		assert.Contains(t, []int{0, 1}, r.code, r.stderr)
		t.Log(r.said())
	}
	if gone {
		runGasm(t, []string{"profile", "--", "true"}, withEnv("TMPDIR="+temp)) // removes what nobody needs
	}
	entries, err := os.ReadDir(temp)
	require.NoError(t, err)
	for _, e := range entries {
		path := filepath.Join(temp, e.Name())
		switch {
		case path == told, path == dir && k.named, strings.HasPrefix(e.Name(), "hsperfdata"): // that is HotSpot's
		default:
			t.Errorf("left: %s", path)
		}
	}
}

// A killedRun is a running gasm that is about to be killed.
type killedRun struct {
	cmd   *exec.Cmd
	temp  string
	tty   *os.File    // the test's end of the terminal; nil if there is no terminal
	modes *term.State // modes of the terminal before the run
	ended chan struct{}
	out   gasmtest.Output // stdout and stderr
	read  chan struct{}   // closed when all that was written to the terminal is in out
}

// startKilled starts gasm in a process group of its own, with or without a terminal. If there is a terminal, gasm is
// in its foreground.
func startKilled(t *testing.T, terminal bool, temp string, args []string) *killedRun {
	t.Helper()
	r := &killedRun{cmd: exec.Command(binary, args...), temp: temp, ended: make(chan struct{})}
	r.cmd.Env = append(os.Environ(), "TMPDIR="+temp, "TERM=xterm")
	r.cmd.Dir = t.TempDir() // for dumps of core
	if !terminal {
		r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
		r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		r.cmd.WaitDelay = time.Second // if gasm was killed, the JVM still has gasm's stderr
		require.NoError(t, r.cmd.Start())
	} else {
		ours, theirs, err := pty.Open()
		require.NoError(t, err)
		t.Cleanup(func() { theirs.Close(); ours.Close() })
		r.tty, r.modes = theirs, modesOf(t, theirs)
		r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = theirs, theirs, theirs
		r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		require.NoError(t, r.cmd.Start())
		r.read = make(chan struct{})
		go func() {
			defer close(r.read)
			_, _ = io.Copy(&r.out, ours) // EIO at its end
		}()
	}
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	return r
}

func modesOf(t *testing.T, tty *os.File) *term.State {
	t.Helper()
	modes, err := term.GetState(int(tty.Fd()))
	require.NoError(t, err)
	return modes
}

// sendAll sends the kill's signals, unless gasm ends earlier. It returns the JVM's process id, or 0 if it is not
// known.
func (r *killedRun) sendAll(k kill) (jvm int) {
	select {
	case <-r.ended:
		return 0
	case <-time.After(k.after):
	}
	for ; ; time.Sleep(time.Millisecond) {
		select {
		case <-r.ended:
			return 0
		default:
		}
		var sampler int
		jvm, sampler = r.children(k.sampler)
		pid := map[string]int{toGasm: r.cmd.Process.Pid, toGroup: -r.cmd.Process.Pid, toJVM: jvm,
			toSampler: sampler}[k.target]
		// Until main begins, the Go runtime handles SIGQUIT itself, and prints all stacks.
		if pid == 0 || k.signal == syscall.SIGQUIT && !r.begun() {
			continue
		}
		_ = syscall.Kill(pid, k.signal)
		if k.again == 0 {
			return jvm
		}
		time.Sleep(k.again)
		k.again = 0
	}
}

// begun reports whether gasm has made its folder.
func (r *killedRun) begun() bool {
	entries, _ := os.ReadDir(r.temp)
	return len(entries) > 0
}

// children returns the id of the process that is the JVM or will become it, and the id of the sampler. An id is 0 if
// there is no such process.
func (r *killedRun) children(tool string) (jvm, sampler int) {
	for _, child := range childrenOf(r.cmd.Process.Pid) {
		pid, _ := strconv.Atoi(child)
		command, _ := os.ReadFile("/proc/" + child + "/cmdline") // an error means that the process has ended
		switch words := strings.Split(string(command), "\x00"); {
		case filepath.Base(words[0]) == tool:
			sampler = pid
		case words[0] == binary || slices.Contains(words, "Spin"):
			jvm = pid
		}
	}
	return jvm, sampler
}

func (r *killedRun) awaitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(hangs): // gasm gives DTrace 10 s to print its last samples, 30 s to end, and as much to die
		t.Fatalf("gasm does not end: %s", r.out.String())
	}
}

// drain waits until out has everything that was written to the terminal. No process may have the terminal open any
// more.
func (r *killedRun) drain(t *testing.T) {
	t.Helper()
	if r.tty == nil {
		return
	}
	r.tty.Close()
	select {
	case <-r.read:
	case <-time.After(hangs):
		t.Fatalf("a process still has the terminal: %s", r.out.String())
	}
}

// code returns gasm's exit code, as a shell reports it.
func (r *killedRun) code() int {
	if status := r.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return r.cmd.ProcessState.ExitCode()
}

// shortTemp returns a folder for captures with a short, meaningless name.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gasm-kill-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
