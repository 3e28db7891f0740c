package perfetto

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/report/stacks"
	"github.com/gasm-profiler/gasm/report/tracetest"
)

// wholeCaptures are packed captures. In this order: one with call stacks and events, one with perf's chains, one of
// several JVMs, and one of Maven with the forks of its tests.
var wholeCaptures = []string{"stacks", gasmtest.Chains, gasmtest.Programs, gasmtest.Surefire}

// open opens a committed capture.
func open(t *testing.T, name string) *capture.Capture {
	t.Helper()
	var c *capture.Capture
	var err error
	if slices.Contains(gasmtest.Captures, name) {
		samples, log := gasmtest.UnpackCapture(t, name, t.TempDir())
		c, err = capture.OpenFiles(samples, []string{log})
	} else {
		c, err = capture.Open(gasmtest.UnpackFolder(t, name))
	}
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// traceOf returns the trace of a capture, as it is written, and its events.
func traceOf(t *testing.T, c *capture.Capture) (text []byte, events []event.Event) {
	t.Helper()
	events, _ = c.ReadEvents()
	var b bytes.Buffer
	_, err := Write(&b, &Trace{Capture: &c.Description, Events: events, SourceFile: profile.SourceFileOf(c),
		Samples: func(yield func(*profile.PlacedSample) error) (*profile.Placement, error) {
			return profile.PlaceSamples(c, choice.Options{Stacks: true}, yield)
		}})
	require.NoError(t, err)
	return b.Bytes(), events
}

// decode decodes a trace.
func decode(t *testing.T, text []byte) *tracetest.Trace {
	t.Helper()
	trace, err := tracetest.Decode(text)
	require.NoError(t, err)
	return trace
}

// written returns the trace of events without samples.
func written(t *testing.T, events []event.Event) (trace *tracetest.Trace, notes []string) {
	t.Helper()
	var b bytes.Buffer
	notes, err := Write(&b, &Trace{Capture: &capture.Description{}, Events: events,
		SourceFile: func(string) string { return "" }})
	require.NoError(t, err)
	return decode(t, b.Bytes()), notes
}

// profilesOf returns the profiles of a capture. It opens the capture again, because a capture can be read only once.
func profilesOf(t *testing.T, name string) *profile.Profiles {
	t.Helper()
	ps, err := profile.Of(open(t, name), choice.Options{Stacks: true, Locations: true})
	require.NoError(t, err)
	return ps
}

// The samples of a trace are those of the profiles: each counter, process and thread has as many samples, with the same
// stacks.
func TestSamples(t *testing.T) {
	for _, name := range slices.Concat(wholeCaptures, []string{"jdk17-lean-none", "jdk17-lean-none-dtrace"}) {
		t.Run(name, func(t *testing.T) {
			text, events := traceOf(t, open(t, name))
			trace, ps := decode(t, text), profilesOf(t, name)
			want, got := map[string]int64{}, map[string]int64{}
			for i := range ps.Trials {
				p := &ps.Trials[i]
				for k := range p.Locations {
					l := &p.Locations[k]
					for e, n := range l.Counts {
						if n > 0 {
							want[strings.Join([]string{p.Counters[e], strconv.Itoa(l.PID), l.Thread, leafOf(l)}, "\t")] += n
						}
					}
				}
			}
			for _, s := range trace.Samples {
				thread := strings.TrimRight(trace.Threads[s.Thread], "0123456789")
				got[strings.Join([]string{s.Counter, strconv.Itoa(s.PID), thread, s.Stack[0].Function}, "\t")]++
			}
			assert.Equal(t, want, got)
			assert.NotEmpty(t, got)
			checkEvents(t, events, trace)
			for _, j := range ps.Capture.JVMs {
				if name, ok := trace.Processes[j.PID]; ok && j.Main != "" {
					assert.Contains(t, name, windows.Program(j.Main))
				}
			}
		})
	}
}

// unnamed is an interpreted method whose name is not known. The format collapsed has "" for it.
const unnamed = "[interpreted]"

// leafOf returns the name of the innermost frame of a location.
func leafOf(l *profile.Location) string {
	if len(l.Frames) > 0 {
		return cmp.Or(l.Frames[0].Name(), unnamed)
	}
	return cmp.Or(l.Name, "["+strings.Trim(l.Source, "[]")+"]")
}

// checkEvents compares events with the slices of a trace.
func checkEvents(t *testing.T, events []event.Event, trace *tracetest.Trace) {
	t.Helper()
	line := func(pid, tid int, kind, name string, at, nanos int64) string {
		return fmt.Sprint(pid, tid, kind, name, at, nanos)
	}
	var want, got []string
	for i := range events {
		e := &events[i]
		tid, _ := e.Owner()
		want = append(want, line(e.PID, tid, string(e.Kind), e.Name, e.MonoNanos, e.Nanos))
	}
	for _, s := range trace.Slices {
		got = append(got, line(s.PID, s.TID, s.Category, s.Name, s.MonoNanos, s.Nanos))
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.Equal(t, want, got)
}

// The complete stacks in a trace are the same as in the format collapsed, which has the samples of one program.
func TestStacks(t *testing.T) {
	for _, name := range []string{"stacks", gasmtest.Chains} {
		text, _ := traceOf(t, open(t, name))
		trace, got := decode(t, text), map[string]int64{}
		for _, s := range trace.Samples {
			names := []string{strings.TrimRight(trace.Threads[s.Thread], "0123456789")}
			for _, f := range slices.Backward(s.Stack) {
				names = append(names, strings.ReplaceAll(f.Function, ";", ":"))
			}
			got[strings.Join(names, ";")]++
		}
		var b bytes.Buffer
		require.NoError(t, stacks.WriteCollapsed(&b, profilesOf(t, name)))
		want := map[string]int64{}
		for line := range strings.Lines(b.String()) {
			at := strings.LastIndexByte(line, ' ')
			n, err := strconv.ParseInt(strings.TrimSpace(line[at:]), 10, 64)
			require.NoError(t, err)
			if stack := line[:at]; strings.HasSuffix(stack, ";") {
				want[stack+unnamed] += n
			} else {
				want[stack] += n
			}
		}
		assert.Equal(t, want, got, name)
		assert.NotEmpty(t, got)
	}
}

// Incomplete stacks are marked. Frames have their files and lines.
func TestFrames(t *testing.T) {
	text, _ := traceOf(t, open(t, "stacks"))
	trace := decode(t, text)
	a := profilesOf(t, "stacks").Trials[0].Accounts[0]
	var cut, unwalked, kernels, lines int64
	for _, s := range trace.Samples {
		switch s.Error {
		case 2:
			cut++
			assert.Equal(t, "[cut]", s.Stack[len(s.Stack)-1].Function)
		case 3:
			unwalked++
		}
		if s.Kernel {
			kernels++
			assert.Equal(t, "kernel", s.Stack[0].Mapping)
		}
		for _, f := range s.Stack {
			if f.Source == "Stacks.java" && f.Line > 0 {
				lines++
			}
		}
	}
	assert.Equal(t, []int64{a.Cut, a.Unwalked, a.Kernel}, []int64{cut, unwalked, kernels})
	assert.Positive(t, cut)
	assert.Greater(t, lines, a.Compiled)
	assert.Positive(t, trace.WallNanos)
}

// Threads have their whole names, if they are known, also those without samples.
func TestThreadNames(t *testing.T) {
	c := open(t, "stacks")
	text, _ := traceOf(t, c)
	names := map[int][]string{7: {"old", "new"}}
	for thread, name := range decode(t, text).Threads {
		if strings.HasPrefix(name, "C2 CompilerThre") {
			names[thread.TID] = []string{"C2 CompilerThread0"}
		}
	}
	require.Len(t, names, 2)
	j := &c.JVMs[0]
	j.Log.ThreadNames = names
	var b bytes.Buffer
	_, err := Write(&b, &Trace{Capture: &c.Description, Events: []event.Event{{PID: j.PID, TID: 7, Kind: event.Lock}},
		SourceFile: profile.SourceFileOf(c),
		Samples: func(yield func(*profile.PlacedSample) error) (*profile.Placement, error) {
			return profile.PlaceSamples(c, choice.Options{}, yield)
		}})
	require.NoError(t, err)
	trace := decode(t, b.Bytes())
	for tid, all := range names {
		assert.Equal(t, all[len(all)-1], trace.Threads[tracetest.Thread{PID: j.PID, TID: tid}])
	}
}

// A sequence that has interned too many strings begins again, and the decoded trace is the same.
func TestForget(t *testing.T) {
	whole, _ := traceOf(t, open(t, "stacks"))
	defer func(n int) { maxInterned = n }(maxInterned)
	maxInterned = 10_000
	often, _ := traceOf(t, open(t, "stacks"))
	assert.Greater(t, len(often), len(whole))
	assert.Equal(t, decode(t, whole), decode(t, often))
}

// The trace has all events of a thread with their lengths, however they overlap.
func TestOverlaps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var events []event.Event
		for i := range 200 {
			e := event.Event{PID: 7, TID: random.IntN(3), Kind: []event.Kind{event.Lock, event.Park, event.GC,
				event.Own}[random.IntN(4)],
				Name: strconv.Itoa(i), MonoNanos: 1000 + random.Int64N(500), Nanos: random.Int64N(100)}
			events = append(events, e)
		}
		event.Sort(events)
		trace, notes := written(t, events)
		assert.Empty(t, notes)
		checkEvents(t, events, trace)
	}
}

// Events that do not overlap, or are inside one another, are on one track for each thread.
func TestOneTrack(t *testing.T) {
	var events []event.Event
	for i := range int64(100) {
		at := 1000 + 100*i
		events = append(events, event.Event{PID: 7, TID: 8, Kind: event.Own, Name: "Request", MonoNanos: at, Nanos: 100},
			event.Event{PID: 7, TID: 8, Kind: event.Lock, Name: "Lock", MonoNanos: at + 10, Nanos: 90},
			event.Event{PID: 7, TID: 8, Kind: event.Alloc, Name: "A", MonoNanos: at + 20})
	}
	trace, _ := written(t, events)
	assert.Equal(t, 1, trace.Tracks)
	checkEvents(t, events, trace)
}

// An event has its arguments, and the place in the program, from its frames.
func TestArguments(t *testing.T) {
	frames := []event.Frame{{Method: "jdk.internal.misc.Unsafe::park"}, {Method: "com.acme.Handler::get", Line: 42}}
	events := []event.Event{
		{PID: 7, TID: 8, Kind: event.Park, Name: "Lock", MonoNanos: 5, Nanos: 6, Frames: frames, PC: 0xabc,
			Args: []event.Arg{{Name: "timeout", Value: "1 s"}}},
		{PID: 7, Kind: event.Safepoint, Name: "JFRSafepointClear", MonoNanos: 6, Nanos: 7, WaitNanos: 3},
		{PID: 7, TID: 8, Kind: event.Alloc, Name: "byte[]", MonoNanos: 7, Bytes: 4096, Frames: frames},
	}
	trace, _ := written(t, events)
	require.Len(t, trace.Slices, 3)
	assert.Equal(t, map[string]string{"at": "com.acme.Handler::get:42", "pc": "0xabc", "timeout": "1 s"},
		trace.Slices[0].Args)
	assert.Equal(t, map[string]string{"time to safepoint (ns)": "3",
		"caused by": "Flight Recorder or an agent, not the program"}, trace.Slices[1].Args)
	assert.Equal(t, map[string]string{"at": "com.acme.Handler::get:42", "bytes": "4096"}, trace.Slices[2].Args)
	assert.Equal(t, []tracetest.Frame{{Function: "jdk.internal.misc.Unsafe::park", Mapping: "[java]",
		Source: "jdk/internal/misc/Unsafe.java"},
		{Function: "com.acme.Handler::get", Mapping: "[java]", Source: "com/acme/Handler.java", PC: 42, Line: 42}},
		trace.Slices[0].Stack)
	assert.Equal(t, trace.Slices[0].Stack, trace.Slices[2].Stack)
}

// Strings that a hostile program chooses become text of limited length, and can damage nothing else in the trace.
func TestHostile(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	events := []event.Event{
		{PID: -1, TID: -5, Kind: "odd\xff", Name: "\x1b[31m\xff", MonoNanos: math.MinInt64, Nanos: math.MaxInt64},
		{PID: 1 << 40, TID: 1 << 40, Kind: event.Lock, Name: long, MonoNanos: 5, Nanos: -7,
			Frames: make([]event.Frame, 100_000)},
		{PID: 1, TID: 2, Kind: event.Lock, Name: "", MonoNanos: math.MaxInt64 - 1, Nanos: math.MaxInt64,
			Args: []event.Arg{{Name: long, Value: long}, {}}},
	}
	trace, _ := written(t, events)
	assert.Len(t, trace.Slices, 3)
	for _, s := range trace.Slices {
		for _, text := range append([]string{s.Name, s.Category}, slices.Collect(maps.Values(s.Args))...) {
			assert.LessOrEqual(t, len(text), maxText+len("…"))
			assert.NotContains(t, text, "\x1b")
		}
		assert.LessOrEqual(t, len(s.Stack), maxEventFrames+1)
	}
	crowd := make([]event.Event, 2*maxLanes)
	for i := range crowd {
		crowd[i] = event.Event{PID: 1, Kind: event.Park, Name: "virtual", MonoNanos: int64(100 + i), Nanos: 100_000}
	}
	trace, notes := written(t, crowd)
	assert.Equal(t,
		[]string{"256 events overlap more than 256 others of their thread or kind: the trace has only their start, and their length as an argument"}, notes)
	assert.Len(t, trace.Slices, len(crowd))
	deep := make([]event.Event, 2*maxDepth)
	for i := range deep {
		deep[i] = event.Event{PID: 1, TID: 2, Kind: event.Own, Name: "deep", MonoNanos: int64(100 + i),
			Nanos: int64(100_000 - 2*i)}
	}
	trace, notes = written(t, deep)
	assert.Empty(t, notes)
	checkEvents(t, deep, trace)
}

// If the disk is full, writing ends at once and returns that error.
func TestFull(t *testing.T) {
	c := open(t, "stacks")
	events, _ := c.ReadEvents()
	samples := 0
	_, err := Write(full{}, &Trace{Capture: &c.Description, Events: events, SourceFile: func(string) string { return "" },
		Samples: func(yield func(*profile.PlacedSample) error) (*profile.Placement, error) {
			return profile.PlaceSamples(c, choice.Options{}, func(s *profile.PlacedSample) error {
				samples++
				return yield(s)
			})
		}})
	assert.ErrorIs(t, err, errFull)
	assert.Less(t, samples, 2047)
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
