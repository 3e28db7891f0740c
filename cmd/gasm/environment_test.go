package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestOverridingVariables sets variables that would make HotSpot write its log elsewhere. If HotSpot has to print its
// code, gasm must stop before it runs the command.
func TestOverridingVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		ran := filepath.Join(t.TempDir(), "ran")
		r := runGasm(t, []string{"profile", "--code", "print", "--", "touch", ran},
			withEnv(name+"=-Xmx1g -XX:LogFile=/tmp/x"))
		assert.Equal(t, 1, r.code)
		assert.Equal(t, "gasm: "+name+" has -XX:LogFile=/tmp/x, which takes the JVM's log away from gasm: unset "+name,
			r.said())
		assert.NoFileExists(t, ran)
	}
}

// TestFullTemporaryFolder checks that gasm notices a full temporary folder before it runs the command.
func TestFullTemporaryFolder(t *testing.T) {
	t.Parallel()
	disk := gasmtest.NeedSmallDisk(t, "8k")
	_ = os.WriteFile(filepath.Join(disk, "big"), make([]byte, 16<<10), 0o644) // fails: the disk gets full
	ran := filepath.Join(t.TempDir(), "ran")
	r := runGasm(t, []string{"profile", "--", "touch", ran}, withEnv("TMPDIR="+disk))
	assert.Equal(t, 1, r.code)
	assert.Regexp(t, `^gasm: the capture folder can't be written: .*no space left on device \(set TMPDIR, or name a folder with -o\)$`, r.said())
	assert.NoFileExists(t, ran)

	doctor := runGasm(t, []string{"doctor"}, withEnv("TMPDIR="+disk))
	assert.Equal(t, 1, doctor.code)
	assert.Contains(t, oneLine(doctor.stdout),
		"gasm can't profile here: "+disk+" can't be written: no space left on device; first: export TMPDIR=/var/tmp")
}

// TestDoctorBadJavaOptions checks that gasm doctor reports a variable with which java does not start.
func TestDoctorBadJavaOptions(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	takeDTrace(t) // gasm doctor tries DTrace
	r := runGasm(t, []string{"doctor"}, withEnv("JAVA_TOOL_OPTIONS=-XX:+Nonsense"))
	assert.Equal(t, 1, r.code)
	assert.Contains(t, oneLine(r.stdout), "JAVA_TOOL_OPTIONS keeps java from starting")
	assert.Contains(t, oneLine(r.stdout), "first: unset JAVA_TOOL_OPTIONS")
}

// TestDamagedSymbols checks that gasm reports if the names of native functions are damaged in the capture.
func TestDamagedSymbols(t *testing.T) {
	t.Parallel()
	samples, _ := savedCapture(t, "jdk17-lean-none")
	dir := filepath.Dir(samples)
	require.NoError(t, os.Rename(filepath.Join(dir, "asm.log"), filepath.Join(dir, "asm-24997.log")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "symbols.txt"), []byte("24997 0x1 0x2 lib.so f\nnonsense\n"),
		0o644))
	r := runGasm(t, []string{"report", "--skip-asm", dir})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, oneLine(r.stdout), "note: a line of the native symbols could not be read: ")
}

// oneLine returns a text without its line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestNoSourceFound checks that gasm says so if it finds nothing in the sources that the user has named.
func TestNoSourceFound(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none")
	empty := t.TempDir()
	r := runGasm(t, []string{"report", "--hot-threshold", "0.04", "--source", empty, samples, log})
	require.Equal(t, 0, r.code)
	assert.Contains(t, r.said(), "gasm: --source: none of the report's methods has its source in "+empty)
}
