package browsertest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// built is gasm, built once for all tests, and the pages that it made.
var built struct {
	sync.Mutex
	dir string
}

// gasm runs gasm and returns the path of a file with the page that it prints.
func gasm(t *testing.T, name string, args ...string) (path string) {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "gasm-browsertest-")
		require.NoError(t, err)
		built.dir = dir
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "gasm"), "./cmd/gasm")
		build.Dir = root()
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	path = filepath.Join(built.dir, name+".html")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	cmd := exec.Command(filepath.Join(built.dir, "gasm"), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s", &stderr)
	require.NoError(t, os.WriteFile(path, stdout.Bytes(), 0o644))
	return path
}

// reportPage returns the page of a committed capture, with the sources of its program. flags are further flags of gasm.
func reportPage(t *testing.T, name string, flags ...string) (path string) {
	t.Helper()
	args := append([]string{"report", "--format", "html", "--source", gasmtest.Testdata("captures")}, flags...)
	return gasm(t, name+strings.Join(flags, ""), append(args, captureFiles(t, name)...)...)
}

// captureFiles unpacks a committed capture and returns the arguments that name it.
func captureFiles(t *testing.T, name string) []string {
	t.Helper()
	if _, err := os.Stat(gasmtest.Testdata("captures", name+".tar.xz")); err == nil {
		return []string{gasmtest.UnpackFolder(t, name)}
	}
	samples, log := gasmtest.UnpackCapture(t, name, t.TempDir())
	return []string{samples, log}
}

// profiles returns the profiles of a committed capture, for a test that changes them.
func profiles(t *testing.T, name string) *profile.Profiles {
	t.Helper()
	files := captureFiles(t, name)
	var c *capture.Capture
	var err error
	if len(files) == 1 {
		c, err = capture.Open(files[0])
	} else {
		c, err = capture.OpenFiles(files[0], files[1:])
	}
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	o := choice.DefaultOptions()
	o.Listings, o.Hottest, o.History, o.Parts = 12_000, true, true, true
	ps, err := profile.Of(c, o)
	require.NoError(t, err)
	return ps
}

// pageOf writes the page of profiles.
func pageOf(t *testing.T, ps *profile.Profiles) (path string) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.WriteHTML(&out, ps, report.Options{Gasm: "test", Options: view.Options{Top: 20}}))
	path = filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	return path
}

// root returns the project's folder.
func root() string { return filepath.Dir(gasmtest.Testdata()) }
