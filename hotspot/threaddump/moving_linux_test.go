package threaddump

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// possible are the Java frames that a switching thread can have.
var possible = regexp.MustCompile(`^((at .*(Unsafe|LockSupport|Thread|VirtualThread|\bU)\S*\(.*\n)*` +
	`((at Doing.even\(.*\n){1,4}|(at Doing.odd\(.*\n){1,6})?(at java.lang.Thread.yield\S*\(.*\n)?at Doing.switching\(.*\n` +
	`at Doing.lambda\S+\(.*\nat Doing\$\$Lambda\S*\(.*\nat Doing.lambda\S+\(.*\nat Doing\$\$Lambda\S*\(.*\n(at java.lang.Thread.run\S*\(.*\n)+)?$`)

// isPossible reports whether a switching thread can have these Java frames. If outer frames are missing, which happens
// at the first instructions of a method, the frames must be the innermost ones of a possible stack.
func isPossible(lines string, outerMissing bool) bool {
	if possible.MatchString(lines) {
		return true
	}
	const outer = "at Doing.switching(\nat Doing.lambda0(\nat Doing$$Lambda(\nat Doing.lambda1(\nat Doing$$Lambda(\nat java.lang.Thread.run(\n"
	for _, all := range []string{strings.Repeat("at Doing.even(\n", 4) + outer,
		strings.Repeat("at Doing.odd(\n", 6) + outer} {
		for outerMissing && all != "" {
			if possible.MatchString(lines + all) {
				return true
			}
			_, all, _ = strings.Cut(all, "\n")
		}
	}
	return false
}

// outerMissing reports whether t's stack lacks outer frames.
func (t *Thread) outerMissing() bool {
	if t.Stack == Partly || len(t.Frames) == 0 {
		return t.Stack != Whole
	}
	last := t.Frames[len(t.Frames)-1].Kind
	return last.Mark() && last != callstack.NoCaller
}

func TestPossible(t *testing.T) {
	const park, even, odd = "at java.util.concurrent.locks.LockSupport.parkNanos(\n", "at Doing.even(\n", "at Doing.odd(\n"
	const outer = "at Doing.switching(\nat Doing.lambda$main$1(\nat Doing$$Lambda.run(\nat Doing.lambda$start$0(\nat Doing$$Lambda.run(\nat java.lang.Thread.run(\n"
	for _, c := range []struct {
		lines      string
		whole, cut bool // whether it is possible as a whole stack, and as one whose outer frames are missing
	}{
		{"", true, true},
		{outer, true, true},
		{park + even + outer, true, true},
		{park, false, true},
		{park + even, false, true},
		{park + odd + odd, false, true},
		{outer[:strings.Index(outer, "at Doing.lambda$start")], false, true},
		{strings.Repeat(even, 4), false, true},
		{strings.Repeat(even, 5), false, false},
		{even + odd, false, false},
		{even + odd + outer, false, false},
		{"at Doing.busy(\n", false, false},
	} {
		assert.Equal(t, c.whole, isPossible(c.lines, false), c.lines)
		assert.Equal(t, c.cut, isPossible(c.lines, true), c.lines)
	}
}

// TestSwitching reads threads that run and block all the time. No stack is wrong.
func TestSwitching(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := needStacks(t)
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 })
	p := start(t, jdks[len(jdks)-1], classes, "switching")
	counts := map[Stack]int{}
	found := func() int { return counts[Whole] + counts[Partly] + counts[Sampled] }
	for n, until := 0, time.Now().Add(time.Minute); n < 20 || found() == 0 && time.Now().Before(until); n++ {
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
				assert.True(t, isPossible(lines+"\n", thread.outerMissing()), "%s: %s", thread.Stack, lines)
			}
		}
		assert.Equal(t, d.Moved, moved)
	}
	t.Log(counts)
	assert.Positive(t, found())
}

// TestContending reads threads that wait for locks of each other, but at different moments. That is no deadlock.
func TestContending(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := needStacks(t)
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 })
	p := start(t, jdks[len(jdks)-1], classes, "contending")
	waiting := 0
	for n, until := 0, time.Now().Add(time.Minute); n < 20 || waiting == 0 && time.Now().Before(until); n++ {
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
