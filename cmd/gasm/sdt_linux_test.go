package main

import (
	"bytes"
	"debug/elf"
	le "encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// An svc is a running program Svc, which makes calls when the test asks for them.
type svc struct {
	cmd    *exec.Cmd // the JVM, or the gasm that has started it
	jvm    int       // its process id
	input  io.WriteCloser
	out    *lineWaiter
	stderr *lineWaiter
	asked  int
}

func (s *svc) pid() string { return strconv.Itoa(s.jvm) }

func startSvc(t *testing.T, java, classes string) *svc {
	t.Helper()
	s := runSvc(t, "", java, "-cp", classes, "Svc")
	s.jvm = s.cmd.Process.Pid
	return s
}

// profiledSvc runs the program under gasm, and returns when gasm has announced the probes.
func profiledSvc(t *testing.T, java, classes string) (s *svc, object string) {
	t.Helper()
	s = runSvc(t, toldOfProbes, binary, "profile", "--no-pager", "--report", filepath.Join(t.TempDir(), "report"),
		"--probe-sdt", "Svc::*", "--", java, "-cp", classes, "Svc")
	s.stderr.wait(t)
	s.jvm, object = probesTold(t, s.stderr)
	return s, object
}

// runSvc runs a command that is the program or starts it, and waits until the program is ready. The parameter awaited
// is a text that the caller will wait for on stderr.
func runSvc(t *testing.T, awaited string, command ...string) *svc {
	t.Helper()
	s := &svc{cmd: exec.Command(command[0], command[1:]...), out: newLineWaiter("READY"), stderr: newLineWaiter(awaited)}
	input, err := s.cmd.StdinPipe()
	require.NoError(t, err)
	s.input = input
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.stderr
	require.NoError(t, s.cmd.Start())
	t.Cleanup(func() {
		input.Close() // this ends the program, and then gasm
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Wait()
		}
	})
	s.out.wait(t)
	return s
}

// end makes the program end.
func (s *svc) end(t *testing.T) {
	t.Helper()
	require.NoError(t, s.input.Close())
	require.NoError(t, s.cmd.Wait(), "%s", s.stderr)
}

const toldOfProbes = "perf and bpftrace find them in"

// probesTold returns what gasm says about the program's probes: the process id of the JVM, and the path of the file
// with the probes.
func probesTold(t *testing.T, said *lineWaiter) (jvm int, object string) {
	t.Helper()
	told :=
		regexp.MustCompile(`gasm: java(\d+) has probes of (.*): dtrace -l -n 'java\d+:::' lists them, perf and bpftrace find them in (/.*\.so)\n`).FindStringSubmatch(said.String())
	require.NotNil(t, told, said.String())
	assert.ElementsMatch(t, []string{"Svc.init", "Svc.tiny", "Svc.main", "Svc.busy"}, strings.Split(told[2], ", "))
	jvm, err := strconv.Atoi(told[1])
	require.NoError(t, err)
	return jvm, told[3]
}

// call asks the program to call the method, and waits until it has done so. It returns the identity hash of the
// object.
func (s *svc) call(t *testing.T, times int) (hash string) {
	t.Helper()
	s.asked++
	_, err := fmt.Fprintln(s.input, times)
	require.NoError(t, err)
	told := regexp.MustCompile(fmt.Sprintf(`called %d, threw %d, hash (\d+)`, times, times/5))
	require.Eventually(t, func() bool { return strings.Count(s.out.String(), "called ") == s.asked }, hangs,
		5*time.Millisecond)
	found := told.FindStringSubmatch(s.out.String())
	require.NotNil(t, found, s.out.String())
	return found[1]
}

// publish attaches gasm to the program until the test ends gasm. It returns when the file with the probes exists.
func (s *svc) publish(t *testing.T) (gasm *exec.Cmd, said *lineWaiter, object string) {
	t.Helper()
	gasm, said = exec.Command(binary, "attach", "--no-pager", "--report", filepath.Join(t.TempDir(), "report"),
		"--probe-sdt", "Svc::*", s.pid()), newLineWaiter("Ctrl-C ends it")
	gasm.Stderr = said
	gasmtest.Start(t, gasm)
	said.wait(t)
	jvm, object := probesTold(t, said)
	assert.Equal(t, s.jvm, jvm)
	return gasm, said, object
}

// A semaphore is the word in which the kernel counts those who watch a probe.
type semaphore struct {
	pid     int
	address uint64
}

// semaphores returns the semaphores of the program's process by the names of their probes. It finds them by the notes
// in the shared object.
func (s *svc) semaphores(t *testing.T, object string) map[string]semaphore {
	t.Helper()
	maps := readFile(t, fmt.Sprintf("/proc/%s/maps", s.pid()))
	mapped := regexp.MustCompile(`(?m)^([0-9a-f]+)-\S+ r-xp 00000000 .*` +
		regexp.QuoteMeta(filepath.Base(object))).FindSubmatch(maps)
	require.NotNil(t, mapped, "the object is not mapped")
	var base uint64
	_, err := fmt.Sscanf(string(mapped[1]), "%x", &base)
	require.NoError(t, err)
	f, err := elf.Open(object)
	require.NoError(t, err)
	defer f.Close()
	notes, err := f.Section(".note.stapsdt").Data()
	require.NoError(t, err)
	found := map[string]semaphore{}
	for len(notes) > 0 {
		size := le.LittleEndian.Uint32(notes[4:])
		description := notes[20 : 20+size]
		names := strings.Split(string(description[24:]), "\x00")
		assert.Equal(t, "java", names[0])
		found[names[1]] = semaphore{s.jvm, base + le.LittleEndian.Uint64(description[16:])}
		notes = notes[20+(size+3)&^3:]
	}
	return found
}

func (s semaphore) count(t *testing.T) int {
	t.Helper()
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", s.pid))
	require.NoError(t, err)
	defer memory.Close()
	var value [2]byte
	_, err = memory.ReadAt(value[:], int64(s.address))
	require.NoError(t, err)
	return int(le.LittleEndian.Uint16(value[:]))
}

// settle is how long it may take until a tracer that watches according to the semaphore has its own program switched
// on. The agent looks every 50 ms whether somebody watches, for the sake of running loops.
const settle = time.Second

// await waits until somebody watches the probe, or until nobody does. The kernel counts all who watch by uprobes as
// one.
func (s semaphore) await(t *testing.T, watched bool) {
	t.Helper()
	require.Eventually(t, func() bool { return s.count(t) > 0 == watched }, 60*time.Second, 20*time.Millisecond)
}

// recipes returns a function that returns the command for a tracer in docs/probes.md that begins with the given text.
// The command is adapted to this process and this file.
func (s *svc) recipes(t *testing.T, object string) func(begin string) string {
	t.Helper()
	_, section, found := strings.Cut(string(readFile(t, "../../docs/probes.md")),
		"## Probes for dtrace, perf and bpftrace")
	require.True(t, found)
	section = strings.NewReplacer("/tmp/gasm-probes-4711/java-4711.so", object, "4711", s.pid()).Replace(section)
	return func(begin string) string {
		i := strings.Index(section, "\n    "+begin)
		require.GreaterOrEqual(t, i, 0, "docs/probes.md has no %s", begin)
		line, _, _ := strings.Cut(section[i+5:], "\n")
		return line
	}
}

// A tracer is a command of docs/probes.md that runs until it is stopped.
type tracer struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func startTracer(t *testing.T, command, home string) *tracer {
	t.Helper()
	tr := &tracer{cmd: exec.Command("sh", "-c", "exec "+command)}
	tr.cmd.Stdout, tr.cmd.Stderr, tr.cmd.Dir = &tr.out, &tr.out, home
	tr.cmd.Env = append(os.Environ(), "HOME="+home)
	gasmtest.Start(t, tr.cmd)
	return tr
}

// watches waits until perf has started its own command. Before that, perf switches its events on.
func (tr *tracer) watches(t *testing.T) {
	t.Helper()
	pid := tr.cmd.Process.Pid
	require.Eventually(t, func() bool {
		child, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil || len(child) == 0 {
			return false
		}
		name, err := os.ReadFile("/proc/" + strings.Fields(string(child))[0] + "/comm")
		return err == nil && string(name) == "sleep\n"
	}, 60*time.Second, 10*time.Millisecond)
}

// end stops the tracer, and returns what it prints about the events that it has counted.
func (tr *tracer) end(t *testing.T) string {
	t.Helper()
	assert.NoError(t, tr.cmd.Process.Signal(syscall.SIGINT))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = tr.cmd.Wait() // some tracers are ended by the signal itself
	}()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(10 * time.Second):
			if tr.forgets() {
				t.Logf("%s has lost the signal", tr.cmd)
				_ = tr.cmd.Process.Signal(syscall.SIGINT) // it may end now
			}
		}
	}
	t.Logf("%s: %s", tr.cmd, tr.out.String())
	return tr.out.String()
}

// forgets reports whether the tracer is bpftrace, and has lost the signal that ends it. bpftrace 0.17 only ends if the
// signal interrupts its call of epoll_wait, and goes on if the signal comes between two such calls
// (BPFtrace::poll_perf_events). As soon as it ends, it does not handle the signal anymore.
func (tr *tracer) forgets() bool {
	dir := fmt.Sprintf("/proc/%d/", tr.cmd.Process.Pid)
	name, err := os.ReadFile(dir + "comm")
	if err != nil || string(name) != "bpftrace\n" {
		return false
	}
	status, err := os.ReadFile(dir + "status")
	m := regexp.MustCompile(`(?m)^SigCgt:\s*([0-9a-f]+)$`).FindSubmatch(status)
	if err != nil || m == nil {
		return false
	}
	handled, err := strconv.ParseUint(string(m[1]), 16, 64)
	return err == nil && handled>>(syscall.SIGINT-1)&1 == 1
}

// runRecipe runs a command of docs/probes.md to its end.
func runRecipe(t *testing.T, command, home string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", command, out)
	return string(out)
}

// TestProbeSDT runs the commands of docs/probes.md as they are there. DTrace, bpftrace and perf watch a method at the
// same time, and each must count all calls. Afterwards, nothing may be left of the tracers, of gasm and of its file,
// and the program must still run.
func TestProbeSDT(t *testing.T) {
	t.Parallel()
	gasmtest.NeedTime(t)
	gasmtest.NeedRoot(t)
	gasmtest.NeedNative(t)
	s := startSvc(t, gasmtest.NeedJava(t), javaPrograms(t))
	s.lists(t)
	gasm, said, object := s.publish(t)
	recipe, home := s.recipes(t, object), t.TempDir()
	all := s.semaphores(t, object)
	tiny := all["Svc.tiny__entry"]
	require.NotZero(t, tiny.address)
	assert.Equal(t, tiny, all["Svc_tiny__entry"])

	var dtrace, bpftrace, perf *tracer
	whole := t // the tracers continue after their subtests
	t.Run("dtrace", func(t *testing.T) {
		gasmtest.NeedDTrace(t)
		takeDTrace(whole)
		listed := strings.Fields(runRecipe(t, recipe("dtrace -l"), home))
		for _, name := range []string{"Svc.tiny-entry", "Svc.tiny-return", "Svc_tiny-entry", "Svc.init-entry",
			"Svc.tiny(int,String)", "java" + s.pid()} {
			assert.Contains(t, listed, name)
		}
		for name, semaphore := range all {
			assert.Zero(t, semaphore.count(t), "%s is watched, and was only listed", name)
		}
		dtrace = startTracer(whole, recipe("dtrace -n"), home)
		tiny.await(t, true)
	})
	t.Run("bpftrace", func(t *testing.T) {
		gasmtest.NeedBPFTrace(t)
		bpftrace = startTracer(whole, recipe("bpftrace"), home)
		all["Svc_tiny__return"].await(t, true)
	})
	t.Run("perf", func(t *testing.T) {
		gasmtest.NeedPerf(t)
		runRecipe(t, recipe("perf buildid-cache -a"), home)
		assert.Contains(t, runRecipe(t, "perf list 'sdt_java:*'", home), "sdt_java:Svc_tiny__entry ")
		runRecipe(t, recipe("perf probe sdt_java"), home)
		whole.Cleanup(func() {
			runRecipe(whole, recipe("perf probe -d"), home)
			runRecipe(whole, recipe("perf buildid-cache -r"), home)
		})
		perf = startTracer(whole, recipe("perf record"), home)
		perf.watches(t)
	})
	time.Sleep(settle)
	const calls = 1000
	hash := s.call(t, calls)
	if dtrace != nil {
		assert.Equal(t, map[string]string{"even": "500", "odd": "500"}, countsIn(dtrace.end(t), `(?m)^ +(even|odd) +(\d+)$`))
	}
	if bpftrace != nil {
		assert.Equal(t, map[string]string{"": "800", "java.lang.IllegalStateException": "200"},
			countsIn(bpftrace.end(t), `(?m)^@\[(.*)\]: (\d+)$`))
	}
	if perf != nil {
		_ = perf.cmd.Process.Signal(syscall.SIGINT)
		_ = perf.cmd.Wait()
		lines := strings.Split(strings.TrimSpace(runRecipe(t, recipe("perf script"), home)), "\n")
		assert.Len(t, lines, calls)
		assert.Regexp(t, `sdt_java:Svc_tiny__entry: \([0-9a-f]+\) arg1=`+hash+` arg2=1 arg3=\d+$`, lines[0])
		assert.Regexp(t, ` arg2=1000 `, lines[len(lines)-1])
	}
	tiny.await(t, false)
	s.killedTracer(t, all["Svc_tiny__return"], home)

	require.NoError(t, gasm.Process.Signal(syscall.SIGINT))
	require.NoError(t, gasm.Wait(), said.String())
	assert.NoDirExists(t, filepath.Dir(object))
	s.call(t, 10)
	s.end(t)
	assert.Empty(t, agentWarning.ReplaceAllString(s.stderr.String(), ""))
}

// agentWarning matches the warning of JDK 21 and newer that an agent was loaded into a running JVM:
//
//	WARNING: A Java agent has been loaded dynamically (/tmp/gasm-probes-4711/agent.jar)
//	WARNING: If a serviceability tool is in use, please run with -XX:+EnableDynamicAgentLoading to hide this warning
//	WARNING: If a serviceability tool is not in use, please run with -Djdk.instrument.traceUsage for more information
//	WARNING: Dynamic loading of agents will be disallowed by default in a future release
var agentWarning = regexp.MustCompile(`(?m)^WARNING: (A Java agent has been loaded dynamically|If a serviceability tool is|Dynamic loading of agents) .*\n`)

// countsIn returns what a tracer has counted.
func countsIn(out, row string) map[string]string {
	found := map[string]string{}
	for _, m := range regexp.MustCompile(row).FindAllStringSubmatch(out, -1) {
		found[m[1]] = m[2]
	}
	return found
}

// lists checks the output of --list-probes, and that the program has no shared object of gasm's because of it.
func (s *svc) lists(t *testing.T) {
	t.Helper()
	r := runGasm(t, []string{"attach", "--list-probes", s.pid(), "Svc::*"})
	require.Equal(t, 0, r.code, r.stderr)
	for _, row := range []string{
		` Svc::tiny\(int, java\.lang\.String\) +Svc\.tiny-entry, Svc\.tiny-return *\n`,
		` Svc::<init>\(long, java\.lang\.String, double\) +Svc\.init-entry, Svc\.init-return *\n`,
		` Svc::nothing\(\) +none: it is native`,
	} {
		assert.Regexp(t, row, r.stdout)
	}
	assert.False(t, strings.Contains(string(readFile(t, fmt.Sprintf("/proc/%s/maps", s.pid()))), "/java-"+s.pid()))
	r = runGasm(t, []string{"attach", "--list-probes", s.pid()})
	assert.Equal(t, 2, r.code)
}

// killedTracer kills a tracer that watches. The program must continue, and nobody may be counted as watching any
// more.
func (s *svc) killedTracer(t *testing.T, watched semaphore, home string) {
	t.Helper()
	t.Run("killed", func(t *testing.T) {
		gasmtest.NeedBPFTrace(t)
		killed :=
			startTracer(t,
				"bpftrace -p "+s.pid()+" -e 'usdt:*:java:Svc_tiny__return { @[arg2 != 0 ? str(arg2) : \"\"] = count(); }'", home)
		watched.await(t, true)
		s.call(t, 100)
		require.NoError(t, killed.cmd.Process.Kill())
		_ = killed.cmd.Wait()
		s.call(t, 100)
		watched.await(t, false)
	})
}

// TestProbeSDTOfJDKs compares the probes with the program's own count on other JDKs, with arguments, returns and
// exceptions. A running loop must notice that somebody watches it. gasm starts the program on the newest JDK, and
// attaches to it on the others.
func TestProbeSDTOfJDKs(t *testing.T) {
	t.Parallel()
	gasmtest.NeedTime(t)
	gasmtest.NeedRoot(t)
	gasmtest.NeedNative(t)
	gasmtest.NeedBPFTrace(t)
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 8, gasmtest.Testdata("programs", "Svc.java"))
	script := `usdt:*:java:Svc_tiny__entry { @["entry", str(arg2)] = count(); }
		usdt:*:java:Svc_tiny__return /arg2 == 0/ { @["return", ""] = count(); }
		usdt:*:java:Svc_tiny__return /arg2 != 0/ { @["thrown", str(arg2)] = count(); }
		usdt:*:java:Svc_init__entry /(int64)arg1 == -3 && arg3 == 0x4000000000000000/ { @["init", str(arg2)] = count(); }`
	some := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return slices.Contains([]int{8, 11, 25, 28}, j.Feature) })
	for i, jdk := range some {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel()
			if i == len(some)-1 {
				s, object := profiledSvc(t, jdk.Java(), dir)
				s.traced(t, script, object)
				s.end(t)
				assert.NoFileExists(t, object)
				return
			}
			s := startSvc(t, jdk.Java(), dir)
			s.call(t, 200_000) // the method gets compiled while nobody watches
			gasm, said, object := s.publish(t)
			s.traced(t, script, object)
			require.NoError(t, gasm.Process.Signal(syscall.SIGINT))
			require.NoError(t, gasm.Wait(), said.String())
			s.call(t, 1000)
		})
	}
}

// traced checks that bpftrace counts the program's calls with a script.
func (s *svc) traced(t *testing.T, script, object string) {
	t.Helper()
	s.call(t, 200_000)
	tracer := startTracer(t, "bpftrace -p "+s.pid()+" -e '"+script+"'", t.TempDir())
	for _, name := range []string{"Svc_init__entry", "Svc_tiny__entry", "Svc_tiny__return"} {
		s.semaphores(t, object)[name].await(t, true)
	}
	time.Sleep(settle)
	s.call(t, 100_000)
	assert.Equal(t, map[string]string{"entry, even": "50000", "entry, odd": "50000", "return, ": "80000",
		"thrown, java.lang.IllegalStateException": "20000", "init, last": "1"},
		countsIn(tracer.end(t), `(?m)^@\[(.*)\]: (\d+)$`))
}
