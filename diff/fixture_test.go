package diff

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/diff/asm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/sampler"
)

// profiles makes the profile of a committed capture, with the given number of forks. Each fork is the capture's JVM
// with another process id. If there are several, the first one has half of the samples. If the argument trial is not
// "", it is the profile of a benchmark with that name, in windows of a second.
func profiles(t *testing.T, name, trial string, forks int) *profile.Profiles {
	t.Helper()
	text := gasmtest.Capture(t, name, gasmtest.Log)
	log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), name)
	require.NoError(t, err)
	var samples []sampler.Sample
	start := int64(0)
	for r := sampler.NewReader(bytes.NewReader(gasmtest.Capture(t, name, gasmtest.Samples)), name); r.Scan(); {
		s, ok := r.Record().(*sampler.Sample)
		require.True(t, ok)
		if start == 0 && s.PID == log.PID {
			start = s.MonoNanos
		}
		samples = append(samples, *s)
	}
	require.NotEmpty(t, samples)
	benchmark := capture.Trial{Name: trial}
	var jvms []capture.JVM
	for i := range forks {
		pid := log.PID + i
		j := capture.JVM{PID: pid, Main: "Workload", Version: log.Version(), Log: log, StartMonoNanos: start}
		jvms = append(jvms, j)
		benchmark.Windows = append(benchmark.Windows, capture.Window{PID: pid,
			Span: capture.Span{FromMonoNanos: start, ToMonoNanos: start + 1e9}})
	}
	var trials []capture.Trial // none for the whole run
	if trial != "" {
		trials = append(trials, benchmark)
	}
	b := profile.NewBuilder(choice.Config{JVMs: jvms, Trials: trials})
	for i := range samples {
		pid := samples[i].PID
		for fork := range forks {
			if s := samples[i]; pid == log.PID && (fork > 0 || forks == 1 || i%2 == 0) {
				s.PID += fork
				b.Add(&s)
			}
		}
	}
	o := choice.DefaultOptions()
	o.HotThreshold, o.MergeMargin = 0.01, MergeMargin
	built := b.Build(o)
	require.NotEmpty(t, built)
	return &profile.Profiles{Trials: built, Capture: capture.Description{Sampler: "perf", Events: built[0].Counters,
		Frequency: 1001,
		Command:   []string{"java", "-Dsec=2", "Workload"}, JVMs: jvms}}
}

// captureSide returns a committed capture as one side of a comparison: the whole run of one JVM.
func captureSide(t *testing.T, name string) *Side {
	t.Helper()
	return FromReport(name, report.JSON(profiles(t, name, "", 1), "v1"))
}

func options() Options { return Options{MinChange: 0.01, HotThreshold: 0.10} }

// code makes normalised lines of four bytes each. A number in front of an instruction is
// its number of samples: "100 inc %ecx".
func code(lo uint64, lines ...string) []asm.Line {
	var raw []asm.Raw
	for i, text := range lines {
		r := asm.Raw{Addr: lo + 4*uint64(i), Text: text}
		if number, instruction, ok := strings.Cut(text, " "); ok {
			if n, err := strconv.ParseInt(number, 10, 64); err == nil {
				r.Count, r.Text = n, instruction
			}
		}
		raw = append(raw, r)
	}
	return asm.Normalise(raw)
}

// region makes a region of code, with the samples of its lines.
func region(method string, id int, lines []asm.Line) Region {
	r := Region{Source: "c2, level 4", Method: method, CompileID: id, Lo: lines[0].Addr, Hi: lines[len(lines)-1].Addr + 4,
		Lines: lines}
	for _, l := range lines {
		r.Count += l.Count
	}
	return r
}

// trial makes a trial with the given regions, and with the methods and frames of their code.
func trial(samples int64, regions ...Region) TrialSide {
	t := TrialSide{Event: "cycles", Samples: samples, Seconds: 2, Regions: mergeRegions(regions)}
	for _, r := range regions {
		t.Methods = append(t.Methods, Item{Source: r.Source, Name: r.Method, Count: r.Count})
		t.Frames = append(t.Frames, Item{Name: r.Method, Count: r.Count})
	}
	t.Methods, t.Frames = mergeItems(t.Methods), mergeItems(t.Frames)
	return t
}

func side(name string, trials ...TrialSide) *Side { return &Side{Name: name, Trials: trials} }
