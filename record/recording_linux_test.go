package record

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestStoppedBeforeTheCommand checks that a recording that is stopped before its command runs comes to an end, with
// each source of code.
func TestStoppedBeforeTheCommand(t *testing.T) {
	gasmtest.NeedNative(t)
	for _, code := range []CodeSource{CodeCopy, CodePrint} {
		folder, err := NewFolder(t.Context(), filepath.Join(t.TempDir(), "capture"))
		require.NoError(t, err)
		ran := filepath.Join(t.TempDir(), "ran")
		r := New(Options{Command: []string{"touch", ran}, Folder: folder, Code: code, Sampler: SamplerNative,
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		require.True(t, r.Signal(syscall.SIGHUP))
		done := make(chan error, 1)
		go func() { done <- r.Run(t.Context()) }()
		select {
		case err := <-done:
			assert.ErrorIs(t, err, ErrNotRun)
			assert.Equal(t, syscall.SIGHUP, r.StoppedBy())
		case <-time.After(time.Minute):
			t.Fatalf("--code %s: it does not end", code)
		}
		assert.NoFileExists(t, ran)
	}
}
