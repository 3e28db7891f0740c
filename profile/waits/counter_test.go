package waits

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/wall"
)

const pid = 4711

// A recording writes a file in the format of package wall.
type recording struct {
	*wall.Writer
	text    bytes.Buffer
	threads int
}

func record() *recording {
	r := &recording{}
	r.Writer = wall.NewWriter(&r.text, wall.Head{PID: pid, Hertz: 20, FromMonoNanos: 1})
	return r
}

// thread adds a Java thread that is born at the time born, and returns its number.
func (r *recording) thread(name string, born int64) int {
	r.threads++
	r.Thread(&wall.Thread{Number: r.threads, TID: 100 + r.threads, NID: r.threads, JavaID: int64(r.threads),
		BornMonoNanos: born, Name: name})
	return r.threads
}

// stack returns a stack of Java methods, which are listed from the outermost one.
func (r *recording) stack(methods ...string) (id callstack.ID) {
	for i, m := range methods {
		id = r.Push(id, callstack.Frame{Kind: callstack.Interpreted, BCI: 1, Line: 10 * (i + 1), Name: m})
	}
	return id
}

// spell adds a spell whose whole time counts as its state.
func (r *recording) spell(thread int, from, to int64, state wall.State, stack callstack.ID, lock int, detail string) {
	s := wall.Spell{Thread: thread, FromMonoNanos: from, ToMonoNanos: to, State: state, Stack: stack, Lock: lock,
		Detail: detail}
	switch state {
	case wall.OnProcessor:
		s.Ran = to - from
	case wall.Runnable:
		s.Runnable = to - from
	}
	r.Spell(&s)
}

// counter returns a Counter that has read the recording.
func (r *recording) counter(t *testing.T, c Config, measured ...windows.Measurement) *Counter {
	t.Helper()
	require.NoError(t, r.Flush())
	if measured == nil {
		measured = []windows.Measurement{{PIDs: []int{pid}}}
	}
	c.Trials = len(measured)
	c.Timelines, _ = windows.Timelines(measured)
	x := NewCounter(c)
	require.Empty(t, x.Read(wall.NewReader(&r.text, "wall"), pid))
	return x
}

func (r *recording) table(t *testing.T) *Table {
	t.Helper()
	table := r.counter(t, Config{}).Table(0, []int{pid}, event.SiteOwn)
	checkSums(t, table)
	return table
}

// checkSums checks sums that must be right in every table.
func checkSums(t *testing.T, table *Table) {
	t.Helper()
	a := table.Account
	assert.Equal(t, a.Total, a.OutsideWindow+a.OtherThread+a.OutsideMethod+a.NotUnder+a.Profiled)
	assert.GreaterOrEqual(t, min(a.OutsideWindow, a.OtherThread, a.OutsideMethod, a.NotUnder, a.Profiled), int64(0))
	assert.Equal(t, a.Profiled, table.Times.Sum())
	var byThread, byPool Times
	var blocked, idle, idleThreads, queued int64
	for i := range table.Threads {
		th := &table.Threads[i]
		byThread.Add(&th.Times)
		blocked += th.Times.Blocked()
		if th.Idle {
			idle += th.Times.Sum()
			idleThreads++
		} else {
			queued += th.Queued
		}
		var spans int64
		for k, s := range th.Spans {
			assert.Less(t, s.FromMonoNanos, s.ToMonoNanos)
			if k > 0 {
				assert.LessOrEqual(t, th.Spans[k-1].ToMonoNanos, s.FromMonoNanos)
			}
			spans += s.ToMonoNanos - s.FromMonoNanos
		}
		assert.GreaterOrEqual(t, spans, th.Times.Sum())
	}
	for i := range table.Pools {
		byPool.Add(&table.Pools[i].Times)
	}
	assert.Equal(t, table.Times, byThread)
	assert.Equal(t, table.Times, byPool)
	assert.Equal(t, Idle{int(idleThreads), idle, queued}, table.Idle)
	var placed, sums int64
	for i := range table.Places {
		p := &table.Places[i]
		placed += p.Nanos
		var stacks int64
		for _, s := range p.Stacks {
			stacks += s.Weight
		}
		assert.LessOrEqual(t, stacks, p.Nanos)
	}
	assert.Equal(t, blocked, placed)
	for _, s := range table.Sums {
		sums += s.Nanos
	}
	assert.Equal(t, a.Profiled, sums)
}

// A slowThread adds up a thread's time moment by moment: each ns of a spell gets the same part of its three times.
type slowThread struct {
	wall  int64
	times [wall.Unseen + 1]float64
}

// TestThreadsAddUp checks that the times of each thread add up to the wall clock's time in the windows, and equal those
// of a slow computation.
func TestThreadsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for run := range 40 {
		r := record()
		slow := map[string]*slowThread{}
		var in []capture.Span // the windows
		for at := int64(0); at < 1000; at += 100 + random.Int64N(300) {
			in = append(in, capture.Span{FromMonoNanos: at, ToMonoNanos: at + random.Int64N(100)})
		}
		measured := windows.Measurement{PIDs: []int{pid}}
		for _, s := range in {
			measured.Windows = append(measured.Windows, capture.Window{PID: pid, Span: s})
		}
		if run%4 == 0 {
			measured.Windows = nil
		}
		stacks := []callstack.ID{0, r.stack("A::a", "B::b"), r.stack("A::a", "java.lang.Object::wait")}
		cuts := 0.0
		for i := range 5 {
			name := "worker-" + strconv.Itoa(i)
			n, of := r.thread(name, 1), &slowThread{}
			slow[name] = of
			for at := int64(1); at < 1000; {
				s := wall.Spell{Thread: n, FromMonoNanos: at, ToMonoNanos: at + 1 + random.Int64N(80),
					State: wall.States()[random.IntN(len(wall.States()))], Stack: stacks[random.IntN(3)]}
				length := s.ToMonoNanos - s.FromMonoNanos
				s.Ran = random.Int64N(length + 1)
				s.Runnable = random.Int64N(length - s.Ran + 1)
				s.Blocked = length - s.Ran - s.Runnable
				r.Spell(&s)
				cuts++
				for ns := s.FromMonoNanos; ns < s.ToMonoNanos; ns++ {
					counts := measured.Windows == nil
					for _, w := range in {
						counts = counts || ns >= w.FromMonoNanos && ns < w.ToMonoNanos
					}
					if !counts {
						continue
					}
					of.wall++
					of.times[wall.OnProcessor] += float64(s.Ran) / float64(length)
					of.times[wall.Runnable] += float64(s.Runnable) / float64(length)
					state := s.State
					if state == wall.OnProcessor || state == wall.Runnable {
						state = wall.Unseen
					}
					of.times[state] += float64(s.Blocked) / float64(length)
				}
				at = s.ToMonoNanos
			}
		}
		table := r.counter(t, Config{}, measured).Table(0, []int{pid}, event.SiteOwn)
		checkSums(t, table)
		for _, th := range table.Threads {
			want := slow[th.Name]
			assert.Equal(t, want.wall, th.Times.Sum(), "the wall clock of %s", th.Name)
			for state, n := range th.Times {
				if measured.Windows == nil {
					assert.InDelta(t, want.times[state], float64(n), 0.01)
				} else { // each window that cuts a spell rounds its times
					assert.InDelta(t, want.times[state], float64(n), 2*cuts/5)
				}
			}
			delete(slow, th.Name)
		}
		for name, of := range slow {
			assert.Zero(t, of.wall, "%s is missing", name)
		}
	}
}

// TestChoices checks that threads, windows of threads and methods on the stack choose what counts, and that the account
// has the rest.
func TestChoices(t *testing.T) {
	r := record()
	main, other := r.thread("main", 0), r.thread("other", 0)
	under, outside := r.stack("Main::main", "Pool::take"), r.stack("Main::main")
	r.spell(main, 0, 100, wall.Park, under, 0, "")
	r.spell(main, 100, 150, wall.Sleep, outside, 0, "")
	r.spell(main, 150, 160, wall.OnProcessor, 0, 0, "")
	r.spell(other, 0, 160, wall.Sleep, under, 0, "")
	require.NoError(t, r.Flush())
	text := r.text.String()
	choice, err := threads.ParseChoice("main")
	require.NoError(t, err)
	pattern, err := calltree.ParsePattern("Pool::take")
	require.NoError(t, err)
	for _, c := range []struct {
		name   string
		config Config
		want   Account
	}{
		{"all", Config{}, Account{Total: 320, OutsideWindow: 20, Profiled: 300}},
		{"a thread", Config{Threads: choice}, Account{Total: 320, OutsideWindow: 20, OtherThread: 150, Profiled: 150}},
		{"under", Config{Under: pattern}, Account{Total: 320, OutsideWindow: 20, NotUnder: 60, Profiled: 240}},
		{"inside", Config{Inside: pattern}, Account{Total: 320, OutsideWindow: 20, OutsideMethod: 60, Profiled: 240}},
		{"inside by times", Config{MethodWindows: windows.InsideMethod{}},
			Account{Total: 320, OutsideWindow: 20, OutsideMethod: 300}},
	} {
		t.Run(c.name, func(t *testing.T) {
			again := record()
			again.text.WriteString(text)
			again.Writer = wall.NewWriter(&bytes.Buffer{}, wall.Head{})
			x := again.counter(t, c.config, windows.Measurement{PIDs: []int{pid},
				Trial: capture.Trial{Windows: []capture.Window{{PID: pid,
					Span: capture.Span{FromMonoNanos: 10, ToMonoNanos: 160}}}}})
			table := x.Table(0, []int{pid}, event.SiteOwn)
			checkSums(t, table)
			assert.Equal(t, c.want, table.Account)
		})
	}
	assert.Nil(t, r.counter(t, Config{}).Table(0, []int{1}, event.SiteOwn), "another JVM")
}

// TestPlaces checks the threads, times and callers of places, and that details that differ only from thread to thread
// are one place.
func TestPlaces(t *testing.T) {
	r := record()
	take := r.stack("java.lang.Thread::run", "acme.Server::handle", "acme.Db::read", "java.net.SocketInputStream::read")
	for i := range 3 {
		n := r.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), 0)
		r.spell(n, 0, 100, wall.Socket, take, 0, fmt.Sprintf("recvfrom from socket 10.0.0.1:4051%d to 10.0.0.2:5432", i))
		r.spell(n, 100, 110, wall.OnProcessor, 0, 0, "")
		r.spell(n, 110, 120, wall.Unseen, 0, 0, "")
	}
	table := r.table(t)
	require.Len(t, table.Pools, 1)
	assert.Equal(t, "http-nio-8080-exec-*", table.Pools[0].Name)
	assert.Equal(t, 3, table.Pools[0].Threads)
	require.Len(t, table.Places, 1)
	p := table.Places[0]
	assert.Equal(t, "acme.Db::read", p.Frame.Method)
	assert.Equal(t, "recvfrom from socket to 10.0.0.2:5432", p.For)
	assert.Equal(t, []any{3, int64(300), false, wall.Socket}, []any{p.Threads, p.Nanos, p.Queue, p.State})
	require.Len(t, p.Stacks, 1)
	assert.Equal(t, "acme.Server::handle", p.Stacks[0].Frames[1].Method)
	assert.EqualValues(t, 300, p.Stacks[0].Weight)
}

func TestFolded(t *testing.T) {
	for in, want := range map[string]string{
		"read from socket 10.0.0.1:40512 to 10.0.0.2:5432":            "read from socket to 10.0.0.2:5432",
		"read from socket [::1]:8080 to [::1]:40512":                  "read from socket to [::1]:*",
		"write to /data/log":                                          "write to /data/log",
		"read from socket":                                            "read from socket",
		"recvfrom from socket 10.0.0.1:1 to 10.0.0.2:999999999999999": "recvfrom from socket to 10.0.0.2:999999999999999",
		"": "",
	} {
		assert.Equal(t, want, Folded(in))
	}
}

// TestIdle checks that a thread is idle if it did nothing but wait in its pool's queue.
func TestIdle(t *testing.T) {
	queue := []string{"java.lang.Thread::run", "java.util.concurrent.ThreadPoolExecutor::runWorker",
		"java.util.concurrent.ThreadPoolExecutor::getTask", "java.util.concurrent.locks.LockSupport::park"}
	fork := []string{"java.util.concurrent.ForkJoinWorkerThread::run", "java.util.concurrent.ForkJoinPool::runWorker"}
	for _, c := range []struct {
		name    string
		stack   []string
		ran     int64 // of 10,000
		working int64
		unseen  int64
		want    bool
	}{
		{"pool-1-thread-1", queue, 0, 0, 0, true},
		{"pool-1-thread-1", queue, 10, 0, 0, true},
		{"pool-1-thread-1", queue, 11, 0, 0, false},
		{"pool-1-thread-1", queue, 0, 1, 0, false},
		{"pool-1-thread-1", queue, 0, 0, 500, true},
		{"pool-1-thread-1", queue, 0, 0, 501, false},
		{"ForkJoinPool-1-worker-1", fork, 0, 0, 0, true},
		{"ForkJoinPool-1-worker-1", append(fork, "java.util.concurrent.ForkJoinTask::doExec", "acme.Task::sleep"), 0, 0, 0,
			false},
		{"own", []string{"acme.Worker::run", "java.util.concurrent.LinkedBlockingQueue::take"}, 0, 0, 0, false},
		{"C2 CompilerThread0", nil, 0, 0, 0, true},
		{"C2 CompilerThread0", nil, 3000, 0, 0, false},
	} {
		r := record()
		n, from := r.thread(c.name, 0), int64(0)
		add := func(length int64, state wall.State, stack callstack.ID) {
			if length > 0 {
				r.spell(n, from, from+length, state, stack, 0, "")
				from += length
			}
		}
		add(c.ran, wall.OnProcessor, 0)
		add(c.working, wall.Sleep, r.stack("acme.Task::sleep"))
		add(c.unseen, wall.Unseen, 0)
		add(10_000-from, wall.Park, r.stack(c.stack...))
		table := r.table(t)
		assert.Equal(t, c.want, table.Threads[0].Idle, "%s: %+v", c.name, c)
	}
}

// TestCoarsen checks that if there are too many spans, short ones are joined without gaps or overlaps, and long ones
// are not changed.
func TestCoarsen(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var list []Span
		at := int64(0)
		for range 100 {
			length := 1 + random.Int64N(20)
			if random.IntN(10) == 0 {
				length *= 100
			}
			if random.IntN(20) == 0 {
				at += 5 // a gap
			}
			list = append(list, Span{Span: capture.Span{FromMonoNanos: at, ToMonoNanos: at + length},
				State: wall.States()[random.IntN(3)]})
			at += length
		}
		var before, after int64
		long := map[int64]bool{}
		for _, s := range list {
			before += length64(s.Span)
			if length64(s.Span) >= 50 {
				long[s.FromMonoNanos] = true
			}
		}
		joined := Coarsen(list, 50)
		assert.Less(t, len(joined), 60)
		for i, s := range joined {
			after += length64(s.Span)
			if i > 0 {
				assert.LessOrEqual(t, joined[i-1].ToMonoNanos, s.FromMonoNanos)
			}
			if length64(s.Span) < 50 && i+1 < len(joined) && joined[i+1].FromMonoNanos == s.ToMonoNanos {
				assert.GreaterOrEqual(t, length64(joined[i+1].Span), int64(50), "two short ones in a row")
			}
		}
		assert.Equal(t, before, after)
	}
}

func TestManySpans(t *testing.T) {
	defer func(n int) { maxSpans = n }(maxSpans)
	maxSpans = 100
	r := record()
	n := r.thread("main", 0)
	const step = 300_000 // ns
	for i := range int64(1000) {
		r.spell(n, i*step, (i+1)*step, wall.States()[i%3], 0, 0, "")
	}
	x := r.counter(t, Config{})
	table := x.Table(0, []int{pid}, event.SiteOwn)
	checkSums(t, table)
	assert.Less(t, len(table.Threads[0].Spans), 102)
	assert.EqualValues(t, 8e6, x.spans.step)
	assert.EqualValues(t, 1000*step, table.Times.Sum())
}

// TestCutOff checks that what was recorded counts if the recording was cut off.
func TestCutOff(t *testing.T) {
	r := record()
	n := r.thread("main", 0)
	r.spell(n, 0, 10, wall.Sleep, 0, 0, "")
	r.Open(&wall.Spell{Thread: n, FromMonoNanos: 10, State: wall.Park, Stack: r.stack("A::a")})
	r.Now(50)
	table := r.table(t)
	assert.EqualValues(t, 40, table.Times[wall.Park])
	assert.Nil(t, table.JVMs[0].End)
	assert.EqualValues(t, 50, table.JVMs[0].ToMonoNanos)
}

func TestBadLines(t *testing.T) {
	x := NewCounter(Config{Trials: 1, Timelines: map[int]*windows.Timeline{pid: {}}})
	notes := x.Read(wall.NewReader(bytes.NewBufferString("gasm wall 1 4711 20 1\nbad\nspell 7\n"), "wall-4711.txt"), pid)
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0], "2 lines about the threads of JVM 4711 could not be read, the first: wall-4711.txt:2: ")
	assert.Empty(t, x.Read(wall.NewReader(bytes.NewBufferString("bad\n"), "again"), pid), "a JVM has one file")
}

// TestDroppedStacks reads two files whose stacks do not fit together. Nothing may refer to the second one's stacks.
func TestDroppedStacks(t *testing.T) {
	r := record()
	first, second := r.thread("first", 1), r.thread("second", 1)
	stack := r.stack("A::run", "A::wait")
	a := r.Lock(wall.Lock{Kind: wall.MonitorLock, Class: "A", Address: 1, Owner: second, Taken: stack})
	b := r.Lock(wall.Lock{Kind: wall.MonitorLock, Class: "B", Address: 2, Owner: first, Taken: stack})
	r.spell(first, 1, 100, wall.Monitor, stack, a, "")
	r.spell(second, 1, 100, wall.Monitor, stack, b, "")
	r.Virtual(&wall.Virtuals{MonoNanos: 50, Count: 3, State: wall.Park, Stack: stack})
	r.End(wall.End{ToMonoNanos: 100})
	require.NoError(t, r.Flush())
	timelines, _ := windows.Timelines([]windows.Measurement{{PIDs: []int{pid}}})
	for name, most := range map[string]int{"dropped": 1, "kept": 2} {
		x := NewCounter(Config{Trials: 1, Timelines: timelines})
		x.most = most
		notes := x.Read(wall.NewReader(bytes.NewReader(r.text.Bytes()), "wall"), pid)
		table := x.Table(0, []int{pid}, event.SiteOwn)
		require.Len(t, table.Deadlocks, 1)
		require.Len(t, table.Virtual, 1)
		want := ""
		if most == 2 {
			want = "A::wait"
		}
		assert.Equal(t, most == 1, len(notes) == 1, notes)
		assert.Equal(t, want, table.Virtual[0].Frame.Method, name)
		for _, d := range table.Deadlocks[0].Threads {
			assert.Equal(t, want, d.Frame.Method, name)
			assert.Equal(t, most == 2, d.Lock.Taken != 0, name)
		}
		for i := range x.threads {
			assert.Equal(t, most == 2, x.threads[i].last.stack != 0, name)
		}
		for i := range x.virtual {
			assert.Equal(t, most == 2, x.virtual[i].stack != 0, name)
		}
	}
}
