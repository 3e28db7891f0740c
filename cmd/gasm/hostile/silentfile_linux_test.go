package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// A process that has mapped HotSpot's library from a file system that does not answer: who reads its memory waits for ever, and
// can't be killed. gasm does not read it. It lists the other JVMs, and says what is the matter with this one. That is so too
// where the file system is not mounted any more, and no list of mounts has it.
func TestSilentMemory(t *testing.T) {
	needNative(t)
	for name, mounted := range map[string]bool{"mounted": true, "not mounted any more": false} {
		t.Run(name, func(t *testing.T) { silentMemory(t, mounted) })
	}
}

func silentMemory(t *testing.T, mounted bool) {
	t.Helper()
	cmd := exec.Command(attackerProgram(t))
	t.Cleanup(func() { // after the file system has ended: whoever reads this process's memory keeps it from ending
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	dir := startSilent(t)
	cmd.Env = append(os.Environ(), mapsEnv+"="+filepath.Join(dir, silentName))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}}
	require.Equal(t, "READY", startedBy(t, cmd))
	pid := strconv.Itoa(cmd.Process.Pid)
	require.Eventually(t, func() bool {
		maps, err := os.ReadFile("/proc/" + pid + "/maps")
		return err == nil && strings.Count(string(maps), "/"+silentName) == 2
	}, time.Minute, time.Millisecond, "its code, and where its command line was")

	if !mounted {
		require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH))
	}
	v := startJVM(t, someJDKs(t)[0])
	r := runGasm(t, "attach")
	assert.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, v.pid())
	assert.Contains(t, r.stdout, pid)
	assert.Less(t, r.took, 10*time.Second)
	r = runGasm(t, "attach", pid)
	assert.Equal(t, 1, r.code)
	assert.Regexp(t, `libjvm.so from a file system (in user space|that can't be found out about) .*may never answer`, r.stderr)
	assert.Less(t, r.took, 10*time.Second)
	r = runGasm(t, "attach", "--length", "100ms", "--skip-asm", v.pid())
	assert.Equal(t, 0, r.code, r.stderr)
}
