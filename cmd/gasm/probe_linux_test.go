package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
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

// probedClasses compiles the program Calls for JDK 8 and newer.
func probedClasses(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 8, gasmtest.Testdata("programs", "Calls.java"))
	return dir
}

// ownNumbers returns the numbers that the program Calls has printed.
func ownNumbers(t *testing.T, stdout string) map[string]int64 {
	t.Helper()
	own := map[string]int64{}
	for line := range strings.Lines(stdout) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		base := 10
		if name == "identity" {
			base = 16
		}
		if n, err := strconv.ParseInt(text, base, 64); err == nil {
			own[name] = n
		}
	}
	return own
}

// probeOf returns the row of a probe in the report. If descriptor is "", it may have any descriptor.
func probeOf(t *testing.T, p *schema.Profile, kind, method, descriptor string) *schema.Probe {
	t.Helper()
	for i := range p.Probes {
		if x := &p.Probes[i]; x.Kind == kind && x.Method == method && (descriptor == "" || x.Descriptor == descriptor) {
			return x
		}
	}
	t.Fatalf("no %s %s%s among the probes", kind, method, descriptor)
	return nil
}

// A listedEvent is a line that gasm events --format jsonl prints.
type listedEvent struct {
	MonoNanos int64 `json:"mono_nanos"`
	Nanos     int64
	WaitNanos int64 `json:"wait_nanos"`
	PID, TID  int
	Kind      string
	Name      string
	Args      map[string]string
}

func listEvents(t *testing.T, dir string) (events []listedEvent) {
	t.Helper()
	r := runGasm(t, []string{"events", "--format", "jsonl", dir})
	require.Equal(t, 0, r.code, r.stderr)
	for line := range strings.Lines(r.stdout) {
		var e listedEvent
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		events = append(events, e)
	}
	return events
}

// probeRuns has the JVM options of the runs on each JDK. They select different collectors, because each collector
// moves objects in its own way.
var probeRuns = map[int][]string{8: {"-XX:+UseSerialGC"}, 17: {"-XX:+UseG1GC"}, 21: {"-XX:+UseSerialGC"},
	25: {"-XX:+UseZGC", "--sun-misc-unsafe-memory-access=allow"}}

// TestProbes checks that the probes count what the program itself counts: with exceptions, recursion and threads, on
// all JDKs.
func TestProbes(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := probedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return probeRuns[j.Feature] != nil }) {
		t.Run(j.Name(), func(t *testing.T) {
			dir := t.TempDir()
			capt, file := filepath.Join(dir, "capture"), filepath.Join(dir, "report.json")
			args := []string{"profile", "-o", capt, "--format", "json", "--report", file, "--probe", "Calls::count(long)",
				"--probe", "Calls::sometimes",
				"--probe", "Calls::<init>", "--probe", "Calls::fibonacci", "--probe", "Calls$Shape::area", "--probe", "Calls::slow",
				"--probe", "Calls::brief", "--probe", "Calls::itself", "--probe-this",
				"--probe", "Calls::lambda$worker*", "--probe-lock", "Calls", "--probe-alloc", "Calls::allocate", "--", j.Java()}
			r := runGasm(t, slices.Concat(args, probeRuns[j.Feature], []string{"-cp", classes, "Calls"}))
			require.Equal(t, 0, r.code, r.stderr)
			rep := readReport(t, readFile(t, file))
			own := ownNumbers(t, r.stdout)
			require.Len(t, own, 15, r.stdout)
			compareCounts(t, own, &rep.Profiles[0])
			compareTimes(t, own, &rep.Profiles[0])
			compareEvents(t, own, listEvents(t, capt))
			sameReport(t, &rep, capt)
		})
	}
}

func compareCounts(t *testing.T, own map[string]int64, p *schema.Profile) {
	t.Helper()
	count := probeOf(t, p, "method", "Calls::count", "")
	assert.Equal(t, own["entered"], count.Entries)
	assert.Equal(t, "(J)J", count.Descriptor, "the other overload is not probed")
	assert.Len(t, count.Threads, 8)
	for _, thread := range count.Threads {
		assert.Equal(t, own["entered"]/8, thread.Entries, thread.Name)
		assert.Regexp(t, "^worker [0-7]$", thread.Name)
	}
	var distributed int64
	for _, b := range count.Distribution {
		distributed += b.Count
	}
	assert.Equal(t, own["entered"], distributed)
	sometimes := probeOf(t, p, "method", "Calls::sometimes", "")
	assert.Equal(t, []int64{8000, 8000 - own["thrown"], own["thrown"]},
		[]int64{sometimes.Entries, sometimes.Returns, sometimes.Exceptions})
	made := probeOf(t, p, "method", "Calls::<init>", "")
	assert.Equal(t, []int64{own["made"] + own["failed"], own["made"], own["failed"]},
		[]int64{made.Entries, made.Returns, made.Exceptions})
	fibonacci := probeOf(t, p, "method", "Calls::fibonacci", "")
	assert.Equal(t, own["recursive"], fibonacci.Entries)
	assert.Less(t, fibonacci.TotalMS, 8*float64(fibonacci.MaxNS)/1e6+0.001,
		"the time in recursive calls counts once: in eight outermost calls")
	areas := probeOf(t, p, "method", "Calls$Square::area", "").Entries +
		probeOf(t, p, "method", "Calls$Circle::area", "").Entries
	assert.Equal(t, own["areas"], areas, "implementations of an interface's method")
	var locked, released int64
	for _, x := range p.Probes {
		switch {
		case strings.HasPrefix(x.Method, "Calls::lambda"):
			assert.Contains(t, []int64{8, 80}, x.Entries, "run by eight threads, once and ten times: %s", x.Method)
		case x.Kind == "lock" && x.Method != "Calls::twice":
			locked, released = locked+x.Entries, released+x.Returns
		}
	}
	assert.Equal(t, own["locked"], locked)
	assert.Equal(t, own["locked"], released)
	assert.Equal(t, own["allocated"], probeOf(t, p, "alloc", "Calls::allocate", "").Entries)
}

// compareTimes compares the times of the probes with the times that the program measures around its calls.
func compareTimes(t *testing.T, own map[string]int64, p *schema.Profile) {
	t.Helper()
	slow := probeOf(t, p, "method", "Calls::slow", "")
	assert.EqualValues(t, 2001, slow.Entries)
	// The program reads its clock outside and inside of the places where gasm does, so gasm's time is between the
	// program's two times. These are up to some milliseconds apart if the thread is interrupted between two readings.
	// The program does not measure the first call, because the agent makes room for the counts then.
	around, inside := float64(own["slow"])/1e6, float64(own["inside"])/1e6
	assert.Less(t, slow.TotalMS, 1.05*around, "ms; %v inside", inside)
	assert.Greater(t, slow.TotalMS+0.001, inside, "ms; %v around the calls", around)
	// Each call takes 20 µs plus the time for reading a clock. The width of a bucket is a sixteenth of its value. The
	// median is at most the mean, because interrupted calls take longer than others.
	assert.Greater(t, 1.07*float64(slow.P50), 20_000.0)
	assert.Less(t, float64(slow.P50), 1.07*max(20_000, 1e6*around/float64(slow.Entries)))
	brief := probeOf(t, p, "method", "Calls::brief", "")
	assert.EqualValues(t, 550_000, brief.Entries)
	// Between entry and exit the clock is read. That takes 25 ns in an idle virtual machine, and 50 ns in one that
	// shares its CPUs. The program's figure is the least of some rounds. The probe's figure is the time that a tenth
	// of the calls do not exceed. A higher percentile would not do: if C2 waits for a CPU, most calls run C1's code,
	// with its counters.
	assert.Less(t, tenth(brief.Distribution), max(60, own["clock"]+35),
		"what a probe adds to the time of a method that takes a nanosecond: %+v", brief.Distribution)
}

// tenth returns the upper end, in nanoseconds, of the bucket at which a tenth of the calls is reached.
func tenth(distribution []schema.ProbeBucket) int64 {
	var all, seen int64
	for _, b := range distribution {
		all += b.Count
	}
	for _, b := range distribution {
		if seen += b.Count; seen*10 >= all {
			return b.ToNS
		}
	}
	return math.MaxInt64
}

func compareEvents(t *testing.T, own map[string]int64, events []listedEvent) {
	t.Helper()
	identity := fmt.Sprintf("%08x", own["identity"])
	assert.NotEqual(t, own["before"], own["after"], "where the object is: the collector was to move it")
	var held []listedEvent
	var called []string
	made := map[string]bool{}
	for _, e := range events {
		switch {
		case e.Kind == "held" && e.Name == "Calls::twice":
			held = append(held, e)
		case e.Kind == "call" && e.Name == "Calls::itself":
			called = append(called, e.Args["identity"])
		case e.Kind == "call" && e.Name == "Calls::brief":
			assert.NotContains(t, e.Args, "identity", "a static method has no object")
		case e.Kind == "new":
			made[e.Args["identity"]] = true
		}
	}
	require.Len(t, held, 2)
	for _, e := range held {
		assert.Equal(t, identity, e.Args["identity"], "an object's identity, before and after it was moved")
		assert.Positive(t, e.Nanos)
		assert.NotEmpty(t, e.Args["bci"])
	}
	assert.Equal(t, []string{identity, identity}, called, "whose method was called, before and after it was moved")
	// An identity is a random number of 25 to 31 bits. Among 440 objects, two have the same identity in one of 300
	// runs.
	assert.InDelta(t, own["allocated"], len(made), 2, "objects that were made")
}

// TestWindowMethod checks that with --window-method, the profile has the samples of the handler, but neither those of
// a background thread nor those of the handler's thread outside of the method.
func TestWindowMethod(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	dir := t.TempDir()
	capt, file := filepath.Join(dir, "capture"), filepath.Join(dir, "report.json")
	args := []string{"profile", "-o", capt, "--frequency", "1001", "--fixed-frequency", "--format", "json", "--report",
		file, "--stacks", "off", "--window-method", "Calls::handle", "--",
		gasmtest.NeedJava(t), "-Dsec=4", "-XX:CompileCommand=quiet"}
	for _, m := range []string{"handle", "part", "background"} {
		args = append(args, "-XX:CompileCommand=dontinline,Calls::"+m)
	}
	r := runGasm(t, append(args, "-cp", probedClasses(t), "Calls"))
	require.Equal(t, 0, r.code, r.stderr)
	inside := readReport(t, readFile(t, file))
	assert.Equal(t, "--window-method Calls::handle", inside.Chosen)
	r = runGasm(t, []string{"report", "--format", "json", capt})
	require.Equal(t, 0, r.code, r.stderr)
	all := readReport(t, []byte(r.stdout))

	account, whole := inside.Profiles[0].Account.Values[0], all.Profiles[0].Account.Values[0]
	assert.Positive(t, account.OutsideMethod)
	assert.Equal(t, whole.Profiled, account.Profiled+account.OutsideMethod)
	handle, part := methodSamples(&inside.Profiles[0], "Calls::handle"), methodSamples(&inside.Profiles[0], "Calls::part")
	// Until its methods are compiled, which takes long on a busy machine, the handler runs in the interpreter.
	// Samples in the interpreter have no method names. The same is true of samples in the kernel, and in the JVM,
	// when it interrupts the handler.
	assert.Greater(t, float64(handle+part), 0.95*float64(account.Compiled), "samples in the handler's call tree")
	allHandle, allPart := methodSamples(&all.Profiles[0], "Calls::handle"), methodSamples(&all.Profiles[0], "Calls::part")
	// The samples within the window must be among the samples of the same run without the window. Only samples at the
	// very beginning or end of a call may be missing. On a busy machine there are 20 samples instead of 1000.
	assert.InDelta(t, allHandle, handle, 0.05*float64(allHandle)+2)
	assert.InDelta(t, allPart, part, 0.05*float64(allPart)+2)
	assert.Zero(t, methodSamples(&inside.Profiles[0], "Calls::background"))
	assert.Greater(t, methodSamples(&all.Profiles[0], "Calls::background"), handle)

	r = runGasm(t, []string{"report", "--window-method", "Calls::part", capt})
	assert.Equal(t, 1, r.code)
	assert.Equal(t, "gasm: --window-method Calls::part: the capture has no such window, and no call stacks; record one of them: gasm profile --window-method, or --stacks on\n", r.stderr)
}

func methodSamples(p *schema.Profile, method string) (n int64) {
	for _, m := range p.Methods {
		if m.Name == method {
			n += m.Counts.Values[0]
		}
	}
	return n
}

// An askProgram is the program Calls with -Dask=true. It does what the test asks for.
type askProgram struct {
	*exec.Cmd
	in     io.Writer
	out    *bufio.Scanner
	stderr strings.Builder
}

func startAsk(t *testing.T, java string, options ...string) *askProgram {
	t.Helper()
	p := &askProgram{Cmd: exec.Command(java, append(options, "-Dask=true", "-cp", probedClasses(t), "Calls")...)}
	in, err := p.StdinPipe()
	require.NoError(t, err)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.Stderr = &p.stderr
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = p.Wait()
	})
	p.in, p.out = in, bufio.NewScanner(out)
	require.True(t, p.out.Scan())
	require.Equal(t, "READY", p.out.Text())
	return p
}

func (p *askProgram) pid() string { return strconv.Itoa(p.Process.Pid) }

// ask asks the program to do something, and returns the line that the program answers.
func (p *askProgram) ask(t *testing.T, what string) string {
	t.Helper()
	_, err := io.WriteString(p.in, what)
	require.NoError(t, err)
	require.True(t, p.out.Scan())
	return p.out.Text()
}

// awaitProbes waits until gasm's agent has begun to probe the program.
func (p *askProgram) awaitProbes(t *testing.T) {
	t.Helper()
	report := fmt.Sprintf("/tmp/gasm-probes-%s/*/probes-%s.txt", p.pid(), p.pid())
	require.Eventually(t, func() bool {
		found, err := filepath.Glob(report)
		if err != nil || len(found) == 0 {
			return false
		}
		text, err := os.ReadFile(found[0])
		return err == nil && strings.Contains(string(text), "started")
	}, 20*time.Second, 10*time.Millisecond)
}

// TestAttachProbes checks that the agent leaves the program as it was before. TestAttachProbesMetaspace does this ten
// times.
func TestAttachProbes(t *testing.T) {
	gasmtest.NeedNative(t)
	p := startAsk(t, gasmtest.NeedJava(t))
	attachTimes(t, p, 2)
	killedWhileProbing(t, p)
	notTransformed(t, p)
	endedMeanwhile(t, p)
}

// killedWhileProbing kills gasm with kill -9. The JVM continues with its probes. The next gasm must say so, and
// remove them.
func killedWhileProbing(t *testing.T, p *askProgram) {
	t.Helper()
	want := p.ask(t, "w")
	gasm := exec.Command(binary, "attach", "--probe", "Calls::count(long)", p.pid())
	temp := shortTemp(t)
	gasm.Env = append(os.Environ(), "TMPDIR="+temp)
	require.NoError(t, gasm.Start())
	p.awaitProbes(t)
	require.NoError(t, gasm.Process.Kill())
	_ = gasm.Wait()     // the error says that it was killed
	assertGone(t, temp) // if gasm runs as root, its child is killed when the parent has ended
	assert.Equal(t, want, p.ask(t, "w"))
	told :=
		fmt.Sprintf("gasm: JVM %s still counted for probes of a gasm that has ended, into /tmp/gasm-probes-%s/[0-9a-f]{32}: it does not any more\n", p.pid(), p.pid())
	assert.Regexp(t, told, runGasm(t, []string{"attach"}).stderr)
	assert.NoDirExists(t, "/tmp/gasm-probes-"+p.pid())
	assert.NotContains(t, runGasm(t, []string{"attach"}).stderr, "JVM "+p.pid())
	assert.Equal(t, want, p.ask(t, "w"))
}

// endedMeanwhile checks that the counts of a JVM are kept if the JVM ends before gasm does.
func endedMeanwhile(t *testing.T, p *askProgram) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	gasm := exec.Command(binary, "attach", "--format", "json", "--report", file, "--probe", "Calls::count(long)", p.pid())
	stderr := newLineWaiter("sampling pid")
	gasm.Stderr = stderr
	require.NoError(t, gasm.Start())
	stderr.wait(t)
	p.ask(t, "w")
	require.NoError(t, p.Process.Kill())
	require.NoError(t, gasm.Wait(), "%s", stderr)
	rep := readReport(t, readFile(t, file))
	assert.EqualValues(t, 100_000, probeOf(t, &rep.Profiles[0], "method", "Calls::count", "").Entries)
	assert.NoDirExists(t, "/tmp/gasm-probes-"+p.pid())
}

// TestAttachProbesMetaspace checks that attaching again and again does not use more and more metaspace. The agent is
// unloaded together with its class loader, except for a few classes. When the probed class is changed again, a
// collection frees its former constant pools and methods. Only its first version stays, because main has not returned
// from it. The JVM's profiles of the JDK's own methods stay forever. The JVM makes such a profile when a method has
// been called some 200 times. So an attach must not call many methods of the JDK 20 times or more.
//
// The test waits for compilations, so that each profile is made during the attach that causes it. JDK 17 frees what
// compiled code refers to only when it sweeps the code cache, so an option makes it sweep soon. Its reflection makes
// classes if it is used often, as the JDK does to map files.
func TestAttachProbesMetaspace(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	// The largest allowed increase of the metaspace from the first and from the fourth time to the tenth. With a
	// class loader that reads jars, it was 248 kB (JDK 17) and 210 kB (JDK 25).
	most := map[int][2]int64{
		// The increases were 34 to 48 kB and 5 to 20 kB. A version of the class takes 11 to 16 kB, and the sweeper
		// may free it some rounds late.
		17: {96 << 10, 64 << 10},
		// The increases were 17 to 24 kB and 4 to 11 kB. One more version of the class takes 17 kB: a former version
		// stays until the collection after the next attach. The rest are profiles of 0.5 kB, and one of 7.5 kB that
		// may be made in any round.
		25: {48 << 10, 24 << 10},
	}
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return most[j.Feature] != [2]int64{} }) {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel()
			p := startAsk(t, j.Java(), "-Xbatch", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:SweeperThreshold=0.001",
				"-Dsun.reflect.inflationThreshold=1000")
			for range 30 { // until the methods that the program itself calls have their profiles
				p.ask(t, "m")
			}
			metaspace := attachTimes(t, p, 10)
			assert.Less(t, metaspace[9]-metaspace[0], most[j.Feature][0], "bytes of metaspace: %v", metaspace)
			assert.Less(t, metaspace[9]-metaspace[3], most[j.Feature][1], "bytes of metaspace: %v", metaspace)
		})
	}
}

// attachTimes probes a program the given number of times, and returns the use of its metaspace after each time.
func attachTimes(t *testing.T, p *askProgram, times int) (metaspace []int64) {
	t.Helper()
	p.ask(t, "m")
	want := p.ask(t, "w")
	for range times {
		dir := t.TempDir()
		file := filepath.Join(dir, "report.json")
		gasm := exec.Command(binary, "attach", "--format", "json", "--report", file, "--probe", "Calls::count(long)",
			"--probe-lock", "Calls", p.pid())
		var stderr strings.Builder
		gasm.Stderr = &stderr
		require.NoError(t, gasm.Start())
		p.awaitProbes(t)
		assert.Equal(t, want, p.ask(t, "w"), "what the program prints")
		require.NoError(t, gasm.Process.Signal(os.Interrupt))
		require.NoError(t, gasm.Wait(), "%s", &stderr)
		rep := readReport(t, readFile(t, file))
		assert.EqualValues(t, 100_000, probeOf(t, &rep.Profiles[0], "method", "Calls::count", "").Entries)
		lock := probeOf(t, &rep.Profiles[0], "lock", "Calls::block", "")
		assert.Equal(t, []int64{2, 2}, []int64{lock.Entries, lock.Returns})
		assert.NoDirExists(t, "/tmp/gasm-probes-"+p.pid())
		_, text, _ := strings.Cut(p.ask(t, "m"), " ")
		used, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err)
		metaspace = append(metaspace, used)
	}
	assert.Equal(t, want, p.ask(t, "w"))
	return metaspace
}

// notTransformed samples the program at work, and checks that it does not call the agent any more. The program works
// for half a second of CPU time, because in half a second of real time it may get little CPU time on a busy machine.
func notTransformed(t *testing.T, p *askProgram) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	gasm := exec.Command(binary, "attach", "--format", "json", "--report", file, p.pid())
	stderr := newLineWaiter("sampling pid")
	gasm.Stderr = stderr
	require.NoError(t, gasm.Start())
	stderr.wait(t)
	used := func() time.Duration {
		cpu, ok := gasmtest.CPUTime(p.Process.Pid)
		require.True(t, ok)
		return cpu
	}
	for begun := used(); used() < begun+500*time.Millisecond; {
		p.ask(t, "w")
	}
	require.NoError(t, gasm.Process.Signal(os.Interrupt))
	require.NoError(t, gasm.Wait(), "%s", stderr)
	rep := readReport(t, readFile(t, file))
	assert.Positive(t, methodSamples(&rep.Profiles[0], "Calls::ask")+methodSamples(&rep.Profiles[0], "Calls::count"))
	for _, f := range rep.Profiles[0].Frames {
		assert.NotContains(t, f.Method, "GasmProbes")
	}
}

// TestProbeObstacles checks that if probes can't be set, a line says why and how to fix that.
func TestProbeObstacles(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := probedClasses(t)
	t.Run("attach", func(t *testing.T) {
		p := startAsk(t, gasmtest.NeedJava(t), "--add-opens", "java.base/java.lang=ALL-UNNAMED")
		for _, c := range []struct{ probe, want string }{
			{"Calls::cuont", "gasm: no method is Calls::cuont: the class has none of this name and these arguments; similar are Calls::count"},
			{"Calls::count(int)", "gasm: no method is Calls::count(int): the class has none of this name and these arguments; similar are Calls::count"},
			{"Clals::count", "gasm: no method is Clals::count: no such class was loaded; similar are Calls"},
			{"java.lang.System::nanoTime", "gasm: java.lang.System is not probed: gasm's own code in the JVM needs it"},
			{"java.lang.Class::isArray", "gasm: java.lang.Class::isArray is not probed: it is native, and its class was loaded before the agent came"},
			{"java.lang.String::isEmpty", ""}, // of the boot loader
		} {
			r := runGasm(t, []string{"attach", "--length", "50ms", "--probe", c.probe, p.pid()})
			if c.want == "" {
				gasmtest.Sampled(t, r.code, r.stderr)
				assert.Contains(t, r.stdout, c.probe)
			}
			assert.Contains(t, r.stderr, c.want)
		}
		assert.True(t, strings.HasPrefix(p.ask(t, "w"), "work "), "the program goes on")
	})
	t.Run("refusing JVMs", func(t *testing.T) {
		for option, want := range map[string]string{
			"-XX:+DisableAttachMechanism":    "it was started with -XX:+DisableAttachMechanism: start it without this flag",
			"-XX:-EnableDynamicAgentLoading": "it was started with -XX:-EnableDynamicAgentLoading: start it without this flag, or with gasm profile",
		} {
			p := startAsk(t, gasmtest.NeedJava(t), option)
			r := runGasm(t, []string{"attach", "--length", "50ms", "--probe", "Calls::count", p.pid()})
			assert.Equal(t, 1, r.code)
			assert.Contains(t, r.stderr, "gasm: the JVM with pid "+p.pid()+" can't be probed")
			assert.Contains(t, r.stderr, want)
			assert.True(t, strings.HasPrefix(p.ask(t, "w"), "work "), "the program goes on")
		}
	})
	t.Run("a full disk", func(t *testing.T) {
		small := gasmtest.NeedSmallDisk(t, "4m")
		r := runGasm(t, []string{"profile", "-o", filepath.Join(small, "capture"), "--skip-asm", "--width", "1000", "--probe",
			"Calls::count", "--", gasmtest.NeedJava(t), "-cp", classes, "Calls"})
		assert.Len(t, ownNumbers(t, r.stdout), 15, "the program is not disturbed: %s", r.stderr)
		assert.Contains(t, r.stdout, "could not count their calls", r.stderr)
	})
}
