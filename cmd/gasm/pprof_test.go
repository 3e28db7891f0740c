package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/sampler"
)

// readPprof parses a profile with pprof's own package.
func readPprof(t *testing.T, data []byte) *pprof.Profile {
	t.Helper()
	p, err := pprof.ParseData(data)
	require.NoError(t, err)
	require.NoError(t, p.CheckValid())
	return p
}

// pprofSums adds up the first value of each sample, by the name that the function name returns for the sample.
func pprofSums(p *pprof.Profile, name func(*pprof.Sample) string) map[string]int64 {
	sums := map[string]int64{}
	for _, s := range p.Sample {
		sums[name(s)] += s.Value[0]
	}
	delete(sums, "")
	return sums
}

func total(*pprof.Sample) string { return "total" }

// innermost returns the Java method in which a sample was taken.
func innermost(s *pprof.Sample) string {
	line := s.Location[0].Line[0]
	switch tier := s.Label["tier"][0]; {
	case strings.Contains(tier, "level"), tier == "native wrapper", tier == "compiled":
		return line.Function.Name
	}
	return ""
}

// selfCounts returns the number of samples in each method that has samples of its own.
func selfCounts(p *schema.Profile) map[string]int64 {
	counts := map[string]int64{}
	for _, f := range p.Frames {
		if n := f.Counts.Of(hottestEvent(p)); n > 0 {
			counts[f.Method] = n
		}
	}
	return counts
}

// TestPprofOfCaptures checks that the pprof profile of each capture agrees with the JSON report.
func TestPprofOfCaptures(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jdk8-full-hsdis", "jdk11-lean-none", "jdk17-lean-none", "jdk17-lean-none-dtrace",
		"jdk25-full-hsdis"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			samples, log := gasmtest.UnpackCapture(t, name, t.TempDir())
			r := runGasm(t, []string{"report", "--format", "json", samples, log})
			require.Equal(t, 0, r.code, r.stderr)
			want := readReport(t, []byte(r.stdout)).Profiles[0]
			event := hottestEvent(&want)

			r = runGasm(t, []string{"report", "--format", "pprof", "--skip-vm-stubs", "--skip-interpreter", samples, log})
			require.Equal(t, 0, r.code, r.stderr)
			p := readPprof(t, []byte(r.stdout))
			assert.Equal(t, want.Account.Of(event).Profiled, pprofSums(p, total)["total"])
			sources := map[string]int64{}
			for _, s := range want.Sources {
				sources[s.Source] = s.Counts.Of(event)
			}
			assert.Equal(t, selfCounts(&want), pprofSums(p, innermost))
			assert.Equal(t, sources, pprofSums(p, func(s *pprof.Sample) string { return s.Label["tier"][0] }))
			assert.Equal(t, map[string]int64{fmt.Sprint(want.PIDs[0]): want.Account.Of(event).Profiled},
				pprofSums(p, func(s *pprof.Sample) string { return fmt.Sprint(s.NumLabel["pid"][0]) }))
			assert.Contains(t, string(readFile(t, log)), fmt.Sprintf(" time_ms='%d'>\n", p.TimeNanos/1e6), "the JVM's start")
			assert.Equal(t, "[code cache]", p.Mapping[0].File)
			for _, l := range p.Location {
				if m := l.Mapping; m.File == "[code cache]" {
					assert.True(t, m.Start <= l.Address && l.Address < m.Limit, "%#x in %#x to %#x", l.Address, m.Start, m.Limit)
				}
			}
		})
	}
}

// writeCapture makes a capture folder from files. It has two trials, each of which is half of the run.
func writeCapture(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	samples, log := gasmtest.UnpackCapture(t, name, dir)
	require.NoError(t, os.Rename(log, filepath.Join(dir, capture.LogFile(24997))))
	f, err := os.Open(samples)
	require.NoError(t, err)
	defer f.Close()
	var from, to int64
	for r := sampler.NewReader(f, samples); r.Scan(); {
		if s, ok := r.Record().(*sampler.Sample); ok && s.PID == 24997 {
			if from == 0 {
				from = s.MonoNanos
			}
			to = max(to, s.MonoNanos+1)
		}
	}
	window := func(from, to int64) []capture.Window {
		return []capture.Window{{PID: 24997, Span: capture.Span{FromMonoNanos: from, ToMonoNanos: to}}}
	}
	half := (from + to) / 2
	d := capture.Description{Schema: 1, Command: []string{"java", "Workload"}, Sampler: "perf",
		Events: []string{"cpu-clock"}, Frequency: 1001, JVMs: []capture.JVM{{PID: 24997, LogFile: capture.LogFile(24997),
			StartMonoNanos: from}},
		Trials: []capture.Trial{{Name: "first", Windows: window(from, half)}, {Name: "second", Windows: window(half, to)}}}
	require.NoError(t, d.Write(dir))
	return dir
}

// TestPprofOfTrials checks that samples also have a value in time, because the capture has the frequency and the
// windows.
func TestPprofOfTrials(t *testing.T) {
	t.Parallel()
	dir := writeCapture(t, "jdk17-lean-none")
	r := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, r.code, r.stderr)
	want, window := map[string]int64{}, 0.0
	for _, p := range readReport(t, []byte(r.stdout)).Profiles {
		want[p.Trial] = p.Account.Of("cpu-clock").Profiled
		window += p.WindowSeconds
	}
	require.Len(t, want, 2)

	file := filepath.Join(dir, "out.pb.gz")
	r = runGasm(t, []string{"report", "--format", "pprof", "--report", file, dir})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Empty(t, r.stdout)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	p := readPprof(t, data)
	assert.Equal(t, want, pprofSums(p, func(s *pprof.Sample) string { return strings.Join(s.Label["trial"], " ") }))
	assert.Equal(t, "cpu", p.DefaultSampleType)
	for _, s := range p.Sample {
		require.Equal(t, s.Value[0]*999001, s.Value[1])
	}
	assert.InDelta(t, window*1e9, p.DurationNanos, 1e6)

	// pprof shows the time by default.
	text := runPprof(t, "-top", file)
	assert.Contains(t, text, "Type: cpu\n")
	assert.Contains(t, text, fmt.Sprintf("Total samples = %.2fms ", 0.999001*float64(want["first"]+want["second"])))
}

// pprofTool returns the path of the pprof that belongs to the Go installation of this test.
func pprofTool(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "tool", "-n", "pprof").Output()
	if err != nil {
		t.Skipf("no go tool pprof: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func runPprof(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(pprofTool(t), args...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	assert.NotContains(t, stderr.String(), "ymboliz", "pprof looks for symbols")
	return string(out)
}

// A topRow is a row of the output of pprof -top.
type topRow struct {
	flat int64
	name string
}

var (
	topTotal = regexp.MustCompile(`(?m)^Showing nodes accounting for .* of (\d+) total$`)
	topLine  = regexp.MustCompile(`(?m)^ *(\d+) +[0-9.]+% +[0-9.]+% +\d+ +[0-9.]+%  (.*?)(?: \(inline\)| \(partial-inline\))?$`)
)

func readTop(t *testing.T, text string) (total int64, rows []topRow) {
	t.Helper()
	m := topTotal.FindStringSubmatch(text)
	require.NotNil(t, m, text)
	total, err := strconv.ParseInt(m[1], 10, 64)
	require.NoError(t, err)
	for _, m := range topLine.FindAllStringSubmatch(text, -1) {
		flat, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(t, err)
		rows = append(rows, topRow{flat, m[2]})
	}
	return total, rows
}

// TestPprofTop checks that the real pprof shows the same numbers and names as the report.
func TestPprofTop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	samples, log := gasmtest.UnpackCapture(t, "jdk17-lean-none", dir)
	file := filepath.Join(dir, "out.pb.gz")
	r := runGasm(t, []string{"report", "--format", "pprof", "--report", file, samples, log})
	require.Equal(t, 0, r.code, r.stderr)
	r = runGasm(t, []string{"report", "--format", "json", samples, log})
	require.Equal(t, 0, r.code, r.stderr)
	want := readReport(t, []byte(r.stdout)).Profiles[0]

	text := runPprof(t, "-top", "-lines", "-nodecount=10000", "-nodefraction=0", file)
	total, rows := readTop(t, text)
	assert.Equal(t, want.Account.Of("cpu-clock").Profiled, total)
	var sum int64
	for _, row := range rows {
		sum += row.flat
	}
	assert.Equal(t, total, sum, "the rows are all there is")
	require.NotEmpty(t, rows)
	assert.Equal(t, topRow{want.Methods[0].Counts.Of("cpu-clock"), want.Methods[0].Name}, rows[0],
		"the hottest method, a stub")
	assert.Equal(t, "StubRoutines::libmLog", rows[0].name)
	assert.Contains(t, text, " java.util.HashMap$HashIterator::nextNode java/util/HashMap.java:1601 (inline)\n")
	assert.Contains(t, text, "::<init> ", "pprof takes no names apart")

	// Without line numbers, pprof's table is the report's table of frames.
	_, rows = readTop(t, runPprof(t, "-top", "-nodecount=10000", "-nodefraction=0", "-edgefraction=0",
		"-tagfocus=tier=level|wrapper", file))
	got := map[string]int64{}
	for _, row := range rows {
		if row.flat > 0 {
			got[row.name] = row.flat
		}
	}
	assert.Equal(t, selfCounts(&want), got)
}

// TestPprofFlameGraph checks that in the flame graph of pprof's own web pages, inlined frames are below the frames of
// the compiled methods.
func TestPprofFlameGraph(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	samples, log := gasmtest.UnpackCapture(t, "jdk17-lean-none", dir)
	file := filepath.Join(dir, "out.pb.gz")
	r := runGasm(t, []string{"report", "--format", "pprof", "--report", file, samples, log})
	require.Equal(t, 0, r.code, r.stderr)
	stacks := flameGraph(t, file)
	for _, want := range []string{"StubRoutines::libmLog", "Workload::main < Workload::locked (inlined)",
		"Workload::main < Workload::sumMap (inlined) < java.util.HashMap$EntryIterator::next (inlined) < " +
			"java.util.HashMap$EntryIterator::next (inlined) < java.util.HashMap$HashIterator::nextNode (inlined)"} {
		assert.True(t, stacks[want], "no stack %s", want)
	}
}

// flameGraph returns the stacks in the flame graph on pprof's own web page.
func flameGraph(t *testing.T, file string) map[string]bool {
	t.Helper()
	var graph struct {
		Total   int64
		Stacks  []struct{ Sources []int }
		Sources []struct {
			FullName string
			Inlined  bool
		}
	}
	page := pprofPage(t, file, "/flamegraph")
	_, data, ok := strings.Cut(page, "\n    stackViewer(")
	require.True(t, ok, "the page has no stacks; this pprof may be another one:\n%.500s", page)
	require.NoError(t, json.NewDecoder(strings.NewReader(data)).Decode(&graph))
	stacks := map[string]bool{}
	for _, s := range graph.Stacks {
		var names []string
		for _, i := range s.Sources[1:] { // below the root
			name := graph.Sources[i].FullName
			if graph.Sources[i].Inlined {
				name += " (inlined)"
			}
			names = append(names, name)
		}
		stacks[strings.Join(names, " < ")] = true
	}
	assert.Equal(t, pprofSums(readPprof(t, readFile(t, file)), total)["total"], graph.Total)
	return stacks
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// pprofPage returns a page of pprof's web server. It starts the server, and ends it afterwards.
func pprofPage(t *testing.T, file, path string) string {
	t.Helper()
	cmd := exec.Command(pprofTool(t), "-no_browser", "-http=localhost:", file)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	var said []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said = append(said, lines.Text())
		if _, address, ok := strings.Cut(lines.Text(), "Serving web UI on "); ok {
			return getPage(t, address+path)
		}
	}
	if text := strings.Join(said, "\n"); strings.Contains(text, "listen") || strings.Contains(text, "port") {
		t.Skipf("pprof can't serve pages here: %s", text)
	}
	t.Fatalf("pprof serves no pages: %q", said)
	return ""
}

// getPage fetches a page from a server that may still be starting.
func getPage(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Timeout: hangs, Transport: &http.Transport{DisableKeepAlives: true}} // no proxy for localhost
	var err error
	for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var resp *http.Response
		if resp, err = client.Get(url); err == nil {
			defer resp.Body.Close()
			page, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, resp.StatusCode)
			return string(page)
		}
	}
	require.NoError(t, err)
	return ""
}

// TestPprofGoesWhere checks that a binary report is written to a file or a pipe, and never between the lines of a
// command's output.
func TestPprofGoesWhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	r := runGasm(t, []string{"profile", "--format", "pprof", "-o", filepath.Join(dir, "capture"), "--", "touch", ran})
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.said(), "name a file for it: --report FILE")
	assert.Empty(t, r.stdout)
	assert.NoFileExists(t, ran, "the command ran")
	assert.NoFileExists(t, filepath.Join(dir, "capture"))

	samples, log := gasmtest.UnpackCapture(t, "jdk11-lean-none", dir)
	file := filepath.Join(dir, "out.pb.gz")
	code, screen := onTerminal(t, "report", "--format", "pprof", samples, log)
	assert.Equal(t, 2, code)
	assert.Contains(t, screen, "use --report FILE or a redirection")
	code, screen = onTerminal(t, "report", "--format", "pprof", "--report", file, samples, log)
	assert.Equal(t, 0, code, screen)
	readPprof(t, readFile(t, file))
}

// onTerminal runs gasm on a terminal of its own. It returns the exit code and what the terminal got.
func onTerminal(t *testing.T, args ...string) (code int, screen string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	tty, err := pty.Start(cmd)
	require.NoError(t, err)
	defer tty.Close()
	text, _ := io.ReadAll(tty) // Read returns an error when gasm ends
	return exitCode(t, cmd), string(text)
}
