package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A profileServer accepts profiles as Pyroscope does, after some time in which it is in turn down, busy and broken.
type profileServer struct {
	service  string // the service name that profiles must have
	mu       sync.Mutex
	requests int
	ids      map[string]int
	sums     map[string]map[string]int64 // by process id and sample type: sums of the values
	stacks   map[string]map[string]int64 // by process id and innermost frame: samples
	bad      []string
}

func newProfileServer(service string) *profileServer {
	return &profileServer{service: service, ids: map[string]int{}, sums: map[string]map[string]int64{},
		stacks: map[string]map[string]int64{}}
}

func (s *profileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	switch s.requests {
	case 1:
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case 2:
		w.WriteHeader(http.StatusInternalServerError)
		return
	case 3:
		panic(http.ErrAbortHandler) // closes the connection
	}
	w.Header().Set("Content-Type", "application/json")
	if err := s.take(r); err != nil {
		s.bad = append(s.bad, err.Error())
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = io.WriteString(w, "{}") // an error means that the client is gone
}

func (s *profileServer) take(r *http.Request) error {
	var body struct {
		Series []struct {
			Labels  []struct{ Name, Value string }
			Samples []struct {
				RawProfile []byte
				ID         string
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return err
	}
	for _, series := range body.Series {
		labels := map[string]string{}
		for _, l := range series.Labels {
			labels[l.Name] = l.Value
		}
		if r.URL.Path != "/push.v1.PusherService/Push" || labels["service_name"] != s.service ||
			labels["__name__"] != "process_cpu" || labels["team"] != "x" || labels["host_name"] == "" {
			return fmt.Errorf("%s %v", r.URL.Path, labels)
		}
		pid := labels["process_pid"]
		if s.sums[pid] == nil {
			s.sums[pid], s.stacks[pid] = map[string]int64{}, map[string]int64{}
		}
		for _, sample := range series.Samples {
			s.ids[sample.ID]++
			p, err := pprof.Parse(bytes.NewReader(sample.RawProfile))
			if err != nil {
				return err
			}
			for _, x := range p.Sample {
				for i, v := range x.Value {
					s.sums[pid][p.SampleType[i].Type] += v
				}
				inner := x.Location[0].Line[0]
				s.stacks[pid][fmt.Sprintf("%s:%d", inner.Function.Name, inner.Line)] += x.Value[0]
			}
		}
	}
	return nil
}

// samples returns how many samples of a process have arrived.
func (s *profileServer) samples(pid string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sums[pid]["samples"]
}

// writtenSums adds up the profiles that gasm watch has written to its standard output. It returns their number, and the
// sums of their values by process id and sample type.
func writtenSums(t *testing.T, r io.Reader) (profiles int, sums map[string]map[string]int64) {
	t.Helper()
	sums = map[string]map[string]int64{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<26)
	for ; lines.Scan(); profiles++ {
		var line struct {
			From, To time.Time
			Labels   map[string]string
			Samples  int64
			CPU      int64 `json:"cpu_nanoseconds"`
			Stacks   []struct {
				Samples int64
				Frames  []string
			}
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		pid := line.Labels["process.pid"]
		if sums[pid] == nil {
			sums[pid] = map[string]int64{}
		}
		sums[pid]["samples"] += line.Samples
		sums[pid]["cpu"] += line.CPU
		assert.True(t, line.From.Before(line.To))
		sum := int64(0)
		for _, stack := range line.Stacks {
			sum += stack.Samples
		}
		assert.Equal(t, line.Samples, sum)
	}
	require.NoError(t, lines.Err())
	return profiles, sums
}

// TestWatch profiles JVMs that come and go, for a server that is down at first. Each sample must arrive once, with the
// right JVM and line: the sums at the server are those that gasm writes to its standard output. At the end no files are
// left.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := newProfileServer("Phases")
	web := httptest.NewServer(s)
	defer web.Close()
	first := startPhases(t, exactLines...)
	temp := t.TempDir()
	cmd := exec.Command(binary, "watch", "--every", "5s", "--label", "team=x", "--to", "-", "--to", "pyroscope+"+web.URL,
		"Phases")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temp)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	gasmtest.Start(t, cmd)
	arrive := func(pid string, more int64) {
		t.Helper()
		before := s.samples(pid)
		require.Eventually(t, func() bool { return s.samples(pid) >= before+more }, 3*time.Minute, 10*time.Millisecond,
			"samples of JVM %s\n%s", pid, &stderr)
	}
	arrive(first.pid(), 50)
	second := startPhases(t, exactLines...)
	arrive(second.pid(), 20)
	require.NoError(t, first.cmd.Process.Kill())
	arrive(second.pid(), 20)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "%s", &stderr)

	profiles, written := writtenSums(t, &out)
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.Equal(t, written, s.sums, "%s", &stderr)
	assert.Len(t, s.ids, profiles)
	for id, n := range s.ids {
		assert.Equal(t, 1, n, id)
	}
	assert.Empty(t, s.bad)
	hot := "Phases::alpha:" + phasesLine(t, "hottest line of alpha")
	for _, j := range []*phasesJVM{first, second} {
		assert.Greater(t, float64(s.stacks[j.pid()][hot]), 0.5*float64(s.sums[j.pid()]["samples"]), "%v", s.stacks[j.pid()])
	}
	said := stderr.String()
	assert.Contains(t, said, "pyroscope+"+web.URL+": it answers 429; ")
	assert.Contains(t, said, "pyroscope+"+web.URL+": takes profiles again\n")
	assert.Contains(t, said, fmt.Sprintf("gasm: -: %d profiles sent\n", profiles))
	assert.Contains(t, said, fmt.Sprintf("gasm: pyroscope+%s: %d profiles sent, after 3 failed attempts\n", web.URL,
		profiles))
	left, err := filepath.Glob(filepath.Join(temp, "gasm*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestWatchClosedOutput checks that gasm ends when the reader of its standard output has closed it.
func TestWatchClosedOutput(t *testing.T) {
	t.Parallel()
	j := startPhases(t)
	cmd := exec.Command(binary, "watch", "--every", "5s", j.pid())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	out.Close()
	require.Error(t, cmd.Wait())
	assert.Equal(t, 1, cmd.ProcessState.ExitCode())
	assert.Contains(t, stderr.String(), "gasm: writing to the standard output: ")
}

// TestWatchEnds checks that gasm ends when all JVMs that were named by their ids have ended, but not before.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	first, second := startPhases(t), startPhases(t)
	cmd := exec.Command(binary, "watch", "--every", "5s", first.pid(), second.pid())
	var stdout, stderr lockedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	gasmtest.Start(t, cmd)
	profiles := func(n int) {
		t.Helper()
		label := `"process.pid":"` + second.pid() + `"`
		require.Eventually(t, func() bool { return strings.Count(stdout.String(), label) >= n }, 3*time.Minute,
			10*time.Millisecond, "%s", &stderr)
	}
	profiles(1)
	require.NoError(t, first.cmd.Process.Kill())
	profiles(2)
	require.NoError(t, second.cmd.Process.Kill())
	require.NoError(t, cmd.Wait(), "%s", &stderr)
	assert.Contains(t, stderr.String(), "gasm: all 2 processes have ended\n")
}

// zombie returns the id of a process that has ended, and that its parent does not wait for until the end of the test.
func zombie(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	ticks := processend.StartTicks(cmd.Process.Pid)
	require.Eventually(t, func() bool { return processend.HasEnded(cmd.Process.Pid, ticks) }, time.Minute,
		time.Millisecond)
	return cmd.Process.Pid
}

func TestWatchUsage(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--every", "1s"}, 2, "--every is 1s; it can be 5s to 10m, in whole seconds"},
		{[]string{"--every", "5500ms"}, 2, "--every is 5.5s; it can be 5s to 10m, in whole seconds"},
		{[]string{"--frequency", "5000"}, 2, "--frequency is 5000; it is in Hz, from 1 to 1001"},
		{[]string{"--dir-limit", "0"}, 2, "--dir-limit is 0; it is in MB, from 1 to 1099511"},
		{[]string{"--dir-limit", "100MB"}, 2, `watch: --dir-limit is "100MB"; it is a whole number`},
		{[]string{"--stacks=some"}, 2, "--stacks"},
		{[]string{"--share", "0%"}, 2, `--share is "0%"; it is a percentage of the JVMs, such as 10%`},
		{[]string{"--share", "10"}, 2, `--share is "10"; it is a percentage of the JVMs, such as 10%`},
		{[]string{"--events", "lock,gc"}, 2, `--events is "lock,gc"; it can be lock, alloc, lock,alloc or none`},
		{[]string{"--events", ""}, 2, `--events is ""; it can be lock, alloc, lock,alloc or none`},
		{[]string{"--label", "x"}, 2, `--label is "x"; it has the form NAME=VALUE`},
		{[]string{"--to", "kafka://x"}, 2,
			`--to is "kafka://x"; it can be pyroscope+https://HOST, otlp+https://HOST, either with http, dir:PATH or -`},
		{[]string{"--to", "https://me:secret@host"}, 2, `--to is "https:…"; it can be`},
		{[]string{"--to", "dir:"}, 2, `--to is "dir:"; it can be`},
		{[]string{"--to", "dir:x", "--to", "-", "--to", "dir:x"}, 2,
			"--to dir:x is given twice: its profiles would be there twice"},
		{[]string{"--to", "-", "--tenant", "t"}, 2,
			"--tenant, --token-file, --basic-auth-file and --ca-file are for --to pyroscope+… and otlp+…"},
		{[]string{"--to", "pyroscope+https://me:secret@host"}, 1,
			"--to pyroscope+https: the URL must not contain a user's name or password"},
		{[]string{"--to", "pyroscope+https://host", "--token-file", secret}, 1, "no such file"},
		{[]string{""}, 2, "the name of a JVM is empty"},
		{[]string{"4194305"}, 1, "gasm: no process has the id 4194305: `gasm attach` lists the JVMs that run\n"},
		{[]string{"Phases", "4194305"}, 1, "gasm: no process has the id 4194305: `gasm attach` lists the JVMs that run\n"},
		{[]string{strconv.Itoa(zombie(t))}, 1, " has ended\n"},
	} {
		r := runGasm(t, append([]string{"watch"}, c.args...))
		assert.Equal(t, c.code, r.code, "%q", c.args)
		assert.Contains(t, r.stderr, c.want)
		assert.NotContains(t, r.stderr, "secret@")
		assert.Empty(t, strings.TrimSpace(r.stdout))
	}
}
