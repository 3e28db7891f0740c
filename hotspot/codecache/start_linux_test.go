package codecache

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// TestFromStart polls a JVM while it starts, and compares the result with that of a Cache that is made at the end.
func TestFromStart(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := classPath(t)
	eachJDK(t, func(t *testing.T, jdk gasmtest.JDK) { testFromStart(t, jdk, "-cp", dir, "Busy") })
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		t.Run(jdk.Name()+" interpreted", func(t *testing.T) {
			t.Parallel()
			for _, b := range testFromStart(t, jdk, "-Xint", "-cp", dir, "Busy") {
				assert.True(t, b.Method == nil || b.Method.Kind == "cnt", "%+v", b.Method)
			}
		})
	}
}

func testFromStart(t *testing.T, jdk gasmtest.JDK, args ...string) []*Blob {
	t.Helper()
	j := &jvm{Cmd: exec.Command(jdk.Java(), args...)}
	require.NoError(t, j.Start())
	t.Cleanup(func() {
		j.Process.Kill()
		j.Wait()
	})
	var c *Cache
	polls, failures, began := 0, 0, time.Now()
	for c == nil || time.Since(began) < 1500*time.Millisecond {
		if c == nil {
			require.Less(t, time.Since(began), time.Minute, "the JVM loads HotSpot")
			vm, err := vmstructs.Open(j.Process.Pid)
			if err != nil {
				continue // libjvm.so is not loaded yet
			}
			copier, err := nmethod.NewCopier(vm)
			require.NoError(t, err)
			c, err = New(vm, copier.MethodName)
			require.NoError(t, err)
			began = time.Now()
		}
		_, err := c.Poll(monotonic.Nanos())
		require.NoError(t, err)
		if c.failures > 0 {
			failures++
		}
		polls++
		time.Sleep(time.Millisecond)
	}
	gasmtest.Stop(t, j.Process.Pid)
	_, err := c.Poll(monotonic.Nanos())
	require.NoError(t, err)
	c.check(t)
	late := j.open(t)
	_, err = late.Poll(monotonic.Nanos())
	require.NoError(t, err)
	got, want := map[string]bool{}, map[string]bool{}
	for _, b := range c.Blobs() {
		got[string(b.AppendTo(nil, 0, 0))] = true
	}
	for _, b := range late.Blobs() {
		want[string(b.AppendTo(nil, 0, 0))] = true
	}
	assert.Equal(t, want, got)
	t.Logf("%d blobs after %d polls, %d of which failed", len(got), polls, failures)
	return c.Blobs()
}
