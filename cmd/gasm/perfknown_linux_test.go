package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
)

// recordChains profiles Stacks.java with perf and call stacks, until perf has written the given number of bytes. It
// returns the profile, and the code that HotSpot had.
func recordChains(t *testing.T, size int64, jvmFlags ...string) (*profile.Profiles, []printassembly.Blob) {
	t.Helper()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	dir := filepath.Join(t.TempDir(), "capture")
	go func() { // the program ends when its stdin is closed
		defer out.Close()
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if info, err := os.Stat(filepath.Join(dir, "perf.data")); err == nil && info.Size() >= size {
				return
			}
		}
	}()
	java := append(append([]string{gasmtest.NeedJava(t)}, jvmFlags...), "-XX:CompileCommand=quiet",
		"-XX:CompileCommand=dontinline,Stacks::work", "-cp", javaPrograms(t), "Stacks")
	args := append([]string{"profile", "--sampler", "perf", "--stacks", "--events", "none", "--frequency", "997", "-o",
		dir, "--skip-asm", "--"}, java...)
	r := runGasm(t, args, func(cmd *exec.Cmd) { cmd.Stdin = in })
	require.Equal(t, 0, r.code, r.stderr)
	c, err := capture.Open(dir)
	require.NoError(t, err)
	defer c.Close()
	assert.Equal(t, capture.ChainsVersion, c.Stacks)
	ps, err := profile.Of(c, choice.Options{Stacks: true, Locations: true})
	require.NoError(t, err)
	return ps, slices.Clone(c.JVMs[0].Log.Blobs)
}

// javaOf returns the names of the Java methods in a location, the outermost first. interpreted is true if the
// location has frames of the interpreter other than those of the methods with which each thread of Stacks.java
// begins. mark is the mark of the stack. release is that of the JDK.
func javaOf(ps *profile.Profiles, l *profile.Location, release int) (names []string, interpreted bool,
	mark callstack.Kind) {
	if l.Stack == 0 {
		mark = callstack.Unwalked
	}
	for f := range ps.Stacks.Frames(l.Stack) {
		switch {
		case f.Kind.Mark():
			mark = f.Kind
		case f.Kind.Java():
			names = append(names, f.Name)
		}
	}
	slices.Reverse(names)
	if l.CompileID > 0 {
		names = append(names, l.Name)
	}
	outermost := []string{"java.lang.Thread::run", "Stacks$$Lambda::run", "Stacks::lambda$main$0", "Stacks::loop",
		"Stacks$$Lambda::run"}
	if release >= 19 {
		outermost = slices.Insert(outermost, 1, "java.lang.Thread::runWith")
	}
	for i, begin := range outermost {
		if i < len(names) && names[i] == "" {
			names[i] = begin
		}
	}
	return names, slices.Contains(names, ""), mark
}

// hasUnseenCode reports whether a location's stack has a frame in code of HotSpot that gasm could not copy. With perf,
// gasm looks at the code cache each 320 ms at most. So it has neither the names nor the inlined methods of what HotSpot
// compiles just before the program ends.
func hasUnseenCode(ps *profile.Profiles, blobs []printassembly.Blob, l *profile.Location) bool {
	for f := range ps.Stacks.Frames(l.Stack) {
		if f.Kind == callstack.Stub && f.Name == "" || f.Kind == callstack.Compiled && !isCopied(blobs, f.PC) {
			return true
		}
	}
	return false
}

// isCopied reports whether all methods that were at an address at any time have their code.
func isCopied(blobs []printassembly.Blob, pc uint64) bool {
	for i := range blobs {
		if b := &blobs[i]; b.Kind.Java() && b.Lo <= pc && pc < b.Hi && !b.HasCode {
			return false
		}
	}
	return true
}

// TestPerfKnownStacks checks that with frame pointers, perf's chains become the stacks that the program's source
// implies. Each stack that is wrong must have a mark.
func TestPerfKnownStacks(t *testing.T) {
	t.Parallel()
	gasmtest.NeedPerf(t)
	gasmtest.NeedTime(t)
	ps, blobs := recordChains(t, 500_000, "-XX:+PreserveFramePointer")
	var judged, whole, right, warming, unseen int64
	release := gasmtest.NeedJDKs(t, gasmtest.JDK.IsDefault)[0].Feature
	shown := 0
	for i := range ps.Trials[0].Locations {
		l := &ps.Trials[0].Locations[i]
		names, interpreted, mark := javaOf(ps, l, release)
		ok, known := gasmtest.KnownStack(l.Thread, names)
		n := l.Counts[0]
		switch {
		case !known:
		case interpreted:
			warming += n
		case hasUnseenCode(ps, blobs, l):
			unseen += n
		default:
			judged += n
			if mark != 0 {
				break
			}
			whole += n
			if ok {
				right += n
			} else if shown++; shown <= 12 {
				t.Logf("%d of %s in %s %s %x: %q", n, l.Thread, l.Module, l.Name, l.PC, names)
			}
		}
	}
	t.Logf("%d judged, %d whole, %d right, %d in methods that were not compiled yet, %d in code that gasm has not seen",
		judged, whole, right, warming, unseen)
	assert.LessOrEqual(t, float64(unseen), 0.3*float64(judged))
	require.Positive(t, whole)
	assert.GreaterOrEqual(t, float64(right), 0.99*float64(whole))
	assert.GreaterOrEqual(t, float64(whole), 0.5*float64(judged))
	checkChainAccount(t, ps)
}

// TestPerfStacksWithoutFramePointers checks that without the JVM's option for frame pointers, gasm shows no frame
// beyond the innermost Java frame.
func TestPerfStacksWithoutFramePointers(t *testing.T) {
	t.Parallel()
	gasmtest.NeedPerf(t)
	gasmtest.NeedTime(t)
	ps, _ := recordChains(t, 100_000)
	var cut int64
	for i := range ps.Trials[0].Locations {
		l := &ps.Trials[0].Locations[i]
		physical := 0
		if l.CompileID > 0 {
			physical++
		}
		for f := range ps.Stacks.Frames(l.Stack) {
			if f.Kind == callstack.Compiled || f.Kind == callstack.Interpreted {
				physical++
			}
			if f.Kind == callstack.Cut {
				cut += l.Counts[0]
			}
		}
		assert.LessOrEqual(t, physical, 1, "%+v", l)
	}
	assert.Positive(t, cut)
	assert.Contains(t, ps.Capture.Notes[len(ps.Capture.Notes)-1], "-XX:+PreserveFramePointer")
	checkChainAccount(t, ps)
}

func checkChainAccount(t *testing.T, ps *profile.Profiles) {
	t.Helper()
	a := ps.Trials[0].Accounts[0]
	t.Logf("%+v", a)
	assert.Equal(t, a.Profiled, a.Whole+a.Cut+a.Frozen+a.Unwalked)
	var sum int64
	for _, l := range ps.Trials[0].Locations {
		sum += l.Counts[0]
	}
	assert.Equal(t, a.Profiled, sum)
}
