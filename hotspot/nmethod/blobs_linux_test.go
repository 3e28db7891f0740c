package nmethod

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// TestCopyBlobs copies all methods of a JVM that was started without any flag, on each JDK of the machine. The
// descriptions of the methods come from package codecache instead of LogCompilation's tags. Copies from JDK 8 have no
// frames.
func TestCopyBlobs(t *testing.T) {
	gasmtest.NeedTime(t)
	classPath := t.TempDir()
	compileOld(t, classPath)
	jdks := gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true })
	require.NotEmpty(t, jdks)
	for _, jdk := range jdks {
		t.Run(jdk.Name(), func(t *testing.T) {
			cmd := exec.Command(jdk.Java(), "-cp", classPath, "Old")
			require.NoError(t, cmd.Start())
			defer cmd.Wait()
			defer cmd.Process.Kill()
			copier, blobs := openStopped(t, cmd.Process, 150)
			testCopyBlobs(t, jdk, copier, blobs)
		})
	}
}

// openStopped opens a JVM, stops it when it has compiled at least as many methods as wanted, and returns them.
func openStopped(t testing.TB, process *os.Process, methods int) (*Copier, []*codecache.Blob) {
	t.Helper()
	var copier *Copier
	var cache *codecache.Cache
	compiled := func() (blobs []*codecache.Blob) {
		if _, err := cache.Poll(1); err != nil {
			return nil
		}
		for _, b := range cache.Blobs() {
			if b.Method != nil {
				blobs = append(blobs, b)
			}
		}
		return blobs
	}
	require.Eventually(t, func() bool {
		if cache == nil {
			vm, err := vmstructs.Open(process.Pid)
			if err != nil {
				return false // the JVM is just starting
			}
			if copier, err = NewCopier(vm); err != nil {
				return false
			}
			if cache, err = codecache.New(vm, copier.MethodName); err != nil {
				return false
			}
		}
		return len(compiled()) >= methods
	}, time.Minute, 50*time.Millisecond, "the JVM compiles methods")
	gasmtest.Stop(t, process.Pid)
	copier.Forget()
	return copier, compiled()
}

func testCopyBlobs(t *testing.T, jdk gasmtest.JDK, c *Copier, blobs []*codecache.Blob) {
	c.SetNames(Names{Function: func(uint64) string { return "f" }})
	states, frames, relocations, gone := map[codecache.State]int{}, 0, 0, 0
	for _, b := range blobs {
		code, err := c.Copy(b.Method)
		if isGone(err) {
			gone++
			continue
		}
		require.NoError(t, err, "%+v", b.Method)
		text, err := code.AppendTo(nil)
		require.NoError(t, err, "%+v", b.Method)
		states[b.State]++
		l, err := printassembly.NewLog(strings.NewReader(string(text)), int64(len(text)), "copy")
		require.NoError(t, err)
		require.Len(t, l.Blobs, 1)
		got := &l.Blobs[0]
		require.Equal(t, b.Method.Name, got.Name)
		require.Equal(t, []uint64{b.Method.Lo, b.Method.Hi}, []uint64{got.Lo, got.Hi})
		insts, err := l.Code(got, disasm.ATT)
		require.NoError(t, err)
		for _, in := range insts {
			if in.OwnFrames {
				frames++
				require.Equal(t, got.Name, in.Frames[len(in.Frames)-1].Method)
			}
			for _, text := range in.Comments {
				if strings.HasPrefix(text, "{") {
					relocations++
				}
			}
		}
	}
	t.Logf("of %d methods %v were copied, with %d frames and %d relocations", len(blobs), states, frames, relocations)
	assert.LessOrEqual(t, gone, len(blobs)/100, "a thread was stopped while it freed a method")
	if !Known(jdk.Feature) {
		assert.Error(t, c.Frames())
		assert.Zero(t, frames+relocations)
		return
	}
	require.NoError(t, c.Frames())
	assert.Greater(t, frames, 3*len(blobs))
	assert.Greater(t, relocations, 10*len(blobs))
}

// BenchmarkCopy copies the methods that HotSpot has compiled for javac.
func BenchmarkCopy(b *testing.B) {
	jdks := gasmtest.NeedJDKs(b, func(j gasmtest.JDK) bool { return j.Feature == 25 || j.Feature == 17 })
	classPath := b.TempDir()
	gasmtest.CompileJava(b, classPath, 17, gasmtest.Testdata("programs", "Compile.java"),
		gasmtest.Testdata("programs", "MemoryFile.java"), gasmtest.Testdata("programs", "MemoryFiles.java"))
	for _, jdk := range jdks {
		b.Run(jdk.Name(), func(b *testing.B) {
			cmd := exec.Command(jdk.Java(), "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", "-cp",
				classPath, "Compile")
			require.NoError(b, cmd.Start())
			defer cmd.Wait()
			defer cmd.Process.Kill()
			c, blobs := openStopped(b, cmd.Process, 2000)
			c.SetNames(Names{Function: FunctionNames(cmd.Process.Pid)})
			var text []byte
			copied := 0
			for b.Loop() {
				c.Forget()
				for _, blob := range blobs {
					code, err := c.Copy(blob.Method)
					if err != nil {
						continue
					}
					text, _ = code.AppendTo(text[:0])
					copied++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(copied), "µs/method")
		})
	}
}
