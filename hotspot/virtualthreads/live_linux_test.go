package virtualthreads

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var programs gasmtest.Classes

func TestMain(m *testing.M) { os.Exit(programs.Main(m)) }

// wanted reports whether a JDK has virtual threads.
func wanted(j gasmtest.JDK) bool { return j.Feature >= oldest }

// start starts Unmounted.java, and waits until its threads wait. args are options of the JVM, "Unmounted", and its
// arguments.
func start(t *testing.T, j gasmtest.JDK, args ...string) (pid int) {
	t.Helper()
	gasmtest.NeedNative(t)
	if !stack.Supported() {
		t.Skip("stacks can't be walked on this processor")
	}
	p, _ := gasmtest.StartProgram(t, j.Java(), append([]string{"--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED",
		"-cp", programs.Of(t, "Unmounted.java")}, args...)...)
	return p.Cmd.Process.Pid
}

// open opens a Counter.
func open(t *testing.T, pid int) *Counter {
	t.Helper()
	var c *Counter
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		var err error // on a busy machine, the kernel may not list the memory in time
		c, err = NewCounter(shared.NewJVMs(), pid)
		assert.NoError(collect, err)
	}, time.Minute, 100*time.Millisecond)
	t.Cleanup(c.Close)
	return c
}

// A key is what the tests know of a place.
type key struct {
	own     string // the innermost method of Unmounted.java; "" if there is none
	state   State
	blocker string
}

// keyOf returns the key of a place.
func keyOf(p *Place) key {
	for i := range p.Frames {
		if strings.HasPrefix(p.Frames[i].Name, "Unmounted::") {
			return key{p.Frames[i].Name, p.State, p.Blocker}
		}
	}
	return key{"", p.State, p.Blocker}
}

// wait counts all threads until as many of Unmounted.java as wanted wait. They may need some time to get there.
func wait(t *testing.T, c *Counter, want map[key]int) (n *Counts, got map[key]int) {
	t.Helper()
	total := 0
	for _, count := range want {
		total += count
	}
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		var err error
		n, err = c.Count(2 * total)
		if !assert.NoError(collect, err) {
			return
		}
		got = map[key]int{}
		for i := range n.Places {
			if k := keyOf(&n.Places[i]); k.own != "" {
				got[k] += n.Places[i].Count
			}
		}
		assert.Equal(collect, want, got)
	}, time.Minute, 500*time.Millisecond)
	return n, got
}

// known returns what Unmounted.java does with the arguments 5800, 3000, 200, 1000 and monitors. The thread that has
// opened a ThreadFlock is parked as well.
func known(j gasmtest.JDK, monitors int) map[key]int {
	want := map[key]int{
		{"Unmounted::sleeping", Sleeping, ""}:                    5800,
		{"Unmounted::parked", Parked, "java.lang.StringBuilder"}: 3001,
		{"Unmounted::reading", Socket, ""}:                       200,
		{"Unmounted::locking", Parked, nonfair}:                  1000,
	}
	if j.Feature >= 24 && monitors > 0 {
		want[key{"Unmounted::monitor", Blocked, ""}] = monitors
	}
	return want
}

var parkedKey = key{"Unmounted::parked", Parked, "java.lang.StringBuilder"}

const nonfair = "java.util.concurrent.locks.ReentrantLock$NonfairSync"

// modes are options of JVMs that change the layout of objects or stacks, or move objects.
var modes = [][]string{{"-XX:+UseG1GC"}, {"-Xint", "-XX:+UseSerialGC"},
	{"-XX:TieredStopAtLevel=1", "-XX:+UseParallelGC", "-XX:-UseCompressedOops"}, {"-XX:+UseShenandoahGC"},
	{"-XX:+UseParallelGC", "-Xmx6g", "-XX:HeapBaseMinAddress=40g"}, {"-XX:+UseCompactObjectHeaders"}}

// works reports whether a JDK has an option.
func works(j gasmtest.JDK, flags []string) bool {
	return exec.Command(j.Java(), append(flags, "-version")...).Run() == nil
}

// eachMode calls test for each JDK with virtual threads. If not all JDKs are to be tested, it does so for the oldest
// one and, if newest is true, the newest one. Without -long, it tests one mode only, another one for each JDK.
func eachMode(t *testing.T, newest bool, test func(*testing.T, gasmtest.JDK, []string)) {
	all := gasmtest.NeedEachJDK(t, wanted)
	switch {
	case gasmtest.AllJDKs():
	case newest && len(all) > 1:
		all = []gasmtest.JDK{all[0], all[len(all)-1]}
	default:
		all = all[:1]
	}
	for i, j := range all {
		some := modes
		if !gasmtest.Long() {
			some = modes[i%len(modes):][:1]
		}
		for _, flags := range some {
			t.Run(j.Name()+" "+strings.Join(flags, " "), func(t *testing.T) {
				if !works(j, flags) {
					t.Skip("this JDK has no such option")
				}
				test(t, j, flags)
			})
		}
	}
}

// TestKnown compares the counts with what the program says about its threads.
func TestKnown(t *testing.T) {
	eachMode(t, true, func(t *testing.T, j gasmtest.JDK, flags []string) {
		monitors := 0
		if j.Feature >= 24 {
			monitors = 500
		}
		pid := start(t, j, append(slices.Clone(flags), "Unmounted", "5800", "3000", "200", "1000", strconv.Itoa(monitors))...)
		c := open(t, pid)
		want := known(j, monitors)
		n, _ := wait(t, c, want)
		t.Logf("%d threads, %d mounted, %d unread, %d places", n.Threads, n.Mounted, n.Unread, len(n.Places))
		assert.Equal(t, n.Threads, n.Looked)
		assert.LessOrEqual(t, n.Threads, 10001+monitors+16) // the JDK has some for its sockets
		for i := range n.Places {
			p := &n.Places[i]
			assert.Equal(t, "jdk.internal.vm.Continuation::enter", p.Frames[len(p.Frames)-1].Name, p.Frames)
		}
	})
}

// TestSampled checks that numbers are right on average if only some threads are looked at.
func TestSampled(t *testing.T) {
	j := gasmtest.NeedEachJDK(t, wanted)[0]
	c := open(t, start(t, j, "Unmounted", "5800", "3000", "200", "1000", "0", "-"))
	want := known(j, 0)
	want[parkedKey] = 3000
	wait(t, c, want)
	// 24 000 threads are looked at. The numbers are the same each time, except for the addresses in the JVM. A share of
	// 58 % that is found with 24 000 independent samples has a standard error of 0.32 points.
	const rounds, most = 40, 600
	c.random = rand.New(rand.NewPCG(1, 2))
	sums, threads := map[key]float64{}, 0.0
	counted := 0
	for range rounds {
		n, err := c.Count(most)
		for until := time.Now().Add(time.Minute); errors.Is(err, vmstructs.ErrBudget) && time.Now().Before(until); {
			time.Sleep(100 * time.Millisecond) // it is for one count a second
			n, err = c.Count(most)
		}
		require.NoError(t, err)
		if n.Collected {
			continue
		}
		counted++
		assert.InDelta(t, most, n.Looked, 0.25*most)
		threads += float64(n.Threads)
		for i := range n.Places {
			sums[keyOf(&n.Places[i])] += float64(n.Places[i].Count)
		}
	}
	require.Greater(t, counted, rounds/2)
	total := 0
	for k, number := range want {
		total += number
		assert.InDelta(t, number, sums[k]/float64(counted), 100, k.own) // 1 % of all threads
	}
	assert.InDelta(t, total, threads/float64(counted), 150)
}

// TestBudget checks that a count that was refused, because too much was read before, does not end the counting.
func TestBudget(t *testing.T) {
	j := gasmtest.NeedEachJDK(t, wanted)[0]
	c := open(t, start(t, j, "Unmounted", "40", "0", "0", "0", "0"))
	_, err := c.Count(100)
	require.NoError(t, err)
	c.refusals = c.budget.Refused()
	for !c.refused() {
		c.vm.Read(nil, 0, 1<<20) // nothing can be read there, but that is charged for
	}
	_, err = c.Count(100)
	for ; err == nil; _, err = c.Count(100) {
	}
	require.ErrorIs(t, err, vmstructs.ErrBudget)
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		_, err := c.Count(100)
		assert.NoError(collect, err)
	}, time.Minute, 100*time.Millisecond)
}

// TestMoving counts threads that run and block all the time, while a collector moves objects. No stack may be wrong.
func TestMoving(t *testing.T) {
	own := regexp.MustCompile(`^(Unmounted::(sleeping|parked|reading|locking|monitor)( .*)?|` +
		`(Unmounted::(even|odd) )?Unmounted::switching( .*)?|Unmounted::lambda\S*( .*)?|)$`)
	// A thread that switches is parked for one kind of object in one method, and for another one in another method.
	blockers := map[string]string{"Unmounted::even": "java.lang.StringBuilder", "Unmounted::odd": "java.lang.StringBuffer"}
	eachMode(t, false, func(t *testing.T, j gasmtest.JDK, flags []string) {
		pid := start(t, j, append(slices.Clone(flags), "-Xmn16m", "Unmounted", "10", "10", "10", "10", "0", "busy")...)
		c := open(t, pid)
		var counts, collected, unread, runnable, switching int
		for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
			n, err := c.Count(2000)
			if errors.Is(err, vmstructs.ErrBudget) {
				continue
			}
			require.NoError(t, err)
			counts++
			unread += n.Unread
			if n.Collected {
				collected++
				continue
			}
			for i := range n.Places {
				p := &n.Places[i]
				var names []string
				for _, f := range p.Frames {
					if strings.HasPrefix(f.Name, "Unmounted::") {
						names = append(names, f.Name)
					}
				}
				text := strings.Join(names, " ")
				assert.Regexp(t, own, text)
				if strings.Contains(text, "switching") {
					switching += p.Count
					assert.Contains(t, []State{Parked, Runnable}, p.State)
					if p.State == Parked {
						assert.Equal(t, blockers[names[0]], p.Blocker, text)
					}
				}
				if p.State == Runnable {
					runnable += p.Count
				}
				if len(p.Frames) > 0 {
					assert.Equal(t, "jdk.internal.vm.Continuation::enter", p.Frames[len(p.Frames)-1].Name, p.Frames)
				}
			}
		}
		t.Logf("%d counts, %d during a collection, %d threads unread, %d runnable, %d switching", counts, collected, unread,
			runnable, switching)
		assert.Less(t, collected, counts)
	})
}

// TestUntracked counts threads that the JVM has in no list.
func TestUntracked(t *testing.T) {
	j := gasmtest.NeedEachJDK(t, wanted)[0]
	c := open(t, start(t, j, "-Djdk.trackAllThreads=false", "Unmounted", "40", "0", "0", "0", "0"))
	n, err := c.Count(1000)
	require.NoError(t, err)
	assert.Equal(t, []int{10, 31, 31}, []int{n.Untracked, n.Threads, n.Looked})
}

// TestZGC checks that virtual threads are not counted if ZGC may have moved them.
func TestZGC(t *testing.T) {
	j := gasmtest.NeedEachJDK(t, wanted)[0]
	c := open(t, start(t, j, "-XX:+UseZGC", "Unmounted", "40", "0", "0", "0", "0"))
	_, err := c.Count(1000)
	assert.ErrorIs(t, err, ErrCollector)
}

// TestOld checks that a JVM that is too old for virtual threads is recognized.
func TestOld(t *testing.T) {
	j := gasmtest.NeedEachJDK(t, func(j gasmtest.JDK) bool { return j.Feature == 17 })[0]
	pid := start(t, j, "Unmounted")
	_, err := NewCounter(shared.NewJVMs(), pid)
	assert.ErrorIs(t, err, ErrNone)
}
