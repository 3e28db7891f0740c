package threaddump

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// possible are the Java frames that a switching thread can have.
var possible = regexp.MustCompile(`^((at .*(Unsafe|LockSupport|Thread|VirtualThread|\bU)\S*\(.*\n)*` +
	`((at Doing.even\(.*\n){1,4}|(at Doing.odd\(.*\n){1,6})?(at java.lang.Thread.yield\S*\(.*\n)?at Doing.switching\(.*\n` +
	`at Doing.lambda\S+\(.*\nat Doing\$\$Lambda\S*\(.*\nat Doing.lambda\S+\(.*\nat Doing\$\$Lambda\S*\(.*\n(at java.lang.Thread.run\S*\(.*\n)+)?$`)

// TestSwitching reads threads that run and block all the time. No stack is wrong.
func TestSwitching(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := needStacks(t)
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 })
	p := start(t, jdks[len(jdks)-1], classes, "switching")
	counts := map[Stack]int{}
	for range 20 {
		d := p.read(t)
		moved := 0
		for i := range d.Threads {
			thread := &d.Threads[i]
			if thread.Stack == Moved {
				moved++
			}
			if thread.Name != "switching" {
				continue
			}
			counts[thread.Stack]++
			if lines := strings.Join(d.javaLines(thread), "\n"); lines != "" {
				assert.Regexp(t, possible, lines+"\n", "%s", thread.Stack)
			}
		}
		assert.Equal(t, d.Moved, moved)
	}
	t.Log(counts)
	assert.Positive(t, counts[Whole]+counts[Partly]+counts[Sampled])
}

// TestContending reads threads that wait for locks of each other, but at different moments. That is no deadlock.
func TestContending(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := needStacks(t)
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 })
	p := start(t, jdks[len(jdks)-1], classes, "contending")
	waiting := 0
	for range 20 {
		d := p.read(t)
		for _, deadlock := range d.Deadlocks {
			for _, i := range deadlock {
				assert.NotEqual(t, "contending", d.Threads[i].Name)
			}
		}
		for i := range d.Threads {
			if l := d.Threads[i].waits(); l != nil && d.Threads[i].Name == "contending" {
				waiting++
				assert.NotEqual(t, i, l.Owner, "a thread waits for its own lock")
			}
		}
	}
	assert.Positive(t, waiting)
}

// TestUndisturbed checks that reading a JVM wakes none of its threads up.
func TestUndisturbed(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := needStacks(t)
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 })
	p := start(t, jdks[len(jdks)-1], classes, "")
	tids := map[string]int{}
	for name := range known {
		tids[name] = p.read(t).named(t, name).TID
	}
	switches := func(tid int) uint64 {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", p.cmd.Process.Pid, tid))
		require.NoError(t, err)
		return parseSwitches(string(text)).Count
	}
	for _, name := range []string{"holding", "waiting", "timed", "parked", "owning", "locking", "accepting", "receiving"} {
		before := switches(tids[name])
		p.read(t)
		assert.Equal(t, before, switches(tids[name]), name)
	}
}
