package wall

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// readAll returns all records of a text. It checks what holds for every text: the spells of each thread follow each
// other without a gap or an overlap, and their times add up to their lengths.
func readAll(t *testing.T, text string) (records []any, tree *callstack.Tree) {
	t.Helper()
	r := NewReader(strings.NewReader(text), "wall")
	to := map[int]int64{}
	locks := 0
	for r.Scan() {
		switch x := r.Record().(type) {
		case *Thread:
			if _, known := to[x.Number]; !known {
				to[x.Number] = x.BornMonoNanos
			}
		case *Lock:
			locks++
			require.Equal(t, locks, x.Number)
			require.LessOrEqual(t, int(x.Taken), r.Stacks().Len())
		case *Spell:
			require.Equal(t, to[x.Thread], x.FromMonoNanos, x)
			require.Less(t, x.FromMonoNanos, x.ToMonoNanos)
			require.Equal(t, x.ToMonoNanos-x.FromMonoNanos, x.Ran+x.Runnable+x.Blocked, x)
			require.GreaterOrEqual(t, min(x.Ran, x.Runnable, x.Blocked), int64(0), x)
			require.LessOrEqual(t, int(x.Stack), r.Stacks().Len())
			require.LessOrEqual(t, x.Lock, locks)
			to[x.Thread] = x.ToMonoNanos
		case *Ended:
			require.Equal(t, to[x.Thread], x.MonoNanos)
		case *End:
			for thread, end := range to {
				require.LessOrEqual(t, end, x.ToMonoNanos, thread)
			}
		}
		records = append(records, r.Record())
	}
	require.NoError(t, r.Err())
	return records, r.Stacks()
}

// of returns the records that have the type T.
func of[T any](records []any) (all []T) {
	for _, r := range records {
		if x, ok := r.(T); ok {
			all = append(all, x)
		}
	}
	return all
}

func TestExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "wall-4711.txt"))
	require.NoError(t, err)
	records, tree := readAll(t, string(text))
	assert.Equal(t, &Head{PID: 4711, Hertz: 20, FromMonoNanos: 1000000000000}, records[0])
	require.Len(t, of[*SyntaxError](records), 1)
	assert.Contains(t, of[*SyntaxError](records)[0].Error(), "wall:19: ")
	spells := of[*Spell](records)
	assert.Len(t, spells, 10)
	assert.Equal(t, &Spell{Thread: 2, FromMonoNanos: 1000200000000, ToMonoNanos: 1001000000000, Ran: 1500000,
		Runnable: 300000,
		Blocked:  798200000, State: Socket, Stack: 9, Detail: "recvfrom from socket 127.0.0.1:40512 to 127.0.0.1:5432"},
		spells[1])
	assert.Equal(t, int64(77), spells[6].Virtual)
	f, _ := tree.Frame(spells[1].Stack)
	assert.Equal(t, "java.net.SocketInputStream::socketRead0", f.Name)
	assert.Equal(t, []*Virtuals{{MonoNanos: 1001000000000, Count: 9812, State: Sleep, Stack: 10}}, of[*Virtuals](records))
	assert.Equal(t, []*End{{ToMonoNanos: 1002000000000, Looks: 96, Moved: 1, Left: 104, Threads: 6}}, of[*End](records))
}

func TestWriteRead(t *testing.T) {
	var text bytes.Buffer
	w := NewWriter(&text, Head{PID: 7, Hertz: 19, FromMonoNanos: 100})
	thread := &Thread{Number: 1, TID: 8, NID: 9, JavaID: 10, BornMonoNanos: 100,
		Name: "a \"b\"\n\u202e\xff" + strings.Repeat("x", 9000)}
	w.Thread(thread)
	renamed := *thread
	renamed.Name = "c"
	w.Thread(&renamed)
	stack := w.Push(0, callstack.Frame{Kind: callstack.Native, Name: "f", BCI: callstack.Unknown, Line: callstack.Unknown})
	lock := Lock{Kind: MonitorLock, Address: 0x7f00, Class: "C", Of: "D", Owner: 1, Taken: stack}
	assert.Equal(t, 1, w.Lock(lock))
	assert.Equal(t, 1, w.Lock(lock))
	var want []*Spell
	from := int64(100)
	for i, state := range States() {
		s := &Spell{Thread: 1, FromMonoNanos: from, ToMonoNanos: from + 10, Ran: 1, Runnable: 2, Blocked: 7, State: state,
			Stack: stack, Lock: 1, Detail: fmt.Sprint(i % 3), Virtual: int64(i)}
		w.Spell(s)
		want = append(want, s)
		from += 10
	}
	w.Spell(&Spell{Thread: 1, FromMonoNanos: from, ToMonoNanos: from + 10, State: Sleep, Stack: callstack.NoRoom})
	want = append(want, &Spell{Thread: 1, FromMonoNanos: from, ToMonoNanos: from + 10, Blocked: 10, State: Sleep})
	count := &VirtualCount{MonoNanos: from, Threads: 10000, Looked: 300, Mounted: 2, Unread: 1, Untracked: 5}
	virtuals := &Virtuals{MonoNanos: from, Count: 9900, State: Park, Stack: stack, Lock: 1}
	w.VirtualCount(count)
	w.Virtual(virtuals)
	w.Open(&Spell{Thread: 1, FromMonoNanos: from + 10, State: Park, Stack: stack})
	w.Now(from + 30)
	require.NoError(t, w.Flush())
	killed := text.String() + "spell 1 500 "
	records, _ := readAll(t, killed)
	open := &Spell{Thread: 1, FromMonoNanos: from + 10, ToMonoNanos: from + 30, Blocked: 20, State: Park, Stack: stack,
		Open: true}
	assert.Equal(t, append(want[:len(want):len(want)], open), of[*Spell](records))
	assert.Empty(t, of[*SyntaxError](records))
	assert.Equal(t, []*VirtualCount{count}, of[*VirtualCount](records))
	assert.Equal(t, []*Virtuals{virtuals}, of[*Virtuals](records))
	assert.Equal(t, "c", of[*Thread](records)[1].Name)
	lock.Number = 1
	assert.Equal(t, []*Lock{&lock}, of[*Lock](records))

	w.Spell(&Spell{Thread: 1, FromMonoNanos: from + 10, ToMonoNanos: from + 40, State: Park, Stack: stack})
	w.Ended(Ended{1, from + 50})
	w.Virtual(&Virtuals{MonoNanos: from, Count: 3, State: Sleep})
	end := End{from + 60, 1, 2, 3, 4, 5, 6, 7, 8, true, true}
	w.End(end)
	require.NoError(t, w.Flush())
	records, _ = readAll(t, text.String())
	assert.Empty(t, of[*SyntaxError](records))
	spells := of[*Spell](records)
	assert.Equal(t, &Spell{Thread: 1, FromMonoNanos: from + 40, ToMonoNanos: from + 50, Blocked: 10, State: Unseen},
		spells[len(spells)-1])
	assert.Equal(t, []*End{&end}, of[*End](records))
}

func TestBadLines(t *testing.T) {
	const head = "gasm wall 1 7 20 100\nthread 1 8 9 - 100 \"a\"\nlock 1 monitor 7f \"C\" \"\" - -\n"
	for _, bad := range []string{"x", "gasm wall 1 7 20 100", "thread 3 8 9 - 100 \"a\"", "thread 2 8 9 - 100 a",
		"thread 2 8 9 - 100 \"a\" ", "thread 0 8 9 - 100 \"a\"",
		"thread 2 8 9 - -1 \"a\"", "lock 3 monitor 7f \"C\" \"\" - -", "lock 2 other 7f \"C\" \"\" - -",
		"lock 2 monitor 7x \"C\" \"\" - -", "lock 2 monitor 7f \"C\" \"\" 2 -",
		"lock 2 monitor 7f \"C\" \"\" - 1", "spell 2 100 10 0 0 park - - - -", "spell 1 99 10 0 0 park - - - -",
		"spell 1 100 0 0 0 park - - - -",
		"spell 1 100 10 6 5 park - - - -", "spell 1 100 10 0 0 parked - - - -", "spell 1 100 10 0 0 park 1 - - -",
		"spell 1 100 10 0 0 park - 2 - -", "spell 1 100 10 0 0 park - - 1 -",
		"spell 1 100 10 0 0 park - - -", "spell 1 100 9223372036854775807 0 0 park - - - -", "ended 2 100", "ended 1 99",
		"now -1", "open 1 99 park - - - -",
		"detail 2 \"a\"", "end 99 0 0 0 0 0 0", "virtual 1 1 park - 2", "virtuals 1 10 3 2 2 0", "virtuals 1 10 3 2 1",
		"s 1 0 1", "f 1 other"} {
		records, _ := readAll(t, head+bad+"\n")
		assert.Len(t, of[*SyntaxError](records), 1, bad)
	}
	records, _ := readAll(t, "gasm wall 2 7 20 100\nnow 200\n")
	assert.Len(t, of[*SyntaxError](records), 2)
	records, _ = readAll(t, head+"end 200 0 0 0 0 0 0\nnow 300\n")
	assert.Len(t, of[*SyntaxError](records), 1)
	assert.Len(t, of[*Spell](records), 1)
}

func TestStates(t *testing.T) {
	assert.Len(t, States(), 14)
	for _, s := range States() {
		got, ok := ParseState(s.String())
		assert.True(t, ok && got == s, s)
		assert.NotContains(t, s.word(), " ")
	}
	_, ok := ParseState("")
	assert.False(t, ok)
	assert.Equal(t, "state 99", State(99).String())
}

func FuzzReader(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "wall-4711.txt"))
	require.NoError(f, err)
	f.Add(string(text))
	f.Add("gasm wall 1 7 20 100\nthread 1 8 9 - 100 \"a\"\nopen 1 100 park - - - -\nnow 300\n")
	f.Fuzz(func(t *testing.T, text string) { readAll(t, text) })
}

func BenchmarkReader(b *testing.B) {
	var text bytes.Buffer
	w := NewWriter(&text, Head{PID: 7, Hertz: 20, FromMonoNanos: 1})
	const spells = 1 << 16
	for i := range 100 {
		w.Thread(&Thread{Number: i + 1, BornMonoNanos: 1})
	}
	stack := w.Push(0, callstack.At(callstack.Native, 1))
	for i := range int64(spells) {
		from := 1 + i/100*50e6
		w.Spell(&Spell{Thread: int(i%100) + 1, FromMonoNanos: from, ToMonoNanos: from + 50e6, Ran: 1e6, State: Socket,
			Stack: stack, Detail: "read from socket 127.0.0.1:5432"})
	}
	require.NoError(b, w.Flush())
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for r := NewReader(bytes.NewReader(text.Bytes()), "wall"); r.Scan(); n++ {
			if err, bad := r.Record().(*SyntaxError); bad {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*spells), "ns/spell")
}

// TestNegative checks that numbers from the memory of a JVM that lies do not make the rest of a file unreadable.
func TestNegative(t *testing.T) {
	var text bytes.Buffer
	w := NewWriter(&text, Head{PID: 1, Hertz: 20, FromMonoNanos: 1})
	w.Thread(&Thread{Number: 1, TID: 11, NID: 1, JavaID: -5, BornMonoNanos: 1, Name: "a"})
	w.Thread(&Thread{Number: 2, TID: 12, NID: 2, JavaID: 7, BornMonoNanos: 1, Name: "b"})
	require.NoError(t, w.Flush())
	ids := map[string]int64{}
	r := NewReader(&text, "wall")
	for r.Scan() {
		if thread, ok := r.Record().(*Thread); ok {
			ids[thread.Name] = thread.JavaID
		}
	}
	require.NoError(t, r.Err())
	assert.Equal(t, map[string]int64{"a": 0, "b": 7}, ids)
}

// TestMaxSize checks that there is an error if a file is longer than gasm reads.
func TestMaxSize(t *testing.T) {
	const text = "gasm wall 1 4711 20 1\nend 200 0 0 0 0 0 0\n"
	for more, want := range map[int64]error{-10: errTooLarge, -1: errTooLarge, 0: nil, 1: nil} {
		r := NewReader(strings.NewReader(text), "wall")
		r.in = lines.NewReader(&atMost{in: strings.NewReader(text), left: int64(len(text)) + more}, longestLine)
		for r.Scan() {
			require.NotNil(t, r.Record())
		}
		require.ErrorIs(t, r.Err(), want)
	}
}

// TestFull checks that a Writer says when a file has its largest size, and never writes more than can be read.
func TestFull(t *testing.T) {
	var text bytes.Buffer
	w := NewWriter(&text, Head{PID: 1, Hertz: 20, FromMonoNanos: 1})
	w.Limit(100)
	require.NoError(t, w.Flush())
	assert.False(t, w.Full())
	for i := range 5 {
		w.Now(int64(1e18 + i))
	}
	require.NoError(t, w.Flush())
	assert.True(t, w.Full())
	w.written.n = MaxSize - 10
	w.Now(1e18)
	require.ErrorIs(t, w.Flush(), errTooLarge)
}
