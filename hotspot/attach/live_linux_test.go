package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// waiter is the name of a class that no other JVM of this machine runs.
var waiter = fmt.Sprintf("org.acme.Waiter%d", os.Getpid())

const waiterSource = `package org.acme;
public class NAME {
    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        System.in.read();
    }
}
`

// waiterClasses compiles a program that waits for its stdin, for JDK 8 and newer. It returns the class path.
func waiterClasses(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	name := strings.TrimPrefix(waiter, "org.acme.")
	source := filepath.Join(dir, name+".java")
	require.NoError(t, os.WriteFile(source, []byte(strings.ReplaceAll(waiterSource, "NAME", name)), 0o644))
	gasmtest.CompileJava(t, dir, 8, source)
	for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o755)) // so that other users can read it
	}
	return dir
}

// startWaiter starts a command that becomes the program, and waits until the program's main runs. The process is
// ended when the test ends.
func startWaiter(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "READY\n", line)
}

// TestLook looks at JVMs of all releases on this machine.
func TestLook(t *testing.T) {
	classes := waiterClasses(t)
	for _, jdk := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		t.Run(jdk.Name(), func(t *testing.T) {
			for _, flags := range [][]string{nil, {"-XX:-UsePerfData"}} {
				before := monotonic.Nanos()
				cmd := exec.Command(jdk.Java(), slices.Concat(flags,
					[]string{"-cp", classes, waiter, "an argument"})...)
				startWaiter(t, cmd)
				started := monotonic.Nanos()
				j, err := Look(t.Context(), cmd.Process.Pid)
				require.NoError(t, err)
				require.NoError(t, j.Unreadable)
				assert.Equal(t, waiter, j.Main)
				assert.Equal(t, classes, j.ClassPath)
				if flags == nil {
					assert.Equal(t, waiter+" an argument", j.Command)
				}
				assert.Equal(t, HotSpot, j.Kind)
				assert.Equal(t, userName(os.Geteuid()), j.User)
				if j.Version != "" || flags == nil { // Debian's JDK 8 has no release file
					version := strings.TrimPrefix(j.Version, "1.")
					assert.True(t, strings.HasPrefix(version, strconv.Itoa(jdk.Feature)), j.Version)
				}
				assert.GreaterOrEqual(t, j.StartMonoNanos, before-20e6,
					"the start: 10 ms by the kernel, and two clocks are read for it, one after the other")
				assert.Less(t, j.StartMonoNanos, started, "the start")
				all, err := List(t.Context())
				require.NoError(t, err)
				i := slices.IndexFunc(all, func(l Process) bool { return l.PID == j.PID })
				require.GreaterOrEqual(t, i, 0)
				all[i].StartMonoNanos = j.StartMonoNanos // computed from readings of two clocks, so it varies
				assert.Equal(t, *j, all[i])
			}
		})
	}
}

func TestChoose(t *testing.T) {
	java, classes := gasmtest.NeedJava(t), waiterClasses(t)
	one := exec.Command(java, "-cp", classes, waiter)
	startWaiter(t, one)
	pid := strconv.Itoa(one.Process.Pid)
	chosen, err := Choose(t.Context(), []string{pid, strings.TrimPrefix(waiter, "org."), pid})
	require.NoError(t, err)
	require.Len(t, chosen, 1)
	assert.Equal(t, one.Process.Pid, chosen[0].PID)
	two := exec.Command(java, "-cp", classes, waiter)
	startWaiter(t, two)
	_, err = Choose(t.Context(), []string{strings.TrimPrefix(waiter, "org.")})
	var several *AmbiguousError
	require.ErrorAs(t, err, &several)
	assert.Len(t, several.JVMs, 2)

	_, err = Choose(t.Context(), []string{strconv.Itoa(os.Getpid())})
	assert.ErrorContains(t, err, "is not a JVM")
	_, err = Choose(t.Context(), []string{"4194305"}) // higher than any process id (PID_MAX_LIMIT)
	assert.ErrorContains(t, err, "no process has the id 4194305")
	dead := exec.Command("true")
	require.NoError(t, dead.Start())
	require.Eventually(t, func() bool {
		_, err := Look(t.Context(), dead.Process.Pid)
		return err != nil && strings.Contains(err.Error(), "has ended")
	}, time.Minute, time.Millisecond, "a zombie")
	require.NoError(t, dead.Wait())
}

// TestNamespaces looks at a JVM with its own PID and mount namespaces and its own /tmp.
func TestNamespaces(t *testing.T) {
	gasmtest.NeedRoot(t)
	unshare := gasmtest.NeedTool(t, "unshare", "apt install util-linux")
	java, classes := gasmtest.NeedJava(t), waiterClasses(t)
	inside := t.TempDir() // path of the classes as the JVM sees it
	cmd := exec.Command(unshare, "-pf", "--mount-proc", "sh", "-c",
		`mount --bind "$1" "$2" && mount -t tmpfs none /tmp && mkdir -p "$2" && exec "$3" -cp "$4" "$5"`, "sh", classes,
		inside, java, "/proc/self/cwd", waiter)
	cmd.Dir = classes
	startWaiter(t, cmd)
	all, err := List(t.Context())
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(j Process) bool { return j.Main == waiter })
	require.GreaterOrEqual(t, i, 0, "%v", all)
	require.NoError(t, all[i].Unreadable)
	p, err := foreign.Open(all[i].PID)
	require.NoError(t, err)
	defer p.Close()
	status, err := p.Status()
	require.NoError(t, err)
	assert.Equal(t, 1, status.OwnPID)
	files := process{p}.enter(t.Context(), status)
	defer files.close()
	assert.NotEmpty(t, files.perfData()["sun.rt.javaCommand"], "by its own folder in /tmp")
}

// If the environment variable nobodyEnv is set to a process id, the test binary prints what Look returns for that
// process.
const nobodyEnv = "GASM_TEST_LOOK"

func TestMain(m *testing.M) {
	if pid := os.Getenv(nobodyEnv); pid != "" {
		os.Exit(lookAndPrint(pid))
	}
	os.Exit(m.Run())
}

func lookAndPrint(pid string) int {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return 1
	}
	text := ""
	j, err := Look(context.Background(), n)
	if err == nil {
		text, err = j.String()+" of "+j.User+"\n", j.Err()
	}
	if err != nil {
		text += err.Error() + "\n"
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		return 1
	}
	return 0
}

// lookAs returns what Look finds out about a process when it is called as the unprivileged user uid.
func lookAs(t *testing.T, uid uint32, pid int) string {
	t.Helper()
	// The test's program is in a folder that only its own user can enter.
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), "attach.test")
	require.NoError(t, os.WriteFile(program, self, 0o755))
	for path := filepath.Dir(program); path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o755))
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), nobodyEnv+"="+strconv.Itoa(pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestOtherUser: another user's JVM is found, with the reason why it can't be read.
func TestOtherUser(t *testing.T) {
	gasmtest.NeedRoot(t)
	cmd := exec.Command(gasmtest.NeedJava(t), "-cp", waiterClasses(t), waiter)
	startWaiter(t, cmd)
	pid := strconv.Itoa(cmd.Process.Pid)
	text := lookAs(t, gasmtest.Nobody, cmd.Process.Pid)
	assert.Equal(t, pid+" ("+waiter+") of root\nJVM "+pid+" ("+waiter+") can't be read: it belongs to root: "+
		"run gasm as that user or as root (sudo gasm attach "+pid+")\n", text)

	other := exec.Command("sleep", "60")
	require.NoError(t, other.Start())
	defer other.Wait()
	defer other.Process.Kill()
	assert.Contains(t, lookAs(t, gasmtest.Nobody, other.Process.Pid),
		"(sleep) can't be looked into: it belongs to root")
	// A JVM in a container that shares this /tmp names its performance data by its process id in the container. Here,
	// that id belongs to another process.
	container := filepath.Join("/tmp/hsperfdata_root", strconv.Itoa(other.Process.Pid))
	require.NoError(t, os.MkdirAll(filepath.Dir(container), 0o755))
	require.NoError(t, os.WriteFile(container, nil, 0o600))
	defer os.Remove(container)
	assert.Contains(t, lookAs(t, gasmtest.Nobody, other.Process.Pid),
		"(sleep) can't be looked into: it belongs to root")
}

// TestOtherName: another user's JVM whose program is not called java is found as well.
func TestOtherName(t *testing.T) {
	gasmtest.NeedRoot(t)
	name := filepath.Join(t.TempDir(), "server")
	require.NoError(t, os.Symlink(gasmtest.NeedJava(t), name))
	cmd := exec.Command(name, "-cp", waiterClasses(t), waiter)
	startWaiter(t, cmd)
	assert.Contains(t, lookAs(t, gasmtest.Nobody, cmd.Process.Pid), "("+waiter+") of root\n")
}

// TestNativeImage: a native image is a program with an ELF section that GraalVM adds.
func TestNativeImage(t *testing.T) {
	objcopy := gasmtest.NeedTool(t, "objcopy", "apt install binutils")
	dir := t.TempDir()
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	heap := filepath.Join(dir, "heap")
	require.NoError(t, os.WriteFile(heap, []byte("heap"), 0o644))
	program := filepath.Join(dir, "app")
	out, err := exec.Command(objcopy, "--add-section", ".svm_heap="+heap, sleep, program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(program, "60")
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	j, err := Look(t.Context(), cmd.Process.Pid)
	require.NoError(t, err)
	assert.Equal(t, NativeImage, j.Kind)
	assert.Equal(t, "app", j.Main)
	assert.ErrorContains(t, j.Unreadable, "it is a native image of GraalVM, which compiles nothing while it runs")
}

// TestOpenJ9: OpenJ9 has a libjvm.so, too. Here it is a process that has mapped files of the same names.
func TestOpenJ9(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"libjvm.so", "libj9vm29.so"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, make([]byte, 4096), 0o755))
		f, err := os.Open(path)
		require.NoError(t, err)
		memory, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
		require.NoError(t, errors.Join(err, f.Close()))
		defer syscall.Munmap(memory)
	}
	j, err := Look(t.Context(), os.Getpid())
	require.NoError(t, err)
	assert.Equal(t, OpenJ9, j.Kind)
	assert.ErrorContains(t, j.Unreadable, "it runs OpenJ9")
}

func TestHomeOf(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/lib/jvm/java-17/lib/server/libjvm.so":          "/usr/lib/jvm/java-17",
		"/usr/lib/jvm/java-8/jre/lib/amd64/server/libjvm.so": "/usr/lib/jvm/java-8",
		"/opt/jre8/lib/amd64/server/libjvm.so":               "/opt/jre8",
		"/libjvm.so":                                         "/",
	} {
		assert.Equal(t, want, homeOf(path))
	}
}
