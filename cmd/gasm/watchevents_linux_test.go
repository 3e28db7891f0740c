package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
)

// An eventServer accepts profiles as Pyroscope does, and adds up their values.
type eventServer struct {
	mu     sync.Mutex
	sums   map[string]int64 // by process id, name and sample type: "4711 mutex delay"
	frames map[string]int64 // by name and innermost frame: the second values
	bad    []string
}

func (s *eventServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err := s.take(r.Body); err != nil {
		s.bad = append(s.bad, err.Error())
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = io.WriteString(w, "{}") // an error means that the client is gone
}

func (s *eventServer) take(from io.Reader) error {
	var body struct {
		Series []struct {
			Labels  []struct{ Name, Value string }
			Samples []struct{ RawProfile []byte }
		}
	}
	if err := json.NewDecoder(from).Decode(&body); err != nil {
		return err
	}
	for _, series := range body.Series {
		labels := map[string]string{}
		for _, l := range series.Labels {
			labels[l.Name] = l.Value
		}
		name := labels["__name__"]
		for _, sample := range series.Samples {
			p, err := pprof.ParseData(sample.RawProfile)
			if err != nil {
				return err
			}
			for _, x := range p.Sample {
				for i, v := range x.Value {
					s.sums[labels["process_pid"]+" "+name+" "+p.SampleType[i].Type+" "+p.SampleType[i].Unit] += v
				}
				s.frames[name+" "+x.Location[0].Line[0].Function.Name] += x.Value[1]
			}
		}
	}
	return nil
}

// sum returns the sum of the values of a type, such as "mutex delay nanoseconds".
func (s *eventServer) sum(pid int, what string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sums[strconv.Itoa(pid)+" "+what]
}

// TestWatchEvents compares profiles of locks and allocations at a server, in files and on the standard output with what
// the program knows of itself. The recording begins while the program runs, and the program ends before gasm. A second
// JVM takes no commands: that is said once, and its CPU profiles are as always.
func TestWatchEvents(t *testing.T) {
	t.Parallel()
	s := &eventServer{sums: map[string]int64{}, frames: map[string]int64{}}
	web := httptest.NewServer(s)
	defer web.Close()
	closed := startPhases(t, "-XX:+DisableAttachMechanism")
	known, _ := gasmtest.StartProgram(t, gasmtest.NeedJava(t), "-cp", javaPrograms(t), "Blocked", "7000")
	pid := known.Cmd.Process.Pid
	temp, folder := t.TempDir(), t.TempDir()
	cmd := exec.Command(binary, "watch", "--events", "alloc,lock", "--every", "5s", "--to", "-", "--to", "pyroscope+"+web.URL,
		"--to", "dir:"+folder, strconv.Itoa(pid), closed.pid())
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temp)
	var stdout, stderr lockedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	gasmtest.Start(t, cmd)
	require.True(t, known.Lines.Scan())
	numbers := strings.Fields(known.Lines.Text())
	// A JVM that ends while it is told to end the recording may write nothing.
	require.False(t, known.Lines.Scan())
	require.NoError(t, known.Cmd.Wait())
	require.Eventually(t, func() bool { return s.sum(closed.cmd.Process.Pid, "process_cpu samples count") > 0 },
		3*time.Minute, 10*time.Millisecond, "%s", &stderr)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "%s", &stderr)

	assert.Empty(t, s.bad)
	written := sumsOfLines(t, stdout.String(), pid)
	kept := sumsOfFiles(t, folder, pid)
	require.Len(t, numbers, 2)
	for i, c := range []struct{ name, field, kind string }{
		{"memory alloc_space bytes", "alloc_space_bytes", "alloc"}, {"mutex delay nanoseconds", "delay_nanoseconds", "lock"},
		{"mutex contentions count", "contentions", "lock"}, {"memory alloc_samples count", "alloc_samples", "alloc"}} {
		got := s.sum(pid, c.name)
		if i < len(numbers) {
			want, err := strconv.ParseFloat(numbers[i], 64)
			require.NoError(t, err)
			assert.InEpsilon(t, want, got, 0.05, "%s\n%s", c.name, &stderr)
		}
		assert.Positive(t, got, c.name)
		assert.Equal(t, got, written[c.field], c.field)
		_, typ, _ := strings.Cut(c.name, " ")
		assert.Equal(t, got, kept[c.kind+" "+typ])
	}
	// JDK 17 keeps no stack of a wait that was not over when a dump was made. On a busy machine, one may take seconds.
	assert.InEpsilon(t, s.sum(pid, "mutex delay nanoseconds"),
		s.frames["mutex Blocked::locked"]+s.frames["mutex [no stack]"], 0.05)
	assert.Positive(t, s.frames["mutex Blocked::locked"])
	assert.InEpsilon(t, s.sum(pid, "memory alloc_space bytes"), s.frames["memory Blocked::allocate"], 0.05)
	assert.Equal(t, 1, strings.Count(stderr.String(), "): there are no profiles of its allocations and locks: "+
		"it takes no commands: it was started with -XX:+DisableAttachMechanism"), "%s", &stderr)
	assert.NotContains(t, stderr.String(), "incomplete")
	left, err := filepath.Glob(filepath.Join(temp, "gasm*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// sumsOfLines adds up the numbers of events in lines of JSON, and checks that they are the sums of the stacks.
func sumsOfLines(t *testing.T, text string, pid int) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for line := range strings.Lines(text) {
		var fields struct {
			Type   string
			Labels map[string]string
			Stacks []map[string]any
		}
		var numbers map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		require.NoError(t, json.Unmarshal([]byte(line), &numbers))
		if fields.Labels["process.pid"] != strconv.Itoa(pid) || fields.Type == "cpu" {
			continue
		}
		for name, n := range numbers {
			if n, ok := n.(float64); ok {
				sum := 0.0
				for _, s := range fields.Stacks {
					sum += s[name].(float64)
				}
				assert.InDelta(t, n, sum, 0, name)
				all[name] += int64(n)
			}
		}
	}
	return all
}

// sumsOfFiles adds up the values of profiles of events in a folder, by kind and type.
func sumsOfFiles(t *testing.T, folder string, pid int) map[string]int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*-"+strconv.Itoa(pid)+"-*.pb.gz"))
	require.NoError(t, err)
	all := map[string]int64{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		p, err := pprof.ParseData(text)
		require.NoError(t, err)
		kind := file[strings.LastIndexByte(file, '-')+1 : len(file)-len(".pb.gz")]
		for _, s := range p.Sample {
			for i, v := range s.Value {
				all[kind+" "+p.SampleType[i].Type+" "+p.SampleType[i].Unit] += v
			}
		}
	}
	return all
}

// recordingLine matches what jcmd says of a recording of gasm's.
var recordingLine = regexp.MustCompile(`name[=:] ?"?gasm-jvm-[0-9a-f]+`)

// TestWatchEventsEnd checks that a JVM records only while it should: a change of the configuration file begins and ends
// the recording, and the next gasm ends the recording of a gasm that was killed.
func TestWatchEventsEnd(t *testing.T) {
	t.Parallel()
	j := startPhases(t)
	java := gasmtest.NeedJava(t)
	recorded := func() bool {
		text, err := exec.Command(filepath.Join(filepath.Dir(java), "jcmd"), j.pid(), "JFR.check").CombinedOutput()
		require.NoError(t, err, "%s", text)
		return recordingLine.Match(text)
	}
	folders := func() []string { // of all JVMs; other tests may make some
		all, err := filepath.Glob("/tmp/gasm-jvm-*")
		require.NoError(t, err)
		return all
	}
	conf := filepath.Join(t.TempDir(), "watch.conf")
	var cmd *exec.Cmd
	var stderr *bytes.Buffer
	temp := t.TempDir()
	start := func() {
		cmd, stderr = exec.Command(binary, "watch", "--config", conf), &bytes.Buffer{}
		cmd.Env = append(cmd.Environ(), "TMPDIR="+temp)
		cmd.Stderr = stderr
		gasmtest.Start(t, cmd)
	}
	configure := func(events string) {
		text := "every = 5s\njvm = " + j.pid() + "\nevents = " + events + "\n"
		require.NoError(t, os.WriteFile(conf, []byte(text), 0o600))
	}
	await := func(what string, wanted bool) {
		t.Helper()
		require.Eventually(t, func() bool { return recorded() == wanted }, 3*time.Minute, 100*time.Millisecond, what)
	}
	configure("lock")
	start()
	await("the recording", true)
	for _, events := range []string{"none", "lock,alloc"} {
		configure(events)
		require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
		await(events, events != "none")
	}
	made := folders()
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()    // it was killed
	configure("none") // any gasm ends what a killed one began, so the gasm of another test may do it first
	start()
	await("the end of what the killed gasm began", false)
	require.Eventually(t, func() bool { // the one of this JVM is gone; those of others may go as well
		return slices.ContainsFunc(made, func(f string) bool { return !slices.Contains(folders(), f) })
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	if said := stderr.String(); said != "gasm: -: 0 profiles sent\n" {
		assert.Contains(t, said, "JVM "+j.pid()+" still logged or recorded events for a gasm that has ended, into /tmp/gasm-jvm-")
		assert.Contains(t, said, ": it does not any more\n")
	}
}
