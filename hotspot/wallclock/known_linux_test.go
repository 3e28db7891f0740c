package wallclock

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/wall"
)

// wanted reports whether the tests use this JDK.
func wanted(j gasmtest.JDK) bool { return j.Feature == 11 || j.Feature == 17 || j.Feature == 25 }

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
			x := p.record(t, Options{}, func() { time.Sleep(3 * time.Second) })
			for name, want := range known {
				all, in, runnable := int64(0), int64(0), int64(0)
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
						f, _ := x.tree.Frame(lock.Taken)
						if assert.Equal(t, want.taken == "", f == nil, name) && f != nil {
							assert.Equal(t, want.taken, f.Name)
						}
					}
				}
				assert.InDelta(t, 1, float64(in+runnable)/float64(all), 0.01, "%s: %s", name, want.state)
				assert.Greater(t, float64(in)/float64(all), 0.5, name) // some wake up for a moment, and wait for a processor
			}
			all, ran := int64(0), int64(0)
			for _, s := range x.of("busy") {
				all += s.ToMonoNanos - s.FromMonoNanos
				ran += s.Ran + s.Runnable
			}
			assert.InDelta(t, 1, float64(ran)/float64(all), 0.05, "busy")
		})
	}
}

// TestShares compares how long threads were in each state with what the program has measured itself.
func TestShares(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedNoRaceDetector(t)
	for _, j := range gasmtest.NeedEachJDK(t, wanted) {
		t.Run(j.Name(), func(t *testing.T) {
			p := start(t, j, "Waits", "24", "0", "0", "0", "0", "-")
			var from, to sums
			// 24 threads have 1500 looks in 8 s at 20 Hz, with which a share of 20 % has a standard error of 1 point. At 100 Hz,
			// that is less than half a point.
			x := p.record(t, Options{Hertz: 100, Share: 0.5}, func() {
				from = p.ask(t)
				time.Sleep(8 * time.Second)
				to = p.ask(t)
			})
			got, all, waited := map[string]int64{}, int64(0), int64(0)
			for _, s := range x.of("mixed") {
				in := min(s.ToMonoNanos, to.at) - max(s.FromMonoNanos, from.at)
				if in <= 0 {
					continue
				}
				part := float64(in) / float64(s.ToMonoNanos-s.FromMonoNanos)
				got[s.State.String()] += int64(part * float64(s.Blocked))
				got["on processor"] += int64(part * float64(s.Ran))
				waited += int64(part * float64(s.Runnable))
				all += in
			}
			t.Log(x.result, *x.end, "runnable", waited*100/all, "%", got)
			assert.LessOrEqual(t, got["unseen"]*100, all)
			for state, n := range to.nanos {
				// The program's measurement of a state also includes the time until the thread gets a processor again.
				want, is := float64(n-from.nanos[state])/float64(all), float64(got[strings.ReplaceAll(state, "-",
					" ")])/float64(all)
				late := float64(waited) / float64(all)
				assert.LessOrEqual(t, is, want+0.01, state)
				assert.GreaterOrEqual(t, is, want-0.01-late, state)
			}
		})
	}
}

// sums holds how long the threads of Waits.java were in each state until a certain time.
type sums struct {
	at    int64
	nanos map[string]int64
}

func (p *program) ask(t *testing.T) (s sums) {
	t.Helper()
	_, err := p.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	require.True(t, p.lines.Scan())
	words := strings.Fields(p.lines.Text())
	s.nanos = map[string]int64{}
	_, err = fmt.Sscan(words[0], &s.at)
	require.NoError(t, err, p.lines.Text())
	for i := 1; i < len(words); i += 2 {
		var n int64
		_, err = fmt.Sscan(words[i+1], &n)
		require.NoError(t, err, p.lines.Text())
		s.nanos[words[i]] = n
	}
	return s
}

// possible matches the Java frames that a switching thread can have outside of the JDK, innermost first.
var possible = regexp.MustCompile(`^(Waits::even\n|Waits::even\nWaits::nested\nWaits::odd\n|Waits::nested\nWaits::odd\n|Waits::odd\n)?Waits::switching\nWaits::lambda\S*\nWaits\$\$Lambda\S*\n$`)

// TestSwitching checks that no stack is wrong if threads run and block all the time.
func TestSwitching(t *testing.T) {
	for _, j := range gasmtest.NeedEachJDK(t, wanted) {
		t.Run(j.Name(), func(t *testing.T) {
			p := start(t, j, "Waits", "0", "2", "0", "2", "0", "-")
			x := p.record(t, Options{Hertz: 200, Share: 0.5}, func() { time.Sleep(3 * time.Second) })
			whole := 0
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
			t.Log(x.result, whole)
			assert.Positive(t, whole)
			assert.Less(t, x.end.Clamped, int64(1e9))
		})
	}
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
		require.NoError(t, p.cmd.Process.Signal(unix.SIGSTOP))
		time.Sleep(2 * time.Second)
	})
	require.NoError(t, p.cmd.Process.Signal(unix.SIGCONT))
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
		p.stdin.Close() // this ends the program
		_ = p.cmd.Wait()
	})
	require.NotNil(t, x.end)
	assert.Positive(t, math.Abs(float64(x.result.Looks)))
}
