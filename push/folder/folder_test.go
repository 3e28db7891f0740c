package folder

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/push"
)

func profileAt(to time.Time, service string, pid, bytes int) *push.Profile {
	return &push.Profile{To: to, Pprof: make([]byte, bytes),
		Labels: []push.Label{{Name: push.ProcessID, Value: strconv.Itoa(pid)}, {Name: push.ServiceName, Value: service}}}
}

// files returns the paths of all files below dir.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			all = append(all, rel)
		}
		return err
	}))
	return all
}

// TestFolder checks that the oldest files are removed when there are too many bytes, also files of an earlier run, and
// no other files.
func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	start := time.Date(2026, 11, 27, 13, 59, 30, 0, time.UTC)
	f, err := Open(dir, 100)
	require.NoError(t, err)
	for i := range 4 {
		require.NoError(t, f.Send(t.Context(), profileAt(start.Add(time.Duration(i)*15*time.Second), "shop", i, 20)))
	}
	foreign := filepath.Join(dir, "2026-11-27T13", "mine.txt")
	require.NoError(t, os.WriteFile(foreign, make([]byte, 1000), 0o600))
	assert.Equal(t, []string{"2026-11-27T13/20261127T135930Z-shop-0.pb.gz", "2026-11-27T13/20261127T135945Z-shop-1.pb.gz",
		"2026-11-27T13/mine.txt",
		"2026-11-27T14/20261127T140000Z-shop-2.pb.gz", "2026-11-27T14/20261127T140015Z-shop-3.pb.gz"}, files(t, dir))
	f, err = Open(dir, 100)
	require.NoError(t, err)
	assert.EqualValues(t, 80, f.size)
	require.NoError(t, f.Send(t.Context(), profileAt(start.Add(time.Minute), "shop", 4, 70)))
	assert.Equal(t, []string{"2026-11-27T13/mine.txt", "2026-11-27T14/20261127T140015Z-shop-3.pb.gz",
		"2026-11-27T14/20261127T140030Z-shop-4.pb.gz"}, files(t, dir))
	require.NoError(t, os.Remove(foreign))
	require.NoError(t, f.Send(t.Context(), profileAt(start.Add(2*time.Minute), "shop", 5, 100)))
	assert.Equal(t, []string{"2026-11-27T14/20261127T140130Z-shop-5.pb.gz"}, files(t, dir))
	refused := &push.RefusedError{}
	assert.ErrorAs(t, f.Send(t.Context(), profileAt(start, "shop", 6, 101)), &refused)
	assert.Equal(t, "dir:"+dir, f.String())
}

// TestFolderNames checks that the service's name, which comes from the profiled program, can't make gasm write to
// another folder.
func TestFolderNames(t *testing.T) {
	at := time.Date(2026, 11, 27, 13, 0, 0, 0, time.UTC)
	for service, want := range map[string]string{"../../x": "20261127T130000Z-.._.._x-1.pb.gz",
		"a b/ü\x00": "20261127T130000Z-a_b____-1.pb.gz", "": "20261127T130000Z-java-1.pb.gz"} {
		name := nameOf(profileAt(at, service, 1, 1))
		assert.Regexp(t, fileName, name)
		if service != "a b/ü\x00" {
			assert.Equal(t, want, name)
		}
	}
	p := profileAt(at, "shop", 1, 1)
	p.Kind = push.Alloc
	assert.Equal(t, "20261127T130000Z-shop-1-alloc.pb.gz", nameOf(p))
	assert.Regexp(t, fileName, nameOf(p))
}
