package codecache

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// TestPrinted compares stubs, codelets and adapters with what HotSpot prints about them.
func TestPrinted(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := classPath(t)
	eachJDK(t, func(t *testing.T, jdk gasmtest.JDK) {
		j := start(t, jdk, 100, "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+PrintInterpreter", "-XX:+PrintStubCode",
			"-XX:+PrintAdapterHandlers",
			"-XX:+LogVMOutput", "-XX:-DisplayVMOutput", "-cp", dir, "Busy")
		gasmtest.Stop(t, j.Process.Pid)
		c := j.open(t)
		_, err := c.Poll(1)
		require.NoError(t, err)
		log, err := printassembly.Open(j.log)
		require.NoError(t, err)
		defer log.Close()
		same, kinds := map[string]int{}, map[printassembly.Kind]int{}
		for i := range log.Blobs {
			p := &log.Blobs[i]
			if p.Kind.Java() {
				continue
			}
			kinds[p.Kind]++
			b := c.Find(p.Lo)
			if b == nil {
				t.Errorf("printed, and not found: %+v", p)
				continue
			}
			found, printed := [...]any{b.Kind, b.Lo, b.Hi, b.Name}, [...]any{p.Kind, p.Lo, p.Hi, p.Name}
			if assert.Equal(t, printed, found) {
				same[p.Source()]++
			}
		}
		t.Logf("printed: %v, the same: %v", kinds, same)
	})
}
