package nmethod

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/printassembly"
)

// TestFramesAt compares the frames at return addresses with the text of the same methods, which TestCopy compares with
// HotSpot's. It also checks which record an address between two records gets.
func TestFramesAt(t *testing.T) {
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Stacks.java"))
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 8 || Known(j.Feature) }) {
		t.Run(j.Name(), func(t *testing.T) {
			cmd := exec.Command(j.Java(), "-cp", classes, "Stacks", "forever")
			require.NoError(t, cmd.Start())
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			var c *Copier
			var cache *codecache.Cache
			require.Eventually(t, func() bool {
				vm, err := vmstructs.Open(cmd.Process.Pid)
				if err != nil {
					return false
				}
				c, err = NewCopier(vm)
				if err != nil || j.Feature > 8 && c.Frames() != nil {
					return false
				}
				if cache, err = codecache.New(vm, c.MethodName); err != nil {
					return false
				}
				_, err = cache.Poll(monotonic.Nanos())
				compiled := 0
				for _, b := range cache.Blobs() {
					if b.Kind == printassembly.NMethod {
						compiled++
					}
				}
				return err == nil && compiled > 300
			}, time.Minute, 50*time.Millisecond, "the JVM compiles methods")
			gasmtest.Stop(t, cmd.Process.Pid)
			_, err := cache.Poll(monotonic.Nanos())
			require.NoError(t, err)
			methods, records, inlined := 0, 0, 0
			for _, b := range cache.Blobs() {
				if b.Kind != printassembly.NMethod {
					continue
				}
				code, err := c.Copy(b.Method)
				require.NoError(t, err, b.Name)
				methods++
				last := 0
				require.NoError(t, eachPCDesc(code.scopesPCs, len(code.MachineCode), func(d pcDesc) bool {
					frames, exact, err := code.FramesAt(code.Lo + uint64(d.end))
					require.NoError(t, err, b.Name)
					if d.scope == 0 {
						return true
					}
					records++
					inlined += len(frames) - 1
					require.True(t, exact)
					var text []byte
					for _, f := range frames {
						text = appendFrame(append(text, ' '), &method{name: f.Method, lines: []lineNumber{{max(f.BCI, 0), f.Line}},
							bytecode: make([]byte, max(f.BCI, 0)+1)}, f.BCI)
					}
					want, err := code.appendFrames(nil, d.scope)
					require.NoError(t, err)
					_, withoutBytecode, _ := strings.Cut("\n"+string(want), "\n ; - ")
					require.Equal(t, " ; - "+withoutBytecode, string(text))
					if last < d.end-1 {
						between, exact, err := code.FramesAt(code.Lo + uint64(d.end-1))
						require.NoError(t, err)
						require.False(t, exact)
						require.Equal(t, frames, between)
					}
					last = d.end
					return true
				}))
			}
			t.Logf("%d methods, %d records, %d inlined frames", methods, records, inlined)
			assert.Greater(t, methods, 100)
			assert.Greater(t, inlined, 100)
		})
	}
}
