package lockedfolder

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/processend"
)

func TestUsersOf(t *testing.T) {
	began := now()
	assert.Equal(t, began, parseMoment(began.text()))
	users := func(began moment, paths ...string) []Process { return (&Lock{began: began}).Users(paths...) }
	dir := t.TempDir()
	user := exec.Command("sleep", "60")
	user.Env = append(os.Environ(), "X=-XX:LogFile="+dir+"/log")
	require.NoError(t, user.Start())
	defer user.Process.Kill()
	assert.Equal(t, []Process{{user.Process.Pid, "sleep"}}, users(began, dir+"/"))
	assert.Empty(t, users(began, dir[:len(dir)-1]+"/"), "a folder whose name is the beginning of the other one's")
	before := began
	before.boot = "another"
	assert.Empty(t, users(before, dir+"/"), "the machine was restarted since")
	assert.GreaterOrEqual(t, processend.StartTicks(user.Process.Pid), processend.StartTicks(os.Getpid()))
	p, err := foreign.Open(user.Process.Pid)
	require.NoError(t, err)
	defer p.Close()
	assert.True(t, began.before(p))
	later := began
	later.ticks = processend.StartTicks(user.Process.Pid) + 1
	assert.False(t, later.before(p))
}

func TestProcessList(t *testing.T) {
	p := func(n int) (all []Process) {
		for i := range n {
			all = append(all, Process{i + 1, "p"})
		}
		return all
	}
	for n, want := range map[int]string{1: "p (1)", 2: "p (1) and p (2)", 5: "p (1), p (2), p (3), p (4) and p (5)",
		7: "p (1), p (2), p (3), p (4) and 3 more"} {
		assert.Equal(t, want, ProcessList(p(n)))
	}
}

// TestUsersOfNewProgram checks a process that has just begun to execute a new program. It has no environment for a
// moment, but must be found nevertheless.
func TestUsersOfNewProgram(t *testing.T) {
	l, dir := &Lock{began: now()}, t.TempDir()
	for range 300 {
		user := exec.Command("sleep", "60")
		user.Env = []string{"X=" + dir + "/log"}
		require.NoError(t, user.Start())
		p, found := l.began.userOf(user.Process.Pid, []string{dir + "/"})
		require.True(t, found)
		assert.Equal(t, Process{user.Process.Pid, "sleep"}, p)
		require.NoError(t, user.Process.Kill())
		_ = user.Wait() // it was killed
	}
}
