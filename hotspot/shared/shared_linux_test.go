package shared

import (
	"bytes"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// startExpressions starts a JVM that compiles for a while. The JVM runs until the end of the test.
func startExpressions(t *testing.T) *exec.Cmd {
	t.Helper()
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Expressions.java"))
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 11 })
	cmd := exec.Command(jdks[len(jdks)-1].Java(), "-cp", classes, "Expressions")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// open opens a JVM as soon as that is possible.
func open(t *testing.T, set *JVMs, pid int) (v *View) {
	t.Helper()
	require.Eventually(t, func() (ok bool) {
		var err error
		v, err = set.Open(pid)
		return err == nil
	}, time.Minute, 10*time.Millisecond, "the JVM makes its code cache")
	return v
}

// known applies changes to the set of the blobs that a view knows.
func known(blobs map[*codecache.Blob]bool, changes codecache.Changes) {
	for _, b := range changes.Added {
		blobs[b] = true
	}
	for _, b := range changes.Gone {
		delete(blobs, b)
	}
}

// TestViews has several readers look at one JVM at the same time. Each reader gets all changes, no matter which
// reader's Poll found them, and all see the same code. The race detector finds data that they share without a lock.
func TestViews(t *testing.T) {
	cmd := startExpressions(t)
	set := NewJVMs()
	first := open(t, set, cmd.Process.Pid)
	second, err := set.Open(cmd.Process.Pid)
	require.NoError(t, err)
	assert.Same(t, first.Cache, second.Cache)

	const readers, polls = 4, 200
	views, blobs := make([]*View, readers), make([]map[*codecache.Blob]bool, readers)
	copied := make([]int, readers)
	var all sync.WaitGroup
	for i := range readers {
		views[i], err = set.Open(cmd.Process.Pid)
		require.NoError(t, err)
		blobs[i] = map[*codecache.Blob]bool{}
		all.Go(func() {
			v := views[i]
			for range polls {
				changes, _, err := v.Poll(monotonic.Nanos())
				if !assert.NoError(t, err) {
					return
				}
				known(blobs[i], changes)
				for _, b := range changes.Added {
					at, _ := v.Cache.At(b.Lo, monotonic.Nanos())
					if at == nil || at.Method == nil {
						continue
					}
					v.Copy(func(c *nmethod.Copier) {
						if code, err := c.Copy(at.Method); err == nil && code.Name == at.Name {
							copied[i]++
						}
					})
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	all.Wait()
	_, _, err = views[0].Poll(monotonic.Nanos())
	require.NoError(t, err)
	now := views[0].Cache.Blobs()
	for i, v := range views {
		changes, took, err := v.Poll(0)
		require.NoError(t, err)
		assert.Zero(t, took, "nobody needs to poll again")
		known(blobs[i], changes)
		assert.NotZero(t, copied[i])
		if i > 0 { // the first view has lost the changes of its last poll above
			assert.Len(t, blobs[i], len(now))
			assert.False(t, slices.ContainsFunc(now, func(b *codecache.Blob) bool { return !blobs[i][b] }))
		}
	}
}

// TestClose checks that a JVM is opened anew after its last view was closed, and after its end.
func TestClose(t *testing.T) {
	cmd := startExpressions(t)
	set := NewJVMs()
	first := open(t, set, cmd.Process.Pid)
	second := open(t, set, cmd.Process.Pid)
	first.Close()
	third := open(t, set, cmd.Process.Pid)
	assert.Same(t, second.Cache, third.Cache)
	second.Close()
	third.Close()
	fourth := open(t, set, cmd.Process.Pid)
	assert.NotSame(t, first.Cache, fourth.Cache)

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	_, _, err := fourth.Poll(monotonic.Nanos())
	assert.True(t, Gone(err), "%v", err)
	_, err = set.Open(cmd.Process.Pid)
	assert.True(t, Gone(err), "%v", err)
	fourth.Close()
	assert.Empty(t, set.open)
	assert.Zero(t, set.Refused())
}

// TestRefused checks that reads are refused after too much was read, and that polls still work.
func TestRefused(t *testing.T) {
	cmd := startExpressions(t)
	set := NewJVMs()
	v := open(t, set, cmd.Process.Pid)
	var method *codecache.Blob
	require.Eventually(t, func() bool {
		changes, _, err := v.Poll(monotonic.Nanos())
		require.NoError(t, err)
		for _, b := range changes.Added {
			if b.Method != nil && b.Name == "Expressions$Add::eval" {
				method = b
			}
		}
		return method != nil
	}, time.Minute, 10*time.Millisecond, "the JVM compiles the method")
	size, err := v.VM.Read(nil, method.Header, 64<<10)
	for n := len(size); err == nil && n < 4*mostBytes; n += len(size) {
		_, err = v.VM.Read(size, method.Header, 64<<10)
	}
	require.ErrorContains(t, err, "too much of its memory was read before")
	_, _, err = v.Poll(monotonic.Nanos())
	assert.NoError(t, err)
	refused := set.Refused()
	assert.NotZero(t, refused)
	v.Close()
	assert.Empty(t, set.open)
	assert.Equal(t, refused, set.Refused())
}
