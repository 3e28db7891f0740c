package main

import (
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/native"
)

// strippedJDK makes a JDK of symbolic links whose libjvm.so has no symbols but
// the dynamic ones. It gives its java and its libjvm.so.
func strippedJDK(t *testing.T, java string) (stripped, libjvm string) {
	t.Helper()
	from, to := filepath.Dir(filepath.Dir(java)), t.TempDir()
	libjvm = filepath.Join("lib", "server", "libjvm.so")
	// The launcher finds its JDK by its own real path.
	copied := map[string]bool{filepath.Join("bin", "java"): true, filepath.Join("lib", "libjli.so"): true,
		filepath.Join("lib", "jvm.cfg"): true, libjvm: true}
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(from, path)
		require.NoError(t, err)
		switch {
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case copied[name]:
			return exec.Command("cp", path, filepath.Join(to, name)).Run()
		}
		return os.Symlink(path, filepath.Join(to, name))
	}))
	libjvm = filepath.Join(to, libjvm)
	if out, err := exec.Command("strip", "-s", libjvm).CombinedOutput(); err != nil {
		t.Skipf("strip: %v: %s", err, out)
	}
	return filepath.Join(to, "bin", "java"), libjvm
}

// In a stripped libjvm only what is exported has a name, and only where it is,
// whatever the sampler claims: some give every address the name of the exported
// function before it.
func TestStrippedLibjvm(t *testing.T) {
	t.Parallel()
	gasmtest.NeedPerf(t)
	some := gasmtest.NeedJDKs(t, gasmtest.WholeJDK17)
	if !gasmtest.Whole() {
		some = some[len(some)-1:] // what a stripped library has does not differ with the JDK
	}
	for _, j := range some {
		t.Run(j.Name(), func(t *testing.T) { checkStripped(t, j.Java()) })
	}
}

func checkStripped(t *testing.T, java string) {
	java, libjvm := strippedJDK(t, java)
	exported := map[string]bool{}
	f, err := elf.Open(libjvm)
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	for _, s := range symbols {
		exported[native.Demangle(s.Name)] = true
	}

	dir := filepath.Join(t.TempDir(), "capture")
	file := filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, []string{"profile", "--sampler", "perf", "--frequency", "1001", "--fixed-frequency", "-o", dir,
		"--format", "json", "--report", file,
		"--", java, "-Xcomp", "-XX:TieredStopAtLevel=1", "-cp", javaPrograms(t), "Exit", "0"},
		// perf keeps libraries in ~/.debug and knows this one again by its build id.
		withEnv("HOME="+t.TempDir()))
	require.Equal(t, 0, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	p := readReport(t, text).Profiles[0]
	var named, unnamed int64
	for _, n := range p.Native {
		switch {
		case n.Module != "libjvm.so":
		case n.Symbol == "":
			unnamed += n.Counts.Of(hottestEvent(&p))
		default:
			named += n.Counts.Of(hottestEvent(&p))
			// perf's name for the stub of an imported function is right.
			assert.True(t, exported[n.Symbol] || strings.HasSuffix(n.Symbol, "@plt"), "%s is not in the file", n.Symbol)
		}
	}
	claimed := 0
	samples, err := os.ReadFile(filepath.Join(dir, "samples.txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(samples)) {
		if strings.Contains(line, "/libjvm.so)") && !strings.Contains(line, "[unknown]") {
			claimed++
		}
	}
	t.Logf("samples in libjvm.so: %d named by gasm, %d without a name; perf names %d", named, unnamed, claimed)
	assert.Greater(t, named+unnamed, int64(200))
	assert.Greater(t, unnamed, 3*named)

	again := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, again.code, again.stderr)
	assert.Equal(t, p.Native, readReport(t, []byte(again.stdout)).Profiles[0].Native,
		"the same names from the saved capture")
}

// Functions of libraries that HotSpot loads have names, from all samplers alike, in the
// same proportion.
func TestNativeNames(t *testing.T) {
	t.Parallel()
	share := map[string]float64{}
	for sampler, need := range samplers {
		t.Run(sampler, func(t *testing.T) {
			need(t)
			if sampler == "dtrace" {
				takeDTrace(t)
			}
			file := filepath.Join(t.TempDir(), "report.json")
			r := runGasm(t, []string{"profile", "--sampler", sampler, "--frequency", "1001", "--fixed-frequency", "--format",
				"json", "--report", file, "--", "java", "-Xcomp", "-cp", javaPrograms(t), "Exit", "0"})
			require.Equal(t, 0, r.code, r.stderr)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			p := readReport(t, text).Profiles[0]
			a := p.Account.Of(hottestEvent(&p))
			var libjvm, nameless int64
			for _, n := range p.Native {
				if n.Module == "libjvm.so" {
					libjvm += n.Counts.Of(hottestEvent(&p))
				}
				if n.Symbol == "" {
					nameless += n.Counts.Of(hottestEvent(&p))
				}
			}
			share[sampler] = float64(libjvm) / float64(a.Profiled)
			t.Logf("%s: %.1f %% in libjvm.so, %.1f %% without a name, %+v", sampler, 100*share[sampler],
				100*float64(nameless)/float64(a.Profiled), a)
			assert.Less(t, float64(nameless), 0.05*float64(a.Profiled))
		})
	}
	for sampler := range share {
		assert.InDelta(t, share["native"], share[sampler], 0.1, "the share of libjvm.so by %s", sampler)
	}
}

// Several events are a column each.
func TestTwoEvents(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	dir := filepath.Join(t.TempDir(), "capture")
	r := runGasm(t, []string{"profile", "-o", dir, "--frequency", "1001", "--fixed-frequency", "--event",
		"cpu-clock,page-faults", "--", "java", "-cp", javaPrograms(t), "Exit", "0"})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `(?m)^Sampler: +native, cpu-clock and page-faults at 1001 Hz$`, r.stdout)
	again := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, again.code, again.stderr)
	p := readReport(t, []byte(again.stdout)).Profiles[0]
	assert.Positive(t, p.Account.Of("cpu-clock").Profiled)
	assert.Positive(t, p.Account.Of("page-faults").Profiled)
}
