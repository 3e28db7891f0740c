package hostile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestTakenName makes a folder with a name that gasm uses, as any user may do first. It must not keep gasm from
// probing a JVM, and gasm must not change it.
func TestTakenName(t *testing.T) {
	needNative(t)
	const other = 12345
	for _, c := range []struct {
		name string
		mode os.FileMode
	}{{"closed", 0o700}, {"open to all", 0o777}} {
		t.Run(c.name, func(t *testing.T) {
			v := startJVM(t, someJDKs(t)[0])
			taken := "/tmp/gasm-probes-" + v.pid()
			require.NoError(t, os.Mkdir(taken, 0o755))
			defer os.RemoveAll(taken)
			require.NoError(t, os.WriteFile(filepath.Join(taken, "agent.jar"), []byte("not gasm's"), 0o600))
			require.NoError(t, os.Chmod(taken, c.mode))
			require.NoError(t, os.Chown(taken, other, other))
			r := runGasm(t, "attach", "--length", "300ms", "--skip-asm", "--probe", "Spin::spin", "--probe-sdt",
				"Spin::spinUntil", v.pid())
			gasmtest.Sampled(t, r.code, r.stderr)
			text, err := os.ReadFile(filepath.Join(taken, "agent.jar"))
			require.NoError(t, err)
			assert.Equal(t, "not gasm's", string(text))
			assert.Len(t, readNames(t, taken), 1)
			assert.Equal(t, []string{taken}, v.left(t), "what is there afterwards")
		})
	}
}

func readNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
