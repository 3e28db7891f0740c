package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/jvm"
)

// The tests run the real program: built once, with the race detector when the
// tests have it.
var (
	binary  string // gasm
	classes string // testdata/programs, compiled
)

func TestMain(m *testing.M) {
	jvm.RunIfHeld()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "gasm-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		// Users without rights must be able to run it too.
		if err := os.Chmod(dir, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		binary, classes = filepath.Join(dir, "gasm"), filepath.Join(dir, "classes")
		if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// javaPrograms compiles testdata/programs, once.
func javaPrograms(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(classes); err == nil {
		return classes
	}
	javac, err := exec.LookPath("javac")
	if err != nil {
		t.Skip("no javac on PATH: scripts/setup.sh installs a JDK")
	}
	sources, err := filepath.Glob("../../testdata/programs/*.java")
	require.NoError(t, err)
	out, err := exec.Command(javac, append([]string{"-g", "--release", "17", "-encoding", "UTF-8", "-d", classes}, sources...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return classes
}

// needPerf skips where the sampler can't be had.
func needPerf(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("no perf on PATH: scripts/setup.sh installs it")
	}
}

// jdks gives the java of every JDK ≥ 17 on this machine.
func jdks(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	paths, err := filepath.Glob("/usr/lib/jvm/*/bin/java")
	require.NoError(t, err)
	if java, err := exec.LookPath("java"); err == nil {
		paths = append(paths, java)
	}
	for _, java := range paths {
		real, err := filepath.EvalSymlinks(java)
		if err != nil {
			continue
		}
		out, err := exec.Command(real, "-XshowSettings:properties", "-version").CombinedOutput()
		if err != nil {
			continue
		}
		_, spec, _ := strings.Cut(string(out), "java.specification.version = ")
		spec, _, _ = strings.Cut(spec, "\n")
		if len(spec) >= 2 && spec >= "17" {
			found["jdk"+spec] = real
		}
	}
	if len(found) == 0 {
		t.Skip("no JDK ≥ 17: scripts/setup.sh installs one")
	}
	return found
}

// A result is what one run of gasm left.
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

// runGasm runs gasm to its end.
func runGasm(t *testing.T, args []string, opts ...runOpt) result {
	t.Helper()
	cmd := exec.Command(binary, args...)
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

// said gives gasm's own lines on stderr.
func (r result) said() string {
	var lines []string
	for _, line := range strings.Split(r.stderr, "\n") {
		if strings.HasPrefix(line, "gasm:") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// The parts of the JSON report that tests look at.
type jsonReport struct {
	Schema  int
	Capture struct {
		Command []string
		Sampler string
		Events  []string
		Notes   []string
		JVMs    []struct {
			PID           int
			Main, Version string
		}
	}
	Profiles []jsonProfile
}

type jsonProfile struct {
	Trial string
	PIDs  []int
	JVMs  []struct {
		PID    int
		Counts map[string]int64
	}
	Window  float64 `json:"window_seconds"`
	Ops     float64 `json:"operations"`
	Account map[string]struct {
		Total        int64
		Outside      int64 `json:"outside_window"`
		OtherProcess int64 `json:"other_process"`
		Lost         int64
		Profiled     int64
		Compiled     int64
		Stub         int64
		Interpreter  int64
		Native       int64
		Kernel       int64
		Unresolved   int64
	}
	Regions []struct {
		Source, Method string
		PIDs           []int
		Counts         map[string]int64
		Lines          []struct {
			Addr, Text string
			Counts     map[string]int64
			Frames     []struct {
				Method string
				Line   int
			}
		}
	}
	Methods []struct {
		Source, Name string
		Counts       map[string]int64
	}
	Frames []struct {
		Method string
		Counts map[string]int64
		Total  map[string]int64
	}
	Threads []struct {
		Kind   string
		Counts map[string]int64
	}
	Native []struct {
		Module, Symbol string
		Counts         map[string]int64
	}
	Sources []struct {
		Source string
		Counts map[string]int64
	}
	Warnings []string
}

// readReport reads a JSON report and checks what holds of every one: the sums
// of the account, and that the sources have each profiled sample once.
func readReport(t *testing.T, text []byte) jsonReport {
	t.Helper()
	var r jsonReport
	require.NoError(t, json.Unmarshal(text, &r))
	require.Equal(t, 1, r.Schema)
	for _, p := range r.Profiles {
		for event, a := range p.Account {
			assert.Equal(t, a.Total, a.Outside+a.OtherProcess+a.Lost+a.Profiled, "%s %s: total", p.Trial, event)
			assert.Equal(t, a.Profiled, a.Compiled+a.Stub+a.Interpreter+a.Native+a.Kernel+a.Unresolved, "%s %s: profiled", p.Trial, event)
			var sources, methods int64
			for _, s := range p.Sources {
				sources += s.Counts[event]
			}
			assert.Equal(t, a.Profiled, sources, "%s %s: sources", p.Trial, event)
			if len(p.Threads) > 0 {
				var threads int64
				for _, k := range p.Threads {
					threads += k.Counts[event]
				}
				assert.Equal(t, a.Profiled, threads, "%s %s: threads", p.Trial, event)
			}
			for _, m := range p.Methods {
				methods += m.Counts[event]
			}
			assert.Equal(t, a.Compiled+a.Stub+a.Interpreter, methods, "%s %s: methods", p.Trial, event)
		}
	}
	return r
}

// hottestEvent is the only event of most tests.
func (p *jsonProfile) hottestEvent() string {
	for event := range p.Account {
		return event
	}
	return ""
}

// unresolvedAtMost checks the share of addresses that nothing knows.
func unresolvedAtMost(t *testing.T, p *jsonProfile, limit float64) {
	t.Helper()
	a := p.Account[p.hottestEvent()]
	share := float64(a.Unresolved) / float64(a.Profiled)
	t.Logf("unresolved: %d of %d, %.2f %%", a.Unresolved, a.Profiled, 100*share)
	assert.LessOrEqual(t, share, limit, "unresolved")
}
