package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/report/schema"
)

// output runs a command, and returns what it prints.
func output(t *testing.T, command ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	require.NoError(t, cmd.Run(), err.String())
	return out.String(), err.String()
}

// profileSilently profiles a command. It checks that this prints, byte for byte, what the command alone prints
// without gasm. It returns the report and the description of the capture.
func profileSilently(t *testing.T, flags, alone, command []string) (schema.Report, *capture.Description) {
	t.Helper()
	stdout, stderr := output(t, alone...)
	dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, slices.Concat([]string{"profile", "--sampler", "native", "-o", dir, "--format", "json", "--report",
		file}, flags, []string{"--"}, command))
	assert.Zero(t, r.code)
	assert.Equal(t, stdout, r.stdout)
	assert.Equal(t, stderr, r.stderr)
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	return readReport(t, readFile(t, file)), d
}

// fills returns a command that runs the program Fills with the arguments.
func fills(t *testing.T, j gasmtest.JDK, args ...string) []string {
	t.Helper()
	return append([]string{j.Java(), "-Xmx64m", "-cp", javaPrograms(t), "Fills"}, args...)
}

// recordsFromStart reports whether Flight Recorder of this JDK can start together with the JVM without printing
// anything.
func recordsFromStart(j gasmtest.JDK) bool {
	return j.Feature >= 21 && jdk.Has([]string{j.Java()}, "jdk.jfr")
}

// TestProfileIsSilent profiles a java program. It gets its options on its command line, about which it prints
// nothing. All its methods must have exact lines, and its events must be logged.
func TestProfileIsSilent(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 17 }) {
		t.Run(j.Name(), func(t *testing.T) {
			command := fills(t, j, "20")
			rep, d := profileSilently(t, []string{"--events", "default,alloc"}, command, command)
			p := &rep.Profiles[0]
			assert.Nil(t, p.SafepointsOnly)
			require.Len(t, d.JVMs, 1)
			assert.False(t, d.JVMs[0].SafepointsOnly)
			assert.Zero(t, d.JVMs[0].DetailedFromMillis, "the flag was on from the start")
			assert.NotEmpty(t, d.JVMs[0].EventLog)
			if recordsFromStart(j) {
				assert.NotEmpty(t, d.JVMs[0].Recordings)
			}
		})
	}
}

// TestAllocationsFromStart checks that since JDK 21, allocations are recorded from the JVM's start. Flight Recorder
// takes up to 300 samples a second. Each sample stands for everything that was allocated since the previous one, so
// only what is allocated after the last sample is missing. On a busy machine, Flight Recorder may take all samples of
// a second early in that second. So the program pauses before its last allocations, which are then sampled.
func TestAllocationsFromStart(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	const megabytes = 2000
	for _, j := range gasmtest.NeedJDKs(t, recordsFromStart) {
		t.Run(j.Name(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.json")
			r := runGasm(t, slices.Concat([]string{"profile", "--events", "default,alloc", "--format", "json", "--report", file,
				"--"},
				fills(t, j, strconv.Itoa(megabytes), "resting")))
			require.Zero(t, r.code, r.stderr)
			rep := readReport(t, readFile(t, file))
			p := &rep.Profiles[0]
			assert.Zero(t, p.UnrecordedSeconds)
			var filled int64
			for _, a := range p.Allocations {
				if a.At != nil && a.At.Method == "Fills::fill" {
					filled += a.Bytes
				}
			}
			assert.InEpsilon(t, megabytes*1e6, filled, 0.05)
		})
	}
}

// TestChildrenAreSilent checks that JVMs that start without options print nothing, either. DebugNonSafepoints is
// switched on in their memory, and they are told to log events when they accept commands.
func TestChildrenAreSilent(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for _, j := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		t.Run(j.Name(), func(t *testing.T) {
			child := fills(t, j, "20", "attached")
			_, d := profileSilently(t, nil, fills(t, j, "20"), fills(t, j, append([]string{"0"}, child...)...))
			require.Len(t, d.JVMs, 2)
			switched := 0
			for _, jvm := range d.JVMs {
				if jvm.DetailedFromMillis > 0 {
					switched++
				}
				assert.False(t, jvm.SafepointsOnly)
				assert.NotEmpty(t, jvm.EventLog)
			}
			assert.Equal(t, 1, switched, "the parent has its options")
			script := append([]string{"env"}, fills(t, j, "1000")...)
			_, d = profileSilently(t, nil, script, script)
			require.Len(t, d.JVMs, 1)
			assert.Positive(t, d.JVMs[0].DetailedFromMillis)
		})
	}
}
