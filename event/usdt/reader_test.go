package usdt

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

// read returns all events of a text, and what is wrong with it.
func read(t *testing.T, text string) (events []event.Event, wrong []string) {
	t.Helper()
	r := NewReader(strings.NewReader(text), "usdt-7.log", 7)
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *event.Event:
			events = append(events, *rec)
		case *SyntaxError:
			wrong = append(wrong, rec.Error())
		case *Lost:
			wrong = append(wrong, "lost")
		}
	}
	require.NoError(t, r.Err())
	return events, wrong
}

func args(pairs ...string) (all []event.Arg) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, event.Arg{Name: pairs[i], Value: pairs[i+1]})
	}
	return all
}

// TestEvents checks a line or two of each kind, and the event that they become.
func TestEvents(t *testing.T) {
	check := func(text string, want event.Event) {
		t.Helper()
		events, wrong := read(t, text)
		assert.Empty(t, wrong)
		require.Len(t, events, 1, text)
		want.PID = 7
		assert.Equal(t, want, events[0])
	}
	check("1.000000001 24 hotspot:gc__begin 1\n1.500000000 24 hotspot:gc__end\n",
		event.Event{TID: 24, Kind: event.GC, Name: "full collection", MonoNanos: 1_000_000_001, Nanos: 499_999_999,
			Args: args("full", "true", "probe", "hotspot:gc__begin")})
	check("1.000000000 24 hs_private:cms__remark__begin\n2.000000000 24 hs_private:cms__remark__end\n",
		event.Event{TID: 24, Kind: event.GC, Name: "CMS remark", MonoNanos: 1e9, Nanos: 1e9,
			Args: args("probe", "hs_private:cms__remark__begin")})
	check("1.000000000 24 hs_private:safepoint__begin\n2.000000000 24 hs_private:safepoint__end\n",
		event.Event{TID: 24, Kind: event.Safepoint, Name: "safepoint", MonoNanos: 1e9, Nanos: 1e9,
			Args: args("probe", "hs_private:safepoint__begin")})
	check("1.000000000 24 hotspot:vmops__begin \"G1CollectFull\" 0\n2.000000000 24 hotspot:vmops__end \"G1CollectFull\" 0\n",
		event.Event{TID: 24, Kind: event.VMOperation, Name: "G1CollectFull", MonoNanos: 1e9, Nanos: 1e9,
			Args: args("mode", "0", "probe", "hotspot:vmops__begin")})
	check("1.000000000 24 hotspot:method__compile__begin \"C2\" \"java/util/Map$Entry\" \"<init>\" \"()V\"\n"+
		"3.000000000 24 hotspot:method__compile__end \"C2\" \"java/util/Map$Entry\" \"<init>\" \"()V\" 1\n",
		event.Event{TID: 24, Kind: event.Compilation, Name: "java.util.Map$Entry::<init>", MonoNanos: 1e9, Nanos: 2e9,
			Args: args("compiler", "C2", "class", "java/util/Map$Entry", "method", "<init>", "signature", "()V", "success",
				"true", "probe", "hotspot:method__compile__begin")})
	check("1.000000000 24 hotspot:monitor__contended__enter 22 0x7f01 \"[[Ljava/lang/Object;\"\n1.000000500 24 hotspot:monitor__contended__entered 22 0x7f01 \"[[Ljava/lang/Object;\"\n",
		event.Event{TID: 24, Kind: event.Lock, Name: "java.lang.Object[][]", MonoNanos: 1e9, Nanos: 500,
			Args: args("thread", "22", "monitor", "0x7f01", "class", "[[Ljava/lang/Object;", "probe",
				"hotspot:monitor__contended__enter")})
	check("1.000000000 24 hotspot:monitor__wait 22 0x7f01 \"[I\" 100\n1.000000500 24 hotspot:monitor__waited 22 0x7f01 \"[I\"\n",
		event.Event{TID: 24, Kind: event.Park, Name: "int[]", MonoNanos: 1e9, Nanos: 500,
			Args: args("thread", "22", "monitor", "0x7f01", "class", "[I", "timeout", "100", "probe", "hotspot:monitor__wait")})
	check("1.000000000 24 hotspot:thread__sleep__begin 5\n1.000000500 24 hotspot:thread__sleep__end 1\n",
		event.Event{TID: 24, Kind: event.Sleep, Name: "sleep", MonoNanos: 1e9, Nanos: 500,
			Args: args("time", "5", "interrupted", "true", "probe", "hotspot:thread__sleep__begin")})
	check("1.000000000 24 hotspot:thread__park__begin 0x0 0 17\n",
		event.Event{TID: 24, Kind: event.Park, Name: "park", MonoNanos: 1e9,
			Args: args("blocker", "0x0", "absolute", "false", "time", "17", "probe", "hotspot:thread__park__begin")})
	check("1.000000000 24 hotspot:thread__start \"a\\n\\\"b\\x1b\" 3 24 0\n",
		event.Event{TID: 24, Kind: event.Thread, Name: "a\n\"b\x1b", MonoNanos: 1e9,
			Args: args("thread", "3", "os_thread", "24", "daemon", "false", "probe", "hotspot:thread__start")})
	check("1.000000000 24 hotspot:class__loaded \"A$\\xed\\xa0\\xb5\" 0x0 1\n",
		event.Event{TID: 24, Kind: event.ClassLoad, Name: `A$\ud835`, MonoNanos: 1e9,
			Args: args("loader", "0x0", "shared", "true", "probe", "hotspot:class__loaded")})
	check("1.000000000 24 hotspot_jni:FindClass__entry 0x1 0x2\n1.000000700 24 hotspot_jni:FindClass__return 0x3\n",
		event.Event{TID: 24, Kind: event.JNI, Name: "FindClass", MonoNanos: 1e9, Nanos: 700,
			Args: args("arg0", "0x1", "arg1", "0x2", "result", "0x3", "probe", "hotspot_jni:FindClass__entry")})
	check("1.000000000 24 hotspot:thread__unpark ?\n",
		event.Event{TID: 24, Kind: event.Probe, Name: "hotspot:thread__unpark", MonoNanos: 1e9,
			Args: args("parker", "?", "probe", "hotspot:thread__unpark")})
	check("1.000000000 24 hotspot:mem__pool__gc__begin \"Copy\" \"Eden\" 1 2 3 4\n",
		event.Event{TID: 24, Kind: event.Probe, Name: "hotspot:mem__pool__gc__begin", MonoNanos: 1e9,
			Args: args("manager", "Copy", "pool", "Eden", "initial", "1", "used", "2", "committed", "3", "max", "4", "probe",
				"hotspot:mem__pool__gc__begin")})
	check("1.000000000 0 allocated 0x7fae0c8d3a42 0x0 0x7fae0c8d3a99 \"java/lang/Integer\" 120 1920\n",
		event.Event{Kind: event.Alloc, Name: "java.lang.Integer", MonoNanos: 1e9, Bytes: 1920, PC: 0x7fae0c8d3a42,
			Args: args("count", "120", "caller", "0x0", "above", "0x7fae0c8d3a99")})
}

// TestPairs checks that starts and ends are joined by thread, the inner ones first.
func TestPairs(t *testing.T) {
	events, wrong := read(t, "# gasm usdt 1\n"+
		"1.000000000 1 hotspot:thread__park__end 0x1\n"+ // began before the recording
		"2.000000000 1 hotspot_jni:CallVoidMethod__entry 0x1\n"+
		"2.000000001 2 hotspot_jni:CallVoidMethod__entry 0x2\n"+
		"2.000000002 1 hotspot_jni:CallVoidMethod__entry 0x3\n"+
		"2.000000010 1 hotspot_jni:CallVoidMethod__return\n"+
		"2.000000100 2 hotspot_jni:CallVoidMethod__return\n"+
		"2.000001000 1 hotspot_jni:CallVoidMethod__return\n"+
		"3.000000000 1 hotspot:thread__sleep__begin 1\n"+ // lasts longer than the recording
		"3.000000000 0 end\n")
	assert.Empty(t, wrong)
	require.Len(t, events, 4)
	for i, want := range []struct {
		tid   int
		nanos int64
		arg   string
	}{{1, 8, "0x3"}, {2, 99, "0x2"}, {1, 1000, "0x1"}, {1, 0, "1"}} {
		assert.Equal(t, want.tid, events[i].TID)
		assert.Equal(t, want.nanos, events[i].Nanos)
		assert.Equal(t, want.arg, events[i].Args[0].Value)
	}
	Plain(&events[3])
	assert.Equal(t, event.Probe, events[3].Kind)
	assert.Equal(t, "hotspot:thread__sleep__begin", events[3].Name)
}

// TestHalves checks probes whose other half was not recorded: each firing is an event of its own.
func TestHalves(t *testing.T) {
	check := func(recorded, lines string, want ...event.Event) {
		t.Helper()
		events, wrong := read(t, TextHead+"\n"+ProbesHead+recorded+"\n"+lines)
		assert.Empty(t, wrong)
		for i := range want {
			want[i].PID, want[i].TID, want[i].MonoNanos = 7, 1, int64(i+1)*1e9
		}
		assert.Equal(t, want, events)
	}
	begins, ends := "hotspot:thread__park__begin", "hotspot:thread__park__end"
	begin := event.Event{Kind: event.Probe, Name: begins, Args: args("blocker", "0x1", "absolute", "false", "time", "5",
		"probe", begins)}
	end := event.Event{Kind: event.Probe, Name: ends, Args: args("blocker", "0x1", "probe", ends)}
	check("hotspot:gc__end "+begins, "1.000000000 1 "+begins+" 0x1 0 5\n2.000000000 1 "+begins+" 0x1 0 5\n", begin, begin)
	check(ends, "1.000000000 1 "+ends+" 0x1\n2.000000000 1 "+ends+" 0x1\n", end, end)
	check(begins+" "+ends, "0.500000000 1 "+ends+" 0x1\n1.000000000 1 "+begins+" 0x1 0 5\n1.000000009 1 "+ends+" 0x1\n",
		event.Event{Kind: event.Park, Name: "park", Nanos: 9,
			Args: args("blocker", "0x1", "absolute", "false", "time", "5", "probe", begins)})
	check("hotspot:monitor__wait", "1.000000000 1 hotspot:monitor__wait 22 0x1 \"[I\" 5\n",
		event.Event{Kind: event.Probe, Name: "hotspot:monitor__wait",
			Args: args("thread", "22", "monitor", "0x1", "class", "[I", "timeout", "5", "probe", "hotspot:monitor__wait")})
	check("hotspot:method__entry", "1.000000000 1 hotspot:method__entry 22 \"A\" \"b\" \"()V\"\n",
		event.Event{Kind: event.Probe, Name: "hotspot:method__entry",
			Args: args("thread", "22", "class", "A", "method", "b", "signature", "()V", "probe", "hotspot:method__entry")})
	check("hotspot_jni:GetEnv__entry", "1.000000000 1 hotspot_jni:GetEnv__entry 0x1\n",
		event.Event{Kind: event.JNI, Name: "GetEnv", Args: args("arg0", "0x1", "probe", "hotspot_jni:GetEnv__entry")})

	// However many there are.
	events, wrong := read(t, ProbesHead+begins+"\n"+strings.Repeat("1.000000000 1 "+begins+" 0x1 0 1\n", mostOpen+3))
	assert.Empty(t, wrong)
	assert.Len(t, events, mostOpen+3)
}

func TestBadLines(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                                             "no time",
		"1.5 1 hotspot:gc__end":                             "no time",
		"9999999999.000000000 1 a:b":                        "no time",
		"1.000000000 -1 hotspot:x":                          "no thread id",
		"1.000000000 1":                                     "no probe",
		"1.000000000 1 word":                                "no probe",
		"1.000000000 0 lost -1":                             "no probe",
		"1.000000000 1 a:b \"x":                             "nor texts in quotes",
		"1.000000000 1 a:b \"x\"y":                          "nor texts in quotes",
		"1.000000000 1 a:b 1  2":                            "nor texts in quotes",
		"1.000000000 1 a:b 0xyz":                            "nor texts in quotes",
		"1.000000000 1 a:b x":                               "nor texts in quotes",
		"1.000000000 0 allocated 0x1":                       "no addresses, class, count and bytes",
		"1.000000000 1 a:b 1" + strings.Repeat(" 1", 40):    "nor texts in quotes",
		"1.000000000 1 " + strings.Repeat("x", longestLine): "too long",
	} {
		_, wrong := read(t, line+"\n")
		require.Len(t, wrong, 1, line[:min(len(line), 40)])
		assert.Contains(t, wrong[0], "usdt-7.log:1: ")
		assert.Contains(t, wrong[0], want)
	}
	_, wrong := read(t, "1.000000000 0 lost 17\n")
	assert.Equal(t, []string{"lost"}, wrong)
	events, wrong := read(t, "1.000000000 1 hotspot:gc__e") // gasm was killed
	assert.Empty(t, append(wrong, make([]string, len(events))...))

	r := NewReader(io.MultiReader(strings.NewReader("1.000000000 1 a:b\n"), iotest.ErrReader(errors.New("broken"))),
		"x", 7)
	assert.True(t, r.Scan())
	assert.False(t, r.Scan())
	assert.EqualError(t, r.Err(), "reading x: broken")
}

// TestManyBegins checks that starts without ends are kept up to a limit only.
func TestManyBegins(t *testing.T) {
	_, wrong := read(t, strings.Repeat("1.000000000 1 hotspot:thread__park__begin 0x1 0 1\n", mostOpen+3))
	assert.Len(t, wrong, 3)
}

func FuzzReader(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.log")
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		in, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(in)
	}
	f.Add([]byte("1.000000000 0 allocated 0x7fae0c8d3a42 0x0 0x7fae0c8d3a99 \"java/lang/Integer\" 120 1920\n1.000000000 0 lost 3\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(strings.NewReader(string(in)), "fuzz", 7)
		n := 0
		for r.Scan() {
			n++
			e, ok := r.Record().(*event.Event)
			if !ok {
				continue
			}
			assert.Equal(t, 7, e.PID)
			assert.NotEmpty(t, e.Kind)
			assert.GreaterOrEqual(t, e.MonoNanos, int64(0))
			assert.GreaterOrEqual(t, e.Nanos, int64(0))
			assert.GreaterOrEqual(t, e.Bytes, int64(0))
			assert.LessOrEqual(t, len(e.Args), mostArguments+4)
		}
		assert.NoError(t, r.Err())
		assert.LessOrEqual(t, n, r.Lines())
	})
}
