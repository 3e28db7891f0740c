package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/report/schema"
)

// The tests run the real gasm program. It is built once, without the race detector, which would make what is measured
// several times slower. The tests of the single packages use the race detector.
//
// A test that neither measures time nor needs the whole machine is parallel, because most of its time it waits for
// JVMs. All other tests run before the parallel ones, one at a time.
var (
	binary  string // gasm
	classes string // testdata/programs, compiled
)

// blockedEnv is an environment variable that makes the test's program run the command in its arguments with
// perf_event_open blocked.
const blockedEnv = "GASM_TEST_BLOCKED"

// measuredEnv is an environment variable that makes the test's program run the command in its arguments. It writes
// three numbers to file descriptor 3: the command's exit code, its maximum memory in KiB, and its CPU time in ns.
//
// The maximum memory of a program includes that of the process that started it (exec_mmap in the kernel's fs/exec.c).
// The process of the tests has more memory than the programs to be measured, so it must not start them itself.
const measuredEnv = "GASM_TEST_MEASURED"

func TestMain(m *testing.M) {
	if os.Getenv(blockedEnv) != "" {
		fmt.Fprintln(os.Stderr, blocked(os.Args[1:]))
		os.Exit(1)
	}
	if filepath.Base(os.Args[0]) == "xcrun" {
		if err := xcrun(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(measuredEnv) != "" {
		if err := measured(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if code, held := record.Hold(); held {
		os.Exit(code)
	}
	gasmtest.ProtectTmp()
	// nohup ignores SIGHUP, and a shell ignores SIGINT and SIGQUIT for what it runs in the background. These signals
	// would not end a JVM that inherits this.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "gasm-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		// Users without privileges must be able to run gasm, too.
		if err := os.Chmod(dir, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		binary, classes = filepath.Join(dir, "gasm"), filepath.Join(dir, "classes")
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

var compiling sync.Mutex // for javaPrograms

// javaPrograms compiles testdata/programs once, and returns the folder of the classes. The subfolder jdk22 has
// programs that need a newer JDK than the default one.
func javaPrograms(t *testing.T) string {
	t.Helper()
	compiling.Lock()
	defer compiling.Unlock()
	if _, err := os.Stat(classes); err == nil {
		return classes
	}
	sources, err := filepath.Glob(gasmtest.Testdata("programs", "*.java"))
	require.NoError(t, err)
	gasmtest.CompileJava(t, classes, 17, sources...)
	return classes
}

// jdks returns the path of java in every JDK ≥ 17 on this machine, by the JDK's name.
func jdks(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, j := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		found[j.Name()] = j.Java()
	}
	return found
}

// jmhCommand returns a command that runs JMH's benchmarks. JMH has a lock that allows only one JMH at a time on a
// machine. The command switches the lock off, because another run of these tests may use JMH at the same time.
func jmhCommand(t *testing.T, java string, args ...string) []string {
	t.Helper()
	return append([]string{java, "-Djmh.ignoreLock=true", "-jar", gasmtest.NeedBenchmarks(t)}, args...)
}

// A result has the outputs and the exit code of a run of gasm.
type result struct {
	stdout, stderr string
	code           int
}

type runOpt func(*exec.Cmd)

func withEnv(kv ...string) runOpt { return func(c *exec.Cmd) { c.Env = append(c.Environ(), kv...) } }

func inFolder(dir string) runOpt { return func(c *exec.Cmd) { c.Dir = dir } }

func withStdin(text string) runOpt {
	return func(c *exec.Cmd) { c.Stdin = strings.NewReader(text) }
}

// runGasm runs gasm and waits for its end. If gasm hangs, it is killed after ten minutes, and the exit code in the
// result is -1.
func runGasm(t *testing.T, args []string, opts ...runOpt) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	for _, o := range opts {
		o(cmd)
	}
	start := time.Now()
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		require.NoError(t, err)
	}
	r := result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	t.Logf("gasm %s: exit code %d after %.1f s", strings.Join(args, " "), r.code, time.Since(start).Seconds())
	assert.NotContains(t, r.stderr, "goroutine ", "a stack trace")
	assert.NotContains(t, r.stderr, "DATA RACE")
	return r
}

// said returns gasm's own lines on stderr.
func (r result) said() string {
	var lines []string
	for _, line := range strings.Split(r.stderr, "\n") {
		if strings.HasPrefix(line, "gasm:") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// readReport reads a JSON report and checks what is true of every report: that the sums of the account are right, and
// that the sources of the samples contain each profiled sample once.
func readReport(t *testing.T, text []byte) schema.Report {
	t.Helper()
	var r schema.Report
	require.NoError(t, json.Unmarshal(text, &r))
	require.Equal(t, schema.Version, r.Schema)
	require.NotEmpty(t, r.Profiles)
	for _, p := range r.Profiles {
		for _, event := range p.Account.Events {
			a := p.Account.Of(event)
			assert.Equal(t, a.Total, a.OutsideWindow+a.OtherProcess+a.OtherThread+a.OutsideMethod+a.NotUnder+a.Printing+a.Lost+a.Profiled, "%s %s: total", p.Trial, event)
			assert.Equal(t, a.Profiled, a.Compiled+a.Stub+a.Interpreter+a.Native+a.Kernel+a.Unresolved, "%s %s: profiled",
				p.Trial, event)
			var sources, methods int64
			for _, s := range p.Sources {
				sources += s.Counts.Of(event)
			}
			assert.Equal(t, a.Profiled, sources, "%s %s: sources", p.Trial, event)
			if len(p.Threads) > 0 {
				var threads int64
				for _, k := range p.Threads {
					threads += k.Counts.Of(event)
				}
				assert.Equal(t, a.Profiled, threads, "%s %s: threads", p.Trial, event)
			}
			for _, m := range p.Methods {
				methods += m.Counts.Of(event)
			}
			assert.Equal(t, a.Compiled+a.Stub+a.Interpreter, methods, "%s %s: methods", p.Trial, event)
		}
	}
	return r
}

// hottestEvent returns the first event of a profile. Most tests have no other event.
func hottestEvent(p *schema.Profile) string {
	if len(p.Account.Events) == 0 {
		return ""
	}
	return p.Account.Events[0]
}

// unresolvedAtMost checks the share of addresses without a name. In a short run there are so few of them that their
// number varies a lot by chance. So it may exceed the limit by two standard deviations of a count of that size.
func unresolvedAtMost(t *testing.T, p *schema.Profile, limit float64) {
	t.Helper()
	a := p.Account.Of(hottestEvent(p))
	share := float64(a.Unresolved) / float64(a.Profiled)
	t.Logf("unresolved: %d of %d, %.2f %%", a.Unresolved, a.Profiled, 100*share)
	expected := limit * float64(a.Profiled)
	assert.LessOrEqual(t, float64(a.Unresolved), expected+2*math.Sqrt(expected), "unresolved")
}
