package hostile

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
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

// A jvm is a JVM of the user nobody. This user does not attack gasm.
type jvm struct {
	cmd  *exec.Cmd
	jdk  gasmtest.JDK
	dead chan struct{} // closed when the JVM has ended

	others []string // folders for events of other JVMs, which existed before
}

// startJVM starts a JVM with the program Spin. It is killed at the end of the test.
func startJVM(t *testing.T, j gasmtest.JDK) *jvm {
	t.Helper()
	args := spin(t, j)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: gasmtest.JVMOfNobody(t), Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	// The signal for the parent's death is sent when the thread ends that has started the process.
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	require.NoError(t, cmd.Start())
	v := &jvm{cmd: cmd, jdk: j, dead: make(chan struct{}), others: eventFolders()}
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan() && strings.HasPrefix(lines.Text(), "READY"), lines.Text())
	go func() {
		for lines.Scan() {
		}
		_ = cmd.Wait()
		close(v.dead)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-v.dead
		for _, name := range []string{".java_pid", ".attach_pid"} {
			os.Remove(fmt.Sprintf("/tmp/%s%d", name, cmd.Process.Pid))
		}
		left, _ := filepath.Glob("/tmp/*_" + v.pid()) // what Flight Recorder leaves behind if the JVM is killed
		for _, dir := range left {
			os.RemoveAll(dir)
		}
	})
	return v
}

func (v *jvm) pid() string { return strconv.Itoa(v.cmd.Process.Pid) }

// alive reports whether the JVM is still running.
func (v *jvm) alive() bool {
	select {
	case <-v.dead:
		return false
	default:
		return true
	}
}

// left returns the files that gasm has made for the JVM and has not removed.
func (v *jvm) left(t *testing.T) []string {
	t.Helper()
	return append(v.files(t), v.notes(t)...)
}

// files returns the files and folders in /tmp that gasm has made for the JVM, or that the JVM has made for gasm.
func (v *jvm) files(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"/tmp/gasm-probes-" + v.pid() + "*", "/tmp/.attach_pid" + v.pid()} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	return append(paths, v.eventFolders()...)
}

// eventFolders returns the folders for events that did not exist before the JVM was started.
func (v *jvm) eventFolders() []string {
	return slices.DeleteFunc(eventFolders(), func(f string) bool { return slices.Contains(v.others, f) })
}

// eventFolders returns the folders into which JVMs of this test, which run as the user "nobody", write events.
func eventFolders() (paths []string) {
	for _, f := range gasmtest.OwnFolders("/tmp/gasm-jvm-*") {
		if info, err := os.Stat(f); err == nil && info.Sys().(*syscall.Stat_t).Uid == gasmtest.Nobody {
			paths = append(paths, f)
		}
	}
	return paths
}

// notes returns gasm's notes about the JVM.
func (v *jvm) notes(t *testing.T) (paths []string) {
	t.Helper()
	for _, temp := range noteFolders {
		for _, pattern := range []string{"gasm-events-*/events", "gasm-debug-info-*/flag"} {
			found, err := filepath.Glob(filepath.Join(temp, pattern))
			require.NoError(t, err)
			for _, path := range found {
				text, err := os.ReadFile(path)
				if err == nil && strings.HasPrefix(string(text), v.pid()+" ") {
					paths = append(paths, path+": "+strings.TrimSpace(string(text)))
				}
			}
		}
	}
	return paths
}

// thread returns the id of the thread with this name. The kernel cuts names to 15 bytes.
func (v *jvm) thread(t *testing.T, name string) (tid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		names, err := filepath.Glob("/proc/" + v.pid() + "/task/*/comm")
		require.NoError(t, err)
		for _, path := range names {
			if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == name {
				tid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
				return err == nil
			}
		}
		return false
	}, time.Minute, time.Millisecond, "a thread called %s", name)
	return tid
}

// holdThread stops one thread of a process, as a debugger does. The thread continues when goOn is called, or at the
// end of the test.
func holdThread(t *testing.T, tid int) (goOn func()) {
	t.Helper()
	held, release, done := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // to ptrace, the tracer is a thread and not a process
		err := unix.PtraceAttach(tid)
		if err == nil {
			_, err = unix.Wait4(tid, nil, unix.WALL, nil)
		}
		held <- err
		if err != nil {
			return
		}
		<-release
		_ = unix.PtraceDetach(tid) // it may have ended
	}()
	require.NoError(t, <-held)
	var once bool
	goOn = func() {
		if !once {
			once = true
			close(release)
			<-done
		}
	}
	t.Cleanup(goOn)
	return goOn
}

// sayUntil waits until gasm has printed the text on stderr.
func (s *started) sayUntil(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(s.stderr.String(), text) }, time.Minute, time.Millisecond,
		"gasm says %q", text)
}

// TestSilentJVM attaches to a JVM whose thread for commands does not answer. Whatever gasm is waiting for, it must
// end within two seconds after a signal. The next gasm must clean up what was left in the JVM, when the JVM answers
// again.
func TestSilentJVM(t *testing.T) {
	needNative(t)
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
	for i, c := range []struct {
		what  string
		flags []string
		begun bool // gasm has begun before the JVM stops answering
	}{
		{"loading the agent", []string{"--probe", "Spin::spin"}, false},
		{"unloading the agent", []string{"--probe", "Spin::spin", "--probe-sdt", "Spin::spinUntil"}, true},
		{"beginning a recording", []string{"--events", "default,alloc"}, false},
		{"ending a recording", []string{"--events", "default,alloc"}, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			for k, sig := range signals {
				if !gasmtest.Whole() && (i+i/2+k)%2 == 0 {
					continue // try each signal with the agent and with a recording, and before and after gasm has begun
				}
				v := startJVM(t, someJDKs(t)[0])
				runGasm(t, "attach", "--length", "50ms", "--skip-asm", "--events", "default", v.pid()) // starts the thread
				listener := v.thread(t, "Attach Listener")
				goOn := func() {}
				if !c.begun {
					goOn = holdThread(t, listener)
				}
				ctx, cancel := context.WithTimeout(t.Context(), hangTime)
				defer cancel()
				cmd := gasmCommand(ctx, append(append([]string{"attach", "--length", "60s", "--skip-asm"}, c.flags...), v.pid())...)
				s := start(t, cmd)
				if c.begun {
					s.sayUntil(t, "sampling pid")
					goOn = holdThread(t, listener)
				} else {
					s.sayUntil(t, "waiting for JVM")
				}
				limit := endsWithin(t)
				sent := time.Now()
				require.NoError(t, cmd.Process.Signal(sig))
				r := finish(t, cmd, s)
				assert.Less(t, time.Since(sent), limit(), "%v", sig)
				assert.NotEqual(t, 0, r.code)
				assert.NotEmpty(t, v.notes(t), "what may be left")
				goOn()
				v.cleanedUp(t)
				v.isUnchanged(t)
			}
		})
	}
}

// cleanedUp checks that the next gasm cleans up what is left in the JVM, and says so. If the JVM has already stopped
// its work for gasm and only its folder is left, gasm says nothing.
func (v *jvm) cleanedUp(t *testing.T) {
	t.Helper()
	notes := v.notes(t)
	before := append(v.files(t), notes...)
	onlyFolder := len(notes) > 0 && !slices.ContainsFunc(notes,
		func(note string) bool { return !strings.HasSuffix(note, " off") })
	r := v.endLeft(t)
	if len(before) > 0 && !onlyFolder {
		assert.Contains(t, r.stderr, "gasm: JVM "+v.pid()+" still ", "what was left: %v", before)
	}
	assert.Empty(t, v.left(t))
	r = runGasm(t, "attach")
	assert.NotContains(t, r.stderr, "JVM "+v.pid()+" ")
	assert.True(t, v.alive(), "the JVM")
}

// endLeft runs gasm attach, which cleans up what was left in the JVM, and returns this run. On a busy machine, the
// JVM may take longer to answer than gasm attach waits. gasm then says that the next gasm will do it, so endLeft runs
// gasm attach again.
func (v *jvm) endLeft(t *testing.T) run {
	t.Helper()
	const notYet = "ends that as soon as the JVM answers"
	first := runGasm(t, "attach")
	for r, limit := first, time.Now().Add(2*time.Minute); strings.Contains(r.stderr, notYet); r = runGasm(t, "attach") {
		require.True(t, time.Now().Before(limit), "the JVM does not answer: %s", r.stderr)
	}
	return first
}

// isUnchanged checks that the JVM does not record anything and has no probes. To find out, it sets probes: a JVM that
// still has the probes of another gasm would refuse them.
func (v *jvm) isUnchanged(t *testing.T) {
	t.Helper()
	r := runGasm(t, "attach", "--length", "100ms", "--skip-asm", "--probe", "Spin::spin", "--probe-sdt", "Spin::spinUntil",
		v.pid())
	gasmtest.Sampled(t, r.code, r.stderr)
	assert.Contains(t, r.stdout, "Spin::spin")
	assert.Empty(t, v.left(t))
	for command, want := range map[string]string{"JFR.check": "No available recordings", "VM.log list": "#1: stderr"} {
		out := v.ask(t, command)
		assert.Contains(t, out, want)
		assert.NotContains(t, out, "gasm-", "%s", command)
	}
}

// ask sends the JVM a command of jcmd, and returns the answer.
func (v *jvm) ask(t *testing.T, command string) string {
	t.Helper()
	jcmd := filepath.Join(filepath.Dir(v.jdk.Java()), "jcmd")
	if _, err := os.Stat(jcmd); err != nil {
		jcmd = gasmtest.NeedTool(t, "jcmd", "scripts/setup.sh installs a JDK")
	}
	out, err := exec.Command(jcmd, append([]string{v.pid()}, strings.Fields(command)...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
