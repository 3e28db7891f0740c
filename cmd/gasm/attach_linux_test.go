package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// oldClasses has Shares and Spin for JDK 8 and newer.
var oldClasses = sync.OnceValues(func() (string, error) {
	dir := classes + "-8"
	out, err := exec.Command("javac", "-g", "--release", "8", "-d", dir,
		gasmtest.Testdata("programs", "Shares.java")).CombinedOutput()
	if err != nil {
		err = &exec.Error{Name: "javac: " + string(out), Err: err}
	}
	return dir, err
})

// A runningJVM was started without gasm and without any flag that gasm needs.
type runningJVM struct {
	cmd    *exec.Cmd
	out    *lineWaiter
	stderr bytes.Buffer
}

// startJVM starts a program and waits until it has printed a word. It ends with the test.
func startJVM(t *testing.T, ready, java string, args ...string) *runningJVM {
	t.Helper()
	j := &runningJVM{cmd: exec.Command(java, args...), out: newLineWaiter(ready)}
	j.cmd.Stdout, j.cmd.Stderr = j.out, &j.stderr
	gasmtest.Start(t, j.cmd)
	j.out.wait(t)
	return j
}

// spinning starts the program Spin with the java command on the PATH. Spin rests for half of the time, because other
// tests run at the same time.
func spinning(t *testing.T) *runningJVM {
	t.Helper()
	gasmtest.NeedNative(t)
	return startJVM(t, "READY", gasmtest.NeedJava(t), "-Drest=1", "-cp", javaPrograms(t), "Spin")
}

func (j *runningJVM) pid() string { return strconv.Itoa(j.cmd.Process.Pid) }

// attachJSON attaches and reads the JSON report.
func attachJSON(t *testing.T, args ...string) (schema.Report, result) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, append([]string{"attach", "--format", "json", "--report", file}, args...))
	require.Equal(t, 0, r.code, r.stderr)
	return readReport(t, readFile(t, file)), r
}

// Programs that run without any flag: their shares are what they measured themselves, all
// addresses have names, and the code has frames.
func TestAttachShares(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	dir, err := oldClasses()
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, jdk := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel() // shares are of the thread's CPU time
			args := []string{"-Dsec=4"}
			for _, method := range []string{"heavy", "middle", "light"} {
				args = append(args, "-XX:CompileCommand=dontinline,Shares::"+method)
			}
			j := startJVM(t, "MEASURE", jdk.Java(), append(args, "-cp", dir, "Shares")...)
			began := time.Now()
			capt := filepath.Join(t.TempDir(), "capture")
			// Until the program ends: its own figures are of all of its measured part.
			rep, r := attachJSON(t, "--frequency", "1001", "--fixed-frequency", "-o", capt, j.pid())
			ended := time.Since(began)
			require.NoError(t, j.cmd.Wait())
			own := readFigures(t, j.out.String())
			assert.Regexp(t, `^gasm: sampling pid `+j.pid()+` \(Shares, [^ ]+\); Ctrl-C ends it and shows the report$`, r.said())
			p := &rep.Profiles[0]
			own.compareShares(t, methodsOfShares(p))
			unresolvedAtMost(t, p, 0.005)
			assert.Equal(t, "Shares::heavy", p.Methods[0].Name)
			assert.True(t, rep.Capture.Attached)
			assert.Empty(t, rep.Capture.Command)
			assert.Equal(t, capture.CodeCopied, rep.Capture.Code)
			// To begin takes a moment, and to end too, on a busy machine a second.
			assert.Greater(t, p.WindowSeconds, 2.0)
			assert.Less(t, p.WindowSeconds, ended.Seconds())
			require.Len(t, rep.Capture.JVMs, 1)
			assert.Equal(t, "Shares", rep.Capture.JVMs[0].Main)
			assert.Equal(t, jdk.Feature >= 11, rep.Capture.JVMs[0].SafepointsOnly, "JDK 8's methods have no lines at all")
			if jdk.Feature >= 11 {
				require.NotEmpty(t, p.Regions[0].Lines)
				assert.True(t, slices.ContainsFunc(p.Frames, func(f schema.Frames) bool { return f.Method == "Shares::heavy" }),
					"frames")
			}
			sameReport(t, &rep, capt)
		})
	}
}

// sameReport checks that the capture gives the same report again.
func sameReport(t *testing.T, rep *schema.Report, dir string) {
	t.Helper()
	r := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, r.code, r.stderr)
	again := readReport(t, []byte(r.stdout))
	want, err := json.Marshal(rep)
	require.NoError(t, err)
	got, err := json.Marshal(&again)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

// Ctrl-C is how it ends; where a length was given, it is cut short.
func TestAttachSignals(t *testing.T) {
	t.Parallel()
	j := spinning(t)
	for _, c := range []struct {
		sig  syscall.Signal
		args []string
		code int
	}{
		{syscall.SIGINT, nil, 0},
		{syscall.SIGTERM, nil, 0},
		{syscall.SIGHUP, nil, 0},
		{syscall.SIGINT, []string{"--length", "60s"}, 130},
		{syscall.SIGTERM, []string{"--length", "60s"}, 143},
	} {
		temp := t.TempDir()
		cmd := exec.Command(binary, slices.Concat([]string{"attach"}, c.args, []string{j.pid()})...)
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		out, stderr := new(bytes.Buffer), newLineWaiter("sampling pid")
		cmd.Stdout, cmd.Stderr = out, stderr
		require.NoError(t, cmd.Start())
		stderr.wait(t)
		gasmtest.AwaitWork(t, j.cmd.Process.Pid, 500*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(c.sig))
		assert.Equal(t, c.code, exitCode(t, cmd), "%v: %s", c, stderr)
		assert.Contains(t, out.String(), "Spin::spin", "the report of what there is")
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		assert.Empty(t, left)
	}
	require.NoError(t, syscall.Kill(j.cmd.Process.Pid, 0), "it runs on")
}

// On a terminal the line says how far it has come, and is gone when the report comes.
func TestAttachTerminal(t *testing.T) {
	t.Parallel()
	j := spinning(t)
	cmd := exec.Command(binary, "attach", "--no-pager", j.pid())
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 150})
	require.NoError(t, err)
	defer tty.Close()
	out := newLineWaiter("methods; Ctrl-C ends it and shows the report")
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	out.wait(t)
	_, err = tty.Write([]byte{3})
	require.NoError(t, err)
	assert.Equal(t, 0, exitCode(t, cmd))
	<-read
	assert.Regexp(t, `gasm: sampling pid `+j.pid()+` \(Spin, [^)]+\), \d+ s, \d+ samples?, \d+ methods; Ctrl-C ends it and shows the report\x1b\[K`, out.String())
	assert.Regexp(t, `\r\x1b\[K(\x1b\[1m)?gasm: `, out.String(), "the report begins where the line was")
	assert.Contains(t, out.String(), "Spin::spin")
}

// A JVM that ends or is killed in the middle has its report.
func TestAttachEnds(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		j := spinning(t)
		file, stderr := filepath.Join(t.TempDir(), "report.json"), newLineWaiter("sampling pid")
		cmd := exec.Command(binary, "attach", "--length", "1h", "--format", "json", "--report", file, j.pid())
		cmd.Stderr = stderr
		require.NoError(t, cmd.Start())
		stderr.wait(t)
		gasmtest.AwaitWork(t, j.cmd.Process.Pid, 500*time.Millisecond)
		require.NoError(t, j.cmd.Process.Signal(sig))
		require.Equal(t, 0, exitCode(t, cmd), stderr)
		rep := readReport(t, readFile(t, file))
		_ = j.cmd.Wait()
		p := &rep.Profiles[0]
		assert.Equal(t, "Spin::spin", p.Methods[0].Name)
		assert.NotEmpty(t, p.Regions[0].Lines)
		assert.Regexp(t, `JVM `+j.pid()+` ended after \d+\.\d s, before --length was over`,
			strings.Join(rep.Capture.Notes, "\n"))
	}
}

// One is told when the window opens and closes, as with profile.
func TestAttachWindow(t *testing.T) {
	t.Parallel()
	j := spinning(t)
	rep, r := attachJSON(t, "--delay", "600ms", "--length", "800ms", j.pid())
	lines := strings.Split(r.said(), "\n")
	require.Len(t, lines, 3, r.stderr)
	assert.Equal(t, []string{"gasm: window opened after 0.6 s", "gasm: window closed after 0.8 s"}, lines[1:])
	p := &rep.Profiles[0]
	assert.InDelta(t, 0.8, p.WindowSeconds, 0.001)
	a := p.Account.Of(hottestEvent(p))
	assert.Positive(t, a.Profiled)
	assert.Positive(t, a.OutsideWindow)
}

// jarOf makes a jar of the programs that no other JVM of this machine runs.
func jarOf(t *testing.T, main string) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, fmt.Sprintf("gasm-test-%d-%d.jar", os.Getpid(), time.Now().UnixNano()))
	manifest := filepath.Join(dir, "manifest")
	require.NoError(t, os.WriteFile(manifest, []byte("Main-Class: "+main+"\n"), 0o644))
	out, err := exec.Command(gasmtest.NeedTool(t, "jar", "scripts/setup.sh installs a JDK"), "cfm", path, manifest, "-C",
		javaPrograms(t), ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// Several JVMs are one profile, and a part of a jar's name stands for a process id.
func TestAttachSeveral(t *testing.T) {
	t.Parallel()
	java := gasmtest.NeedJava(t)
	jar := jarOf(t, "Shares")
	one, two := spinning(t), startJVM(t, "MEASURE", java, "-Dsec=600", "-jar", jar)
	name := strings.TrimSuffix(filepath.Base(jar), ".jar")
	rep, r := attachJSON(t, "--length", "1s", "--merge-jvms", "--frequency", "999", one.pid(), name, two.pid())
	assert.Regexp(t, `^gasm: sampling pid `+one.pid()+` \(Spin, [^)]+\), `+two.pid()+` \(`+name+`.jar, [^)]+\), for 1s\ngasm: window closed after 1\.0 s$`, r.said())
	assert.Len(t, rep.Capture.JVMs, 2)
	require.Len(t, rep.Profiles, 1)
	p := &rep.Profiles[0]
	assert.Len(t, p.PIDs, 2)
	names := []string{}
	for _, m := range p.Methods {
		names = append(names, m.Name)
	}
	assert.Contains(t, names, "Spin::spin")
	assert.Contains(t, names, "Shares::rounds", "with all that was inlined into it")
	unresolvedAtMost(t, p, 0.005)

	page := filepath.Join(t.TempDir(), "page.html")
	r = runGasm(t, []string{"attach", "--length", "800ms", "--merge-jvms", "--format", "html", "--report", page, one.pid(),
		two.pid()})
	require.Equal(t, 0, r.code, r.stderr)
	text := string(readFile(t, page))
	assert.Contains(t, text, "to running JVMs")
	assert.Regexp(t, `(?s)<h1 id="c\d+-h">Spin::spin</h1>.*<div class="r[^"]*" id="c\d+-[0-9a-f]+" data-f="\d+"><b class="h\d" data-n="\d+" data-v="`, text, "its code, with the samples of each JVM")
	for _, pid := range []string{one.pid(), two.pid()} {
		assert.Contains(t, text, `"jvm":"pid `+pid+`"`)
		assert.Contains(t, text, `aria-label="Samples over time: pid `+pid+`, `)
	}

	three := startJVM(t, "MEASURE", java, "-Dsec=600", "-jar", jar)
	r = runGasm(t, []string{"attach", name})
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, `2 JVMs have "`+name+`" in their main class or jar: `)
	assert.Contains(t, r.stderr, three.pid()+" ("+name+".jar")
}

// A JVM that sleeps has no samples, which is said in one line; the report is empty, and nothing is kept.
func TestAttachAsleep(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	j := startJVM(t, "READY", gasmtest.NeedJava(t), "-Xint", "-XX:+UseSerialGC", "-cp", javaPrograms(t), "Late")
	gasmtest.Stop(t, j.cmd.Process.Pid) // it has threads that wake up now and then
	temp := t.TempDir()
	r := runGasm(t, []string{"attach", "--length", "300ms", j.pid()}, withEnv("TMPDIR="+temp))
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stdout, "No samples in the profile")
	lines := strings.Split(r.said(), "\n")
	require.Len(t, lines, 3, r.stderr)
	assert.Equal(t, "gasm: window closed after 0.3 s", lines[1])
	assert.Equal(t, "gasm: no samples at all: the JVM used no CPU time while it was sampled", lines[2])
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAttachRefused(t *testing.T) {
	t.Parallel()
	sleep := exec.Command("sleep", "60")
	require.NoError(t, sleep.Start())
	defer sleep.Wait()
	defer sleep.Process.Kill()
	pid := strconv.Itoa(sleep.Process.Pid)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{pid}, 1, "gasm: process " + pid + " (sleep) is not a JVM: it has not loaded libjvm.so\n"},
		{[]string{"4194305"}, 1, "gasm: no process has the id 4194305: `gasm attach` lists the JVMs that run\n"},
		{[]string{"no.such.Main"}, 1, "gasm: no JVM that runs here has \"no.such.Main\" in its main class or jar: `gasm attach` lists those that run\n"},
		{[]string{"--length", "-1s", pid}, 2, "gasm: --delay and --length can't be negative\nTry 'gasm attach --help'.\n"},
		{[]string{"--frequency", "0", pid}, 2,
			"gasm: --frequency is 0; it is in Hz, from 1 to 20000\nTry 'gasm attach --help'.\n"},
	} {
		r := runGasm(t, append([]string{"attach"}, c.args...))
		assert.Equal(t, c.code, r.code)
		assert.Equal(t, c.want, r.stderr)
	}
}

// What a container's filter of system calls refuses is one line, and nothing is left.
func TestAttachBlocked(t *testing.T) {
	t.Parallel()
	j := spinning(t)
	temp := t.TempDir()
	for what, want := range map[string]string{
		"all": `gasm: native sampling: perf_event_open is blocked, for example by a container's seccomp filter \(operation not permitted\); .+`,
		"memory": `gasm: JVM ` + j.pid() +
			` \(Spin, [^)]+\) can't be read: the system call process_vm_readv is refused here: operation not permitted, ` +
			`for example by a container's seccomp filter: allow it there, or run gasm outside`,
	} {
		r := runGasm(t, []string{"attach", "--length", "1s", j.pid()}, withBlocked(t, what), withEnv("TMPDIR="+temp))
		assert.Equal(t, 1, r.code)
		assert.Regexp(t, "^"+want+"\n$", r.stderr)
		assert.Empty(t, r.stdout)
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		assert.Empty(t, left)
	}
	require.NoError(t, syscall.Kill(j.cmd.Process.Pid, 0), "it runs on")
}

// A JVM whose files were replaced by an update, as root and as its user sees it.
func TestAttachReplaced(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	home := filepath.Join(t.TempDir(), "jdk")
	installed := filepath.Dir(filepath.Dir(gasmtest.NeedJava(t)))
	require.NoError(t, exec.Command("cp", "-r", installed, home).Run())
	j := startJVM(t, "READY", filepath.Join(home, "bin", "java"), "-cp", javaPrograms(t), "Spin")
	library := filepath.Join(home, "lib", "server", "libjvm.so")
	require.NoError(t, os.WriteFile(library+".new", readFile(t, binary), 0o755))
	require.NoError(t, os.Rename(library+".new", library))
	rep, _ := attachJSON(t, "--length", "1s", j.pid())
	p := &rep.Profiles[0]
	assert.Equal(t, "Spin::spin", p.Methods[0].Name)
	assert.NotEmpty(t, p.Regions[0].Lines)
	unresolvedAtMost(t, p, 0.005)
}

// The list has what runs, and why something can't be read; another user gets a line with the mend.
func TestAttachList(t *testing.T) {
	t.Parallel()
	j := spinning(t)
	r := runGasm(t, []string{"attach"})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `(?m)^ +PID +MAIN +VERSION +USER +READABLE$`, r.stdout)
	assert.Regexp(t, `(?m)^ +`+j.pid()+` +Spin +\d[^ ]* +\w+ +yes$`, r.stdout)
	if os.Geteuid() != 0 {
		return
	}
	nobody := func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}}
	}
	want :=
		"JVM " + j.pid() + " (Spin) can't be read: it belongs to root: run gasm as that user or as root (sudo gasm attach " +
			j.pid() + ")"
	r = runGasm(t, []string{"attach"}, nobody)
	assert.Regexp(t, `(?m)^ +`+j.pid()+` +Spin +\? +root +no$`, r.stdout)
	assert.Contains(t, strings.Join(strings.Fields(r.stdout), " "), "note: "+want)
	r = runGasm(t, []string{"attach", j.pid()}, nobody)
	assert.Equal(t, 1, r.code)
	assert.Equal(t, "gasm: "+want+"\n", r.stderr)
}

// A JVM in a PID and mount namespace of its own is read from outside.
func TestAttachNamespace(t *testing.T) {
	t.Parallel()
	gasmtest.NeedRoot(t)
	gasmtest.NeedNative(t)
	unshare := gasmtest.NeedTool(t, "unshare", "apt install util-linux")
	j := startJVM(t, "READY", unshare, "-pf", "--kill-child", "--mount-proc", "sh", "-c",
		`mount -t tmpfs none /tmp && cd / && exec "$@"`, "sh",
		gasmtest.NeedJava(t), "-Dfrom=inside", "-cp", gasmtest.Testdata("programs")+":"+outsideOfTmp(t), "Spin")
	children := childrenOf(j.cmd.Process.Pid)
	require.Len(t, children, 1)
	rep, _ := attachJSON(t, "--length", "1s", children[0])
	p := &rep.Profiles[0]
	assert.Equal(t, "Spin::spin", p.Methods[0].Name)
	assert.NotEmpty(t, p.Regions[0].Lines)
	unresolvedAtMost(t, p, 0.005)
	assert.Equal(t, "main", p.Threads[0].Threads[0].Name,
		"which the kernel calls java, and by an id that the JVM does not know")
	for _, n := range p.Native {
		assert.NotEmpty(t, n.Module)
	}
}

// outsideOfTmp has the programs in a folder that is there when /tmp is another one.
func outsideOfTmp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "gasm-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.CopyFS(filepath.Join(dir, "classes"), os.DirFS(javaPrograms(t))))
	return filepath.Join(dir, "classes")
}
