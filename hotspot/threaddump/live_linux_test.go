package threaddump

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// A program is a running Doing.java.
type program struct {
	cmd     *exec.Cmd
	lines   *bufio.Scanner // of its output
	ports   [2]string      // of the server and of the client
	release int
}

var programs gasmtest.Classes

func TestMain(m *testing.M) { os.Exit(programs.Main(m)) }

// needStacks returns the folder with the classes of Doing.java.
func needStacks(t *testing.T) (classes string) {
	t.Helper()
	if !stack.Supported() {
		t.Skip("stacks can't be walked on this processor")
	}
	return programs.Of(t, "Doing.java", "Blocks.java")
}

// start starts Doing.java, and waits until each of its threads does what it is meant to do.
func start(t *testing.T, j gasmtest.JDK, classes, what string, flags ...string) *program {
	t.Helper()
	started, ports := gasmtest.StartProgram(t, j.Java(), slices.Concat(flags, []string{"-cp", classes, "Doing", what})...)
	p := &program{cmd: started.Cmd, lines: started.Lines, release: j.Feature}
	_, err := fmt.Sscan(ports, &p.ports[0], &p.ports[1])
	require.NoError(t, err, ports)
	return p
}

// mostTime is how much processor time reading a JVM may take. It includes that for the symbols of libjvm.
const mostTime = 300 * time.Millisecond

func (p *program) read(t *testing.T) *Dump {
	t.Helper()
	before := cpuTime(t)
	d, err := Read(context.Background(), p.cmd.Process.Pid)
	require.NoError(t, err)
	if took := cpuTime(t) - before; !gasmtest.RaceDetector {
		assert.Less(t, took, mostTime, "processor time; the clock says %v", d.Took)
	}
	return d
}

// cpuTime returns how much processor time this process has used.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// On a busy machine, reading the lists of sockets can take longer than the time that a user should have to wait.
func init() { socketTime = time.Minute }

// blocked reads the JVM at a moment at which none of the threads in the map known runs, so that their deadlock can be
// confirmed, too. Some of these threads wake up for a moment now and then, such as those that wait for a monitor.
func (p *program) blocked(t *testing.T) (d *Dump) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; {
		d = p.read(t)
		running := slices.IndexFunc(d.Threads, func(t Thread) bool { _, ok := known[t.Name]; return ok && t.Stack != Whole })
		if running < 0 && len(d.Deadlocks) > 0 {
			return d
		}
		require.True(t, time.Now().Before(until), "%+v", d.Threads[max(running, 0)])
	}
}

// stop stops the JVM, and reads it when all its threads have stopped.
func (p *program) stop(t *testing.T) (d *Dump) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(unix.SIGSTOP))
	require.Eventually(t, func() bool {
		d = p.read(t)
		return !slices.ContainsFunc(d.Threads, func(t Thread) bool { return t.Kernel.State != Stopped })
	}, time.Minute, time.Millisecond)
	return d
}

// named returns the thread of a name.
func (d *Dump) named(t *testing.T, name string) *Thread {
	t.Helper()
	i := slices.IndexFunc(d.Threads, func(t Thread) bool { return t.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return &d.Threads[i]
}

// javaLines returns the Java frames and the locks of a thread as they are written.
func (d *Dump) javaLines(t *Thread) (lines []string) {
	p := &textPage{dump: d}
	for i := range t.Frames {
		f := &t.Frames[i]
		if !f.Kind.Java() {
			continue
		}
		lines = append(lines, f.text())
		for j := range f.Locks {
			lines = append(lines, "- "+p.lock(&f.Locks[j]))
		}
	}
	return lines
}

// known has, by the names of Doing.java's threads, regular expressions for the state of each thread, for what the
// kernel says of it, and for its innermost lines.
var known = map[string]struct{ state, kernel, lines string }{
	"holding": {`TIMED_WAITING \(sleeping\)`, `(futex|clock_nanosleep) for a limited time`,
		`at java.lang.Thread.sleep\S*\(.*\nat Doing.nested\(Doing.java:\d+\)\n- locked <\w+> \(a java.lang.Class for Doing\)\nat Doing.holding\(Doing.java:\d+\)\n- locked <\w+> \(a java.lang.Object\)\n`},
	"blocked": {`BLOCKED \(on object monitor\)`, `futex( for a limited time)?`,
		`^at Doing.blocked\(Doing.java:\d+\)\n- waiting to lock <\w+> \(a java.lang.Object\) owned by "holding"\n`},
	"waiting": {`WAITING \(on object monitor\)`, `futex`,
		`^at java.lang.Object.wait0?\(Native Method\)\n- waiting on <\w+> \(a java.lang.Object\)\n(at java.lang.Object.wait\(.*\n)*at Doing.waiting\(Doing.java:\d+\)\n- locked <\w+> \(a java.lang.Object\)\n`},
	"timed": {`TIMED_WAITING \(on object monitor\)`, `futex for a limited time`,
		`^at java.lang.Object.wait0?\(Native Method\)\n- waiting on <\w+> \(a java.lang.Object\)\n(at java.lang.Object.wait\(.*\n)*at Doing.timed\(`},
	"parked": {`WAITING \(parking\)`, `futex`,
		`^at (sun|jdk.internal).misc.Unsafe.park\(Native Method\)\n- parking to wait for  <\w+> \(a java.lang.String\)\nat java.util.concurrent.locks.LockSupport.park\(.*\nat Doing.parked\(`},
	"owning": {`TIMED_WAITING \(sleeping\)`, `for a limited time`, `at Doing.owning\(`},
	"locking": {`WAITING \(parking\)`, `futex`,
		`- parking to wait for  <\w+> \(a java.util.concurrent.locks.ReentrantLock\$NonfairSync\) owned by "owning"\n(.*\n)*at Doing.locking\(`},
	"recursing": {`WAITING \(parking\)`, `futex`,
		`LockSupport.park\(.*\n(at Doing.recursing\(Doing.java:\d+\)\n){51}at Doing\.lambda`},
	"left": {`BLOCKED \(on object monitor\)`, `futex( for a limited time)?`,
		`^at Doing.left\(Doing.java:\d+\)\n- waiting to lock <\w+> \(a java.lang.Object\) owned by "right"\n- locked <\w+> \(a java.lang.Object\)\n`},
	"right": {`BLOCKED \(on object monitor\)`, `futex( for a limited time)?`,
		`^at Doing.right\(Doing.java:\d+\)\n- waiting to lock <\w+> \(a java.lang.Object\) owned by "left"\n- locked <\w+> \(a java.lang.Object\)\n`},
	"accepting": {`RUNNABLE`, `(accept|poll|ppoll) on socket \S+:SERVER`, `at Doing.accepting\(`},
	"receiving": {`RUNNABLE`, `(recvfrom|poll|ppoll|read) on socket \S+:CLIENT to \S+:SERVER`, `at Doing.receiving\(`},
}

// check checks the threads in the map known.
func (p *program) check(t *testing.T, d *Dump) {
	t.Helper()
	for name, want := range known {
		thread := d.named(t, name)
		if !assert.Equal(t, Whole, thread.Stack, name) {
			continue
		}
		require.NotNil(t, thread.Java, name)
		assert.Regexp(t, `^(`+want.state+`)$`, thread.Java.State, name)
		if thread.Kernel.State == Asleep {
			kernel := strings.NewReplacer("SERVER", p.ports[0], "CLIENT", p.ports[1]).Replace(want.kernel)
			assert.Regexp(t, kernel+`$`, thread.Kernel.text(), name)
		}
		assert.Regexp(t, want.lines, strings.Join(d.javaLines(thread), "\n")+"\n", name)
		assert.True(t, thread.Java.Daemon, name)
		assert.Equal(t, 5, thread.Java.Priority, name)
		assert.Positive(t, thread.Java.ID, name)
	}
	require.Len(t, d.Deadlocks, 1)
	var names []string
	for _, i := range d.Deadlocks[0] {
		names = append(names, d.Threads[i].Name)
	}
	assert.ElementsMatch(t, []string{"left", "right"}, names)
}

// TestKnown compares the stacks of each JDK's JVM with what is known about the program, and with what the JVM itself
// prints a moment later.
func TestKnown(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := needStacks(t)
	modes := [][]string{nil, {"-Xint"}, {"-XX:TieredStopAtLevel=1", "-XX:CompileThreshold=1", "-Xcomp",
		"-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Doing::*"}}
	for i, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 }) {
		some := modes
		if !gasmtest.Long() {
			some = modes[i%len(modes):][:1]
		}
		for _, flags := range some {
			t.Run(strings.Join(append([]string{j.Name()}, flags...), " "), func(t *testing.T) {
				p := start(t, j, classes, "", flags...)
				d := p.blocked(t)
				p.check(t, d)
				p.compare(t, d)
			})
		}
	}
}

var (
	quoted     = regexp.MustCompile(`^"(.*)" #`)
	ofModule   = regexp.MustCompile(`(\(|^at )[\w.]+(@[^/()]*)?/`)
	owned      = regexp.MustCompile(` owned by ".*"$`)
	hiddenName = regexp.MustCompile(`Lambda\S*`)
)

// printed asks the JVM to print its own stacks, and returns the lines of each thread.
func (p *program) printed(t *testing.T) map[string][]string {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(unix.SIGQUIT))
	threads, name := map[string][]string{}, ""
	for p.lines.Scan() {
		line := strings.TrimSpace(p.lines.Text())
		switch m := quoted.FindStringSubmatch(line); {
		case m != nil:
			name = m[1]
		case strings.HasPrefix(line, "JNI global ref"):
			return threads
		case strings.HasPrefix(line, "Found"):
			name = ""
		case strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "- "):
			threads[name] = append(threads[name], simple(line))
		}
	}
	t.Fatal("the JVM has not printed its stacks to the end")
	return nil
}

// simple removes from a line what only gasm or only the JVM prints: the module, the owner, and the numbers of hidden
// classes.
func simple(line string) string {
	line = ofModule.ReplaceAllString(line, "$1")
	line = owned.ReplaceAllString(line, "")
	line = strings.Replace(line, "waiting to re-lock in wait()", "locked", 1)
	return hiddenName.ReplaceAllString(line, "Lambda")
}

// compare compares the threads in the map known with what the JVM itself prints about them.
func (p *program) compare(t *testing.T, d *Dump) {
	t.Helper()
	printed := p.printed(t)
	for name := range known {
		var lines []string
		for _, line := range d.javaLines(d.named(t, name)) {
			lines = append(lines, simple(line))
		}
		want := printed[name]
		for i, line := range want { // the JVM does not find the object in a compiled native method
			if strings.HasPrefix(line, "- waiting on <no object") && i < len(lines) {
				want[i] = lines[i]
			}
		}
		assert.Equal(t, want, lines, name)
	}
}

// settle waits until the thread named busy is in compiled code, and the thread named compressing compresses.
func (p *program) settle(t *testing.T) {
	t.Helper()
	var d *Dump
	require.Eventually(t, func() bool {
		d = p.read(t)
		compiled := slices.ContainsFunc(d.named(t, "busy").Frames,
			func(f Frame) bool { return f.Kind == callstack.Compiled && f.Name == "Doing::busy" })
		return compiled && strings.HasPrefix(strings.Join(d.javaLines(d.named(t, "compressing")), "\n"),
			"at java.util.zip.Deflater.deflateBytes")
	}, 2*time.Minute, 10*time.Millisecond)
}

// TestStopped reads JVMs in states in which jstack gets no answer, or only late.
func TestStopped(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := needStacks(t)
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 })
	j := jdks[len(jdks)-1]
	t.Run("SIGSTOP", func(t *testing.T) {
		// Without tiers, the method busy is compiled once, and its thread stays in that code. If a thread is stopped
		// while it changes from the interpreter to compiled code, or from one tier to the next, its stack has no frame
		// of the method.
		p := start(t, j, classes, "busy", "-XX:-TieredCompilation")
		p.settle(t)
		inNative := false
		for range 20 {
			d := p.stop(t)
			p.check(t, d)
			assert.Regexp(t, `^at Doing.busy\(Doing.java(:\d+)?\)`, strings.Join(d.javaLines(d.named(t, "busy")), "\n"))
			lines := strings.Join(d.javaLines(d.named(t, "compressing")), "\n")
			assert.Regexp(t, `at Doing.compressing\(`, lines, "%+v", d.named(t, "compressing"))
			if inNative = strings.HasPrefix(lines, "at java.util.zip.Deflater.deflateBytes"); inNative {
				break
			}
			require.NoError(t, p.cmd.Process.Signal(unix.SIGCONT))
			time.Sleep(100 * time.Millisecond)
		}
		assert.True(t, inNative, "it compresses nearly all the time")
	})
	t.Run("running", func(t *testing.T) {
		p := start(t, j, classes, "busy")
		d := p.blocked(t)
		p.check(t, d)
		for name, want := range map[string]string{"busy": `^at Doing.busy\(`, "compressing": `Doing.compressing\(`} {
			if thread := d.named(t, name); len(thread.Frames) > 0 { // the thread may have got no processor yet
				assert.Regexp(t, want, strings.Join(d.javaLines(thread), "\n"), "%+v", thread)
			}
		}
	})
	t.Run("collecting", func(t *testing.T) {
		p := start(t, j, classes, "collecting", "-XX:+UseSerialGC", "-Xmx256m")
		for range 5 {
			d := p.read(t)
			for name, want := range map[string]string{"busy": `^at Doing.busy\(`,
				"collecting": `(?s)^at java.lang.\S+gc\(.*at Doing.collecting\(`} {
				if thread := d.named(t, name); thread.Stack == Whole {
					assert.Regexp(t, want, strings.Join(d.javaLines(thread), "\n"))
				}
			}
		}
	})
	t.Run("safepoint", func(t *testing.T) { // one thread loops without a poll, and all others wait for it
		started, _ := gasmtest.StartProgram(t, j.Java(), "-XX:+UseSerialGC", "-cp", classes, "Blocks", "safepoints")
		p := &program{cmd: started.Cmd, lines: started.Lines, release: j.Feature}
		waits := func(d *Dump, name, function string) bool {
			thread := d.named(t, name)
			return thread.Stack == Whole && slices.ContainsFunc(thread.Frames, func(f Frame) bool {
				return !f.Kind.Java() && strings.Contains(f.Name, function)
			})
		}
		require.Eventually(t, func() bool {
			d := p.read(t)
			if !waits(d, "polling", "WaitBarrier") || !waits(d, "collecting", "VMThread::execute") {
				return false
			}
			assert.Regexp(t, `at Blocks.Polling.run\(Blocks.java:\d+\)\n$`, strings.Join(d.javaLines(d.named(t, "polling")), "\n")+"\n")
			assert.Regexp(t, `(?s)^at java.lang.Runtime.gc\(Native Method\).*at Blocks.Collecting.block\(`,
				strings.Join(d.javaLines(d.named(t, "collecting")), "\n"))
			return true
		}, time.Minute, 5*time.Millisecond)
	})
	t.Run("memory", func(t *testing.T) {
		p := start(t, j, classes, "memory", "-Xmx32m", "-XX:+UseSerialGC")
		p.check(t, p.blocked(t))
	})
}

// TestVirtual reads a virtual thread by its carrier.
func TestVirtual(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := needStacks(t)
	jdks := gasmtest.NeedEachJDK(t, func(j gasmtest.JDK) bool { return j.Feature >= 21 })
	p := start(t, jdks[len(jdks)-1], classes, "virtual")
	d := p.stop(t)
	i := slices.IndexFunc(d.Threads, func(t Thread) bool { return t.Virtual != nil })
	require.GreaterOrEqual(t, i, 0)
	carrier := &d.Threads[i]
	assert.Equal(t, "a virtual thread", carrier.Virtual.Name)
	assert.Regexp(t, `(?s)^at Doing.busy\(.*at Doing.virtual\(.*at java.lang.VirtualThread.run\(.*Continuation.enterSpecial\(.*ForkJoinWorkerThread.run\(`, strings.Join(d.javaLines(carrier), "\n"))
}
