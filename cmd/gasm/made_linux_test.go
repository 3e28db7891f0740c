package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// TestMade compares when code was made with HotSpot's log of the same run. Without the events of compilations, gasm
// knows two times between which it was made, and with them the time itself.
func TestMade(t *testing.T) {
	gasmtest.NeedNative(t)
	j := gasmtest.NeedJDKs(t, gasmtest.JDK.IsDefault)[0]
	for _, events := range []string{"gc", "compile"} {
		t.Run(events, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "capture")
			logged := filepath.Join(t.TempDir(), "compilations.log")
			r := runGasm(t, []string{"profile", "--events", events, "-o", dir, "--", j.Java(), "-XX:+UnlockDiagnosticVMOptions",
				"-XX:+LogCompilation", "-XX:LogFile=" + logged, "-Drounds=6000", "-cp", programs8(t, "WarmUp"), "WarmUp"})
			require.Equal(t, 0, r.code, r.stderr)
			p := &jsonReport(t, dir).Profiles[0]
			require.Len(t, p.PIDs, 1)
			hotspot := readLog(t, logged)
			gasm := readLog(t, filepath.Join(dir, "asm-"+strconv.Itoa(p.PIDs[0])+".log"))
			offset := hotspot.StartWallMillis - gasm.StartWallMillis // the JVM begins to count later

			done := endsOfTasks(t, logged)
			var away []int64 // by how much the logged times are outside those of the report
			compared, exact := 0, 0
			for i := range p.Compilations {
				made := &p.Compilations[i]
				at := slices.IndexFunc(hotspot.Blobs, func(b printassembly.Blob) bool {
					return b.ID == made.CompileID && b.OSR == made.OSR && b.Kind == printassembly.NMethod
				})
				if at < 0 || made.MadeBefore {
					continue
				}
				compared++
				when := hotspot.Blobs[at].UptimeMillis + offset
				latest := when
				if made.MadeMillis == made.MadeByMillis {
					exact++
					// The exact time is that of the compilation's end. On a busy machine, the compiler's thread may have
					// to wait after it has made the code.
					latest = max(latest, done[task{made.CompileID, made.OSR}]+offset)
				}
				// Both clocks are rounded to milliseconds.
				assert.GreaterOrEqual(t, latest+2, made.MadeMillis, "%+v", made)
				away = append(away, max(when-made.MadeByMillis, 0))
			}
			t.Logf("%d compilations, %d exact; the logged times are later by %d ms", compared, exact, away)
			require.GreaterOrEqual(t, compared, 5)
			if events == "compile" { // of the compilations before the recording began, only the start is known
				assert.Positive(t, exact)
			}
			// HotSpot writes its log after it has made the code, so a busy machine may delay some of these times.
			slices.Sort(away)
			assert.LessOrEqual(t, away[len(away)/2], int64(2))
		})
	}
}

// A task identifies a compilation.
type task struct {
	id  int
	osr bool
}

// endsOfTasks reads from HotSpot's log when each compilation ended, in milliseconds since the JVM's start.
func endsOfTasks(t *testing.T, path string) map[task]int64 {
	t.Helper()
	ends := map[task]int64{}
	begun := task{}
	for _, m := range taskLine.FindAllSubmatch(readFile(t, path), -1) {
		if id := string(m[1]); id != "" {
			n, err := strconv.Atoi(id)
			require.NoError(t, err)
			begun = task{n, string(m[2]) == " compile_kind='osr'"}
			continue
		}
		seconds, err := strconv.ParseFloat(string(m[3]), 64)
		require.NoError(t, err)
		ends[begun] = int64(math.Round(1000 * seconds))
	}
	require.NotEmpty(t, ends)
	return ends
}

// taskLine matches where a compilation begins or ends in HotSpot's log. Each compiler's thread has a part of its own in
// the log, so that the two lines follow each other.
var taskLine = regexp.MustCompile(`(?m)^<task compile_id='(\d+)'( compile_kind='osr')?|^<task_done .*?stamp='([\d.]+)'`)

// readLog reads a log of code.
func readLog(t *testing.T, path string) *printassembly.Log {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	require.NoError(t, err)
	log, err := printassembly.NewLog(f, info.Size(), path)
	require.NoError(t, err)
	return log
}
