package profile

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/sampler"
)

// run returns a capture of JMH's host (process 1), two forks of a benchmark (2 and 3), and a fork of another one (4).
// It has only what the function choose reads.
func run(trials ...capture.Trial) *capture.Capture {
	return &capture.Capture{Description: capture.Description{Trials: trials, JVMs: []capture.JVM{
		{PID: 1, Main: "benchmarks.jar", Version: "25"}, {PID: 2, Main: "Fork", Version: "25"},
		{PID: 3, Main: "Fork", Version: "25"}, {PID: 4, Main: "Fork", Version: "17"}}}}
}

func benchmarks() *capture.Capture {
	return run(capture.Trial{Name: "a", Operations: 5, Windows: []capture.Window{window(2, 10, 20), window(3, 30, 40),
		window(2, 50, 60)}},
		capture.Trial{Name: "b", Operations: 7, Windows: []capture.Window{window(4, 70, 80)}})
}

func whole() *capture.Capture {
	return run(capture.Trial{Operations: 5, Windows: []capture.Window{window(1, 0, 9), window(2, 0, 9), window(3, 0, 9),
		window(4, 0, 9)}})
}

// measuredText returns a line for each measurement: "a|Fork|25 [2 3] 3 windows 5 ops".
func measuredText(all []windows.Measurement) string {
	var lines []string
	for _, m := range all {
		lines = append(lines, fmt.Sprintf("%s|%s|%s %v %d windows %g ops", m.Name, m.Program, m.JDK, m.PIDs, len(m.Windows),
			m.Operations))
	}
	return strings.Join(lines, "\n")
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name    string
		capture *capture.Capture
		options choice.Options
		want    string
	}{
		{"trials are left whole", benchmarks(), choice.Options{}, "a|| [2 3] 3 windows 5 ops\nb|| [4] 1 windows 7 ops"},
		{"merging is for programs", benchmarks(), choice.Options{MergeJVMs: true},
			"a|| [2 3] 3 windows 5 ops\nb|| [4] 1 windows 7 ops"},
		{"a fork", benchmarks(), choice.Options{PID: 2}, "a|| [2] 2 windows 0 ops"},
		{"the only fork", benchmarks(), choice.Options{PID: 4}, "b|| [4] 1 windows 7 ops"},
		// the host has no log
		{"JMH's host, in no trial", benchmarks(), choice.Options{JVM: regexp.MustCompile(`^bench`)}, "|| [] 0 windows 0 ops"},
		{"all forks", benchmarks(), choice.Options{JVM: regexp.MustCompile("Fork")},
			"a|| [2 3] 3 windows 5 ops\nb|| [4] 1 windows 7 ops"},
		{"programs", whole(), choice.Options{},
			"|benchmarks.jar|25 [1] 1 windows 0 ops\n|Fork|25 [2 3] 2 windows 0 ops\n|Fork|17 [4] 1 windows 0 ops"},
		{"merged", whole(), choice.Options{MergeJVMs: true}, "|| [1 2 3 4] 4 windows 5 ops"},
		{"a program", whole(), choice.Options{JVM: regexp.MustCompile("Fo")},
			"|Fork|25 [2 3] 2 windows 0 ops\n|Fork|17 [4] 1 windows 0 ops"},
		{"a program, merged", whole(), choice.Options{JVM: regexp.MustCompile("Fo"), MergeJVMs: true},
			"|Fork| [2 3 4] 3 windows 0 ops"},
		{"a process id", whole(), choice.Options{JVM: regexp.MustCompile("3|4")},
			"|Fork|25 [3] 1 windows 0 ops\n|Fork|17 [4] 1 windows 0 ops"},
	} {
		config, err := choice.Choose(c.capture, &c.options)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, measuredText(config.Measured), c.name)
	}
	app, err := threads.ParseChoice("app")
	require.NoError(t, err)
	_, err = choice.Choose(whole(), &choice.Options{JVM: regexp.MustCompile("nobody"), Threads: app})
	assert.EqualError(t, err, "--jvm nobody: no such JVM in this capture; it has 1 benchmarks.jar, 2 Fork, 3 Fork, 4 Fork")
}

// Samples of threads that are not chosen appear only in the account. The shares are relative to the chosen samples.
func TestChosenThreads(t *testing.T) {
	thread := func(pid int, ms int64, pc uint64, name string) sampler.Sample {
		s := at(pid, ms, pc)
		s.Thread = name
		return s
	}
	library := func(pid int, ms int64, name string) sampler.Sample {
		s := native(pid, ms, "libjvm.so", "f")
		s.Thread = name
		return s
	}
	samples := []sampler.Sample{thread(1, 15, 0x700, "main"), thread(1, 15, 0x701, "main"),
		thread(1, 15, 0x700, "C2 CompilerThre"),
		library(1, 15, "C2 CompilerThre"), library(1, 15, "GC Thread#0"), library(1, 15, "main"), thread(1, 15, 0x10, "main"),
		thread(1, 99, 0x700, "main"), thread(1, 99, 0x700, "GC Thread#0"), thread(2, 15, 0x700, "main"),
		thread(3, 15, 0x700, "main")}
	for text, want := range map[string]Account{
		"": {Total: 11, OtherProcess: 1, OtherJVM: 1, OutsideWindow: 2, Profiled: 7, Compiled: 3, Native: 3,
			Unresolved: 1},
		"app": {Total: 11, OtherProcess: 1, OtherJVM: 1, OutsideWindow: 2, OtherThread: 3, Profiled: 4, Compiled: 2,
			Native: 1, Unresolved: 1},
		"jit": {Total: 11, OtherProcess: 1, OtherJVM: 1, OutsideWindow: 2, OtherThread: 5, Profiled: 2, Compiled: 1,
			Native: 1},
		"GC T": {Total: 11, OtherProcess: 1, OtherJVM: 1, OutsideWindow: 2, OtherThread: 6, Profiled: 1, Native: 1},
	} {
		chosen, err := threads.ParseChoice(text)
		require.NoError(t, err)
		b := NewBuilder(choice.Config{
			JVMs:    []capture.JVM{{PID: 1, Log: smallLog(t)}, {PID: 2, Log: smallLog(t)}},
			Trials:  []capture.Trial{{Windows: []capture.Window{window(1, 10e6, 20e6)}}},
			Threads: chosen, Locations: true,
		})
		add(b, samples...)
		opts := choice.DefaultOptions()
		opts.Locations = true
		p := build(t, b, opts)[0]
		assert.Equal(t, want, p.Accounts[0], text)
		byThread := int64(0)
		for _, l := range p.Locations {
			assert.NotEmpty(t, l.Thread)
			byThread += l.Counts[0]
		}
		assert.Equal(t, want.Profiled, byThread)
		if text == "" {
			assert.Equal(t, []JVMShare{{PID: 1, Counts: tally.Counts{7}, Native: tally.Counts{3}, Java: tally.Counts{3},
				JIT: tally.Counts{2}, GC: tally.Counts{1}}}, p.Shares)
		}
	}
}

// The number of thread names that are kept for a process is limited. The samples of further threads are counted without
// a name.
func TestManyThreads(t *testing.T) {
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: smallLog(t)}}})
	for i := range threads.MaxNames + 1000 {
		s := at(1, 15, 0x700)
		s.Thread = fmt.Sprintf("t%dx", i)
		b.Add(&s)
	}
	p := build(t, b, choice.DefaultOptions())[0]
	assert.EqualValues(t, threads.MaxNames+1000, p.Accounts[0].Profiled)
	assert.Equal(t, 1000, b.folded)
	assert.LessOrEqual(t, len(p.Threads[0].Threads), threads.MaxNames+1)
}

func TestProfileNames(t *testing.T) {
	ps := Profiles{Trials: []Profile{{Program: "Main", JDK: "17"}, {Program: "Main", JDK: "25"},
		{Program: "Other", JDK: "25"}, {Trial: "Bench"}, {}}}
	var names []string
	for i := range ps.Trials {
		names = append(names, ps.Name(&ps.Trials[i]))
	}
	assert.Equal(t, []string{"Main (JDK 17)", "Main (JDK 25)", "Other", "Bench", ""}, names)
}
