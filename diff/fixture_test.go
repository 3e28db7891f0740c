package diff

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/sampler"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "%s (-update accepts)", file)
}

func readCapture(t *testing.T, name, file string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("../testdata/captures", name, file+".gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return text
}

// profiles joins a committed capture, as one trial of the given name.
func profiles(t *testing.T, name, trial string) (report.Header, []profile.Profile) {
	t.Helper()
	text := readCapture(t, name, "asm.log")
	log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), name)
	require.NoError(t, err)
	var samples []sampler.Sample
	start := int64(0)
	for r := sampler.NewReader(bytes.NewReader(readCapture(t, name, "samples.txt")), name); r.Scan(); {
		s, ok := r.Record().(*sampler.Sample)
		require.True(t, ok)
		if start == 0 && s.PID == log.PID {
			start = s.MonoNanos
		}
		samples = append(samples, *s)
	}
	one := profile.Trial{Name: trial, PIDs: []int{log.PID}}
	if trial != "" {
		one.Windows = []profile.Window{{PID: log.PID, FromMonoNanos: start, ToMonoNanos: start + 1e9}}
	}
	b := profile.NewBuilder([]profile.JVM{{PID: log.PID, Log: log, StartMonoNanos: start}}, []profile.Trial{one})
	for i := range samples {
		b.Add(&samples[i])
	}
	o := profile.DefaultOptions()
	o.HotThreshold, o.MergeMargin, o.Locations = 0.01, MergeMargin, true
	ps := b.Build(o)
	return report.Header{Sampler: "perf", Events: ps[0].Events, Frequency: 1001, Command: []string{"java", "-Dsec=2", "Workload"},
		JVMs: []report.JVM{{PID: log.PID, Main: "Workload", Version: log.VMVersion}}}, ps
}

func captureSide(t *testing.T, name string) *Side {
	t.Helper()
	h, ps := profiles(t, name, "")
	return FromProfiles(name, h, ps)
}

func options() Options { return Options{MinChange: 0.01, HotThreshold: 0.10} }

// code makes normalised lines, four bytes each; a line that starts with a digit
// has that many samples.
func code(lo uint64, lines ...string) []Line {
	var raw []rawLine
	for i, text := range lines {
		r := rawLine{addr: lo + 4*uint64(i), text: text}
		for r.text[0] >= '0' && r.text[0] <= '9' {
			r.count = 10*r.count + int64(r.text[0]-'0')
			r.text = r.text[1:]
		}
		r.text = string(bytes.TrimLeft([]byte(r.text), " "))
		raw = append(raw, r)
	}
	return normalise(raw)
}

// region is code with all of its samples.
func region(method string, id int, lines []Line) Region {
	r := Region{Source: "c2, level 4", Method: method, CompileID: id, Lo: lines[0].Addr, Hi: lines[len(lines)-1].Addr + 4, Lines: lines}
	for _, l := range lines {
		r.Count += l.Count
	}
	return r
}

// trial makes a trial of regions; its methods and frames are theirs.
func trial(samples int64, regions ...Region) Trial {
	t := Trial{Event: "cycles", Samples: samples, Seconds: 2, Regions: mergeRegions(regions)}
	for _, r := range regions {
		t.Methods = append(t.Methods, Item{Source: r.Source, Name: r.Method, Count: r.Count})
		t.Frames = append(t.Frames, Item{Name: r.Method, Count: r.Count})
	}
	t.Methods, t.Frames = mergeItems(t.Methods), mergeItems(t.Frames)
	return t
}

func side(name string, trials ...Trial) *Side { return &Side{Name: name, Trials: trials} }
