package collect

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
)

// mappedFiles collects reported mappings.
type mappedFiles struct {
	sync.Mutex
	seen []native.Mapping
}

func (m *mappedFiles) add(mapping native.Mapping) {
	m.Lock()
	defer m.Unlock()
	m.seen = append(m.seen, mapping)
}

// has reports whether the process has mapped a file of this name.
func (m *mappedFiles) has(pid int, name string) bool {
	m.Lock()
	defer m.Unlock()
	for _, mapping := range m.seen {
		if mapping.PID == pid && filepath.Base(mapping.Path) == name && mapping.Inode != 0 {
			return true
		}
	}
	return false
}

// TestMappingsAreTold checks that a program's own file is reported while the program runs, with samples
// and without.
func TestMappingsAreTold(t *testing.T) {
	gasmtest.NeedNative(t)
	t.Run("with samples", func(t *testing.T) {
		var files mappedFiles
		x := collecttest.Hold(t, "exec tail -f /dev/null")
		n, err := StartNative(Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 101, Dir: t.TempDir(),
			Mapped: files.add})
		require.NoError(t, err)
		n.Subscribe(1000, mappingPause)
		x.Release(t)
		collecttest.Eventually(t, "the program is reported", func() bool { return files.has(x.PID(), "tail") })
		require.NoError(t, n.Stop(t.Context()))
	})
	t.Run("without", func(t *testing.T) {
		var files mappedFiles
		x := collecttest.Hold(t, "exec tail -f /dev/null")
		w, err := WatchMappings(x.PID(), files.add)
		require.NoError(t, err)
		x.Release(t)
		collecttest.Eventually(t, "the program is reported", func() bool { return files.has(x.PID(), "tail") })
		w.Stop()
	})
}
