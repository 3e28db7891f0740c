package native

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestShare checks that Resolvers share the functions of a file, as long as the file and its debug files stay the same
// and one of the Resolvers is used.
func TestShare(t *testing.T) {
	lib := compile(t, shared...)
	folder := t.TempDir()
	resolve := func() *Resolver {
		r := NewResolver()
		r.folder = folder
		mapLibrary(t, r, lib, 1, base)
		found, ok := r.Resolve(1, base+symbolOf(t, lib, "exported_a").lo, "")
		require.True(t, ok)
		assert.Equal(t, "exported_a", found.Symbol)
		return r
	}
	functionsOf := func(r *Resolver) *functions {
		require.Len(t, r.images, 1)
		for _, img := range r.images {
			return img.functions
		}
		return nil
	}
	first := resolve()
	second := resolve()
	assert.Same(t, functionsOf(first), functionsOf(second))
	key := functionsOf(first).key
	assert.NotZero(t, key)
	now := time.Now().Add(time.Second)
	require.NoError(t, os.Chtimes(lib, now, now))
	third := resolve()
	assert.NotSame(t, functionsOf(first), functionsOf(third), "somebody has written to the file")
	runtime.KeepAlive(first)
	runtime.KeepAlive(second)
	first, second = nil, nil
	require.Eventually(t, func() bool {
		runtime.GC()
		return sharedFunctions.find(key) == nil
	}, time.Minute, time.Millisecond, "nobody uses the functions any more")
	runtime.KeepAlive(third)
}
