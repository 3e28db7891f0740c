package usdt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

// inRegisters returns arguments of these sizes, which are in registers. A negative size is that of a
// signed number.
func inRegisters(sizes ...int) (args []Operand) {
	for i, size := range sizes {
		args = append(args, Operand{Size: max(size, -size), Signed: size < 0, Form: RegisterForm, Register: 8 * i, Index: -1})
	}
	return args
}

// traced returns probes that have texts, a brief text (see layout.brief), and a caller.
func traced() []Probe {
	return []Probe{
		{Provider: usdt.Provider, Name: "thread__start", Offset: 1, Args: inRegisters(8, -4, 8, 8, -4)},
		{Provider: usdt.Provider, Name: "method__compile__begin", Offset: 2, Args: inRegisters(8, -4, 8, -4, 8, -4, 8, -4)},
		{Provider: usdt.Provider, Name: objectAlloc, Offset: 3, Args: inRegisters(8, 8, -4, 8)},
		{Provider: usdt.Provider, Name: "thread__sleep__end", Offset: 4, Args: inRegisters(-4)},
	}
}

// newDTraced returns a dtraced without a DTrace.
func newDTraced(probes []Probe) *dtraced {
	d := &dtraced{ended: make(chan struct{}), cpus: map[int]uint64{}, texts: map[textKey][]byte{}, tracer: nil}
	d.places, d.layouts = layOut(byName(probes))
	return d
}

// textOf returns the text that is written for what DTrace prints.
func (d *dtraced) textOf(t testing.TB, text string) string {
	t.Helper()
	d.collect(&closed{strings.NewReader(text)})
	var out bytes.Buffer
	s := newSink(&out, d.places, d.layouts)
	s.texts, s.thread = d.text, func(own int) int { return own }
	d.read(true, s.take)
	s.flush()
	require.NoError(t, s.err)
	return withoutHead(t, out.String())
}

type closed struct{ *strings.Reader }

func (*closed) Close() error { return nil }

// stack has the fields that follow the arguments of an allocation: the caller, the address above it, and twelve
// words.
const stack = " 7f00000000a0 7f00000000b0 1 2 3 4 5 6 7 8 9 a b c"

// TestDTraceLines reads lines as DTrace 2.0.7 prints them. A program can give its threads any names.
func TestDTraceLines(t *testing.T) {
	d := newDTraced(traced())
	got := d.textOf(t, "gasm: begin 99\n\n"+
		`e 0 1 3b9aca05 2c69 7fe1 9 "a\"\n\342\200\256\\ z" 7fe2 c 1`+"\n"+
		"m 0 3b9aca99\n"+
		`e 1 0 3b9aca01 7 10 2 "C2" 20 0 "" 30 3 "sum" 40 7 "([D)D\0"`+"\n"+
		`e 2 0 3b9aca02 7 10 20 2 "[I\0" 18`+stack+"\n"+
		`e 2 0 3b9aca03 7 10 20 2 "[I\0" 18`+stack+"\n"+
		"e 3 0 3b9aca04 7 ffffffff\n"+
		"gasm: end\n"+"e 3 0 3b9aca05 7 0\n")
	assert.Equal(t, `1.000000001 7 hotspot:method__compile__begin "C2" "" "sum" "([D)D"
1.000000004 7 hotspot:thread__sleep__end -1
1.000000005 11369 hotspot:thread__start "a\"\n\u202e\\ z" 32738 12 1
1.000000002 0 allocated 0x7f00000000a0 0x7f00000000b0 0x0 "[I" 2 48
`, got)
	assert.Zero(t, d.bad)
}

// TestDTraceBadLines checks that lines that DTrace never prints are counted as bad and otherwise ignored.
func TestDTraceBadLines(t *testing.T) {
	for _, line := range []string{
		"e", "e 3 0 1", "e 3 0 1 7", "e 3 0 1 7 0 0", `e 3 0 1 7 "0"`, "e 4 0 1 7 0", "e 3 fffffff 1 7 0", "e 3 0 1 7 x",
		"e 3 0 1 7  0",
		"m", "m 0", "m 0 1 2", `m 0 "1"`, "m 10000 1", "x 0 1", "n", "n x", "n -1", "n 1 2", "n 99999999999999999999",
		"dtrace: 3 drops on CPU 0", strings.Repeat("e 1 ", 5000),
		`e 0 1 1 7 7fe1 b "a" 7fe2 c`, `e 0 1 1 7 7fe1 b "a 7fe2 c 1`, `e 0 1 1 7 7fe1 b "a"7fe2 c 1`,
		`e 0 1 1 7 7fe1 b "\9" 7fe2 c 1`, `e 0 1 1 7 7fe1 b "\`, `e 0 1 1 7 7fe1 b 1 7fe2 c 1`,
		`e 2 0 1 7 10 20 2 "[I" 18 1 2 3`,
	} {
		d := newDTraced(traced())
		assert.Empty(t, d.textOf(t, line+"\n"), line)
		assert.EqualValues(t, 1, d.bad, line)
	}
	d := newDTraced(traced())
	assert.Empty(t, d.textOf(t, "e 3 0 1 7 0"), "a line without its end")
	assert.Zero(t, d.bad)
}

// TestDTraceOrder checks that events of several processors are handed out in the order of their times, as soon as
// DTrace has printed everything older from all processors.
func TestDTraceOrder(t *testing.T) {
	d := newDTraced(traced())
	var given []uint64
	read := func(all bool) []uint64 {
		given = nil
		d.read(all, func(record []byte) { given = append(given, binary.NativeEndian.Uint64(record)/1e6) })
		return given
	}
	feed := func(format string, cpu int, millis ...uint64) {
		for _, ms := range millis {
			d.collectOne(t, fmt.Sprintf(format, cpu, ms*1e6))
		}
	}
	const sleepEnd, mark = "e 3 %x %x 7 0\n", "m %x %x\n"
	feed(mark, 0, 1000)
	feed(sleepEnd, 1, 1100, 1200)
	assert.Empty(t, read(false), "not all processors are known")
	feed(mark, 0, 2100)
	assert.Equal(t, []uint64{1100}, read(false), "the second processor has come to 1200")
	feed(sleepEnd, 0, 2150)
	feed(sleepEnd, 1, 1300, 2140)
	feed(mark, 1, 2200)
	assert.Equal(t, []uint64{1200, 1300, 2140}, read(false))
	feed(sleepEnd, 0, 2500)
	feed(mark, 0, 9000)
	assert.Equal(t, []uint64{2150, 2500}, read(false), "the second processor prints nothing any more")
	feed(sleepEnd, 1, 9000)
	feed(sleepEnd, 0, 9001)
	assert.Equal(t, []uint64{9000, 9001}, read(true))
	assert.Zero(t, d.bad)
}

// TestDTraceLost checks that the number of lost events is DTrace's own count minus the events that were read, whether
// DTrace reports the losses or not.
func TestDTraceLost(t *testing.T) {
	d := newDTraced(traced())
	d.textOf(t, "e 3 0 1 7 0\ndtrace: 1 drop on CPU 0\ne 3 0 2 7 0\ne 4 0 3 7 0\nn 9\ngasm: end\n")
	assert.EqualValues(t, 2, d.good)
	assert.EqualValues(t, 7, d.lost())
	d.total = 1
	assert.Zero(t, d.lost(), "an event that came while it ended")
}

// TestDTraceRepeats checks that events count once if DTrace prints a buffer twice.
func TestDTraceRepeats(t *testing.T) {
	d := newDTraced(traced())
	block := "e 3 0 1 7 0\ne 3 0 2 7 0\ne 3 0 2 8 0\n"
	d.textOf(t, block+"m 0 4\n"+block+"e 3 0 5 7 0\n"+block+"n 9\ngasm: end\n")
	assert.EqualValues(t, 4, d.good, "another thread, or another time, is another event")
	assert.EqualValues(t, 5, d.lost())
	assert.LessOrEqual(t, len(d.recent), mostRecent)
}

func (d *dtraced) collectOne(t *testing.T, line string) {
	t.Helper()
	d.ended = make(chan struct{})
	d.collect(&closed{strings.NewReader(line)})
}

// TestDTraceLongText checks that a text that DTrace has no room for ends in an ellipsis.
func TestDTraceLongText(t *testing.T) {
	d := newDTraced(nil)
	long := bytes.Repeat([]byte("x"), longestDTraceText)
	for _, c := range []struct {
		length     uint64
		read, want string
	}{{3, "abc", "abc"}, {3, "abcd", "abc"}, {255, string(long), string(long)}, {256, string(long),
		string(long) + "…"}, {9, "abc", "abc"}, {0, "", ""}} {
		d.keep(16, c.length, []byte(c.read))
		text, ok := d.text(16, c.length)
		assert.True(t, ok)
		assert.Equal(t, c.want, string(text))
	}
	_, ok := d.text(17, 3)
	assert.False(t, ok)
}

// TestDTraceScript checks that the script has each probe once, by DTrace's name for it. Invalid names are left out,
// because they would become part of the program.
func TestDTraceScript(t *testing.T) {
	probes := append(traced(), Probe{Provider: usdt.Provider, Name: "thread__sleep__end", Offset: 9,
		Args: []Operand{{Size: 4, Signed: true, Form: ConstantForm, Number: 1}}},
		Probe{Provider: usdt.Provider, Name: `x{system("id")}`, Offset: 10},
		Probe{Provider: usdt.JNIProvider, Name: "Many__entry", Offset: 11,
			Args: inRegisters(8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8)})
	probes[0].Args[2].Form = UnknownForm
	places, layouts := layOut(byName(probes))
	require.Len(t, places, 5)
	script := dtraceScript(4711, places, layouts, library{lo: 0x1000, hi: 0x3000})
	assert.Equal(t, []string{"strsize=256"}, script.Options)
	clauses := strings.SplitAfter(script.Clauses, "); } ")
	require.Len(t, clauses, 7)
	assert.Equal(t, `hotspot4711:::thread-start { @n = count(); printf("e %x %x %x %x %x %x \"%S\" %x %x\n", 0, cpu, timestamp, tid, arg0, arg1, arg1 ? copyinstr(arg0, arg1 + 1) : "", arg3, arg4); } `, clauses[0])
	assert.Contains(t, clauses[2], "this->frame = this->back - 0x1000 < 0x2000 ? ")
	assert.Equal(t, `hotspot4711:::thread-sleep-end { @n = count(); printf("e %x %x %x %x %x\n", 3, cpu, timestamp, tid, arg0); } `, clauses[3])
	assert.Equal(t, `hotspot_jni4711:::Many-entry { @n = count(); printf("e %x %x %x %x %x %x %x %x %x %x %x %x %x %x\n", 4, cpu, timestamp, tid, arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9); } `, clauses[4])
	assert.Equal(t, `profile-5 { printf("m %x %x\n", cpu, timestamp); } `, clauses[5])
	assert.Equal(t, `END { printa("n %@d\n", @n); }`, clauses[6])
	assert.NotContains(t, script.Clauses, "copyin(this->frame + 8, 8) &", "no address is signed on x86-64")
	script = dtraceScript(4711, places, layouts, library{lo: 0x1000, hi: 0x3000, signature: 0xffff << 48})
	assert.Equal(t, mostFrames, strings.Count(script.Clauses,
		"this->back = (*(uint64_t *)copyin(this->frame + 8, 8) & 0xffffffffffff); "))
	assert.Contains(t, script.Clauses, "? (*(uint64_t *)copyin(this->next + 8, 8) & 0xffffffffffff) : 0; ")
	assert.NotContains(t, dtraceScript(4711, places, layouts, library{}).Clauses, "uregs",
		"where the library is not known, nor is the caller")
}

// TestProbesListed checks the probes that DTrace lists, which are used if there are no notes.
func TestProbesListed(t *testing.T) {
	probes := probesListed(7103, []dtrace.Probe{{Provider: "hotspot7103", Name: "thread-park-end"},
		{Provider: "hotspot7103", Name: "thread-park-end"}, {Provider: "hotspot7103", Name: "object-alloc"},
		{Provider: "hotspot_jni7103", Name: "AllocObject-entry"}, {Provider: "hotspot7103", Name: "gc-begin"}})
	require.Len(t, probes, 4)
	chosen, unknown := Select(probes, []string{"hotspot:thread__park__*", "hotspot:gc-begin", "hotspot_jni:AllocObject*",
		"hotspot:object__alloc"})
	assert.Len(t, chosen, 4)
	assert.Empty(t, unknown)
	assert.Equal(t, []string{"blocker"}, []string{parametersOf(&probes[0])[0].Name})
	assert.False(t, probes[1].hasSize())
	assert.Len(t, probes[1].Args, 4)
	assert.Empty(t, probes[2].Args)
	assert.Equal(t, 1, probes[3].Args[0].Size)
}

// FuzzDTrace reads arbitrary bytes as DTrace's output. A Reader must read the text that is written for them without
// an error.
func FuzzDTrace(f *testing.F) {
	f.Add("gasm: begin 1\n" + `e 0 1 3b9aca05 2c69 7fe1 b "a\"\n\342\200\256 z" 7fe2 c 1` + "\nm 0 1\n" +
		`e 2 0 3b9aca03 7 10 20 2 "[I\0" 18` + stack + "\ngasm: end\n")
	f.Add(`e 1 0 1 7 10 2 "C2" 20 0 "" 30 3 "sum" 40 7 "([D)D\0"` + "\n")
	f.Add("e 3 0 7fffffffffffffff ffffffffffffffff ffffffff\nm ffff ffffffffffffffff\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := newDTraced(traced())
		got := d.textOf(t, text)
		for r := usdt.NewReader(strings.NewReader(got), "made", 7); r.Scan(); {
			switch rec := r.Record().(type) {
			case *event.Event:
			case *usdt.SyntaxError:
				// The time has more than nine digits of seconds, as no clock has.
				line := strings.Split(got, "\n")[rec.Line-1]
				if at, _, _ := strings.Cut(line, "."); len(at) <= 9 {
					t.Fatalf("%q became %q: %v", text, line, rec)
				}
			}
		}
	})
}
