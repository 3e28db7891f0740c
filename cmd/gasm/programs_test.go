package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestProgramGoldens checks what users see if a command has started several programs.
func TestProgramGoldens(t *testing.T) {
	t.Parallel()
	short := []string{"--skip-asm", "--top", "5"}
	for _, c := range []struct {
		name, capture string
		flags         []string
	}{
		{"programs", gasmtest.Programs, []string{"--top", "5"}},
		{"programs-merged", gasmtest.Programs, append([]string{"--merge-jvms"}, short...)},
		{"programs-jvm", gasmtest.Programs, append([]string{"--jvm", "^Spin$"}, short...)},
		{"programs-thread", gasmtest.Programs, append([]string{"--thread", "jit"}, short...)},
		{"programs-each-thread", gasmtest.Programs, append([]string{"--each-thread"}, short...)},
		{"programs-json", gasmtest.Programs, append([]string{"--format", "json", "--jvm", "Workload", "--thread", "app"},
			short...)},
		{"surefire", gasmtest.Surefire, []string{"--top", "5"}},
		{"surefire-tests", gasmtest.Surefire, append([]string{"--jvm", "surefirebooter"}, short...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := gasmtest.UnpackFolder(t, c.capture)
			r := runGasm(t, append(append([]string{"report"}, c.flags...), dir), withEnv("LC_ALL=C.UTF-8", "NO_COLOR="))
			require.Equal(t, 0, r.code, r.stderr)
			gasmtest.GoldenGzip(t, "report/"+c.name+".gz", []byte(strings.ReplaceAll(r.stdout, dir, "DIR")))
		})
	}
}

// A sampleCount has the number of samples of each thread. It is counted from the lines of samples.txt, without using
// gasm's own code.
type sampleCount map[[2]string]int64 // by pid and thread

var sampleOfThread = regexp.MustCompile(`^\s*(.+?)\s+(\d+)/(\d+)\s+\d+\.\d+: `)

var notJava = regexp.MustCompile("^(GC Thread#|G1 |VM (Thread|Periodic))")

func countSamples(t *testing.T, dir string) (counts sampleCount, all int64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "samples.txt"))
	require.NoError(t, err)
	type thread struct{ pid, tid string }
	byName, last := map[thread]map[string]int64{}, map[thread]string{}
	for line := range strings.Lines(string(text)) {
		if m := sampleOfThread.FindStringSubmatch(line); m != nil {
			th := thread{m[2], m[3]}
			if byName[th] == nil {
				byName[th] = map[string]int64{}
			}
			byName[th][m[1]]++
			last[th] = m[1]
			all++
		}
	}
	counts = sampleCount{}
	for th, samples := range byName {
		for name, n := range samples {
			// A new thread first has its creator's name. The JVM knows the name of a Java thread; of another thread, only
			// the sample has a name.
			if !notJava.MatchString(last[th]) {
				name = last[th]
			}
			counts[[2]string{th.pid, name}] += n
		}
	}
	require.NotZero(t, all)
	return counts, all
}

// of returns the number of samples of a process's threads. The parameter threads has beginnings of names; if there
// are none, all threads count.
func (c sampleCount) of(pid int, threads ...string) (n int64) {
	for key, count := range c {
		if key[0] != strconv.Itoa(pid) {
			continue
		}
		for _, start := range append(threads, "")[:max(1, len(threads))] {
			if strings.HasPrefix(key[1], start) {
				n += count
				break
			}
		}
	}
	return n
}

// checkPrograms compares the profiles of a whole run with the counts of its samples. The samples of each JVM must be
// in a single profile. Together with those of other processes, they must be all samples.
func checkPrograms(t *testing.T, rep *schema.Report, counts sampleCount, all int64) {
	t.Helper()
	profiled, ofJVMs := int64(0), int64(0)
	seen := map[int]bool{}
	for i := range rep.Profiles {
		p := &rep.Profiles[i]
		event := hottestEvent(p)
		a := p.Account.Of(event)
		require.Equal(t, all, a.Total)
		own := int64(0)
		for _, j := range p.JVMs {
			require.False(t, seen[j.PID], "pid %d is in two profiles", j.PID)
			seen[j.PID] = true
			own += j.Counts.Of(event)
			assert.Equal(t, counts.of(j.PID), j.Counts.Of(event), "pid %d", j.PID)
			assert.Equal(t, counts.of(j.PID, "C1 Comp", "C2 Comp"), j.JIT.Of(event), "JIT of pid %d", j.PID)
			assert.Equal(t, counts.of(j.PID, "GC Thread#", "G1 "), j.GC.Of(event), "GC of pid %d", j.PID)
		}
		assert.Equal(t, a.Profiled, own)
		assert.Equal(t, a.Total, a.OtherProcess+a.OutsideWindow+a.Lost+a.Profiled)
		profiled += a.Profiled
	}
	for _, j := range rep.Capture.JVMs {
		ofJVMs += counts.of(j.PID)
		assert.True(t, seen[j.PID], "pid %d is in no profile", j.PID)
		assert.Equal(t, counts.of(j.PID), j.Taken.Of(hottestEvent(&rep.Profiles[0])))
	}
	assert.Equal(t, ofJVMs, profiled)
	for i := range rep.Profiles {
		a := rep.Profiles[i].Account.Of(hottestEvent(&rep.Profiles[i]))
		assert.Equal(t, ofJVMs-a.Profiled, a.OtherJVM)
		assert.Equal(t, all-ofJVMs, a.OtherProcess-a.OtherJVM, "no JVMs")
	}
}

// forgetPrinting removes from a capture the information that HotSpot has printed its code. Then all samples of JVMs
// are in profiles.
func forgetPrinting(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, capture.DescriptionFile)
	whole := string(readFile(t, path))
	less := strings.Replace(whole, ` "code": "printed",`+"\n", "", 1)
	require.NotEqual(t, whole, less)
	require.NoError(t, os.WriteFile(path, []byte(less), 0o600))
}

// checkPrinting checks that the samples of printing and those in profiles together are all samples of the JVMs.
func checkPrinting(t *testing.T, rep *schema.Report, counts sampleCount) {
	t.Helper()
	for i := range rep.Profiles {
		p := &rep.Profiles[i]
		own := int64(0)
		for _, pid := range p.PIDs {
			own += counts.of(pid)
		}
		a := p.Account.Of(hottestEvent(p))
		assert.Equal(t, own, a.Profiled+a.Printing)
		assert.Greater(t, a.Printing, own/50, "a program that starts compiles much")
		assert.Less(t, a.Printing, own/2)
	}
}

func TestProgramShares(t *testing.T) {
	t.Parallel()
	for name, programs := range map[string][]string{
		gasmtest.Programs: {"Spin", "Workload"},
		gasmtest.Surefire: {"org.codehaus.plexus.classworlds.launcher.Launcher", "surefirebooter.jar"},
	} {
		dir := gasmtest.UnpackFolder(t, name)
		counts, all := countSamples(t, dir)
		checkPrinting(t, jsonReport(t, dir), counts)
		forgetPrinting(t, dir)
		rep := jsonReport(t, dir)
		var names []string
		for _, p := range rep.Profiles {
			names = append(names, p.Program)
		}
		assert.ElementsMatch(t, programs, names)
		checkPrograms(t, rep, counts, all)
		for _, j := range rep.Capture.JVMs {
			app := jsonReport(t, dir, "--jvm", strconv.Itoa(j.PID), "--thread", "app").Profiles
			jit := jsonReport(t, dir, "--pid", strconv.Itoa(j.PID), "--thread", "^C[12] Comp").Profiles
			require.Len(t, app, 1)
			require.Len(t, jit, 1)
			a, b := app[0].Account.Of("cpu-clock"), jit[0].Account.Of("cpu-clock")
			assert.Equal(t, counts.of(j.PID, "C1 Comp", "C2 Comp"), b.Profiled)
			assert.Equal(t, counts.of(j.PID), b.Profiled+b.OtherThread)
			assert.Equal(t, counts.of(j.PID), a.Profiled+a.OtherThread)
			assert.GreaterOrEqual(t, a.OtherThread, b.Profiled)
			assert.Equal(t, all, a.OtherProcess+a.OtherThread+a.Profiled)
		}
		merged := jsonReport(t, dir, "--merge-jvms").Profiles
		require.Len(t, merged, 1)
		assert.Len(t, merged[0].PIDs, len(rep.Capture.JVMs))
	}
}

// jsonReport returns the JSON report of a capture.
func jsonReport(t *testing.T, dir string, flags ...string) *schema.Report {
	t.Helper()
	r := runGasm(t, append(append([]string{"report", "--skip-asm", "--format", "json"}, flags...), dir))
	require.Equal(t, 0, r.code, r.stderr)
	rep := readReport(t, []byte(r.stdout))
	return &rep
}

// TestNothingChosen checks that if nothing matches the user's choice, the error lists what there is.
func TestNothingChosen(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, gasmtest.Programs)
	for _, c := range []struct {
		flags []string
		code  int
		want  string
	}{
		{[]string{"--jvm", "Spinn"}, 1, "--jvm Spinn: no such JVM in this capture; it has "},
		{[]string{"--jvm", "1522"}, 1, "no such JVM"}, // this is only the beginning of a process id
		{[]string{"--jvm", "("}, 2, "--jvm: error parsing regexp"},
		{[]string{"--thread", "("}, 2, "--thread: error parsing regexp"},
		{[]string{"--thread", "JIT"}, 1,
			"no sample is of a thread that is chosen (--thread JIT); there are C1 CompilerThre, C2 CompilerThre, "},
	} {
		r := runGasm(t, append(append([]string{"report"}, c.flags...), dir))
		assert.Equal(t, c.code, r.code, c.flags)
		assert.Contains(t, r.stderr, c.want)
	}
}

// TestDiffPrograms checks that two captures are compared program by program.
func TestDiffPrograms(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, gasmtest.Programs)
	r := runGasm(t, []string{"diff", dir, dir})
	require.Equal(t, 0, r.code, r.stderr)
	for _, want := range []string{"Program 1 of 2: Spin (JDK ", "Program 2 of 2: Workload (JDK "} {
		assert.Contains(t, r.stdout, want)
	}
	one := filepath.Join(t.TempDir(), "one.json")
	require.Equal(t, 0, runGasm(t, []string{"report", "--format", "json", "--jvm", "Workload", "--report", one, dir}).code)
	r = runGasm(t, []string{"diff", one, dir})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, "only B has Spin (JDK ")
	assert.Contains(t, r.stdout, "A is a report of other samples (--jvm Workload) than B (all)")
}

// TestPprofOfPrograms checks that the labels in a pprof profile say to which process and thread a sample belongs.
func TestPprofOfPrograms(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, gasmtest.Programs)
	forgetPrinting(t, dir)
	counts, _ := countSamples(t, dir)
	file := filepath.Join(t.TempDir(), "cpu.pb.gz")
	require.Equal(t, 0, runGasm(t, []string{"report", "--format", "pprof", "--report", file, dir}).code)
	got, want := sampleCount{}, sampleCount{}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, s := range readPprof(t, data).Sample {
		require.Contains(t, []string{"Spin", "Workload"}, s.Label["jvm"][0])
		got[[2]string{strconv.FormatInt(s.NumLabel["pid"][0], 10), s.Label["thread"][0]}] += s.Value[0]
	}
	for key, n := range counts {
		key[1] = strings.TrimRight(key[1], "0123456789")
		want[key] += n
	}
	for key := range want { // the processes without a profile, such as the shell that started the programs
		if got[key] == 0 && (key[1] == "sh" || key[1] == "gasm") {
			delete(want, key)
		}
	}
	assert.Equal(t, want, got)
}

// TestSurefire checks that Maven and the JVMs of its tests are two programs.
func TestSurefire(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	project := gasmtest.NeedSurefire(t)
	dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, []string{"profile", "-o", dir, "--format", "json", "--report", file, "--skip-asm", "--",
		"mvn", "-o", "-q", "-B", "-f", project, "test"})
	require.Equal(t, 0, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	rep := readReport(t, text)
	counts, all := countSamples(t, dir)
	checkPrograms(t, &rep, counts, all)
	require.Len(t, rep.Profiles, 2)
	tests, maven := rep.Profiles[0], rep.Profiles[1]
	if maven.Program == "surefirebooter.jar" {
		tests, maven = maven, tests
	}
	assert.Equal(t, "surefirebooter.jar", tests.Program)
	assert.Len(t, tests.PIDs, 2)
	assert.Equal(t, "org.codehaus.plexus.classworlds.launcher.Launcher", maven.Program)
	assert.Len(t, maven.PIDs, 1)
	hottest := []string{tests.Frames[0].Method, tests.Frames[1].Method}
	assert.ElementsMatch(t, []string{"SumTest::sum", "SortTest::sort"}, hottest)
	for _, f := range maven.Frames {
		assert.NotContains(t, hottest, f.Method)
	}
}

// TestOtherTrials checks that the account of a trial distinguishes the JVMs of other trials and JMH's own JVM from
// all other processes.
func TestOtherTrials(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	dir := filepath.Join(t.TempDir(), "capture")
	java := gasmtest.NeedJDKs(t, gasmtest.WholeJDK17)[0].Java()
	command := jmhCommand(t, java, "-f", "1", "-wi", "1", "-w", "500ms", "-i", "1", "-r", "1", "-p", "size=64,4096",
		"VectorSum")
	r := runGasm(t, append([]string{"profile", "-o", dir, "--skip-asm", "--"}, command...))
	require.Equal(t, 0, r.code, r.stderr)
	rep := jsonReport(t, dir)
	require.Len(t, rep.Profiles, 2)
	counts, all := countSamples(t, dir)
	ofTrials, ofHost := int64(0), int64(0)
	for _, j := range rep.Capture.JVMs {
		if j.Fork > 0 {
			ofTrials += counts.of(j.PID)
		} else {
			ofHost += counts.of(j.PID)
		}
	}
	for i := range rep.Profiles {
		p := &rep.Profiles[i]
		require.Len(t, p.PIDs, 1)
		own := counts.of(p.PIDs[0])
		a := p.Account.Of(hottestEvent(p))
		assert.Equal(t, own, a.Profiled+a.OutsideWindow)
		assert.Equal(t, ofTrials-own, a.OtherTrial)
		assert.Equal(t, ofHost, a.OtherJVM)
		assert.Equal(t, all-ofTrials-ofHost, a.OtherProcess-a.OtherJVM-a.OtherTrial)
	}
	text := runGasm(t, []string{"report", "--skip-asm", "--top", "3", dir}).stdout
	assert.Regexp(t, `(?m)^ .*  fork 1 of org\.gasm\.bench\.VectorSum\.sum \(size=64\)$`, text)
	assert.Regexp(t, `(?m)^ +\d+ +- +\d+ +(\S+ +)?benchmarks\.jar$`, text, "the JDK is in the row unless all are the same")
	assert.Contains(t, text, "\n   other trials ")
	one := runGasm(t, []string{"report", "--skip-asm", "--pid", strconv.Itoa(rep.Profiles[1].PIDs[0]), dir}).stdout
	assert.Regexp(t, `(?m)^ +fork 1 of org\.gasm\.bench\.VectorSum\.sum \(size=64\), pid \d+ \(not profiled\)$`, one)
}

// TestShortPrograms checks that JVMs that end before gasm can read their code are counted, and that a note says how
// many they are. A JVM may lack its name only if there is such a note.
func TestShortPrograms(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	const jvms = 10
	java := gasmtest.NeedJava(t)
	command := "i=0; while [ $i -lt " + strconv.Itoa(jvms) + " ]; do " + java +
		" -XX:+UseSerialGC -version; i=$((i+1)); done"
	dir := filepath.Join(t.TempDir(), "capture")
	r := runGasm(t, []string{"profile", "--frequency", "1001", "--fixed-frequency", "--skip-asm", "-o", dir, "--", "sh",
		"-c", command})
	require.Equal(t, 0, r.code, r.stderr)
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	nameless := 0
	for _, j := range d.JVMs {
		if j.Version == "" {
			nameless++
		}
	}
	said := 0
	note := regexp.MustCompile(`^(\d+) of the command's (\d+) JVMs? ended before gasm could read (?:its|their) code`)
	for _, n := range d.Notes {
		if m := note.FindStringSubmatch(n); m != nil {
			said, err = strconv.Atoi(m[1])
			require.NoError(t, err)
			assert.Equal(t, strconv.Itoa(len(d.JVMs)), m[2])
		}
	}
	t.Logf("%d of %d JVMs were seen, %d ended early, %d have no version", len(d.JVMs), jvms, said, nameless)
	assert.LessOrEqual(t, nameless, said)
	assert.NotContains(t, r.stdout, "is a log missing or cut?")
	assert.NotContains(t, r.stdout, "no such process")
}
