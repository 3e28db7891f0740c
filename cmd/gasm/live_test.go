package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var shareLine = regexp.MustCompile(`(?m)^share (\w+) ([0-9.]+)$`)

// A program that measures its own time gets its shares back, from each sampler,
// and each sampler sees the same hottest region.
func TestShares(t *testing.T) {
	for name, java := range jdks(t) {
		hottest := map[string]string{}
		for sampler, need := range map[string]func(*testing.T){"perf": needPerf, "dtrace": needDTrace} {
			t.Run(name+"/"+sampler, func(t *testing.T) {
				need(t)
				p := profileShares(t, java, sampler)
				hottest[sampler] = p.Regions[0].Source + " " + p.Regions[0].Method
			})
		}
		if len(hottest) == 2 {
			assert.Equal(t, hottest["perf"], hottest["dtrace"], "the hottest region")
		}
	}
}

// profileShares profiles Shares and compares its shares with its own figures.
func profileShares(t *testing.T, java, sampler string) *jsonProfile {
	temp := t.TempDir()
	var p *jsonProfile
	within(t, 0.03, func() float64 {
		var own map[string]float64
		p, own = runShares(t, java, "dontinline", sampler, nil, withEnv("TMPDIR="+temp))
		got := map[string]int64{}
		for _, m := range p.Methods {
			if method, ok := strings.CutPrefix(m.Name, "Shares::"); ok {
				got[method] += m.Counts[p.hottestEvent()]
			}
		}
		return compareShares(t, own, got)
	})
	assert.InDelta(t, 3, p.Window, 0.5, "MEASURE to DONE are 3 s of CPU time")
	unresolvedAtMost(t, p, 0.005)
	// One sample each 1/1001 s of the thread's CPU time, at most.
	assert.InEpsilon(t, 3*1001, p.Account[p.hottestEvent()].Profiled, 0.2, "samples in the window")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	for _, e := range left {
		// HotSpot's own folder for jps and jstat is not ours.
		assert.True(t, strings.HasPrefix(e.Name(), "hsperfdata"), "left behind: %s", e.Name())
	}
	return p
}

// runShares profiles Shares, its three methods inlined or not, with more flags
// of profile, and gives the shares that it measured itself.
func runShares(t *testing.T, java, inline, sampler string, flags []string, opts ...runOpt) (p *jsonProfile, own map[string]float64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	command := append([]string{"profile", "--sampler", sampler, "--frequency", "1001", "--format", "json", "--report", file,
		"--window-start", "^MEASURE", "--window-end", "^DONE"}, append(flags, "--", java)...)
	for _, method := range []string{"heavy", "middle", "light"} {
		command = append(command, "-XX:CompileCommand="+inline+",Shares::"+method)
	}
	r := runGasm(t, append(command, "-cp", javaPrograms(t), "Shares"), opts...)
	require.Equal(t, 0, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	rep := readReport(t, text)
	assert.Equal(t, sampler, rep.Capture.Sampler)
	require.Len(t, rep.Profiles, 1)
	own = map[string]float64{}
	for _, m := range shareLine.FindAllStringSubmatch(r.stdout, -1) {
		own[m[1]], err = strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
	}
	require.Len(t, own, 3, r.stdout)
	return &rep.Profiles[0], own
}

// compareShares compares samples per method with the program's own figures, and
// gives the largest difference.
func compareShares(t *testing.T, own map[string]float64, got map[string]int64) (off float64) {
	t.Helper()
	total := int64(0)
	for method := range own {
		total += got[method]
	}
	for method, want := range own {
		share := float64(got[method]) / float64(total)
		t.Logf("%-6s by itself %.1f %%, by gasm %.1f %%", method, 100*want, 100*share)
		off = max(off, math.Abs(want-share))
	}
	return off
}

// within measures until it is as exact as asked for, three times at most: on a
// machine that is busy with something else 3000 samples can be off by chance.
func within(t *testing.T, limit float64, measure func() (off float64)) {
	t.Helper()
	off := 1.0
	for try := 0; try < 3 && off > limit; try++ {
		off = measure()
	}
	assert.LessOrEqual(t, off, limit)
}

// The same with all three methods inlined into their caller: the frames tell
// them apart.
func TestInlinedShares(t *testing.T) {
	needPerf(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			var p *jsonProfile
			var own map[string]float64
			var event string
			var got, total map[string]int64
			var alone int64 // in the methods' own code
			within(t, 0.04, func() float64 {
				p, own = runShares(t, java, "inline", "perf", nil)
				event = p.hottestEvent()
				got, total = map[string]int64{}, map[string]int64{}
				for _, f := range p.Frames {
					got[strings.TrimPrefix(f.Method, "Shares::")] = f.Counts[event]
					total[strings.TrimPrefix(f.Method, "Shares::")] = f.Total[event]
				}
				alone = 0
				for _, m := range p.Methods {
					if _, ok := own[strings.TrimPrefix(m.Name, "Shares::")]; ok {
						alone += m.Counts[event]
					}
				}
				off := compareShares(t, own, got)
				if alone >= p.Account[event].Profiled/20 {
					t.Logf("C2 was late with the caller: %d samples in the methods' own code; once more", alone)
					return 1
				}
				return off
			})
			assert.Less(t, alone, p.Account[event].Profiled/20, "the methods are not inlined")
			for method := range own {
				assert.GreaterOrEqual(t, total["rounds"]+total["runUntil"], got[method], "what %s is inlined into", method)
			}
			assert.Greater(t, total["rounds"]+total["runUntil"], p.Account[event].Compiled*8/10, "nearly all is in the caller's code")
		})
	}
}

var digits = regexp.MustCompile(`(≈ )?[0-9][0-9.,]*[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*`)

// jmhShape is JMH's output without what differs from run to run: numbers, and
// the two lines that show a JVM's options.
func jmhShape(out string) string {
	var lines []string
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "Picked up ") || strings.HasPrefix(line, "# VM options:") {
			continue
		}
		lines = append(lines, strings.Join(strings.Fields(digits.ReplaceAllString(line, "N")), " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// A JMH run with two forks: one profile of both, in the measured iterations.
func TestJMH(t *testing.T) {
	needPerf(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) { runJMH(t, java, "perf") })
	}
}

// jmhScore is the line of the benchmark in JMH's last table.
var jmhScore = regexp.MustCompile(`(?m)^VectorSum\.sum +4096 +avgt +\d+ +([0-9.]+) `)

func TestJMHWithDTrace(t *testing.T) {
	needDTrace(t)
	for _, java := range jdks(t) {
		runJMH(t, java, "dtrace")
		return // what differs from perf does not differ with the JDK
	}
}

func runJMH(t *testing.T, java, sampler string) {
	jar := benchmarksJar(t)
	command := []string{java, "-jar", jar, "-f", "2", "-wi", "2", "-w", "1", "-i", "3", "-r", "1", "VectorSum"}
	p, jmh, iterations := profileJMH(t, sampler, command)
	t.Logf("window: %.3f s, JMH's iterations: %.3f s", p.Window, iterations.Seconds())
	assert.InEpsilon(t, iterations.Seconds(), p.Window, 0.01, "what lies between an iteration's line and its result")
	// Each takes a second, and longer on a machine that is busy with something else.
	assert.InDelta(t, 6.5, p.Window, 0.6, "3 iterations of 1 s in 2 forks")
	if sampler == "perf" {
		assert.Equal(t, jmhShape(runCommand(t, command)), jmhShape(jmh), "JMH's output is not as it is without gasm")
	}
	assert.Equal(t, "org.gasm.bench.VectorSum.sum (size=4096)", p.Trial)
	require.Len(t, p.PIDs, 2, "two forks")
	a := p.Account[p.hottestEvent()]
	require.Len(t, p.JVMs, 2)
	for _, j := range p.JVMs {
		assert.Greater(t, j.Counts[p.hottestEvent()], a.Profiled*4/10, "samples of pid %d", j.PID)
	}
	t.Logf("%+v", a)
	assert.Greater(t, a.Outside, int64(2000), "the warm-up of both forks")
	// One thread that never waits: its CPU time per operation is JMH's score.
	m := jmhScore.FindStringSubmatch(jmh)
	require.NotNil(t, m, jmh)
	score, err := strconv.ParseFloat(m[1], 64)
	require.NoError(t, err)
	perOp := float64(a.Profiled) / 1001 * 1e9 / p.Ops
	t.Logf("JMH: %.1f ns/op, gasm: %.1f ns of CPU time per operation", score, perOp)
	assert.InEpsilon(t, score, perOp, 0.2)
	unresolvedAtMost(t, p, 0.005)
	checkHottestIsSum(t, p)
}

// An iterationClock adds up how long JMH's measured iterations take, by when
// their lines arrive.
type iterationClock struct {
	line  []byte
	began time.Time // of the current iteration; zero between two
	total time.Duration
}

func (c *iterationClock) Write(text []byte) (int, error) {
	now := time.Now()
	for _, b := range text {
		c.line = append(c.line, b)
		switch {
		case b == '\n' && !c.began.IsZero():
			c.total += now.Sub(c.began)
			c.began, c.line = time.Time{}, c.line[:0]
		case b == '\n':
			c.line = c.line[:0]
		case c.began.IsZero() && bytes.HasPrefix(c.line, []byte("Iteration ")) && bytes.HasSuffix(c.line, []byte(": ")):
			c.began = now
		}
	}
	return len(text), nil
}

// profileJMH profiles a run of one JMH benchmark. It gives the profile, JMH's
// own output, and the time of the measured iterations.
func profileJMH(t *testing.T, sampler string, command []string) (p *jsonProfile, jmh string, iterations time.Duration) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	var clock iterationClock
	r := runGasm(t, append([]string{"profile", "--sampler", sampler, "--frequency", "1001", "-o", dir, "--"}, command...),
		func(c *exec.Cmd) { c.Stdout = io.MultiWriter(c.Stdout, &clock) })
	require.Equal(t, 0, r.code, r.stderr)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "the capture is private")

	jmh, report, ok := strings.Cut(r.stdout, "\ngasm: ")
	require.True(t, ok, r.stdout)
	assert.Regexp(t, `(?m)^Window: +\S+ s in 2 JVMs$`, report)

	again := runGasm(t, []string{"report", dir})
	require.Equal(t, 0, again.code, again.stderr)
	assert.Equal(t, "gasm: "+report, again.stdout, "the same report from the saved files")

	saved := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, saved.code, saved.stderr)
	rep := readReport(t, []byte(saved.stdout))
	require.Len(t, rep.Profiles, 1)
	return &rep.Profiles[0], jmh, clock.total
}

func benchmarksJar(t *testing.T) string {
	t.Helper()
	jar, err := filepath.Abs("../../testdata/benchmarks/target/benchmarks.jar")
	require.NoError(t, err)
	if _, err := os.Stat(jar); err != nil {
		t.Skip("no benchmarks.jar: make benchmarks builds it")
	}
	return jar
}

// checkHottestIsSum checks that the benchmark's loop is the hottest region and
// that nearly all compiled samples are in its method.
func checkHottestIsSum(t *testing.T, p *jsonProfile) {
	t.Helper()
	const stub = "org.gasm.bench.jmh_generated.VectorSum_sum_jmhTest::sum_avgt_jmhStub"
	const method = "org.gasm.bench.VectorSum::sum"
	event := p.hottestEvent()
	var right int64
	for _, m := range p.Methods {
		if m.Name == stub || m.Name == method {
			right += m.Counts[event]
		}
	}
	share := float64(right) / float64(p.Account[event].Compiled)
	t.Logf("%.1f %% of the compiled samples are in the benchmark's method", 100*share)
	assert.GreaterOrEqual(t, share, 0.90)
	hot := p.Regions[0]
	assert.Contains(t, []string{stub, method}, hot.Method)
	var inLoop, vector int64
	for _, l := range hot.Lines {
		if len(l.Frames) > 0 && l.Frames[0].Method == method {
			inLoop += l.Counts[event]
		}
		if strings.HasPrefix(l.Text, "vp") || strings.HasPrefix(l.Text, "vmov") {
			vector += l.Counts[event]
		}
	}
	assert.Greater(t, inLoop, hot.Counts[event]/2, "samples of the hottest region in VectorSum.sum's lines")
	assert.Greater(t, vector, hot.Counts[event]/2, "samples of the hottest region on vector instructions")
}

// Several benchmarks give a profile each.
func TestJMHTrials(t *testing.T) {
	needPerf(t)
	jar := benchmarksJar(t)
	file := filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, []string{"profile", "--format", "json", "--report", file, "--", "java", "-jar", jar,
		"-f", "1", "-wi", "1", "-w", "1", "-i", "1", "-r", "1", "MathLog|LockedCounter"})
	require.Equal(t, 0, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	rep := readReport(t, text)
	require.Len(t, rep.Profiles, 2)
	assert.Contains(t, rep.Profiles[0].Trial, "LockedCounter")
	log := rep.Profiles[1]
	assert.Contains(t, log.Trial, "MathLog")
	assert.Regexp(t, `StubRoutines::(libmLog|dlog)|LibmIntrinsic|[sS]tub`, log.Regions[0].Source+" "+log.Regions[0].Method)
	for _, p := range rep.Profiles {
		assert.Len(t, p.PIDs, 1)
		assert.InDelta(t, 1, p.Window, 0.2, p.Trial)
	}
}
