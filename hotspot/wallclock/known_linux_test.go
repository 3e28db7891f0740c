package wallclock

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/wallclock/runcounts"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/wall"
)

// wanted reports whether the tests use this JDK.
func wanted(j gasmtest.JDK) bool { return j.Feature == 11 || j.Feature == 17 || j.Feature == 25 }

// byDefault reports whether tests that take long use this JDK. With GASM_JDKS=all, they use the same JDKs as the other
// tests.
func byDefault(j gasmtest.JDK) bool { return j.IsDefault() || wanted(j) && gasmtest.AllJDKs() }

// known holds, for each thread of Doing.java, its state, its innermost Java frames, the detail, the lock's class and
// its owner.
var known = map[string]struct {
	state  wall.State
	frames string
	detail string
	class  string
	owner  string
	taken  string // the innermost frame of the stack where the owner got the lock
}{
	"holding": {wall.Sleep, `^java.lang.Thread::sleep\S*\n(java.lang.Thread::sleep\S*\n)*Doing::nested\nDoing::holding\n`,
		`^$`, "", "", ""},
	"blocked": {wall.Monitor, `^Doing::blocked\nDoing\S*[Ll]ambda`, `^$`, "java.lang.Object", "holding",
		"Doing::holding"},
	"waiting": {wall.Wait, `^java.lang.Object::wait0?\n(java.lang.Object::wait\n)*Doing::waiting\n`, `^$`,
		"java.lang.Object", "", ""},
	"timed": {wall.Wait, `^java.lang.Object::wait0?\n(java.lang.Object::wait\n)*Doing::timed\n`, `^$`,
		"java.lang.Object", "", ""},
	"parked": {wall.Park, `Unsafe::park\njava.util.concurrent.locks.LockSupport::park\nDoing::parked\n`, `^$`,
		"java.lang.String", "", ""},
	"owning": {wall.Sleep, `Doing::owning\n`, `^$`, "", "", ""},
	"locking": {wall.Park, `Unsafe::park\n(.*\n)*Doing::locking\n`, `^$`,
		"java.util.concurrent.locks.ReentrantLock$NonfairSync", "owning", ""},
	"recursing": {wall.Park, `LockSupport::park\n(Doing::recursing\n){51}Doing\S*[Ll]ambda`, `^$`, "", "", ""},
	"left":      {wall.Monitor, `^Doing::left\nDoing\S*[Ll]ambda`, `^$`, "java.lang.Object", "right", "Doing::right"},
	"right":     {wall.Monitor, `^Doing::right\nDoing\S*[Ll]ambda`, `^$`, "java.lang.Object", "left", "Doing::left"},
	"accepting": {wall.Socket, `Doing::accepting\n`, `^(accept|poll|ppoll) socket \S+:\d+$`, "", "", ""},
	"receiving": {wall.Socket, `Doing::receiving\n`, `^(recvfrom|poll|ppoll|read) socket \S+:\d+ to \S+:\d+$`, "", "", ""},
}

// javaFrames returns the names of the Java frames of a spell, innermost first, each with a line end.
func (x *recorded) javaFrames(s *wall.Spell) string {
	var names strings.Builder
	for f := range x.tree.Frames(s.Stack) {
		if f.Kind.Java() {
			names.WriteString(f.Name + "\n")
		}
	}
	return names.String()
}

// TestKnown compares the record of threads that do not move with what the program says about them.
func TestKnown(t *testing.T) {
	for _, j := range gasmtest.NeedEachJDK(t, wanted) {
		t.Run(j.Name(), func(t *testing.T) {
			p := start(t, j, "Doing", "busy")
			checkKnown(t, p.record(t, Options{}, func() { time.Sleep(3 * time.Second) }))
			gasmtest.NeedRoot(t)
			x := p.record(t, Options{manyThreads: 1}, func() { time.Sleep(3 * time.Second) })
			checkKnown(t, x)
			_, err := runcounts.Open(os.Getpid())
			assert.Equal(t, err == nil, x.end.Together, err)
		})
	}
}

// checkKnown checks the record of the threads in known.
func checkKnown(t *testing.T, x *recorded) {
	t.Helper()
	for name, want := range known {
		all, in, runnable, unknown := int64(0), int64(0), int64(0), int64(0)
		for _, s := range x.of(name) {
			if s.State == wall.Unseen { // before the first look, which also reads libjvm
				continue
			}
			all += s.ToMonoNanos - s.FromMonoNanos
			runnable += s.Ran + s.Runnable
			if s.State != want.state {
				continue
			}
			in += s.Blocked
			assert.Regexp(t, want.frames, x.javaFrames(s), name)
			assert.Regexp(t, want.detail, s.Detail, name)
			if want.class == "" {
				continue
			}
			lock := x.locks[s.Lock]
			if assert.NotNil(t, lock, name) && assert.Equal(t, want.class, lock.Class, name) {
				assert.Equal(t, want.owner, x.names[lock.Owner], name)
				switch f, _ := x.tree.Frame(lock.Taken); {
				case f != nil:
					assert.Equal(t, want.taken, f.Name)
				case want.taken != "": // the owner wakes up now and then, and may have run when it was read
					unknown += s.Blocked
				}
			}
		}
		assert.LessOrEqual(t, float64(unknown), 0.5*float64(in), "%s: where the owner got the lock", name)
		assert.InDelta(t, 1, float64(in+runnable)/float64(all), 0.01, "%s: %s", name, want.state)
		assert.Greater(t, float64(in)/float64(all), 0.5, name) // some wake up for a moment, and wait for a processor
	}
	all, ran := int64(0), int64(0)
	for _, s := range x.of("busy") {
		all += s.ToMonoNanos - s.FromMonoNanos
		ran += s.Ran + s.Runnable
	}
	assert.InDelta(t, 1, float64(ran)/float64(all), 0.05, "busy")
}

// places has the states of the threads of Waits.java, by the names that the program has for them, each with the
// innermost of the program's methods on the stack.
var places = map[string]struct{ thread, state, method string }{
	"sleep":        {"mixed", "sleep", "Waits$Mixed::sleeping"},
	"short-sleep":  {"mixed", "sleep", "Waits$Mixed::run"},
	"park":         {"mixed", "park", "Waits$Mixed::parking"},
	"wait":         {"mixed", "wait", "Waits$Mixed::waiting"},
	"monitor":      {"mixed", "monitor", "Waits$Mixed::blocking"},
	"socket":       {"mixed", "socket", "Waits$Mixed::reading"},
	"holder-sleep": {"holder", "sleep", "Waits$Mixed::holding"},
	"holder-park":  {"holder", "park", "Waits$Mixed::holding"},
}

// checkShares runs Waits.java with the given numbers of mixed threads and of threads that hold monitors. It compares
// how long the threads were in each state, at each place, with what the program itself has measured.
func checkShares(t *testing.T, j gasmtest.JDK, mixed, slower int, length time.Duration, o Options) {
	t.Helper()
	p := startWith(t, j, []string{"-Dslower=" + strconv.Itoa(slower)}, "Waits", strconv.Itoa(mixed), "0", "0", "0", "0", "-")
	var from, to sums
	x := p.record(t, o, func() {
		if mixed > 100 { // it takes some time to look at each of them
			time.Sleep(length)
		}
		from = p.ask(t)
		time.Sleep(length)
		to = p.ask(t)
	})
	t.Logf("%+v", x.result)
	all := map[string]map[string]share{}
	for _, thread := range []string{"mixed", "holder"} {
		require.Equal(t, mixed, x.threadsNamed(thread))
		all[thread] = x.sharesOf(thread, from.at, to.at, func(s *wall.Spell) string {
			for name := range strings.Lines(x.javaFrames(s)) {
				if strings.HasPrefix(name, "Waits") {
					return s.State.String() + " " + strings.TrimSpace(name)
				}
			}
			return s.State.String()
		})
	}
	part := func(name string) float64 {
		return float64(to.nanos[name]-from.nanos[name]) / float64(to.at-from.at) / float64(mixed)
	}
	known := map[string]float64{"mixed": 0, "holder": 0}
	for name, p := range places {
		s := all[p.thread][p.state+" "+p.method]
		s.check(t, name, part(name))
		known[p.thread] += s.part
	}
	all["mixed"]["on processor"].check(t, "on-processor", part("on-processor"))
	for thread, n := range known {
		s := all[thread]["on processor"]
		assert.InDelta(t, 1, n+s.part+s.late, 0.01, "%s: %v", thread, all[thread])
	}
}

// TestShares compares how long threads were in each state with what the program has measured itself.
func TestShares(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedNoRaceDetector(t)
	for _, j := range gasmtest.NeedEachJDK(t, wanted) {
		t.Run(j.Name(), func(t *testing.T) {
			// 24 threads have 1500 looks in 8 s at 20 Hz, with which a share of 20 % has a standard error of 1 point. At 100 Hz,
			// that is less than half a point.
			checkShares(t, j, 24, 1, 8*time.Second, Options{Hertz: 100, Share: 0.5})
		})
	}
}

// TestThousands is TestShares for 2000 threads, with the default options.
func TestThousands(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedNoRaceDetector(t)
	length := 8 * time.Second
	if gasmtest.Long() {
		length = time.Minute
	}
	for _, j := range gasmtest.NeedEachJDK(t, byDefault) {
		t.Run(j.Name(), func(t *testing.T) { checkShares(t, j, 1000, 20, length, Options{}) })
	}
}

// possible matches the Java frames that a switching thread can have outside of the JDK, innermost first.
var possible = regexp.MustCompile(`^(Waits::even\n|Waits::even\nWaits::nested\nWaits::odd\n|Waits::nested\nWaits::odd\n|Waits::odd\n)?Waits::switching\nWaits::lambda\S*\nWaits\$\$Lambda\S*\n$`)

// TestSwitching checks that no stack is wrong if threads run and block all the time.
func TestSwitching(t *testing.T) {
	length, hertz := 3*time.Second, 200
	if gasmtest.Long() {
		length, hertz = time.Minute, MaxHertz
	}
	for _, j := range gasmtest.NeedEachJDK(t, func(j gasmtest.JDK) bool { return wanted(j) || gasmtest.AllJDKs() }) {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel() // nothing depends on how much of a processor the threads get
			p := start(t, j, "Waits", "0", "2", "0", "2", "0", "-")
			whole := 0
			for length := length; whole == 0 && length < time.Minute+time.Second; length *= 2 {
				x := p.record(t, Options{Hertz: hertz, Share: 0.5}, func() { time.Sleep(length) })
				whole = checkSwitching(t, x) // 0 if the first look took that long, because other processes use the CPUs
			}
			assert.Positive(t, whole)
		})
	}
}

// checkSwitching checks the stacks of the switching threads. It returns how many there are.
func checkSwitching(t *testing.T, x *recorded) (whole int) {
	t.Helper()
	for _, s := range x.of("switching") {
		if s.Stack == 0 {
			continue
		}
		var own strings.Builder
		for name := range strings.Lines(x.javaFrames(s)) {
			if !strings.HasPrefix(name, "java.") && !strings.Contains(name, "Unsafe") && !strings.HasPrefix(name, "jdk.") {
				own.WriteString(name)
			}
		}
		whole++
		assert.Regexp(t, possible, own.String(), s.State)
		assert.Contains(t, []wall.State{wall.Park, wall.NativeCall, wall.Safepoint, wall.PageFault, wall.Unseen}, s.State)
	}
	t.Logf("%d spells with stacks; %+v", whole, x.result)
	assert.Less(t, x.end.Clamped, int64(1e9))
	return whole
}

// TestFIFO records a thread that reads a FIFO, a stopped JVM, and one that ends.
func TestFIFO(t *testing.T) {
	jdks := gasmtest.NeedEachJDK(t, wanted)
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	writer, err := os.OpenFile(fifo, os.O_RDWR, 0)
	require.NoError(t, err)
	defer writer.Close()
	p := start(t, jdks[len(jdks)-1], "Waits", "0", "3", "4", "0", "0", fifo)
	x := p.record(t, Options{}, func() {
		time.Sleep(2 * time.Second)
		require.NoError(t, p.Cmd.Process.Signal(unix.SIGSTOP))
		time.Sleep(2 * time.Second)
	})
	require.NoError(t, p.Cmd.Process.Signal(unix.SIGCONT))
	states := map[string]map[wall.State]float64{}
	for _, s := range x.spells {
		name := x.names[s.Thread]
		if states[name] == nil {
			states[name] = map[wall.State]float64{}
		}
		states[name][s.State] += float64(s.Blocked) / float64(x.end.ToMonoNanos-x.head.FromMonoNanos)
		if name == "fifo" && s.State == wall.File {
			assert.Equal(t, "read "+fifo, s.Detail)
		}
	}
	for name, state := range map[string]wall.State{"fifo": wall.File, "idle": wall.Park, "Thread-1": wall.Park} {
		threads := 1.0
		if name == "idle" {
			threads = 3
		}
		assert.InDelta(t, 0.5*threads, states[name][state], 0.1*threads, "%s %v", name, states[name])
		assert.InDelta(t, 0.5*threads, states[name][wall.Stopped], 0.1*threads, "%s %v", name, states[name])
	}
	x = p.record(t, Options{}, func() {
		time.Sleep(time.Second)
		p.Stdin.Close() // this ends the program
		_ = p.Cmd.Wait()
	})
	require.NotNil(t, x.end)
	assert.Positive(t, math.Abs(float64(x.result.Looks)))
}
