package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestAttachKills is TestKills for gasm attach: gasm or the JVM gets a signal at a random time. gasm ends soon, with a
// report or one line, and leaves nothing. A JVM that was not killed runs on, with its flag as it was; after kill -9 of
// gasm one command puts that back.
func TestAttachKills(t *testing.T) {
	gasmtest.NeedTime(t)
	seed := randomSeed()
	t.Logf("-kills %d -seed %d", *kills, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var j *runningJVM
	defer func() {
		if j != nil {
			_ = j.cmd.Process.Kill()
			_ = j.cmd.Wait()
		}
	}()
	for i := range *kills {
		k := kill{target: []string{toGasm, toGasm, toJVM}[random.IntN(3)],
			after:  time.Duration(random.Int64N(int64(1500 * time.Millisecond))),
			signal: []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL}[random.IntN(4)],
			named:  random.IntN(2) == 0, sampler: "native"}
		debugInfo := random.IntN(2) == 0
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Logf("%v, --debug-info=%v", k, debugInfo)
			if j == nil {
				j = spinningFor(t, "300")
			}
			k.attach(t, j, debugInfo)
		})
		if k.target == toJVM {
			j = nil
		}
	}
}

// spinningFor starts Spin, which tells of all its flags, for so many seconds. It is not ended with a part of the test.
func spinningFor(t *testing.T, seconds string) *runningJVM {
	t.Helper()
	gasmtest.NeedNative(t)
	j := &runningJVM{cmd: exec.Command(gasmtest.NeedJava(t), "-XX:+UnlockDiagnosticVMOptions", "-Dsec="+seconds,
		"-Drest=1", "-cp", javaPrograms(t), "Spin"), out: newLineWaiter("READY")}
	j.cmd.Stdout = j.out
	require.NoError(t, j.cmd.Start())
	j.out.wait(t)
	return j
}

// attach attaches to a JVM, sends the signal, and checks what is left.
func (k kill) attach(t *testing.T, j *runningJVM, debugInfo bool) {
	temp := t.TempDir()
	args := []string{"attach", "--length", "1s", "--debug-info=" + strconv.FormatBool(debugInfo)}
	if k.named {
		args = append(args, "-o", temp+"/capture")
	}
	cmd := exec.Command(binary, append(args, j.pid())...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	time.Sleep(k.after)
	to := cmd.Process
	if k.target == toJVM {
		to = j.cmd.Process
	}
	_ = to.Signal(k.signal) // it may have ended
	code := exitCode(t, cmd)
	assertGone(t, temp) // the child of root's gasm is killed when its parent has ended
	said := fmt.Sprintf("exit code %d, %s", code, stderr.String())
	killedHard := k.target == toGasm && k.signal == syscall.SIGKILL
	switch {
	case k.target == toJVM: // 1: before it was attached to
		assert.Contains(t, []int{0, 1}, code, said)
		_ = j.cmd.Wait()
	case !killedHard || code == 0:
		assert.Contains(t, []int{0, 128 + int(k.signal), -1}, code, said) // -1: before it caught signals
	}
	assert.NotContains(t, stderr.String(), "goroutine ")
	// What it samples; where the capture is kept, and why: a run that was stopped at once may have no sample in its
	// window.
	assert.LessOrEqual(t, strings.Count(stderr.String(), "\n"), 3, said)
	if code == 0 {
		assert.Contains(t, stdout.String(), "Spin::spin")
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	if !k.named && !killedHard && code >= 0 && !strings.Contains(said, "is kept in") {
		assert.Empty(t, left, said)
	}
	if k.target == toJVM {
		return
	}
	if killedHard && debugInfo {
		r := runGasm(t, []string{"attach", "--debug-info", "--length", "100ms", j.pid()})
		gasmtest.Sampled(t, r.code, r.stderr)
	}
	assert.False(t, debugNonSafepoints(t, j), said)
}
