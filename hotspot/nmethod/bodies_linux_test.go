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
	"github.com/gasm-profiler/gasm/printassembly"
)

// TestBodies reads what the bytecodes of a running program refer to: the getter reads the field that the setter writes,
// and calls are resolved.
func TestBodies(t *testing.T) {
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Accessors.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return Known(j.Feature) }) {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(jdk.Java(), "-cp", classes, "Accessors")
			require.NoError(t, cmd.Start())
			defer cmd.Wait()
			defer cmd.Process.Kill()
			checkBodies(t, readBodies(t, cmd.Process.Pid))
		})
	}
}

// readBodies copies Accessors::hot once C2 has compiled it, and returns the bodies that are in the log after that.
func readBodies(t *testing.T, pid int) *printassembly.Bodies {
	t.Helper()
	text := []byte("<hotspot_log version='160 1' process='1' time_ms='1'>\n<writer thread='gasm'/>\n")
	require.Eventually(t, func() bool {
		vm, err := vmstructs.Open(pid)
		if err != nil {
			return false // the JVM is just starting
		}
		copier, err := NewCopier(vm)
		if err != nil {
			return false
		}
		cache, err := codecache.New(vm, copier.MethodName)
		if err != nil {
			return false
		}
		if _, err := cache.Poll(1); err != nil {
			return false
		}
		for _, b := range cache.Blobs() {
			if b.Method == nil || b.Method.Compiler != "c2" || b.Method.Name != "Accessors::hot" {
				continue
			}
			code, err := copier.Copy(b.Method)
			if err != nil {
				continue
			}
			if _, err := code.AppendTo(nil); err != nil {
				continue
			}
			text = code.AppendBodies(text)
			written := len(text)
			copier.Forget()
			assert.Len(t, code.AppendBodies(text), written, "each body is written once")
			return true
		}
		return false
	}, time.Minute, 100*time.Millisecond, "C2 compiles Accessors::hot")
	l, err := printassembly.NewLog(strings.NewReader(string(text)), int64(len(text)), "bodies")
	require.NoError(t, err)
	return &l.Bodies
}

func checkBodies(t *testing.T, bodies *printassembly.Bodies) {
	t.Helper()
	refs := func(method string) []printassembly.BodyRef {
		found := bodies.Of(method)
		require.Len(t, found, 1, method)
		return found[0].Refs
	}
	get, set, other := refs("Accessors$Point::get"), refs("Accessors$Point::set"), refs("Accessors$Point::other")
	require.Len(t, get, 1)
	require.Len(t, set, 1)
	require.Len(t, other, 1)
	assert.Equal(t, printassembly.BodyRef{BCI: 1, Kind: printassembly.FieldRead, Offset: get[0].Offset}, get[0])
	assert.Equal(t, printassembly.BodyRef{BCI: 2, Kind: printassembly.FieldWrite, Offset: get[0].Offset}, set[0])
	assert.NotEqual(t, get[0].Offset, other[0].Offset)
	assert.GreaterOrEqual(t, get[0].Offset, 8)
	assert.Less(t, get[0].Offset, 32)

	var calls []string
	arrays := 0
	for _, r := range refs("Accessors::hot") {
		switch r.Kind {
		case printassembly.ArrayRef:
			arrays++
		case printassembly.CallRef:
			require.NotNil(t, r.Callee)
			calls = append(calls, r.Callee.Method)
		}
	}
	assert.Equal(t, 2, arrays)
	assert.Equal(t, []string{"Accessors$Point::set", "Accessors::through", "Accessors$Point::other"}, calls)
	through := refs("Accessors::through")
	require.Len(t, through, 1)
	assert.Equal(t, "Accessors$Point::get", through[0].Callee.Method)
}
