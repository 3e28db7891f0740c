package foreign

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEnvironment: the environment in a process's memory is the one that the kernel shows, and never longer than the
// limit.
func TestEnvironment(t *testing.T) {
	for name, script := range map[string]string{
		"small": `exec env -i A=1 sh -c 'echo READY; exec sleep 600'`,
		"none":  `exec env -i /bin/sh -c 'echo READY; exec env -u PWD sleep 600'`,
		"large": `exec env -i A=$(head -c 100000 /dev/zero | tr '\0' x) B=ü sh -c 'echo READY; exec sleep 600'`,
	} {
		t.Run(name, func(t *testing.T) {
			p := started(t, nil, script)
			runs(t, p, "sleep")
			want, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID()), "environ"))
			require.NoError(t, err)
			got, err := p.environment(1 << 20)
			require.NoError(t, err)
			assert.True(t, string(want) == string(got), "%d and %d bytes", len(want), len(got))
			assert.Equal(t, name == "large", strings.Contains(string(got), "\x00B=ü\x00"))
			got, err = p.environment(3)
			require.NoError(t, err)
			assert.True(t, string(want[:min(3, len(want))]) == string(got))
		})
	}
	p := started(t, nil, stay)
	runs(t, p, "sleep")
	files := 0
	require.NoError(t, p.regions(func(r region) bool {
		if strings.HasPrefix(r.path, "/") {
			files++
			_, err := p.ownMemory(r.lo)
			assert.ErrorIs(t, err, errInFile, r.path)
		}
		return true
	}))
	assert.NotZero(t, files)
	_, err := p.ownMemory(1)
	assert.ErrorIs(t, err, errInFile)
	require.NoError(t, p.Signal(9))
	require.Eventually(t, p.Exited, time.Minute, time.Millisecond)
	_, err = p.environment(100)
	assert.Error(t, err)
}
