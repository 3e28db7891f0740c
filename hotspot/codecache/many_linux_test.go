package codecache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// TestMany finds the blobs of a JVM that compiles every method before it runs it (-Xcomp).
func TestMany(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 17, gasmtest.Testdata("programs", "Churn.java"),
		gasmtest.Testdata("programs", "MemoryFile.java"),
		gasmtest.Testdata("programs", "MemoryFiles.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		t.Run(jdk.Name(), func(t *testing.T) {
			j := start(t, jdk, 5000, "-Xcomp", "-XX:TieredStopAtLevel=1", "-Dsec=600", "-cp", dir, "Churn")
			gasmtest.Stop(t, j.Process.Pid)
			cpu, wall := cpuTime(), time.Now()
			c := j.open(t)
			opened := cpuTime() - cpu
			changes, err := c.Poll(monotonic.Nanos())
			require.NoError(t, err)
			cpu = cpuTime() - cpu
			t.Logf("%d blobs took %v of CPU time, %v of it for opening; %v of wall time", len(changes.Added), cpu,
				opened, time.Since(wall))
			assert.Greater(t, len(changes.Added), 5000)
			walk := cpu

			_, err = c.Poll(monotonic.Nanos()) // reads again what HotSpot may have been changing during the first Poll
			require.NoError(t, err)
			cpu = cpuTime()
			const polls = 1000
			for range polls {
				changes, err := c.Poll(monotonic.Nanos())
				require.NoError(t, err)
				require.False(t, changes.Any())
			}
			cpu = (cpuTime() - cpu) / polls
			t.Logf("a poll that finds nothing took %v of CPU time", cpu)
			assert.Less(t, 100*cpu, walk, "it is some ten thousandth of a walk")
		})
	}
}
