package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/report/tracetest"
)

// waiting is the capture of a program most of whose threads wait, testdata/captures/Waiting.java.
const waiting = "waiting"

// waitReport returns the report about the capture in the folder dir.
func waitReport(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	r := runGasm(t, append(append([]string{"report"}, flags...), dir), withEnv("LC_ALL=C.UTF-8", "NO_COLOR="))
	require.Equal(t, 0, r.code, r.stderr)
	return r.stdout
}

// TestWaitGoldens compares the reports about a capture that was recorded with --wall.
func TestWaitGoldens(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"text":      {"--width", "100", "--skip-asm", "--site-callers", "2"},
		"idle":      {"--width", "100", "--skip-asm", "--idle-threads", "--thread", "idle|GC|main", "--top", "5"},
		"innermost": {"--width", "100", "--skip-asm", "--sites", "innermost", "--under", "Waiting::handle"},
		"json":      {"--format", "json", "--skip-asm"},
		"html":      {"--format", "html", "--instructions", "50", "--top", "6"},
		"collapsed": {"--format", "collapsed", "--what", "wall"},
		"pprof":     {"--format", "pprof"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gasmtest.UnpackFolder(t, waiting)
			text := []byte(waitReport(t, dir, flags...))
			if name == "pprof" {
				p, err := pprof.ParseData(text)
				require.NoError(t, err)
				text = []byte(p.String())
			}
			gasmtest.GoldenGzip(t, "report/wall-"+name+".gz", []byte(strings.ReplaceAll(ownParts.ReplaceAllString(string(text),
				"$1…$2"), dir, "DIR")))
			if flags[0] == "--width" {
				checkWidth(t, strings.Split(string(text), "\n"), 100)
			}
		})
	}
}

// TestWaitSums checks that the threads' time is the same in all formats, and that the parts of the JSON report add up.
func TestWaitSums(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, waiting)
	var rep schema.Report
	require.NoError(t, json.Unmarshal([]byte(waitReport(t, dir, "--format", "json", "--skip-asm")), &rep))
	w := rep.Profiles[0].Waits
	require.NotNil(t, w)
	require.Len(t, rep.Profiles, 1)
	sum := func(states map[string]int64) (n int64) {
		for _, ns := range states {
			n += ns
		}
		return n
	}
	assert.Equal(t, w.Account.ProfiledNS, sum(w.States))
	assert.Equal(t, w.Account.TotalNS, w.Account.ProfiledNS+w.Account.OutsideWindowNS)
	var threads, idle int64
	for _, th := range w.Threads {
		threads += sum(th.States)
		if th.Idle {
			idle += sum(th.States)
		}
		// The window of 3 s is within the lives of nearly all threads.
		assert.LessOrEqual(t, sum(th.States), int64(rep.Profiles[0].WindowSeconds*1e9)+1, th.Name)
	}
	assert.Equal(t, w.Account.ProfiledNS, threads)
	assert.Equal(t, w.IdleNS, idle)
	assert.Positive(t, idle)

	collapsed := func(flags ...string) (n int64) {
		for line := range strings.Lines(waitReport(t, dir, append([]string{"--format", "collapsed", "--what", "wall"},
			flags...)...)) {
			ns, err := strconv.ParseInt(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 10, 64)
			require.NoError(t, err)
			n += ns
		}
		return n
	}
	assert.Equal(t, threads-idle, collapsed())
	assert.Equal(t, threads, collapsed("--idle-threads"))

	p, err := pprof.ParseData([]byte(waitReport(t, dir, "--format", "pprof")))
	require.NoError(t, err)
	require.NoError(t, p.CheckValid())
	at := slices.IndexFunc(p.SampleType, func(s *pprof.ValueType) bool {
		return s.Type == "wall" &&
			s.Unit == "nanoseconds"
	})
	require.Equal(t, len(p.SampleType)-1, at)
	assert.Equal(t, "cpu", p.DefaultSampleType)
	byState := map[string]int64{}
	var all int64
	for _, s := range p.Sample {
		if s.Value[at] > 0 {
			assert.Zero(t, s.Value[0], "it is not a sample of the processor")
			byState[s.Label["state"][0]] += s.Value[at]
			all += s.Value[at]
		}
	}
	assert.Equal(t, threads-idle, all)
	assert.Equal(t, w.States["monitor"], byState["monitor"])
	assert.True(t, slices.ContainsFunc(p.Comments, func(c string) bool { return strings.Contains(c, "idle threads") }))

	trace := filepath.Join(t.TempDir(), "trace")
	r := runGasm(t, []string{"events", "--format", "perfetto", "--report", trace, dir})
	require.Equal(t, 0, r.code, r.stderr)
	text, err := os.ReadFile(trace)
	require.NoError(t, err)
	decoded, err := tracetest.Decode(text)
	require.NoError(t, err)
	var total int64
	for _, s := range decoded.Slices {
		if s.Category == "wall clock" {
			total += s.Nanos
		}
	}
	assert.Equal(t, w.Account.TotalNS, total)
}

// TestWaitingProgram checks that the report shows what the program's threads do.
func TestWaitingProgram(t *testing.T) {
	t.Parallel()
	text := waitReport(t, gasmtest.UnpackFolder(t, waiting), "--skip-asm", "--top", "30")
	for _, want := range []string{
		`(?m)^ *\d+\.\d\d% +\d+\.\d\d +11  monitor +http-\* +Waiting::take:126 +Waiting\$Pool$`,
		`(?m)^ *\d+\.\d\d%  \d+\.\d\d s: 11 threads wait for Waiting\$Pool@[0-9a-f]+, held by http-1 at Waiting::handle:113$`,
		`(?m)^ +http-1 waited for java\.util\.concurrent\.locks\.ReentrantLock\$NonfairSync@[0-9a-f]+, held by\s+writer$`,
		`(?m)^2 threads wait for one another, for \d+\.\d\d s until the recording ended:$`,
		`(?m)^  left waits for java\.lang\.Object@[0-9a-f]+, held by right at Waiting::lockBoth:170$`,
		`Without 31 idle threads`,
		`(?m)^ main +1 +- +3\.00 .*100\.0 *$`,
	} {
		assert.Regexp(t, want, text)
	}
}

// TestWaitsCutOff checks that a recording that a kill has cut off has a report of everything until then.
func TestWaitsCutOff(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, waiting)
	files, err := filepath.Glob(filepath.Join(dir, "wall-*.txt"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	text = text[:len(text)*9/10]
	require.False(t, bytes.HasSuffix(text, []byte("\n")), "the last line is cut")
	require.NoError(t, os.WriteFile(files[0], text, 0o600))
	assert.Contains(t, waitReport(t, dir, "--skip-asm"), "The recording was cut off.")
	require.NoError(t, os.Remove(filepath.Join(dir, "capture.json")))
	assert.Contains(t, waitReport(t, dir, "--skip-asm"), "The recording was cut off.", "gasm writes capture.json last")
}

// TestNoWaits checks that a report about a capture without times of threads says how to record them, and that flags
// that make no sense are refused.
func TestNoWaits(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, "stacks")
	r := runGasm(t, []string{"report", "--format", "collapsed", "--what", "wall", dir})
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "gasm profile --wall")
	assert.NotContains(t, waitReport(t, dir, "--skip-asm"), "Where Threads Wait")
	for _, flags := range [][]string{{"--what", "wall"}, {"--what", "cpu", "--format", "collapsed"}} {
		r = runGasm(t, append(append([]string{"report"}, flags...), dir))
		assert.Equal(t, 2, r.code, "%s", r.stderr)
	}
}
