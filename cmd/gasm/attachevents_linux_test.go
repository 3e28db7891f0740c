package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// asked sends a JVM a command of jcmd, and returns its answer.
func asked(t *testing.T, j *runningJVM, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	p, err := foreign.Open(j.cmd.Process.Pid)
	require.NoError(t, err)
	defer p.Close()
	text, err := jcmd.Run(ctx, p, command)
	require.NoError(t, err)
	return text
}

// outputs returns the outputs of a JVM's log, as the JVM lists them.
func outputs(t *testing.T, j *runningJVM) (lines []string) {
	t.Helper()
	for line := range strings.Lines(asked(t, j, "VM.log list")) {
		if strings.HasPrefix(line, " #") {
			lines = append(lines, line)
		}
	}
	return lines
}

// leftInTmp returns gasm's folders for JVMs in /tmp, as far as these tests have caused them.
func leftInTmp() []string { return gasmtest.OwnFolders("/tmp/gasm-jvm-*") }

// TestAttachEventsLeaveNothing checks that everything that gasm attach has switched on in a JVM is off again at the
// end, even after Ctrl-C. After kill -9, the next gasm reports what is still on, and switches it off.
func TestAttachEventsLeaveNothing(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs8(t, "Pauses")
	for _, jdk := range gasmtest.NeedJDKs(t, withRecorder) {
		t.Run(jdk.Name(), func(t *testing.T) {
			j := startJVM(t, "collections", jdk.Java(), "-Xmx32m", "-cp", classPath, "Pauses", "2", "forever")
			before := outputs(t, j)
			files := leftInTmp()
			same := func(when string) {
				t.Helper()
				assert.Equal(t, before, outputs(t, j), when)
				assert.Contains(t, asked(t, j, "JFR.check"), "No available recordings", when)
				assert.Subset(t, files, leftInTmp(), when)
			}
			dir := filepath.Join(t.TempDir(), "capture")
			// gasm stays attached until the program has done some work and there was a collection, which takes
			// seconds on a busy machine.
			gasm := exec.Command(binary, "attach", "--events", "default,sleep,alloc", "-o", dir, "--skip-asm", j.pid())
			stdout, said := new(bytes.Buffer), newLineWaiter("sampling pid")
			gasm.Stdout, gasm.Stderr = stdout, said
			require.NoError(t, gasm.Start())
			said.wait(t)
			gasmtest.AwaitWork(t, j.cmd.Process.Pid, 300*time.Millisecond)
			asked(t, j, "GC.run")
			require.NoError(t, gasm.Process.Signal(syscall.SIGINT))
			require.NoError(t, gasm.Wait(), "%s", said)
			assert.Regexp(t, `Events: +\d+ GC pauses?`, stdout.String())
			assert.Regexp(t, `MB allocated, most at `, stdout.String())
			same("after its end")
			for _, name := range []string{"ev-" + j.pid() + ".log", "ev-" + j.pid() + ".jfr"} {
				assert.FileExists(t, filepath.Join(dir, name))
			}

			stop := func(sig syscall.Signal) {
				t.Helper()
				cmd := exec.Command(binary, "attach", "--events", "default,sleep", j.pid())
				said := newLineWaiter("sampling pid")
				cmd.Stderr = said
				require.NoError(t, cmd.Start())
				said.wait(t)
				require.NoError(t, cmd.Process.Signal(sig))
				_ = cmd.Wait()
			}
			stop(syscall.SIGINT)
			same("after Ctrl-C")
			stop(syscall.SIGKILL)
			assert.NotEqual(t, before, outputs(t, j), "nobody has ended it")
			told := "JVM " + j.pid() + " still logged or recorded events for a gasm that has ended, into /tmp/gasm-jvm-"
			assert.Contains(t, runGasm(t, []string{"attach"}).stderr, told)
			same("after the next one")
			assert.NotContains(t, runGasm(t, []string{"attach"}).stderr, "JVM "+j.pid())
			require.NoError(t, j.cmd.Process.Kill())
			_ = j.cmd.Wait()                                // the error says that it was killed
			kept, err := filepath.Glob("/tmp/*_" + j.pid()) // a killed JVM leaves an empty folder behind
			require.NoError(t, err)
			for _, dir := range kept {
				assert.NoError(t, os.Remove(dir))
			}
			assert.Regexp(t, `^collections \d+ millis \d+\n$`, j.out.String(), "nothing is printed")
			assert.Empty(t, j.stderr.String())
		})
	}
}

// TestAttachEventsFail checks that if there is no report, the JVM's events are off again and its folder is removed.
// If a JVM accepts no commands, a note says so.
func TestAttachEventsFail(t *testing.T) {
	gasmtest.NeedNative(t)
	classPath := programs8(t, "Pauses")
	jdk := gasmtest.NeedJDKs(t, withRecorder)[0]
	j := startJVM(t, "collections", jdk.Java(), "-Xmx32m", "-cp", classPath, "Pauses", "2", "forever")
	before, files := outputs(t, j), leftInTmp()
	r := runGasm(t, []string{"attach", "--events", "default,alloc", "--event", "nosuchevent", j.pid()})
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "there is no event nosuchevent; gasm attach can't use perf")
	assert.Equal(t, before, outputs(t, j))
	assert.Contains(t, asked(t, j, "JFR.check"), "No available recordings")
	assert.Subset(t, files, leftInTmp())

	// which has samples
	j = startJVM(t, "READY", jdk.Java(), "-XX:+DisableAttachMechanism", "-Xmx32m", "-cp", programs11(t, "Spin"), "Spin")
	r = runGasm(t, []string{"attach", "--events", "default,alloc", "--length", "300ms", "--skip-asm", j.pid()})
	gasmtest.Sampled(t, r.code, r.stderr)
	assert.Equal(t, 1, strings.Count(strings.Join(strings.Fields(r.stdout), " "),
		"it was started with -XX:+DisableAttachMechanism: start it without this flag"), r.stdout)
	assert.NotContains(t, r.stderr, "still logs")
	assert.Subset(t, files, leftInTmp())
	assert.NotContains(t, runGasm(t, []string{"attach"}).stderr, "JVM "+j.pid()+" ")
}

// TestAttachEventsInNamespaces attaches to a JVM in PID and mount namespaces of its own. Its events must have the
// thread ids that the sampler sees.
func TestAttachEventsInNamespaces(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedRoot(t)
	gasmtest.NeedTime(t)
	classPath := programs11(t, "Requests")
	const script = `mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs none /mnt && cp "$1"/*.class /mnt &&
		mount -t tmpfs none /tmp && exec "$0" -cp /mnt Requests 2000 end begin`
	jdk := gasmtest.NeedJDKs(t, withRecorder)[0]
	cmd := exec.Command("/bin/sh", "-c", script, jdk.Java(), classPath)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID}
	out := newLineWaiter("DONE 2000")
	cmd.Stdout = out
	tell, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "READY") }, time.Minute, time.Millisecond)

	// Requests that are handled before gasm samples are not counted.
	file := filepath.Join(t.TempDir(), "report.json")
	gasm := exec.Command(binary, "attach", "--format", "json", "--report", file, "--window-event", "jfr:acme.Request",
		"--events", "default",
		"--frequency", "2001", (&runningJVM{cmd: cmd}).pid())
	stderr := newLineWaiter("sampling pid")
	gasm.Stderr = stderr
	require.NoError(t, gasm.Start())
	stderr.wait(t)
	_, err = io.WriteString(tell, "\n")
	require.NoError(t, err)
	out.wait(t)
	_, err = io.WriteString(tell, "\n")
	require.NoError(t, err)
	require.NoError(t, gasm.Wait(), "%s", stderr)
	rep := readReport(t, readFile(t, file))
	checkRequests(t, &rep.Profiles[0], 2000)
}

// TestKilledWhileRecording checks that the recording of a killed JVM is there, except for its last second.
func TestKilledWhileRecording(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs11(t, "Requests")
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return withRecorder(j) && j.Feature == 25 })
	dir := filepath.Join(t.TempDir(), "capture")
	cmd := exec.Command(binary, "profile", "--events", "default,jfr", "-o", dir, "--report",
		filepath.Join(t.TempDir(), "report"), "--",
		"sh", "-c", `"$0" -cp "$1" Requests 1000 wait & read line; sleep 1.5; kill -9 $!; wait $!; exit 0`, jdks[0].Java(),
		classPath)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	out := newLineWaiter("DONE")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &stderr
	require.NoError(t, cmd.Start())
	out.wait(t)
	_, err = stdin.Write([]byte("\n"))
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), stderr.String())
	r := runGasm(t, []string{"events", "--format", "jsonl", dir})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Len(t, ownEvents(t, r.stdout), 1000)
	found, err := filepath.Glob(filepath.Join(dir, "ev-*.jfr"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	pid := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), "ev-"), ".jfr")
	left, err := filepath.Glob("/tmp/*_" + pid)
	require.NoError(t, err)
	assert.Empty(t, left, "what Flight Recorder kept there")
}

// samplesIn returns the number of allocation samples that a JVM's Flight Recorder has written to its current chunk so
// far.
func samplesIn(t *testing.T, pid string) (n int) {
	t.Helper()
	chunks, err := filepath.Glob("/tmp/*_" + pid + "/*.jfr")
	require.NoError(t, err)
	for _, chunk := range chunks {
		text, err := os.ReadFile(chunk)
		require.NoError(t, err)
		r := jfr.NewReader(bytes.NewReader(text), int64(len(text)), chunk)
		for r.Scan() {
			if r.Event().Type().Name == "jdk.ObjectAllocationSample" {
				n++
			}
		}
	}
	return n
}

// TestKilledWhileAttached kills a JVM while gasm is attached to it. The JVM leaves a chunk of its recording, and the
// file for the whole recording, which is still empty. The report must have the events of the chunk, and nothing may
// be left in /tmp.
func TestKilledWhileAttached(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs11(t, "Contended")
	for _, jdk := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return withRecorder(j) && j.Feature >= 17 }) {
		t.Run(jdk.Name(), func(t *testing.T) {
			files := leftInTmp()
			j := startJVM(t, "READY", jdk.Java(), "-cp", classPath, "Contended", "60000")
			dir := filepath.Join(t.TempDir(), "capture")
			cmd := exec.Command(binary, "attach", "--events", "lock,alloc", "-o", dir, "--skip-asm", j.pid())
			stdout, stderr := new(bytes.Buffer), newLineWaiter("sampling pid")
			cmd.Stdout, cmd.Stderr = stdout, stderr
			require.NoError(t, cmd.Start())
			stderr.wait(t)
			before := samplesIn(t, j.pid()) // the window has begun
			require.Eventually(t, func() bool { return samplesIn(t, j.pid()) >= before+20 }, time.Minute, 50*time.Millisecond)
			require.NoError(t, j.cmd.Process.Kill())
			_ = j.cmd.Wait() // the error says that it was killed
			require.NoError(t, cmd.Wait(), "%s", stderr)
			assert.Contains(t, stdout.String(), "MB allocated, most at Contended::allocate")
			assert.NotContains(t, oneLine(stdout.String()), "Flight Recorder began")
			found, err := filepath.Glob(filepath.Join(dir, "ev-*.jfr"))
			require.NoError(t, err)
			assert.Len(t, found, 1)
			left, err := filepath.Glob("/tmp/*_" + j.pid())
			require.NoError(t, err)
			assert.Empty(t, left, "what Flight Recorder kept there")
			assert.Subset(t, files, leftInTmp())
		})
	}
}
