package stack

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A seen is a sample with its stack.
type seen struct {
	thread string
	stack  []callstack.Frame // innermost first
	leaf   string            // the compiled method that was sampled; "" for all other code
	blob   string            // the piece of code that was sampled
	kernel bool
	last   string // the code at which the walk ended
	// replaced is true if the walk ended because HotSpot replaced code between two Polls: two methods may have been at
	// the return address when the sample was taken.
	replaced bool
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

// sampleStacks runs java with some arguments. As soon as the program has printed "READY", it walks the stacks of
// samples, until it has as many as wanted.
func sampleStacks(t *testing.T, java string, wanted int, args ...string) []seen {
	t.Helper()
	cmd := exec.Command(java, args...)
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
	cpuClock := perfevent.Event{Name: "cpu-clock", Type: unix.PERF_TYPE_SOFTWARE,
		Config: [3]uint64{unix.PERF_COUNT_SW_CPU_CLOCK}}
	set, err := perfevent.OpenRunning([]int{pid}, perfevent.Options{Events: []perfevent.Event{cpuClock}, Frequency: 997,
		Stacks: perfevent.MaxStack, DrainEvery: 20 * time.Millisecond})
	require.NoError(t, err)
	defer set.Close()
	mappings := native.NewResolver()
	maps, err := native.ReadMaps(pid)
	require.NoError(t, err)
	mappings.Add(maps...)
	jvms := shared.NewJVMs()
	t.Cleanup(pollBeside(jvms, pid))
	w := NewWalker(jvms)
	out := callstack.NewWriter(io.Discard)
	var all []seen
	names := map[int32]string{}
	callers := 0
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
		walkWhenRead(w, out, r, mappings)
		if pc := w.Caller(); pc != 0 {
			b, _ := w.jvms[pid].view.Cache.At(pc, r.MonoNanos)
			require.NotNil(t, b)
			require.NotNil(t, b.Method, "%s", b.Name)
			called := func(f callstack.Frame) bool { return f.Kind == callstack.Compiled && f.CompileID == b.Method.ID }
			assert.True(t, slices.ContainsFunc(framesOf(&w.walk), called), "%s is on the stack", b.Name)
			callers++
		}
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
		switch p := w.walk.place(); {
		case p.code != nil:
			s.last = fmt.Sprintf("%s+%#x of %#x", p.code.Name, w.walk.at.PC-p.code.Lo, p.code.Hi-p.code.Lo)
		case p.mapped != nil:
			s.last = fmt.Sprintf("%s+%#x", p.mapped.Path, w.walk.at.PC-p.mapped.Lo)
		case w.walk.jvm.openJVM != nil:
			var b *codecache.Blob
			b, s.replaced = w.walk.jvm.view.Cache.At(w.walk.at.PC-1, r.MonoNanos)
			s.last = fmt.Sprintf("%#x, where %+v was (or another blob: %v) at %d", w.walk.at.PC, b, s.replaced, r.MonoNanos)
		}
		all = append(all, s)
	}
	began := monotonic.Nanos()
	for len(all) < wanted {
		set.Wait(20 * time.Millisecond)
		set.Drain(false, take)
		require.Less(t, monotonic.Nanos()-began, int64(2*time.Minute), "enough samples")
	}
	t.Logf("%d callers to be copied", callers)
	if i := slices.IndexFunc(all, func(s seen) bool { return s.mark() == 0 }); i >= 0 {
		outermost := all[i].stack[len(all[i].stack)-1]
		at := &perfevent.ThreadState{ABI: perfevent.ABI64}
		at.Regs[w.processor.pc] = outermost.PC
		id := walkWhenRead(w, out, &perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.User, PID: int32(pid),
			MonoNanos: monotonic.Nanos(), IP: outermost.PC, ThreadState: at}, mappings)
		require.Equal(t, out.Push(0, callstack.At(callstack.NoCaller, 0)), id,
			"a sample in the outermost function has a whole stack, not one that ends with %v", w.walk.mark)
	}
	return all
}

// pollBeside polls the JVM's code cache, as in a recording the goroutine does that copies methods. So even code that
// exists only for a short time is known, although walks take long.
func pollBeside(jvms *shared.JVMs, pid int) (stop func()) {
	done, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		var v *shared.View
		for every := time.Tick(20 * time.Millisecond); ; {
			if v == nil {
				v, _ = jvms.Open(pid)
			} else if _, _, err := v.Poll(monotonic.Nanos()); err != nil {
				return
			}
			select {
			case <-every:
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}

// walkWhenRead walks the stack of a sample. It repeats that while the walk ends in a library whose symbols are still
// being read.
func walkWhenRead(w *Walker, out *callstack.Writer, r *perfevent.Record, mappings *native.Resolver) callstack.ID {
	for {
		reading := isReading(w)
		id := w.Walk(out, r, mappings)
		if w.walk.mark != callstack.Unwalked || !reading && !isReading(w) {
			return id
		}
	}
}

// isReading reports whether a library is being read. That takes long if there is no CPU for it, and walks that need the
// library fail until then. If a library is being read, isReading waits a moment.
func isReading(w *Walker) bool {
	for _, l := range w.libraries {
		if l.reading != nil && len(l.reading.done) == 0 {
			time.Sleep(time.Millisecond)
			return true
		}
	}
	return false
}
