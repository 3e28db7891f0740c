package attach

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

func TestIsEmulator(t *testing.T) {
	for program, want := range map[string]bool{"qemu-aarch64-static": true, "qemu-x86_64": true, "FEXInterpreter": true,
		"box64": true,
		"java":  false, "qemu": false, "gdb": false} {
		assert.Equal(t, want, isEmulator(program), program)
	}
}

// TestHasAsData: hasAsData finds a library that the process has mapped only for reading, as an emulator does. A
// process does not run a JVM just because it has mapped a library in this way.
func TestHasAsData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libtest.so")
	require.NoError(t, os.WriteFile(path, make([]byte, 4096), 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	opened, err := foreign.Open(os.Getpid())
	require.NoError(t, err)
	defer opened.Close()
	own := process{opened}
	assert.False(t, own.hasAsData("libtest.so"))
	page, err := unix.Mmap(int(file.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer unix.Munmap(page)
	assert.True(t, own.hasAsData("libtest.so"))
	assert.False(t, own.isEmulated())
	_, err = Look(t.Context(), os.Getpid())
	assert.ErrorContains(t, err, "is not a JVM: it has not loaded libjvm.so")
}
