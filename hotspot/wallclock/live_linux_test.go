package wallclock

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/wall"
)

var programs gasmtest.Classes

func TestMain(m *testing.M) { os.Exit(programs.Main(m)) }

// A program is a running Java program.
type program struct{ *gasmtest.Program }

// start starts a program of testdata, and waits until it says that it is ready.
func start(t *testing.T, j gasmtest.JDK, class string, args ...string) *program {
	t.Helper()
	return startWith(t, j, nil, class, args...)
}

// startWith is start with options for the JVM.
func startWith(t *testing.T, j gasmtest.JDK, options []string, class string, args ...string) *program {
	t.Helper()
	gasmtest.NeedNative(t)
	if !stack.Supported() {
		t.Skip("stacks can't be walked on this processor")
	}
	folder := programs.Of(t, "Doing.java", "Waits.java", "Blocks.java", "Unmounted.java")
	p, _ := gasmtest.StartProgram(t, j.Java(),
		slices.Concat([]string{"-cp", folder, "-Xss512k"}, options, []string{class}, args)...)
	return &program{p}
}

// A recorded holds what was recorded of a program.
type recorded struct {
	head     *wall.Head
	end      *wall.End
	names    map[int]string // of threads
	locks    map[int]*wall.Lock
	spells   []*wall.Spell
	tree     *callstack.Tree
	result   Result
	virtuals []*wall.Virtuals
	counts   []*wall.VirtualCount
}

// record records the program until wait returns.
func (p *program) record(t *testing.T, o Options, wait func()) *recorded {
	t.Helper()
	var text bytes.Buffer
	o.JVMs, o.Out = shared.NewJVMs(), &text
	var r *Recorder
	require.EventuallyWithT(t, func(c *assert.CollectT) { // on a busy machine, the kernel may not list the memory in time
		var err error
		r, err = Start(p.Cmd.Process.Pid, o)
		assert.NoError(c, err)
	}, time.Minute, 100*time.Millisecond)
	wait()
	result := r.Stop()
	require.NoError(t, result.Read)
	require.NoError(t, result.Write)
	rec := read(t, text.String())
	rec.result = result
	return rec
}

// read reads a file. It checks that each thread's spells cover its life without gaps and overlaps, and that their times
// add up.
func read(t *testing.T, text string) *recorded {
	t.Helper()
	x := &recorded{names: map[int]string{}, locks: map[int]*wall.Lock{}}
	r := wall.NewReader(strings.NewReader(text), "wall")
	to := map[int]int64{}
	for r.Scan() {
		switch record := r.Record().(type) {
		case *wall.SyntaxError:
			require.NoError(t, record)
		case *wall.Head:
			x.head = record
		case *wall.Thread:
			x.names[record.Number] = record.Name
			if to[record.Number] == 0 {
				to[record.Number] = record.BornMonoNanos
			}
		case *wall.Lock:
			x.locks[record.Number] = record
		case *wall.Spell:
			require.Equal(t, to[record.Thread], record.FromMonoNanos)
			require.Equal(t, record.ToMonoNanos-record.FromMonoNanos, record.Ran+record.Runnable+record.Blocked)
			to[record.Thread] = record.ToMonoNanos
			x.spells = append(x.spells, record)
		case *wall.Ended:
			require.Equal(t, to[record.Thread], record.MonoNanos)
			delete(to, record.Thread)
		case *wall.VirtualCount:
			x.counts = append(x.counts, record)
		case *wall.Virtuals:
			x.virtuals = append(x.virtuals, record)
		case *wall.End:
			x.end = record
		}
	}
	require.NoError(t, r.Err())
	require.NotNil(t, x.end)
	for thread, at := range to {
		require.Equal(t, x.end.ToMonoNanos, at, x.names[thread])
	}
	x.tree = r.Stacks()
	return x
}

// of returns the spells of all threads with the given name.
func (x *recorded) of(name string) (spells []*wall.Spell) {
	for _, s := range x.spells {
		if x.names[s.Thread] == name {
			spells = append(spells, s)
		}
	}
	return spells
}

// threadsNamed returns the number of threads with the given name.
func (x *recorded) threadsNamed(name string) (n int) {
	for _, of := range x.names {
		if of == name {
			n++
		}
	}
	return n
}
