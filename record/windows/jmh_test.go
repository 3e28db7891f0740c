package windows

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

const forkedMain = "org.openjdk.jmh.runner.ForkedMain 127.0.0.1 36045"

var forkLine = regexp.MustCompile(`(?m)^# (?:Warmup )?Fork: \d`)

// jvmsOf returns the JVMs of a recording: JMH's own JVM with pid 100, the two JVMs that it asks for blackholes, and a
// fork for each announcement of one, started some time after it. The pids of the forks begin at 201.
func jvmsOf(chunks []chunk) []capture.JVM {
	jvms := []capture.JVM{
		{PID: 100, Main: "benchmarks.jar", StartMonoNanos: 20e6},
		{PID: 101, StartMonoNanos: 160e6},
		{PID: 102, StartMonoNanos: 190e6},
	}
	var text []byte
	found := 0
	for _, c := range chunks {
		text = append(text, c.text...)
		for range len(forkLine.FindAll(text, -1)) - found {
			found++
			jvms = append(jvms, capture.JVM{PID: 200 + found, Main: forkedMain, StartMonoNanos: c.at + 40e6})
		}
	}
	return jvms
}

func last(chunks []chunk) int64 { return chunks[len(chunks)-1].at + 1e6 }

// watch returns a new Output that has seen the chunks.
func watch(chunks []chunk) *Output {
	w := NewOutput(Rules{})
	for _, c := range chunks {
		w.See(c.text, c.at)
	}
	return w
}

// describe returns trials as text, with a line for each trial and for each window.
func describe(jvms []capture.JVM, trials []capture.Trial) string {
	var b strings.Builder
	for _, t := range trials {
		fmt.Fprintf(&b, "%s\n", t.Name)
		for _, w := range t.Windows {
			i := slices.IndexFunc(jvms, func(j capture.JVM) bool { return j.PID == w.PID })
			fmt.Fprintf(&b, "  pid %d, fork %d: %d to %d\n", w.PID, jvms[i].Fork, w.FromMonoNanos, w.ToMonoNanos)
		}
	}
	return b.String()
}

// trialsOf returns the trials that an Output finds in chunks, for the JVMs of a recording. text describes the trials.
func trialsOf(jvms []capture.JVM, chunks []chunk) (text string, trials []capture.Trial) {
	jvms = slices.Clone(jvms)
	trials = watch(chunks).JMHTrials(jvms, last(chunks))
	return describe(jvms, trials), trials
}

// pieces cuts chunks into pieces of n bytes.
func pieces(chunks []chunk, n int) []chunk {
	var cut []chunk
	for _, c := range chunks {
		for p := range slices.Chunk(c.text, n) {
			cut = append(cut, chunk{c.at, p})
		}
	}
	return cut
}

// TestJMHRecordings checks the windows of real runs, in whatever pieces their output arrives.
func TestJMHRecordings(t *testing.T) {
	const vectorSum, noisy = "org.gasm.bench.VectorSum.sum (size=4096)", "org.gasm.noise.Noisy.run"
	const mathLog = "org.gasm.bench.MathLog.logs (size=1024)"
	tests := map[string][]string{ // the trials, each with the numbers of its forks and windows
		"two-forks":    {vectorSum + ": 2, 6"},
		"host":         {mathLog + ": 1, 2", vectorSum + ": 1, 2"},
		"warmup-forks": {vectorSum + ": 2, 4"},
		"no-warmup":    {vectorSum + ": 1, 2"},
		"bulk":         {mathLog + ": 1, 2", vectorSum + ": 1, 2"},
		"gc-profiler":  {vectorSum + ": 1, 2"},
		"seconds":      {vectorSum + ": 1, 2"},
		"threads":      {vectorSum + ": 1, 2"},
		"noisy":        {noisy + " (what=lines): 2, 4"},
		"dots":         {noisy + " (what=dots): 1, 3"},
		"halt":         {noisy + " (what=halt): 1, 2", noisy + " (what=dots): 2, 8"},
		"failing":      {noisy + " (what=fail): 1, 1", noisy + " (what=dots): 1, 2"},
		"failing-stop": {noisy + " (what=fail): 1, 1"},
		"killed":       {vectorSum + ": 1, 2"},
		"many": {
			"org.gasm.bench.MathLog.logs (size=16): 1, 2", mathLog + ": 1, 2",
			"org.gasm.bench.VectorSum.sum (size=16): 1, 2", "org.gasm.bench.VectorSum.sum (size=1024): 1, 2",
		},
		"modes": {
			vectorSum + ", Throughput: 1, 2", vectorSum + ", Average time: 1, 2",
			vectorSum + ", Sampling time: 1, 2", vectorSum + ", Single shot invocation time: 1, 2",
		},
	}
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			chunks := recording(t, r.name)
			jvms := jvmsOf(chunks)
			text, trials := trialsOf(jvms, chunks)
			gasmtest.Golden(t, r.name+".windows", []byte(text))
			var got []string
			for _, trial := range trials {
				got = append(got, fmt.Sprintf("%s: %d, %d", trial.Name, len(trial.PIDs()), len(trial.Windows)))
				checkLengths(t, trial)
			}
			if want := tests[r.name]; !slices.Equal(got, want) {
				t.Errorf("got trials %q, want %q", got, want)
			}
			for _, n := range []int{1, 2, 3, 7, 64} {
				if cut, _ := trialsOf(jvms, pieces(chunks, n)); cut != text {
					t.Errorf("in pieces of %d bytes: got\n%s\nwant\n%s", n, cut, text)
				}
			}
			for i := range chunks {
				chunks[i].text = bytes.ReplaceAll(chunks[i].text, []byte("\n"), []byte("\r\n"))
			}
			if crlf, _ := trialsOf(jvms, pieces(chunks, 1)); crlf != text {
				t.Errorf("with CRLF: got\n%s\nwant\n%s", crlf, text)
			}
		})
	}
}

// checkLengths checks that windows are as long as -r 200ms says. An iteration that failed or was cut short may be
// shorter, and an iteration of a single call may have any length.
func checkLengths(t *testing.T, trial capture.Trial) {
	t.Helper()
	var to int64
	for i, w := range trial.Windows {
		length := time.Duration(w.ToMonoNanos - w.FromMonoNanos)
		whole := i < len(trial.Windows)-1 && !strings.HasSuffix(trial.Name, "Single shot invocation time")
		if length < 0 || length > 300*time.Millisecond || whole && length < 140*time.Millisecond || w.FromMonoNanos < to {
			t.Errorf("%s: window %d is of %v, %v after the one before", trial.Name, i, length, time.Duration(w.FromMonoNanos-to))
		}
		to = w.ToMonoNanos
	}
}

// TestJMHCuts cuts small recordings in two at every place.
func TestJMHCuts(t *testing.T) {
	for _, name := range []string{"killed", "failing-stop"} {
		var all []byte
		for _, c := range recording(t, name) {
			all = append(all, c.text...)
		}
		jvms := jvmsOf([]chunk{{1e6, all}})
		for cut := range all {
			w := watch([]chunk{{1e9, all[:cut]}, {2e9, all[cut:]}})
			for _, trial := range w.JMHTrials(jvms, 3e9) {
				for _, win := range trial.Windows {
					for _, at := range []int64{win.FromMonoNanos, win.ToMonoNanos} {
						if at != 1e9 && at != 2e9 && at != 3e9 {
							t.Fatalf("%s, cut at %d: window from %d to %d", name, cut, win.FromMonoNanos, win.ToMonoNanos)
						}
					}
				}
			}
			whole := watch([]chunk{{1e9, all}}).JMHTrials(jvms, 3e9)
			got := watch([]chunk{{1e9, all[:cut]}, {1e9, all[cut:]}}).JMHTrials(jvms, 3e9)
			if describe(jvms, got) != describe(jvms, whole) {
				t.Fatalf("%s, cut at %d: got\n%s\nwant\n%s", name, cut, describe(jvms, got), describe(jvms, whole))
			}
		}
	}
}

const jmhHead = "# JMH version: 1.37\n# Blackhole mode: full + dont-inline hint (forced)\n# Warmup: <none>\n" +
	"# Benchmark mode: Average time, time/op\n# Benchmark: a.B.c\n# Run progress: 0.00% complete, ETA 00:00:01\n"

// TestJMHLines checks the windows of outputs that are written for this test. The pieces arrive at the times 10, 20,
// 30 and so on, and the run ends at 1000.
func TestJMHLines(t *testing.T) {
	long := strings.Repeat("x", 5000)
	check := func(name, want string, parts ...string) {
		t.Helper()
		w := NewOutput(Rules{})
		for i, p := range parts {
			w.See([]byte(p), int64(i+1)*10)
		}
		jvms := []capture.JVM{{PID: 1, Main: "Main", StartMonoNanos: 1}, {PID: 2, Main: forkedMain, StartMonoNanos: 11}}
		var got []string
		for _, trial := range w.JMHTrials(jvms, 1000) {
			for _, win := range trial.Windows {
				got = append(got, fmt.Sprintf("%d-%d", win.FromMonoNanos, win.ToMonoNanos))
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	head := jmhHead + "# Fork: 1 of 1\n"
	check("plain", "20-30 40-50", head, "Iteration   1: ", "15.753 ns/op\n", "Iteration   2: ", "NaN ops/s\n",
		"# Run complete. Total time: 00:00:01\n")
	check("approximate", "20-30 40-50", head, "Iteration   1: ", "≈ 10⁻⁵ s/op\n", "Iteration   2: ", "≈ 0 ops/us\n")
	check("with error", "20-30", head, "Iteration   1: ", "3.000 ±(99.9%) 1.000 ops/us\n", "# Run progress: 1\n")
	check("prints", "20-40", head, "Iteration   1: ", "one\n\n# two\n# three: four\nResult of five\n", "6.000 ms/op\n",
		"\n# Run progress: 1\n")
	check("prints on the score's line", "20-40", head, "Iteration   1: ", "one", "6.000 ms/op\n", "\n# Run progress: 1\n")
	check("prints on the head's line", "20-30 40-50", head, "Iteration   1: ", "6.000 ms/op\n", ".. Iteration   2: ",
		"5.000 ms/op\n", "Result \"x\"\n")
	check("prints a score", "20-40", head, "Iteration   1: ", "1.0 ms/op\n", "6.000 ms/op\n", "\n# Run progress: 1\n")
	check("prints heads", "20-40 50-60", head, "Iteration   1: ",
		"Iteration   1: \nIteration 2: \nIteration  2: x\nWarmup Iteration   2: \n",
		"6.000 ms/op\n", "Iteration   2: ", "7.000 ms/op\n")
	check("secondary", "20-30", head, "Iteration   1: ", "6.000 ms/op\n", "                 gc.time:   5.000 ms/op\n",
		"\n# Run progress: 1\n")
	check("interrupted", "20-30", head, "Iteration   1: ", "(benchmark timed out, interrupted 1 times) 5.000 s/op\n",
		"# Run progress: 1\n")
	check("failure", "20-30", head, "Iteration   1: ", "<failure>\n", "\njava.lang.Error\n", "# Run progress: 1\n")
	check("dead fork", "20-30", head, "Iteration   1: ", "abc<forked VM failed with exit code 137>\n",
		"<stdout last='20 lines'>\n")
	check("no score", "20-30 30-40", head, "Iteration   1: ", "x\nIteration   2: ", "x\n# Run progress: 1\n")
	check("killed", "20-30 40-1000", head, "Iteration   1: ", "6.000 ms/op\n", "Iteration   2: ", "some")
	check("number of four digits", "20-30", head, "Iteration 1000: ", "6.000 ms/op\n")
	check("long line", "20-40 40-50", head, "Iteration   1: ", long+"15.753 ns/op\n", "Iteration   2: ", "1.000 ns/op\n")
	check("long parameters", "30-40", jmhHead, "# Parameters: (x = "+long+")\n# Fork: 1 of 1\n", "Iteration   1: ",
		"1.000 ns/op\n")
	check("no measured iteration", "", head, "# Warmup Iteration   1: ", "1.000 ns/op\n", "Result \"a.B.c\":\n")
	check("warm-up fork", "", jmhHead+"# Warmup Fork: 1 of 1\n", "Iteration   1: ", "1.000 ns/op\n")
	check("not JMH", "", "Iteration   1: ", "15.753 ns/op\n", "# Fork: 1 of 1\n", "Iteration   1: ", "15.753 ns/op\n")
	check("not JMH: comments", "", "# Fork\n# Fork: 1\n#\n# \n", "# Parameters: x\n# Fork: 1 of 1\nIteration   1: ",
		"1 ns/op\n")
}

// TestJMHProbe checks when JMH's question about blackholes begins and ends.
func TestJMHProbe(t *testing.T) {
	check := func(out, want, mode string) {
		t.Helper()
		for _, n := range []int{1, len(out)} {
			var got []string
			w := NewOutput(Rules{})
			w.OnJMHProbe(func(begins bool) { got = append(got, fmt.Sprint(begins)) })
			for _, c := range pieces([]chunk{{1, []byte(out)}}, n) {
				w.See(c.text, c.at)
			}
			if got := strings.Join(got, " "); got != want || w.JMHBlackholes() != mode {
				t.Errorf("%q in pieces of %d: got %q and mode %q, want %q and %q", out, n, got, w.JMHBlackholes(), want, mode)
			}
		}
	}
	check(jmhHead, "true false", "full + dont-inline hint (forced)")
	check(jmhHead+"# Fork: 1 of 1\n"+jmhHead, "true false true false", "full + dont-inline hint (forced)")
	check("# JMH version: 1.37\n# VM version: JDK 17\n# VM options: <none>\n", "true", "")
	check("# JMH version: 1.21\n# VM version: JDK 1.8.0\n# VM options: <none>\n# Warmup: 5 iterations, 10 s each\n# Fork: 1 of 1\n", "true false", "")
	check("# Warmup: 5 rounds\nhello\n", "", "")
	NewOutput(Rules{}).See([]byte(jmhHead), 1) // OnJMHProbe was not called, which must do no harm
}
