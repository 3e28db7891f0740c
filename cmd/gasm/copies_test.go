package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestCode checks that the log has the code of both compilers with debug info, no matter who wrote the log: HotSpot
// prints all methods, while gasm copies the methods that have samples. The program runs for 5 s of CPU time,
// including the time of the compilers, so that equally much is compiled on a busy machine.
func TestCode(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classPath := t.TempDir()
	gasmtest.CompileJava(t, classPath, 11, gasmtest.Testdata("programs", "Library.java"))
	known := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return nmethod.Known(j.Feature) })
	printing := slices.IndexFunc(known, func(j gasmtest.JDK) bool { return j.Feature >= printassembly.OldestWithBytes })
	for i, j := range known {
		for _, how := range []record.CodeSource{record.CodePrint, record.CodeCopy} {
			if how == record.CodePrint && (j.Feature < printassembly.OldestWithBytes || i > printing && i < len(known)-1) {
				continue // only the oldest JDK that prints code and the newest; the JDKs in between print the same
			}
			java := j.Java()
			t.Run(j.Name()+"/"+string(how), func(t *testing.T) {
				t.Parallel() // equally much is compiled on a busy machine
				dir := filepath.Join(t.TempDir(), "capture")
				r := runGasm(t, []string{"profile", "--code", string(how), "-o", dir, "--", java, "-Dsec=0", "-Dcpu=5", "-cp",
					classPath, "Library"})
				require.Equal(t, 0, r.code, r.stderr)
				assert.NotContains(t, r.stdout, "could not be copied")
				files, err := os.ReadDir(dir)
				require.NoError(t, err)
				want := 6 // with the events, and the code of native functions
				if runtime.GOARCH == "amd64" {
					want++ // the call stacks
				}
				require.Len(t, files, want, "%v", files)
				logs, err := filepath.Glob(filepath.Join(dir, "asm-*.log"))
				require.NoError(t, err)
				require.Len(t, logs, 1)
				checkCompiled(t, logs[0], how)
				p := readReport(t, []byte(runGasm(t, []string{"report", "--format", "json", "--hot-threshold", "0.002",
					dir}).stdout)).Profiles[0]
				unresolvedAtMost(t, &p, 0.005)
				if how == record.CodeCopy {
					checkRegions(t, &p)
				}
				assert.NotContains(t, r.stdout, "of code could not be read")
			})
		}
	}
}

// checkRegions checks that each region of compiled code with at least 0.2 % of the samples has instructions. Methods
// that were compiled while the JVM ended may have none.
func checkRegions(t *testing.T, p *schema.Profile) {
	t.Helper()
	compiled, bare := 0, 0
	for _, region := range p.Regions {
		event := hottestEvent(p)
		cold := region.Counts.Of(event)*500 < p.Account.Of(event).Profiled
		if cold || !strings.HasPrefix(region.Source, "c") || region.TooBig > 0 {
			continue
		}
		if compiled++; len(region.Lines) == 0 {
			bare++
		}
	}
	assert.Greater(t, compiled, 5, "a busy machine samples less")
	assert.LessOrEqual(t, bare*20, compiled)
}

// checkCompiled checks that the compiled methods in a log have code and frames. If HotSpot has printed the log, all
// methods must have code, and be in the order in which they were installed.
func checkCompiled(t *testing.T, path string, how record.CodeSource) {
	t.Helper()
	log, err := printassembly.Open(path)
	require.NoError(t, err)
	defer log.Close()
	compiled, withCode, bare, last := map[string]int{}, map[string]int{}, 0, int64(0)
	for i := range log.Blobs {
		b := &log.Blobs[i]
		if b.Kind != printassembly.NMethod {
			continue
		}
		if how == record.CodePrint {
			assert.GreaterOrEqual(t, b.UptimeMillis, last-50, b.Name)
			last = max(last, b.UptimeMillis)
		}
		compiled[b.Compiler]++
		if !b.HasCode && how == record.CodeCopy {
			continue
		}
		withCode[b.Compiler]++
		insts, err := log.Code(b, disasm.ATT)
		require.NoError(t, err)
		frames := false
		for _, in := range insts {
			frames = frames || in.OwnFrames && in.Frames[len(in.Frames)-1].Method == b.Name
		}
		if !frames {
			t.Logf("no frames: %s, %s, %d instructions", b.Source(), b.Name, len(insts))
			bare++
		}
	}
	assert.Greater(t, compiled["c1"], 200)
	assert.Greater(t, compiled["c2"], 50)
	assert.Greater(t, withCode["c1"], 5, "with samples")
	assert.Greater(t, withCode["c2"], 5, "with samples")
	assert.LessOrEqual(t, bare, 5, "of %v", withCode) // some were compiled while the JVM ended
}

// TestUnreadable checks that if the kernel does not allow gasm to read the JVM's memory, HotSpot prints the code. If
// the user insists on copying, that is an error.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	command := []string{"--", gasmtest.NeedJava(t), "-Dsec=1", "-cp", javaPrograms(t), "Spin"}
	r := runGasm(t, append([]string{"profile", "--code", "copy"}, command...), withBlocked(t, "memory"))
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, "the system call process_vm_readv is refused here")
	assert.NotContains(t, r.stdout, "READY")
	r = runGasm(t, append([]string{"profile"}, command...), withBlocked(t, "memory"))
	assert.Equal(t, 0, r.code, r.stderr)
	text := strings.Join(strings.Fields(r.stdout), " ")
	assert.Contains(t, text, "note: HotSpot printed its code, which slows a program's warm-up: gasm could not copy it from the JVMs' memory (the system call process_vm_readv is refused here")
	assert.Regexp(t, `c\d, level \d(, osr)?, Spin::spin`, text)
}
