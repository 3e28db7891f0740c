package stack

import (
	"bytes"
	"fmt"
	"io"
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
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A seen is a sample with its stack as text, from the outermost frame to the method that was sampled.
type seen struct {
	thread string
	stack  []callstack.Frame // innermost first
	leaf   string            // the compiled method that was sampled; "" for all other code
	blob   string            // the piece of code that was sampled
	kernel bool
}

// java returns the names of the stack's Java methods, the outermost first, and that of the leaf.
func (s *seen) java() []string {
	var names []string
	for _, f := range slices.Backward(s.stack) {
		if f.Kind.Java() {
			names = append(names, f.Name)
		}
	}
	if s.leaf != "" {
		names = append(names, s.leaf)
	}
	return names
}

// mark returns the mark of the stack, or 0 if it is whole.
func (s *seen) mark() callstack.Kind {
	if n := len(s.stack); n > 0 && s.stack[n-1].Kind.Mark() {
		return s.stack[n-1].Kind
	}
	return 0
}

// framesOf returns the frames of a walk.
func framesOf(k *walk) (frames []callstack.Frame) {
	for _, f := range k.frames {
		frames = append(frames, f.Frame)
	}
	return frames
}

// sampleStacks runs Stacks.java and walks the stacks of that many samples, after the program has run for a while.
func sampleStacks(t *testing.T, java string, wanted int, flags ...string) []seen {
	t.Helper()
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Stacks.java"))
	args := append([]string{"-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Stacks::work"}, flags...)
	cmd := exec.Command(java, append(args, "-cp", classes, "Stacks")...)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	defer func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	ready := make([]byte, 6)
	_, err = io.ReadFull(stdout, ready)
	require.NoError(t, err, &stderr)
	pid := cmd.Process.Pid
	cpuClock := perfevent.Event{Name: "cpu-clock", Type: unix.PERF_TYPE_SOFTWARE, Config: [3]uint64{unix.PERF_COUNT_SW_CPU_CLOCK}}
	set, err := perfevent.OpenRunning([]int{pid}, perfevent.Options{Events: []perfevent.Event{cpuClock}, Frequency: 397, Stacks: perfevent.MaxStack, DrainEvery: 20 * time.Millisecond})
	require.NoError(t, err)
	defer set.Close()
	mappings := native.NewResolver()
	maps, err := native.ReadMaps(pid)
	require.NoError(t, err)
	mappings.Add(maps...)
	w := NewWalker(shared.NewJVMs())
	out := callstack.NewWriter(io.Discard)
	var all []seen
	names := map[int32]string{}
	take := func(r *perfevent.Record) {
		if r.Kind == perfevent.Mapping {
			mappings.Add(native.Mapping{PID: pid, Lo: r.Map.Lo, Hi: r.Map.Hi, FileOffset: r.Map.FileOffset, Path: r.Map.Path,
				DevMajor: r.Map.Major, DevMinor: r.Map.Minor, Inode: r.Map.Inode})
		}
		if r.Kind != perfevent.Sample {
			return
		}
		if names[r.TID] == "" {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, r.TID))
			names[r.TID] = strings.TrimSpace(string(comm))
		}
		w.Walk(out, r, mappings)
		s := seen{thread: names[r.TID], stack: framesOf(&w.walk), kernel: r.Mode == perfevent.Kernel}
		if w.walk.mark != 0 {
			s.stack = append(s.stack, callstack.Frame{Kind: w.walk.mark})
		}
		if j := w.jvms[pid]; j.openJVM != nil && !s.kernel {
			if b, _ := j.view.Cache.At(r.IP, r.MonoNanos); b != nil {
				if s.blob = fmt.Sprintf("%s+%#x", b.Name, r.IP-b.Lo); b.Method != nil {
					s.leaf = b.Name
				}
			}
		}
		all = append(all, s)
	}
	began := monotonic.Nanos()
	for len(all) < wanted {
		set.Wait(20 * time.Millisecond)
		set.Drain(false, take)
		require.Less(t, monotonic.Nanos()-began, int64(2*time.Minute), "enough samples")
	}
	return all
}

// knownThreads are the threads of Stacks.java, and what their Java methods must be: the outermost ones of each sample,
// and all of them where the leaf is work.
var knownThreads = map[string]struct{ all, outer string }{
	"recursion":   {`Stacks::recursion( Stacks::recurse){201}`, `Stacks::recursion`},
	"random":      {`Stacks::random( Stacks::recurse){1,128}`, `Stacks::random`},
	"lambda":      {`Stacks::lambda( \S*ambda\S*)+`, `Stacks::lambda`},
	"megamorphic": {`Stacks::megamorphic Stacks\$(Circle|Square|Star)::area`, `Stacks::megamorphic`},
	"thrown":      {`Stacks::thrown`, `Stacks::thrown`},
	"sorted":      {`Stacks::sorted java.util.ArrayList::sort( java.util.ArrayList::sortRange)? java.util.Arrays::sort java.util.TimSort::sort( java.util.TimSort::\w+)?( \S*ambda\S*::compare)? Stacks::compare`, `Stacks::sorted`},
	"reflected":   {`Stacks::reflected( \S*(reflect|invoke|Accessor|LambdaForm)\S*)+`, `Stacks::reflected`},
	"locked":      {`Stacks::locked`, `Stacks::locked`},
	"locked too":  {`Stacks::locked`, `Stacks::locked`},
	"format":      {``, `Stacks::format`},
	"deflated":    {``, `Stacks::deflated`},
	"allocated":   {``, `Stacks::allocated`},
	"copied":      {``, `Stacks::copied`},
	"read":        {``, `Stacks::read`},
	"timed":       {``, `Stacks::timed`},
	"built":       {``, `Stacks::built`},
}

// outermost are the methods from Thread.run to the thread's own method. The sampled method is the last one that is known,
// because methods that were inlined at the sampled instruction are not on the stack.
const (
	outermost = `^java.lang.Thread::run Stacks::lambda\$main\$\d+ Stacks::loop `
	outerOnly = `^java.lang.Thread::run( Stacks::lambda\$main\$\d+( Stacks::loop( %s.*)?)?)?$`
)

// notOurs are methods that the JDK puts between those of Stacks.java, some releases more than others.
var notOurs = regexp.MustCompile(` (java.lang.Thread::runWith|\S*Lambda\S*::run)\b`)

// judge compares the samples of the known threads with what the source says. It returns how many of them are whole, and
// how many of these are as they must be.
func judge(t *testing.T, all []seen) (whole, right, judged int) {
	t.Helper()
	shown := map[string]int{}
	for i := range all {
		s := &all[i]
		known, ok := knownThreads[s.thread]
		if !ok {
			continue
		}
		judged++
		mark := s.mark()
		if mark == 0 {
			whole++
		}
		text := strings.Join(s.java(), " ")
		text = notOurs.ReplaceAllString(text, "")
		want := fmt.Sprintf(outerOnly, known.outer)
		if strings.HasSuffix(text, " Stacks::work") && known.all != "" {
			want = outermost + known.all + ` Stacks::work$`
		}
		if regexp.MustCompile(want).MatchString(text) {
			if mark == 0 {
				right++
			}
		} else if shown[s.thread]++; shown[s.thread] <= 2 {
			t.Logf("%s: leaf %q %s, mark %v, kernel %v: %s", s.thread, s.leaf, s.blob, mark, s.kernel, text)
			for _, f := range s.stack {
				t.Logf("      %v %x %s %s@%d:%d", f.Kind, f.PC, f.Module, f.Name, f.BCI, f.Line)
			}
		}
	}
	return whole, right, judged
}

func TestKnownStacks(t *testing.T) {
	gasmtest.NeedNative(t)
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 }) {
		t.Run(j.Name(), func(t *testing.T) {
			all := sampleStacks(t, j.Java(), 3000)
			whole, right, judged := judge(t, all)
			t.Logf("%d samples, %d judged, %d whole, %d right", len(all), judged, whole, right)
			assert.GreaterOrEqual(t, float64(whole), 0.995*float64(judged))
			assert.GreaterOrEqual(t, float64(right), 0.999*float64(whole))
		})
	}
}
