package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/record/folder"
)

// TestStrayLogs checks that if a JVM can't open its log, it writes the log to /tmp, where gasm finds it. This must be
// so for every release.
func TestStrayLogs(t *testing.T) {
	gasmtest.NeedRoot(t)
	setpriv := gasmtest.NeedTool(t, "setpriv", "it is in util-linux")
	for _, j := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		if exec.Command(setpriv, "--reuid=65534", "--clear-groups", j.Java(), "-version").Run() != nil {
			t.Logf("%s: another user can't run it here", j.Name())
			continue
		}
		dir := newTestFolder(t)
		r := New(Options{Command: []string{setpriv}, Folder: dir, Code: CodePrint}).code.(*printedCode)
		flags, err := r.javaFlags()
		require.NoError(t, err)
		require.NoError(t, os.Chmod(filepath.Dir(r.logs.Files), 0o700))
		out, _ := java(t, flags, setpriv, "--reuid=65534", "--clear-groups", j.Java(), "-version")
		assert.Contains(t, out, "Warning:  Forcing option -XX:LogFile="+folder.HotSpotTemp, j.Name())
		require.NoError(t, dir.Gather())
		found, err := capture.Logs(dir.Path)
		require.NoError(t, err)
		assert.Len(t, found, 1, j.Name())
	}
}
