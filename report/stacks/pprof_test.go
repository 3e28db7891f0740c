package stacks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/sampler"
)

// parsePprof writes a profile and reads it again with pprof's own reader.
func parsePprof(t *testing.T, h capture.Description, ps []profile.Profile) *pprof.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := WritePprof(&b, reporttest.Profiles(h, ps...), "0.1.0", false); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

// joined returns what a builder makes of two JVMs with the same log, two trials and two events. The second JVM is in
// both trials.
func joined(t *testing.T) (capture.Description, []profile.Profile) {
	t.Helper()
	const text = `<hotspot_log version='160 1' process='1' time_ms='1700000000000'>
StubRoutines::copy [0x0000000000001000, 0x0000000000001010] (16 bytes)
Compiled method (c2) 10    7       4       org.sample.Bench$State::<init> (28 bytes)
 main code      [0x0000000000002000,0x0000000000002008] = 8
[MachCode]
  0x0000000000002000: 9090 9090
  0x0000000000002004: ;*iadd {reexecute=0}
  0x0000000000002004: ; - java.util.HashMap$Node::hash@4 (line 338)
  0x0000000000002004: ; - org.sample.Bench$State::sum@9 (line 3)
  0x0000000000002004: ; - org.sample.Bench$State::<init>@2 (line 2)
  0x0000000000002004: 4801 d090
[/MachCode]
</hotspot_log>
`
	var jvms []capture.JVM
	for _, pid := range []int{101, 102} {
		log, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), "asm.log")
		if err != nil {
			t.Fatal(err)
		}
		jvms = append(jvms, capture.JVM{PID: pid, Log: log, StartMonoNanos: 1e9})
	}
	b := profile.NewBuilder(choice.Config{JVMs: jvms, Trials: []capture.Trial{
		{Name: "Bench.one", Windows: []capture.Window{
			{PID: 101, Span: capture.Span{FromMonoNanos: 3e9, ToMonoNanos: 5e9}},
			{PID: 102, Span: capture.Span{FromMonoNanos: 3e9, ToMonoNanos: 5e9}}}},
		{Name: "Bench.two", Windows: []capture.Window{{PID: 102, Span: capture.Span{FromMonoNanos: 6e9, ToMonoNanos: 7e9}}}},
	}, Counters: []string{"cpu-clock", "cache-misses"}})
	for _, s := range []struct {
		n      int
		sample sampler.Sample
	}{
		{5, sampler.Sample{PID: 101, MonoNanos: 4e9, PC: 0x2004, Event: "cpu-clock"}},
		{2, sampler.Sample{PID: 101, MonoNanos: 4e9, PC: 0x2004, Event: "cache-misses"}},
		{4, sampler.Sample{PID: 102, MonoNanos: 4e9, PC: 0x2004, Event: "cpu-clock"}},
		{3, sampler.Sample{PID: 102, MonoNanos: 6e9, PC: 0x2004, Event: "cpu-clock"}},
		{2, sampler.Sample{PID: 102, MonoNanos: 6e9, PC: 0x1001, Event: "cpu-clock"}},
		{1, sampler.Sample{PID: 102, MonoNanos: 6e9, PC: 0x5001, Event: "cpu-clock"}},
		{6, sampler.Sample{PID: 101, MonoNanos: 4e9, PC: 0x70000001, Module: "libjvm.so", Symbol: "Rows<int>::get(int)",
			Event: "cpu-clock"}},
		{1, sampler.Sample{PID: 102, MonoNanos: 6e9, PC: 0x70000001, Module: "libjvm.so", Event: "cache-misses"}},
		{1, sampler.Sample{PID: 102, MonoNanos: 6e9, PC: 0x60000001, Module: profile.UnknownModule, Event: "cache-misses"}},
		{1, sampler.Sample{PID: 102, MonoNanos: 6e9, PC: 0xffff_8000_0000_0001, Module: "kernel", Symbol: "schedule",
			Event: "cpu-clock"}},
		{9, sampler.Sample{PID: 102, MonoNanos: 9e9, PC: 0x2004, Event: "cpu-clock"}}, // in no window
	} {
		for range s.n {
			b.Add(&s.sample)
		}
	}
	opts := choice.DefaultOptions()
	opts.Locations = true
	return capture.Description{
		Command: []string{"java", "-jar", "my benchmarks.jar"}, Sampler: "perf",
		Events: []string{"cpu-clock", "cache-misses"}, Frequency: 1001,
		JVMs: []capture.JVM{{PID: 100, Main: "benchmarks.jar"}, {PID: 101, Main: "ForkedMain", Fork: 1},
			{PID: 102, Main: "ForkedMain", Fork: 2}},
	}, b.Build(opts)
}

// TestPprof checks a profile with one of everything by the text that pprof itself writes for it.
func TestPprof(t *testing.T) {
	h, ps := joined(t)
	p := parsePprof(t, h, ps)
	local := time.Local
	time.Local = time.UTC // as String writes times
	defer func() { time.Local = local }()
	gasmtest.Golden(t, "pprof.txt", []byte(p.String()))
	if got, want := p.DefaultSampleType, "cpu"; got != want {
		t.Errorf("default sample type %q, want %q", got, want)
	}
	checkPprofSums(t, p, ps, []string{"samples", "", "cache-misses_sample"})
	for _, s := range p.Sample {
		if s.Value[1] != s.Value[0]*p.Period {
			t.Errorf("%d samples are %d ns, the period is %d ns", s.Value[0], s.Value[1], p.Period)
		}
	}
}

// checkPprofSums compares the sums by sample type, trial and tier with the profiles'. types has a name for each that
// counts the next event's samples.
func checkPprofSums(t *testing.T, p *pprof.Profile, ps []profile.Profile, types []string) {
	t.Helper()
	e := 0
	for i, name := range types {
		if name == "" {
			continue
		}
		if got := *p.SampleType[i]; got.Type != name || got.Unit != "count" {
			t.Errorf("sample type %d is %v, want %s", i, got, name)
		}
		got, want := map[string]int64{}, map[string]int64{}
		for _, s := range p.Sample {
			got["all"] += s.Value[i]
			got[strings.Join(s.Label["trial"], "")+" "+s.Label["tier"][0]] += s.Value[i]
		}
		for _, trial := range ps {
			want["all"] += trial.Accounts[e].Profiled
			for _, s := range trial.Sources {
				want[trial.Trial+" "+s.Source] += s.Counts[e]
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: sums are %v, want %v", name, got, want)
		}
		e++
	}
}

// TestPprofTypes checks the types of the values, by event and frequency.
func TestPprofTypes(t *testing.T) {
	for _, c := range []struct {
		events    string
		frequency int
		want      string
	}{
		{"cpu-clock", 1001, "[samples/count cpu/nanoseconds] cpu/nanoseconds 999001 cpu"},
		{"task-clock", 100, "[samples/count cpu/nanoseconds] cpu/nanoseconds 10000000 cpu"},
		{"cpu-clock", 0, "[samples/count] samples/count 1 samples"},
		{"profile-997", 0, "[samples/count cpu/nanoseconds] cpu/nanoseconds 1003009 cpu"},
		{"profile-97hz", 1001, "[samples/count cpu/nanoseconds] cpu/nanoseconds 10309278 cpu"},
		{"profile-10ms", 0, "[samples/count] samples/count 1 samples"},
		{"cycles", 1001, "[cycles_sample/count] cycles_sample/count 1 cycles_sample"},
		{"cycles cpu-clock", 100, "[cycles_sample/count samples/count cpu/nanoseconds] cycles_sample/count 1 cycles_sample"},
		{"cpu-clock task-clock", 100, "[samples/count cpu/nanoseconds task-clock_sample/count] cpu/nanoseconds 10000000 cpu"},
	} {
		h := capture.Description{Frequency: c.frequency}
		p := parsePprof(t, h, []profile.Profile{{Counters: strings.Fields(c.events)}})
		var types []string
		for _, v := range p.SampleType {
			types = append(types, v.Type+"/"+v.Unit)
		}
		got := fmt.Sprintf("%v %s/%s %d %s", types, p.PeriodType.Type, p.PeriodType.Unit, p.Period, p.DefaultSampleType)
		if got != c.want {
			t.Errorf("%s at %d Hz: got %s, want %s", c.events, c.frequency, got, c.want)
		}
	}
}

// TestPprofMerges checks that equal places are one location, and equal ones with equal labels one sample.
func TestPprofMerges(t *testing.T) {
	frames := []printassembly.Frame{{Method: "A::a", Line: 7}}
	l := profile.Location{PID: 1, PC: 0x1000, Source: "c2, level 4", Name: "A::a", CompileID: 3, Frames: frames,
		Counts: tally.Counts{1}}
	with := func(change func(*profile.Location)) profile.Location {
		l := l
		change(&l)
		return l
	}
	p := parsePprof(t, capture.Description{}, []profile.Profile{{
		Counters: []string{"cycles"},
		Locations: []profile.Location{l, l,
			with(func(l *profile.Location) { l.CompileID = 4 }),
			with(func(l *profile.Location) { l.Source = "c1, level 3" }),
			with(func(l *profile.Location) { l.Frames = []printassembly.Frame{{Method: "A::a", Line: 8}} }),
			with(func(l *profile.Location) { l.PID = 2 }),
			with(func(l *profile.Location) { l.PC = 0x1001 }),
		},
	}})
	var values []int64
	for _, s := range p.Sample {
		values = append(values, s.Value...)
	}
	if want := []int64{2, 1, 1, 1, 1, 1}; !slices.Equal(values, want) || len(p.Location) != 4 || len(p.Function) != 1 ||
		len(p.Mapping) != 2 {
		t.Errorf("got %v, want %v\n%s", values, want, p)
	}
}

func TestPprofEmpty(t *testing.T) {
	for _, ps := range [][]profile.Profile{nil, {reporttest.Empty()}} {
		if p := parsePprof(t, reporttest.Header(), ps); len(p.Sample) != 0 || len(p.SampleType) == 0 {
			t.Errorf("got %s", p)
		}
	}
	parsePprof(t, capture.Description{}, nil)
}

// TestPprofComments checks that the comments about a build tool's many JVMs and long command do not fill the screen.
func TestPprofComments(t *testing.T) {
	p := profile.Profile{Trial: "Bench.one", Warnings: []string{"only 3 samples"}}
	h := capture.Description{Command: slices.Repeat([]string{"word"}, 500), Notes: []string{"no clock"}}
	for pid := range 20 {
		h.JVMs = append(h.JVMs, capture.JVM{PID: pid})
		if pid > 0 {
			p.PIDs = append(p.PIDs, pid)
		}
	}
	text := strings.Join(comments(reporttest.Profiles(h, p), "0.1.0"), "\n")
	for _, want := range []string{"JVM: pid 6\nJVMs: 13 more\n", "note: no clock\n",
		"warning of Bench.one: only 3 samples"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if len(text) > 500 || strings.Contains(text, "pid 0") {
		t.Errorf("too much: %s", text)
	}
}
