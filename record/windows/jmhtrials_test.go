package windows

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gasm-profiler/gasm/capture"
)

func TestWholeTrial(t *testing.T) {
	span := func(from, to int64) capture.Span { return capture.Span{FromMonoNanos: from, ToMonoNanos: to} }
	got := Whole([]capture.JVM{{PID: 9}, {PID: 4}}, []capture.Span{span(1, 2), span(5, 6)})
	want := capture.Trial{Windows: []capture.Window{{PID: 9, Span: span(1, 2)}, {PID: 9, Span: span(5, 6)},
		{PID: 4, Span: span(1, 2)}, {PID: 4, Span: span(5, 6)}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if pids := got.PIDs(); !slices.Equal(pids, []int{4, 9}) {
		t.Errorf("got pids %v, want 4 and 9", pids)
	}
	if got := Whole(nil, []capture.Span{span(1, 2)}); len(got.Windows) != 0 || len(got.PIDs()) != 0 {
		t.Errorf("without JVMs: got %v", got)
	}
}

// TestForkJVM checks which JVMs the windows go to: two forks, announced at 10
// and 50, iterate from 20 to 30 and from 60 to 70.
func TestForkJVM(t *testing.T) {
	parts := []string{jmhHead + "# Fork: 1 of 2\n", "Iteration   1: ", "1.0 ns/op\n", "\n",
		"# Run progress: 50%\n# Fork: 2 of 2\n", "Iteration   1: ", "1.0 ns/op\n", "\nResult \"a.B.c\":\n"}
	host := capture.JVM{PID: 1, Main: "bench.jar", StartMonoNanos: 1}
	fork1 := capture.JVM{PID: 11, Main: forkedMain, StartMonoNanos: 12}
	fork2 := capture.JVM{PID: 12, Main: forkedMain, StartMonoNanos: 52}
	tests := []struct {
		name string
		jvms []capture.JVM
		want string
	}{
		{"all", []capture.JVM{host, fork1, fork2}, "a.B.c\n  pid 11, fork 1: 20 to 30\n  pid 12, fork 2: 60 to 70\n"},
		{"in any order", []capture.JVM{fork2, fork1, host},
			"a.B.c\n  pid 11, fork 1: 20 to 30\n  pid 12, fork 2: 60 to 70\n"},
		{"no first fork", []capture.JVM{host, fork2}, "a.B.c\n  pid 12, fork 2: 60 to 70\n"},
		{"no second fork", []capture.JVM{host, fork1}, "a.B.c\n  pid 11, fork 1: 20 to 30\n"},
		{"no forks", []capture.JVM{host}, ""},
		{"no JVMs", nil, ""},
		{"probes", []capture.JVM{host, {PID: 2, StartMonoNanos: 5}, fork1, {PID: 3, StartMonoNanos: 15}, fork2,
			{PID: 4, StartMonoNanos: 55}},
			"a.B.c\n  pid 11, fork 1: 20 to 30\n  pid 12, fork 2: 60 to 70\n"},
		{"children of the forks", []capture.JVM{host, fork1, {PID: 5, Main: "Child", StartMonoNanos: 15}, fork2},
			"a.B.c\n  pid 11, fork 1: 20 to 30\n  pid 12, fork 2: 60 to 70\n"},
	}
	for _, test := range tests {
		w := NewOutput(Rules{})
		for i, p := range parts {
			w.See([]byte(p), int64(i+1)*10)
		}
		for range 2 { // asking again changes nothing
			if got := describe(test.jvms, w.JMHTrials(test.jvms, 100)); got != test.want {
				t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
			}
		}
	}
}

// TestForkJVMHost checks -f 0 in a script that runs Java before and after.
func TestForkJVMHost(t *testing.T) {
	w := NewOutput(Rules{})
	w.See([]byte(jmhHead+"# Fork: N/A, test runs in the host VM\nIteration   1: "), 50)
	w.See([]byte("1.0 ns/op\n"), 60)
	jvms := []capture.JVM{
		{PID: 1, Main: "Setup", StartMonoNanos: 10}, {PID: 2, Main: "bench.jar", StartMonoNanos: 20},
		{PID: 3, StartMonoNanos: 30}, {PID: 4, Main: forkedMain, StartMonoNanos: 40},
		{PID: 5, Main: "After", StartMonoNanos: 70},
	}
	if got, want := describe(jvms, w.JMHTrials(jvms, 100)), "a.B.c\n  pid 2, fork 0: 50 to 60\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLostForks checks that LostForks returns a measured fork without a log, and no other fork.
func TestLostForks(t *testing.T) {
	w := NewOutput(Rules{})
	w.See([]byte(jmhHead+"# Fork: 1 of 2\nIteration   1: "), 20)
	w.See([]byte("1.0 ns/op\n# Fork: 2 of 2\nIteration   1: "), 60)
	w.See([]byte("1.0 ns/op\n"), 70)
	second := capture.JVM{PID: 12, Main: forkedMain, StartMonoNanos: 50}
	first := capture.JVM{PID: 11, Main: forkedMain, StartMonoNanos: 10}
	w.JMHTrials([]capture.JVM{second}, 100)
	if got := w.LostForks(); len(got) != 1 || got[0] != "fork 1 of a.B.c" {
		t.Errorf("%q", got)
	}
	w.JMHTrials([]capture.JVM{first, second}, 100)
	if got := w.LostForks(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestTrialNames(t *testing.T) {
	forks := []jmhFork{
		{trial: "a (x=1)", mode: "Throughput"}, {trial: "a (x=1)", mode: "Throughput"},
		{trial: "a (x=2)", mode: "Throughput"}, {trial: "a (x=2)", mode: "Average time"},
		{trial: "b"},
	}
	want := []string{"a (x=1)", "a (x=1)", "a (x=2), Throughput", "a (x=2), Average time", "b"}
	if got := trialNames(forks); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWarmupForks checks that a warm-up fork is not measured, but that the capture says to which trial it belongs.
func TestWarmupForks(t *testing.T) {
	chunks := recording(t, "warmup-forks")
	jvms := jvmsOf(chunks)
	watch(chunks).JMHTrials(jvms, last(chunks))
	warmups := 0
	for _, j := range jvms {
		if j.WarmupOf == "" {
			continue
		}
		warmups++
		if j.WarmupOf != "org.gasm.bench.VectorSum.sum (size=4096)" || j.Fork != 0 {
			t.Errorf("%+v", j)
		}
	}
	if warmups != 1 { // -wf 1
		t.Errorf("%d warm-up forks, want 1", warmups)
	}
}
