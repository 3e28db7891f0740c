package jfr

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestKilled reads the chunk that a killed JVM leaves.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	classes := recordedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool {
		return withRecorder(j) && (gasmtest.Long() || j.Feature == 11 || j.Feature == 17)
	}) {
		t.Run(j.Name(), func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(j.Java(), "-XX:StartFlightRecording=settings=default",
				"-XX:FlightRecorderOptions=repository="+dir,
				"-cp", classes, "Recorded", "wait", "1500")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(out)
			for lines.Scan() && lines.Text() != "READY" {
			}
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait() // the error says that it was killed
			chunks, err := filepath.Glob(filepath.Join(dir, "*", "*.jfr"))
			require.NoError(t, err)
			require.Len(t, chunks, 1)
			r := open(t, chunks[0])
			var numbers []int64
			for r.Scan() {
				e := r.Event()
				assert.True(t, e.Chunk().Unfinished)
				if e.Type().Name == "test.Small" {
					numbers = append(numbers, e.Field("number").Int())
				}
			}
			damage := r.Damage()
			t.Logf("%d events, %v, %+v", len(numbers), r.Err(), damage)
			if j.Feature < 14 {
				assert.Empty(t, numbers)
				if damage.Any() {
					assert.Contains(t, damage.First[0], "before it wrote the chunk's types")
				} else {
					require.ErrorContains(t, r.Err(), "is empty")
				}
				return
			}
			require.NoError(t, r.Err())
			assert.Equal(t, Damage{}, damage)
			assert.Greater(t, len(numbers), 400, "there was a flush a second, and an event a millisecond")
			slices.Sort(numbers)
			for i, n := range numbers {
				require.Equal(t, int64(i), n, "none is missing")
			}
		})
	}
}
