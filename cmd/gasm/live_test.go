package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// samplers are the samplers with which tests are run. Each function skips the test if the sampler does not work here.
var samplers = map[string]func(testing.TB){"native": gasmtest.NeedNative, "perf": gasmtest.NeedPerf,
	"dtrace": gasmtest.NeedDTrace}

// sideBySide makes the subtests with different samplers run at the same time. The subtest with DTrace runs before
// them, alone, because if two DTraces start at the same time, one can fail.
func sideBySide(t *testing.T, sampler string) {
	t.Helper()
	if sampler != "dtrace" {
		t.Parallel()
	}
}

// TestShares runs a program that measures how much of its time each method takes. Each sampler must find the same
// shares, and the same hottest method.
func TestShares(t *testing.T) {
	for i, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		for sampler, need := range samplers {
			if i > 0 && sampler != "native" {
				continue // other samplers differ from native sampling in the same way with each JDK
			}
			t.Run(jdk.Name()+"/"+sampler, func(t *testing.T) {
				sideBySide(t, sampler) // other load does not matter: samples are compared with CPU time
				need(t)
				profileShares(t, jdk.Java(), sampler)
			})
		}
	}
}

// profileShares profiles the program Shares and compares the samples with the program's own figures.
func profileShares(t *testing.T, java, sampler string) {
	temp := t.TempDir()
	p, own := sharesRun{sampler: sampler, inline: "dontinline", java: []string{java}}.profile(t, withEnv("TMPDIR="+temp))
	got := methodsOfShares(p)
	own.compare(t, got)
	// On a busy machine there may be so few samples that another method has more of them by chance. The difference of
	// two counts a and b has the standard error sqrt(a+b).
	samples := float64(got["heavy"] + got["middle"] + got["light"])
	heavy, next := own.share["heavy"], max(own.share["middle"], own.share["light"])
	if (heavy-next)*samples > sigmas*math.Sqrt((heavy+next)*samples) {
		assert.Equal(t, "Shares::heavy", p.Methods[0].Name, "the hottest method: it has half of the time")
	}
	unresolvedAtMost(t, p, 0.005)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	for _, e := range left {
		// hsperfdata is HotSpot's own folder for jps and jstat, not one of gasm's.
		assert.True(t, strings.HasPrefix(e.Name(), "hsperfdata"), "left behind: %s", e.Name())
	}
}

// methodsOfShares returns the number of samples in each of the program's own methods, as they were compiled.
func methodsOfShares(p *schema.Profile) map[string]int64 {
	got := map[string]int64{}
	for _, m := range p.Methods {
		if method, ok := strings.CutPrefix(m.Name, "Shares::"); ok {
			got[method] += m.Counts.Of(hottestEvent(p))
		}
	}
	return got
}

// sharesFigures has what the program Shares has measured itself, in CPU time of its thread.
type sharesFigures struct {
	share map[string]float64 // by method
	cpu   time.Duration      // in the three methods
}

var (
	shareLine = regexp.MustCompile(`(?m)^share (\w+) ([0-9.]+)$`)
	cpuLine   = regexp.MustCompile(`(?m)^cpu ([0-9]+)$`)
)

// A sharesRun says how the program Shares is profiled, at 1001 Hz.
type sharesRun struct {
	sampler, inline string   // "dontinline" or "inline", for the program's three methods
	java            []string // the java command, and further flags
	flags           []string // of gasm profile
}

// profile runs the program Shares under gasm. It returns the profile in the report, and the figures that the program
// printed.
func (s sharesRun) profile(t *testing.T, opts ...runOpt) (*schema.Profile, sharesFigures) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	command := slices.Concat([]string{"profile", "--sampler", s.sampler, "--frequency", "1001", "--fixed-frequency",
		"--format", "json", "--report", file,
		"--window-start", "^MEASURE", "--window-end", "^DONE"}, s.flags, []string{"--"}, s.java)
	for _, method := range []string{"heavy", "middle", "light"} {
		command = append(command, "-XX:CompileCommand="+s.inline+",Shares::"+method)
	}
	r := runGasm(t, append(command, "-cp", javaPrograms(t), "Shares"), opts...)
	require.Equal(t, 0, r.code, r.stderr)
	rep := readReport(t, readFile(t, file))
	assert.Equal(t, s.sampler, rep.Capture.Sampler)
	require.Len(t, rep.Profiles, 1)
	return &rep.Profiles[0], readFigures(t, r.stdout)
}

// readFigures parses what the program Shares has printed.
func readFigures(t *testing.T, stdout string) sharesFigures {
	t.Helper()
	own := sharesFigures{share: map[string]float64{}}
	for _, m := range shareLine.FindAllStringSubmatch(stdout, -1) {
		share, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		own.share[m[1]] = share
	}
	require.Len(t, own.share, 3, stdout)
	m := cpuLine.FindStringSubmatch(stdout)
	require.NotNil(t, m, stdout)
	nanos, err := strconv.ParseInt(m[1], 10, 64)
	require.NoError(t, err)
	own.cpu = time.Duration(nanos)
	return own
}

// compare compares the number of samples of each method with the program's own figures.
//
// A share p of n samples has the standard error sqrt(p(1-p)/n), and n itself has an error of at most sqrt(n): 1.8 %
// for 3000 samples. A difference of four standard errors happens by chance once in 16000 times. The program reads the
// clock in each call, which takes half a microsecond of 50 to 500, and so adds 0.5 %. n is compared with the CPU time
// of the thread, so other work of the machine makes no difference.
func (own *sharesFigures) compare(t *testing.T, got map[string]int64) {
	t.Helper()
	total := own.compareShares(t, got)
	expected := own.cpu.Seconds() * 1001
	t.Logf("%.0f samples in the three methods, %.0f expected of %.2f s of CPU time", total, expected, own.cpu.Seconds())
	assert.InDelta(t, expected, total, sigmas*math.Sqrt(expected)+clock*expected, "samples of the CPU time")
}

// What compare allows.
const sigmas, clock = 4, 0.005

// compareShares compares only the shares. It returns the number of samples.
func (own *sharesFigures) compareShares(t *testing.T, got map[string]int64) (total float64) {
	t.Helper()
	for method := range own.share {
		total += float64(got[method])
	}
	for method, want := range own.share {
		share := float64(got[method]) / total
		t.Logf("%-6s by itself %.1f %%, by gasm %.1f %%", method, 100*want, 100*share)
		assert.InDelta(t, want, share, sigmas*math.Sqrt(want*(1-want)/total)+clock, method)
	}
	return total
}

// TestInlinedShares is like TestShares, but all three methods are inlined into their caller, so that only the frames
// distinguish them. With -Xbatch the JVM waits for its compilers, so C2 has compiled the caller before the
// measurement begins.
func TestInlinedShares(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // other load does not matter: samples are compared with CPU time
			p, own := sharesRun{sampler: "native", inline: "inline", java: []string{java, "-Xbatch"}}.profile(t)
			event := hottestEvent(p)
			got, total := map[string]int64{}, map[string]int64{}
			for _, f := range p.Frames {
				got[strings.TrimPrefix(f.Method, "Shares::")] = f.Counts.Of(event)
				total[strings.TrimPrefix(f.Method, "Shares::")] = f.Total.Of(event)
			}
			own.compare(t, got)
			var alone int64 // samples in the separate code of the methods
			for _, m := range p.Methods {
				if _, ok := own.share[strings.TrimPrefix(m.Name, "Shares::")]; ok {
					alone += m.Counts.Of(event)
				}
			}
			assert.Less(t, alone, p.Account.Of(event).Profiled/20, "the methods are not inlined")
			for method := range own.share {
				assert.GreaterOrEqual(t, total["rounds"]+total["runUntil"], got[method], "what %s is inlined into", method)
			}
			assert.Greater(t, total["rounds"]+total["runUntil"], p.Account.Of(event).Compiled*8/10,
				"nearly all is in the caller's code")
		})
	}
}

var digits = regexp.MustCompile(`(≈ )?[0-9][0-9.,]*[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*`)

// jmhShape returns JMH's output without what differs from run to run: numbers, and the two lines with a JVM's
// options.
func jmhShape(out string) string {
	var lines []string
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "Picked up ") || strings.HasPrefix(line, "NOTE: Picked up ") ||
			strings.HasPrefix(line, "# VM options:") {
			continue
		}
		lines = append(lines, strings.Join(strings.Fields(digits.ReplaceAllString(line, "N")), " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// TestJMH runs JMH with two forks. There must be one profile of both forks, with samples from the measured
// iterations.
func TestJMH(t *testing.T) {
	gasmtest.NeedNative(t)
	for i, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		t.Run(jdk.Name(), func(t *testing.T) {
			command, jmh := runJMH(t, jdk.Java(), "native")
			if i == 0 { // JMH's output does not depend on the JDK
				assert.Equal(t, jmhShape(runCommand(t, command)), jmhShape(jmh), "JMH's output is not as it is without gasm")
			}
		})
	}
}

func TestJMHWithPerf(t *testing.T) {
	gasmtest.NeedPerf(t)
	for _, java := range jdks(t) {
		runJMH(t, java, "perf")
		return // other samplers differ from native sampling in the same way with each JDK
	}
}

// jmhIteration matches the line of a measured iteration. Its score is the elapsed time of an operation.
var jmhIteration = regexp.MustCompile(`(?m)^Iteration +\d+: ([0-9.]+) ns/op`)

// meanOfIterations returns the time of all iterations divided by the number of all operations, in ns. That is the
// harmonic mean of the iterations' scores, because all iterations take equally long. JMH's own score is the
// arithmetic mean. It is larger if some iterations were slower than others, as on a busy machine.
func meanOfIterations(t *testing.T, jmh string, n int) float64 {
	t.Helper()
	scores := jmhIteration.FindAllStringSubmatch(jmh, -1)
	require.Len(t, scores, n, jmh)
	sum := 0.0
	for _, m := range scores {
		score, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		sum += 1 / score
	}
	return float64(n) / sum
}

func TestJMHWithDTrace(t *testing.T) {
	gasmtest.NeedDTrace(t)
	for _, java := range jdks(t) {
		runJMH(t, java, "dtrace")
		return // other samplers differ from native sampling in the same way with each JDK
	}
}

// runJMH profiles JMH, and returns JMH's command and its output.
func runJMH(t *testing.T, java, sampler string) (command []string, jmh string) {
	t.Helper()
	const iterations = 2 * 2
	command = jmhCommand(t, java, "-f", "2", "-wi", "1", "-w", "1", "-i", "2", "-r", "1", "VectorSum")
	woken := gasmtest.Lateness(t)
	p, jmh, measured := profileJMH(t, sampler, command)
	// JMH's own JVM, gasm and this test pass each line on, and each of them must be woken up for it.
	hops := 3 * woken().Seconds()
	t.Logf("window: %.3f s, JMH's iterations: %.3f s, CPU time in them: %.2f s", p.WindowSeconds,
		measured.total.Seconds(), measured.cpu.Seconds())
	// The test knows only when JMH's lines arrive. The first line of each of the two forks comes up to 70 ms late
	// (record/windows/jmhlink.go), and twice as late on a busy machine. gasm corrects this by asking the kernel. Some
	// of the other lines are as late as the line after them.
	late := p.WindowSeconds - measured.total.Seconds()
	assert.Greater(t, late, -0.01*p.WindowSeconds-hops, "what lies between an iteration's line and its result")
	assert.Less(t, late, 0.01*p.WindowSeconds+2*0.14+hops, "what lies between an iteration's line and its result")
	checkIterations(t, p, iterations, 0)
	assert.Equal(t, "org.gasm.bench.VectorSum.sum (size=4096)", p.Trial)
	require.Len(t, p.PIDs, 2, "two forks")
	a := p.Account.Of(hottestEvent(p))
	require.Len(t, p.JVMs, 2)
	for _, j := range p.JVMs {
		assert.Positive(t, j.Counts.Of(hottestEvent(p)), "samples of pid %d", j.PID)
	}
	t.Logf("%+v", a)
	assert.Greater(t, a.OutsideWindow, a.Profiled/4,
		"the warm-up of both forks, half as long as the measurement, and what is before it")
	// In each iteration, the CPU time is read twice from /proc/PID/stat, whose clock ticks are 10 ms, sometimes a moment
	// late. 4000 samples have a standard error of 1.6 %. On a busy machine, the JVMs may get a tenth of that CPU time.
	expected := measured.cpu.Seconds() * 1001
	most := max(0.06, sigmas/math.Sqrt(expected)+iterations*0.01/measured.cpu.Seconds())
	assert.InEpsilon(t, expected, a.Profiled, most+hops/p.WindowSeconds, "samples of the JVMs' CPU time in the iterations")
	perOp := p.WindowSeconds * 1e9 / p.Operations
	score := meanOfIterations(t, jmh, iterations)
	t.Logf("JMH: %.1f ns/op, gasm: %.1f ns", score, perOp)
	// The score of an iteration has at least four digits. The variable late is how much longer the window is than the
	// iterations.
	assert.InEpsilon(t, score, perOp, 0.002+math.Abs(late)/p.WindowSeconds)
	unresolvedAtMost(t, p, 0.005)
	checkHottestIsSum(t, p)
	return command, jmh
}

// checkIterations checks that the window is as long as the given number of iterations, each of which takes 1 s. The
// window is a little longer or shorter, because JMH's own JVM prints the line of an iteration when the fork's message
// arrives. If the benchmark keeps all CPUs busy, the message arrives late: 65 ms late in a measurement, and 272 ms
// together with other tests. So the time for which threads waited meanwhile is added to the limit, but not more than
// 200 ms. A wrong number of iterations would make a difference of 1 s.
func checkIterations(t *testing.T, p *schema.Profile, iterations int, waited time.Duration) {
	t.Helper()
	assert.InDelta(t, iterations, p.WindowSeconds, 0.25*float64(iterations)+min(waited.Seconds(), 0.2),
		"%s: %d iterations of 1 s", p.Trial, iterations)
}

// An iterationClock adds up the durations of JMH's measured iterations, according to the times at which their lines
// arrive, and the CPU time of JMH's forks during the iterations.
type iterationClock struct {
	mark  string // a text that only the forks have in their environment, not other JVMs
	line  []byte
	began time.Time // start of the current iteration; zero between two iterations
	fork  string    // the fork's folder in /proc
	ticks int64     // the fork's CPU time when the iteration began
	total time.Duration
	cpu   time.Duration
}

func (c *iterationClock) Write(text []byte) (int, error) {
	now := time.Now()
	for _, b := range text {
		c.line = append(c.line, b)
		switch {
		case b == '\n' && !c.began.IsZero():
			c.total += now.Sub(c.began)
			c.cpu += time.Duration(cpuTicks(c.fork)-c.ticks) * 10 * time.Millisecond
			c.began, c.line = time.Time{}, c.line[:0]
		case b == '\n':
			c.line = c.line[:0]
		case c.began.IsZero() && bytes.HasPrefix(c.line, []byte("Iteration ")) && bytes.HasSuffix(c.line, []byte(": ")):
			c.began, c.fork = now, newestFork(c.mark)
			c.ticks = cpuTicks(c.fork)
		}
	}
	return len(text), nil
}

// newestFork returns the folder in /proc of the fork of JMH that started last. It considers only forks that have the
// mark in their environment.
func newestFork(mark string) (dir string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var last int64
	for _, d := range dirs {
		command, err := os.ReadFile(filepath.Join(d, "cmdline"))
		if err != nil || !bytes.Contains(command, []byte("\x00org.openjdk.jmh.runner.ForkedMain\x00")) {
			continue
		}
		if environ, err := os.ReadFile(filepath.Join(d, "environ")); err != nil ||
			!bytes.Contains(environ, []byte(mark+"\x00")) {
			continue
		}
		if start := statFields(d)[19]; start >= last {
			dir, last = d, start
		}
	}
	return dir
}

// cpuTicks returns the CPU time of a process, in user and kernel mode, in ticks of 10 ms. dir is the process's folder
// in /proc.
func cpuTicks(dir string) int64 {
	f := statFields(dir)
	return f[11] + f[12]
}

// statFields returns the fields of /proc/PID/stat from the third one on. All of them except the first, which is the
// process's state, are numbers.
func statFields(dir string) [50]int64 {
	var fields [50]int64
	text, _ := os.ReadFile(filepath.Join(dir, "stat"))
	words := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for i, w := range words[:min(len(words), len(fields))] {
		fields[i], _ = strconv.ParseInt(w, 10, 64)
	}
	return fields
}

// profileJMH profiles a run of a JMH benchmark. It returns the profile, JMH's own output, and what the test knows
// about the measured iterations.
func profileJMH(t *testing.T, sampler string, command []string) (p *schema.Profile, jmh string,
	iterations *iterationClock) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	clock := &iterationClock{mark: "GASM_TEST_RUN=" + dir}
	r := runGasm(t, append([]string{"profile", "--sampler", sampler, "--frequency", "1001", "--fixed-frequency", "-o", dir,
		"--"}, command...),
		withEnv(clock.mark), func(c *exec.Cmd) { c.Stdout = io.MultiWriter(c.Stdout, clock) })
	require.Equal(t, 0, r.code, r.stderr)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "the capture is private")

	jmh, report, ok := strings.Cut(r.stdout, "\ngasm: ")
	require.True(t, ok, r.stdout)
	assert.Regexp(t, `(?m)^Measured: +\S+ s in 2 JVMs$`, report)

	again := runGasm(t, []string{"report", dir})
	require.Equal(t, 0, again.code, again.stderr)
	assert.Equal(t, "gasm: "+report, again.stdout, "the same report from the saved files")

	saved := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, saved.code, saved.stderr)
	rep := readReport(t, []byte(saved.stdout))
	require.Len(t, rep.Profiles, 1)
	return &rep.Profiles[0], jmh, clock
}

// checkHottestIsSum checks that the benchmark's loop is the hottest region, and that nearly all samples in compiled
// code are in the benchmark's method.
func checkHottestIsSum(t *testing.T, p *schema.Profile) {
	t.Helper()
	const stub = "org.gasm.bench.jmh_generated.VectorSum_sum_jmhTest::sum_avgt_jmhStub"
	const method = "org.gasm.bench.VectorSum::sum"
	event := hottestEvent(p)
	var right int64
	for _, m := range p.Methods {
		if m.Name == stub || m.Name == method {
			right += m.Counts.Of(event)
		}
	}
	share := float64(right) / float64(p.Account.Of(event).Compiled)
	t.Logf("%.1f %% of the compiled samples are in the benchmark's method", 100*share)
	assert.GreaterOrEqual(t, share, 0.90)
	hot := p.Regions[0]
	assert.Contains(t, []string{stub, method}, hot.Method)
	var inLoop, vector int64
	for _, l := range hot.Lines {
		if len(l.Frames) > 0 && l.Frames[0].Method == method {
			inLoop += l.Counts.Of(event)
		}
		if strings.HasPrefix(l.Text, "vp") || strings.HasPrefix(l.Text, "vmov") {
			vector += l.Counts.Of(event)
		}
	}
	assert.Greater(t, inLoop, hot.Counts.Of(event)/2, "samples of the hottest region in VectorSum.sum's lines")
	assert.Greater(t, vector, hot.Counts.Of(event)/2, "samples of the hottest region on vector instructions")
}

// TestJMHTrials checks that each of several benchmarks gets a profile of its own.
func TestJMHTrials(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	file := filepath.Join(t.TempDir(), "report.json")
	waited := watchWaiting()
	r := runGasm(t, append([]string{"profile", "--format", "json", "--report", file, "--"},
		jmhCommand(t, "java", "-f", "1", "-wi", "1", "-w", "1", "-i", "1", "-r", "1", "MathLog|LockedCounter")...))
	waiting := waited()
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
		checkIterations(t, &p, 1, waiting)
	}
}
