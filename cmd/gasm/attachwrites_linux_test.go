package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// traced runs gasm attach for a second under strace, and returns those of its system calls that write, send signals,
// or trace. temp becomes gasm's TMPDIR.
func traced(t *testing.T, temp string, args ...string) (calls []string) {
	t.Helper()
	strace := gasmtest.NeedTool(t, "strace", "apt install strace")
	log := filepath.Join(t.TempDir(), "strace.log")
	cmd := exec.Command(strace, append([]string{"-f", "-qq", "-y", "-o", log,
		"-e", "trace=process_vm_writev,pwrite64,pwritev,pwritev2,ptrace,kill,tkill,tgkill,rt_sigqueueinfo,rt_tgsigqueueinfo,pidfd_send_signal,open,openat,openat2,creat,unlink,unlinkat," +
			"rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,truncate,setns,process_madvise,prlimit64",
		binary, "attach", "--length", "1s"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "Spin::spin")
	calls = gasmtest.StraceCalls(string(readFile(t, log)))
	require.Greater(t, len(calls), 50, "strace sees what gasm opens")
	return calls
}

var (
	opensToRead = regexp.MustCompile(`open(at2?)?\(.*O_RDONLY`)
	tells       = regexp.MustCompile(`\+\+\+ |--- SIG`)
	// Go's runtime sends signals to its own threads, and sets its own limits. Go's package os sends the signal 0 to a
	// child of its own, to find out what the kernel can do.
	ofItself = regexp.MustCompile(`tgkill\((\d+), \d+, SIGURG\)|prlimit64\(0, |pidfd_send_signal\(\d+<[^>]*>, 0, NULL, 0\)`)
	// gasm looks at what other runs of gasm have left behind, and removes it when they have ended.
	ofOthers = regexp.MustCompile(`"/(run|(var/)?tmp)/gasm-|</(run|(var/)?tmp)/gasm-|</(run|(var/)?tmp)>, "gasm-`)
)

// changes returns the calls that change something outside of the folder temp.
func changes(calls []string, temp string) (found []string) {
	for _, c := range calls {
		if opensToRead.MatchString(c) || ofItself.MatchString(c) || ofOthers.MatchString(c) ||
			strings.Contains(c, `"`+temp+`/`) || strings.Contains(c, `<`+temp) || strings.Contains(c, "/dev/null") ||
			tells.MatchString(c) {
			continue
		}
		found = append(found, c)
	}
	return found
}

// TestAttachWritesNothing checks that gasm changes nothing in a JVM: it writes neither into its memory nor into files
// outside of gasm's own folder, and sends it no signal. With --debug-info it writes one byte, and restores it at the
// end.
func TestAttachWritesNothing(t *testing.T) {
	j := spinning(t)
	temp := t.TempDir()
	for _, c := range changes(traced(t, temp, j.pid()), temp) {
		t.Errorf("gasm attach: %s", c)
	}

	var written []string
	for _, c := range traced(t, temp, "--debug-info", j.pid()) {
		if strings.Contains(c, "process_vm_writev") || strings.Contains(c, "write") && strings.Contains(c, "/mem>") {
			written = append(written, c)
		}
	}
	require.Len(t, written, 2)
	one := regexp.MustCompile(`pwrite64\(\d+</proc/(\d+)/mem>, "\\([01])", 1, (\d+)\) += 1$`)
	on, off := one.FindStringSubmatch(written[0]), one.FindStringSubmatch(written[1])
	require.NotNil(t, on, written[0])
	require.NotNil(t, off, written[1])
	assert.Equal(t, []string{j.pid(), "1"}, on[1:3])
	assert.Equal(t, []string{j.pid(), "0", on[3]}, off[1:])
}

// spinningUnlocked starts a JVM that also shows its diagnostic flags when it is asked for its flags.
func spinningUnlocked(t *testing.T, flags ...string) *runningJVM {
	t.Helper()
	gasmtest.NeedNative(t)
	args := append([]string{"-XX:+UnlockDiagnosticVMOptions"}, flags...)
	return startJVM(t, "READY", gasmtest.NeedJava(t), append(args, "-cp", javaPrograms(t), "Spin")...)
}

// debugNonSafepoints asks the JVM itself for the flag.
func debugNonSafepoints(t *testing.T, j *runningJVM) bool {
	t.Helper()
	out, err := exec.Command(gasmtest.NeedTool(t, "jcmd", "scripts/setup.sh installs a JDK"), j.pid(), "VM.flags",
		"-all").CombinedOutput()
	require.NoError(t, err, "%s", out)
	m := regexp.MustCompile(`DebugNonSafepoints += (true|false)`).FindSubmatch(out)
	require.NotNil(t, m)
	return string(m[1]) == "true"
}

// TestAttachDebugInfo checks that the flag of --debug-info is on while gasm is attached, and off again after a
// signal. The report must say which code has exact lines.
func TestAttachDebugInfo(t *testing.T) {
	t.Parallel()
	j := spinningUnlocked(t)
	require.False(t, debugNonSafepoints(t, j))
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		temp := t.TempDir()
		cmd := exec.Command(binary, "attach", "--debug-info", j.pid())
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		out, stderr := newLineWaiter("Samples:"), newLineWaiter("sampling pid")
		cmd.Stdout, cmd.Stderr = out, stderr
		require.NoError(t, cmd.Start())
		stderr.wait(t)
		assert.True(t, debugNonSafepoints(t, j))
		require.NoError(t, cmd.Process.Signal(sig))
		assert.Equal(t, 0, exitCode(t, cmd), stderr)
		assert.False(t, debugNonSafepoints(t, j), "after %v", sig)
		assert.Contains(t, strings.Join(strings.Fields(out.String()), " "),
			"with ~ are guesses, in what HotSpot compiled before gasm attached")
	}
}

// TestAttachDebugInfoLines checks that code has exact lines if it was compiled while --debug-info was in effect: many
// more instructions of a method have debug info. In C2's code of the method Late, 31 (JDK 17) and 34 (JDK 25) places
// had it, and 4 without the flag.
func TestAttachDebugInfoLines(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			sparse, full := commentsOfLate(t, java), commentsOfLate(t, java, "--debug-info")
			t.Logf("%d comments without the flag, %d with it", sparse, full)
			assert.Positive(t, sparse)
			assert.Greater(t, full, 3*sparse)
		})
	}
}

// commentsOfLate attaches to the program Late before it is busy. It returns the number of places with debug info in
// C2's code of its method.
func commentsOfLate(t *testing.T, java string, flags ...string) (n int) {
	t.Helper()
	j := &runningJVM{cmd: exec.Command(java, "-Dsec=600", "-cp", javaPrograms(t), "Late"), out: newLineWaiter("READY")}
	j.cmd.Stdout = j.out
	stdin, err := j.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, j.cmd.Start())
	defer j.cmd.Process.Kill()
	j.out.wait(t)
	dir := filepath.Join(t.TempDir(), "capture")
	gasm := exec.Command(binary, slices.Concat([]string{"attach", "--skip-asm", "-o", dir}, flags, []string{j.pid()})...)
	stderr := newLineWaiter("sampling pid")
	gasm.Stderr = stderr
	require.NoError(t, gasm.Start())
	stderr.wait(t)
	_, err = stdin.Write([]byte{'\n'})
	require.NoError(t, err)
	// gasm copies only a part of a method's code at first, on a busy machine. It writes the method to the log when it
	// has copied all of it.
	var code string
	pattern := regexp.MustCompile(`(?s)Compiled method \(c2\)[^\n]* Late::work \(.*?\[/MachCode\]`)
	require.Eventually(t, func() bool {
		log, err := os.ReadFile(filepath.Join(dir, capture.LogFile(j.cmd.Process.Pid)))
		code = pattern.FindString(string(log))
		return err == nil && code != ""
	}, time.Minute, 50*time.Millisecond, "C2's code of Late::work")
	require.NoError(t, gasm.Process.Signal(syscall.SIGINT))
	require.Equal(t, 0, exitCode(t, gasm), stderr)
	return strings.Count(code, ";*")
}

// TestAttachKilled kills gasm with kill -9. The JVM goes on, and its flag is still on. The next gasm attach and gasm
// doctor must say so, and the command that they recommend must reset the flag.
func TestAttachKilled(t *testing.T) {
	j := spinningUnlocked(t)
	temp := t.TempDir()
	cmd := exec.Command(binary, "attach", "--debug-info", j.pid())
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	stderr := newLineWaiter("sampling pid")
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	stderr.wait(t)
	gasmtest.AwaitWork(t, j.cmd.Process.Pid, 300*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	assertGone(t, temp) // if gasm runs as root, its child is killed when the parent has ended
	assert.True(t, debugNonSafepoints(t, j), "it runs on, with the flag")

	left := "DebugNonSafepoints is still on in JVM " + j.pid() + ", which only makes its compilers note more: " +
		"`gasm attach --debug-info --length 1s " + j.pid() + "` puts it back"
	for range 2 { // a list and a report do not make gasm forget it
		r := runGasm(t, []string{"attach"})
		assert.Equal(t, "gasm: "+left, r.said())
		r = runGasm(t, []string{"attach", "--length", "100ms", j.pid()})
		gasmtest.Sampled(t, r.code, r.stderr)
		assert.Contains(t, r.said(), left)
	}
	r := runGasm(t, []string{"doctor"})
	assert.Contains(t, strings.Join(strings.Fields(r.stdout), " "), "puts it back")
	assert.True(t, debugNonSafepoints(t, j))

	r = runGasm(t, []string{"attach", "--debug-info", "--length", "1s", j.pid()})
	assert.Equal(t, 0, r.code, r.stderr)
	assert.False(t, debugNonSafepoints(t, j))
	assert.Empty(t, runGasm(t, []string{"attach"}).said())
}

// TestAttachDebugInfoSet checks that gasm does not switch off a flag that the user has set.
func TestAttachDebugInfoSet(t *testing.T) {
	t.Parallel()
	j := spinningUnlocked(t, "-XX:+DebugNonSafepoints")
	rep, _ := attachJSON(t, "--debug-info", "--length", "500ms", j.pid())
	assert.False(t, rep.Capture.JVMs[0].SafepointsOnly)
	assert.NotContains(t, strings.Join(rep.Capture.Notes, "\n"), "safepoint")
	assert.True(t, debugNonSafepoints(t, j))
}
