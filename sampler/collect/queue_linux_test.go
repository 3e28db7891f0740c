package collect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// TestQueue checks that a queue has its own copies of records, in their order, and says when it is full.
func TestQueue(t *testing.T) {
	d := startsDrain(t)
	walking, goOn := make(chan struct{}), make(chan struct{})
	var got []string
	var err error
	d.stacks, err = newStacks(filepath.Join(t.TempDir(), "stacks.part"),
		Options{Walk: func(_ *callstack.Writer, r *perfevent.Record, _ *native.Resolver) callstack.ID {
			if len(got) == 0 {
				close(walking)
				<-goOn
			}
			got = append(got, fmt.Sprint(r.MonoNanos, len(r.Stack), r.Stack[0], r.Stack[len(r.Stack)-1], r.Chain, r.Regs[0]))
			return 0
		}})
	require.NoError(t, err)
	t.Cleanup(func() { d.stacks.file.Close() })
	q := newQueue(d)
	r := fakeSample(0, perfevent.User, 0x1000, 0)
	r.Stack = make([]byte, 64<<10)
	n := 0
	var want []string
	put := func() { // reuses the memory for each record, as the kernel's buffers do
		n++
		r.MonoNanos, r.Regs[0], r.Chain[0] = int64(n), uint64(n), uint64(n)
		size := 1 + n%len(r.Stack)
		whole := r.Stack
		r.Stack = whole[:size]
		r.Stack[0], r.Stack[size-1] = byte(n), byte(n)
		q.put(r)
		want = append(want, fmt.Sprint(n, size, byte(n), byte(n), []uint64{uint64(n)}, n))
		r.Stack = whole
	}
	put()
	q.looked()
	<-walking
	assert.False(t, q.full())
	for !q.full() {
		for range 40 {
			put()
		}
		q.looked()
	}
	assert.Less(t, q.bytes.Load(), int64(mostQueued+8<<20))
	q.looked() // there is nothing to pass on
	close(goOn)
	q.end(func() {})
	assert.False(t, q.full())
	assert.Zero(t, q.bytes.Load())
	assert.Equal(t, want, got)
}

// BenchmarkQueue measures how much memory is allocated for a sample. Once the queue has allocated its batches, it is
// none.
func BenchmarkQueue(b *testing.B) {
	d, _ := startsStacks(b, filepath.Join(b.TempDir(), "stacks.part"))
	d.stacks.walk = func(*callstack.Writer, *perfevent.Record, *native.Resolver) callstack.ID { return 1 }
	d.file.Close()
	var err error
	d.file, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(b, err)
	q := newQueue(d)
	r := fakeSample(0, perfevent.User, 0x1000)
	r.Stack = make([]byte, 8<<10)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for q.full() {
			runtime.Gosched()
		}
		r.MonoNanos = int64(n)
		q.put(r)
		if n%20 == 0 {
			q.looked()
		}
	}
	q.end(func() {})
}

// TestWalkBlocks makes a walk wait forever, as it might in a hostile process. The samples must be recorded
// nevertheless, and the recording must end when the walk is told to give up.
func TestWalkBlocks(t *testing.T) {
	gasmtest.NeedNative(t)
	x := collecttest.Hold(t, collecttest.Execs(`while :; do :; done`))
	blocked, givenUp := make(chan struct{}), make(chan struct{})
	var once sync.Once
	walks := 0
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 999, Dir: t.TempDir(),
		Walk: func(w *callstack.Writer, r *perfevent.Record, _ *native.Resolver) callstack.ID {
			walks++
			once.Do(func() { close(blocked) })
			<-givenUp
			return w.Push(0, callstack.At(callstack.Unwalked, 0))
		},
		GiveUp: func() { close(givenUp) },
	})
	x.Release(t)
	<-blocked
	time.Sleep(2 * stackPause) // for more samples
	stopping, cancel := context.WithCancel(t.Context())
	cancel() // as after a signal
	require.NoError(t, n.Stop(stopping))
	assert.Empty(t, n.Notes())
	samples, _ := written(t, n)
	tree := readStacks(t, n.StacksFile())
	assert.Equal(t, 1, walks)
	assert.Greater(t, len(samples), 1)
	for _, s := range samples {
		for f, caller := tree.Frame(s.Stack); f != nil; f, caller = tree.Frame(caller) {
			assert.Contains(t, []callstack.Kind{callstack.Unwalked, callstack.Kernel}, f.Kind)
		}
	}
}
