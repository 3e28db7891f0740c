package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestSilentMemory starts a process that has mapped HotSpot's library from a file system that does not answer.
// Whoever reads the memory of this process waits forever, and can't be killed. So gasm must not read it. It must list
// the other JVMs, and say what is wrong with this one. It must also do so if the file system was unmounted, so that
// no list of mounts has it any more.
func TestSilentMemory(t *testing.T) {
	needNative(t)
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}}
	for name, c := range map[string]struct {
		as      *syscall.SysProcAttr
		mounted bool
	}{
		"mounted":               {nobody, true},
		"not mounted any more":  {nobody, false},
		"of a container's root": {&syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}, true},
	} {
		t.Run(name, func(t *testing.T) { silentMemory(t, c.as, c.mounted) })
	}
}

func silentMemory(t *testing.T, as *syscall.SysProcAttr, mounted bool) {
	t.Helper()
	cmd := exec.Command(attackerProgram(t))
	t.Cleanup(func() { // later than the file system's end, because its readers keep this process from ending
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	dir := startSilent(t)
	cmd.Env = append(os.Environ(), mapsEnv+"="+filepath.Join(dir, silentName))
	cmd.SysProcAttr = as
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
	r := runSoon(t, "attach")
	assert.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, v.pid())
	assert.Contains(t, r.stdout, pid)
	r = runSoon(t, "attach", pid)
	assert.Equal(t, 1, r.code)
	assert.Regexp(t, `libjvm.so from a file system (in user space|that can't be found out about) .*may never answer`,
		r.stderr)
	refused := r.stderr
	r = runSoon(t, "stacks", pid)
	assert.Equal(t, 1, r.code)
	assert.Equal(t, refused, r.stderr)
	r = runGasm(t, "attach", "--length", "100ms", "--skip-asm", "--stacks", v.pid())
	gasmtest.Sampled(t, r.code, r.stderr)
}

// runSoon runs gasm, and fails if that takes longer than ten seconds of an idle machine: then gasm waits for a file
// system that never answers.
func runSoon(t *testing.T, args ...string) run {
	t.Helper()
	late := gasmtest.Lateness(t)
	r := runGasm(t, args...)
	assert.Less(t, r.took, 10*time.Second+late(), "%v", args)
	return r
}

// TestSilentOverlay mounts an overlay over a file system that does not answer. Any user can do that. Then neither the
// lists of mounts nor statfs say that this is a file system in user space, and statfs does not return. If a process
// runs a program from the overlay, a read of its memory or of the program's file does not return, either. So gasm
// must read neither.
func TestSilentOverlay(t *testing.T) {
	needNative(t)
	for what, name := range map[string]string{"memory": silentName, "the program": silentProgram} {
		t.Run(what, func(t *testing.T) { silentOverlay(t, name) })
	}
}

func silentOverlay(t *testing.T, name string) {
	t.Helper()
	cmd := exec.Command(gasmtest.NeedTool(t, "setpriv", "apt install util-linux"), "--reuid=65534", "--regid=65534",
		"--clear-groups",
		gasmtest.NeedTool(t, "unshare", "apt install util-linux"), "-Urm", attackerProgram(t))
	cmd.Env = append(os.Environ(), overlayEnv+"="+name, fuseEnv+"="+fuseDevice(t))
	cmd.Dir = "/"
	said := startedBy(t, cmd)
	end := sync.OnceFunc(func() { // all threads that wait for the file system end with it
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	pid, ready := strings.CutPrefix(said, "READY ")
	if !ready {
		t.Skip(said)
	}
	v := startJVM(t, someJDKs(t)[0])
	defer time.AfterFunc(hangTime, end).Stop() // a gasm that hangs can't be killed
	r := runSoon(t, "attach")
	assert.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, v.pid())
	assert.NotContains(t, r.stderr, "in the kernel", "a process of gasm's can't end")
	r = runSoon(t, "attach", pid)
	assert.Equal(t, 1, r.code)
	assert.NotContains(t, r.stderr, "in the kernel", "a process of gasm's can't end")
	if name == silentName {
		assert.Regexp(t, `libjvm.so from an overlay .*may never answer`, r.stderr)
	} else {
		assert.Contains(t, r.stderr, "is not a JVM")
	}
	r = runGasm(t, "attach", "--length", "100ms", "--skip-asm", "--stacks", v.pid())
	assert.Equal(t, 0, r.code, r.stderr)
}
