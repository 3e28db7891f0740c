package hostile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var otherGasm = flag.String("gasm", "", "attack the gasm at this `path` instead of the project's")

var (
	binary  string // gasm
	folder  string // what all tests share; every user can read it
	kept    string // captures that gasm keeps
	classes string // of the programs
)

func TestMain(m *testing.M) {
	if os.Getenv(attackEnv) != "" {
		os.Exit(attack())
	}
	if os.Getenv(neighbourEnv) != "" {
		os.Exit(raceForFolder())
	}
	if path := os.Getenv(mapsEnv); path != "" {
		os.Exit(mapAndSleep(path))
	}
	if name := os.Getenv(overlayEnv); name != "" {
		os.Exit(serveOverlay(name))
	}
	if dir := os.Getenv(serveEnv); dir != "" {
		os.Exit(serveSilent(dir))
	}
	flag.Parse()
	gasmtest.ProtectTmp()
	os.Exit(func() int {
		var err error
		// The folder is not in /tmp, because attackers mount other folders over /tmp.
		if folder, err = os.MkdirTemp("/var/tmp", "gasm-hostile-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		if err := os.Chmod(folder, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		binary, classes, kept = *otherGasm, filepath.Join(folder, "classes"), filepath.Join(folder, "kept")
		if err := os.Mkdir(kept, 0o700); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if binary == "" {
			binary = filepath.Join(folder, "gasm")
			if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "..").CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}

var compiling sync.Mutex

// programs compiles the Java programs once, and returns the folder of the classes.
func programs(t *testing.T) string {
	t.Helper()
	compiling.Lock()
	defer compiling.Unlock()
	if _, err := os.Stat(classes); err != nil {
		gasmtest.CompileJava(t, classes, 11, gasmtest.Testdata("programs", "Spin.java"),
			gasmtest.Testdata("programs", "Starts.java"))
	}
	return classes
}

// someJDKs returns the JDKs with which the attacks are tried.
func someJDKs(t *testing.T) []gasmtest.JDK {
	t.Helper()
	return gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 17 || j.Feature == 25 })
}

// needNative skips the test if gasm can't do here what the test attacks.
func needNative(t *testing.T) {
	t.Helper()
	gasmtest.NeedRoot(t)
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
}

// everything is the list of flags with which gasm does all that it can do to a JVM.
var everything = []string{"--events", "default,alloc", "--probe", "Spin::spin", "--probe-sdt", "Spin::spinUntil",
	"--debug-info", "--stacks"}

// A run is a gasm process that has ended.
type run struct {
	code   int
	stdout string
	stderr string
	took   time.Duration
}

// hangTime is the time after which a test assumes that gasm hangs. It is far longer than any run here takes, even on
// a busy machine.
const hangTime = time.Minute

// runGasm runs gasm. It fails the test if gasm hangs or crashes.
func runGasm(t *testing.T, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangTime)
	defer cancel()
	cmd := gasmCommand(ctx, args...)
	return finish(t, cmd, start(t, cmd))
}

func gasmCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "TMPDIR="+kept)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Groups: []uint32{0}}} // as after a login
	return cmd
}

// A started is a gasm process that was started. Its output is collected in buffers.
type started struct {
	began          time.Time
	stdout, stderr gasmtest.Output
}

func start(t *testing.T, cmd *exec.Cmd) *started {
	t.Helper()
	s := &started{began: time.Now()}
	cmd.Stdout, cmd.Stderr = &s.stdout, &s.stderr
	require.NoError(t, cmd.Start())
	return s
}

func finish(t *testing.T, cmd *exec.Cmd, s *started) run {
	t.Helper()
	err := cmd.Wait()
	r := run{cmd.ProcessState.ExitCode(), s.stdout.String(), s.stderr.String(), time.Since(s.began)}
	t.Logf("gasm %s: exit code %d after %.1f s: %s", strings.Join(cmd.Args[1:], " "), r.code, r.took.Seconds(),
		firstLines(r.stderr))
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Errorf("gasm: %v", err)
	}
	if r.took >= hangTime {
		t.Errorf("gasm hangs: it was killed after %s", hangTime)
	}
	if strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "panic:") {
		t.Errorf("gasm has fallen over: %s", r.stderr)
	}
	return r
}

// firstLines returns the beginning of what gasm has printed.
func firstLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[:min(len(lines), 8)], " | ")
}

// isAlive reports whether a process exists.
func isAlive(pid int) bool { return syscall.Kill(pid, 0) == nil }
