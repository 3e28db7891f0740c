package sampler

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// readXCTrace reads an export with the reader that NewReader returns for it, and returns copies of its
// records.
func readXCTrace(t testing.TB, text string) []any {
	t.Helper()
	var in io.Reader = strings.NewReader(text)
	if len(text) < 100_000 { // a longer text takes too much time
		in = iotest.OneByteReader(in)
	}
	r := NewReader(in, "in")
	require.IsType(t, &XCTraceReader{}, r)
	var records []any
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *Sample:
			records = append(records, *rec)
		case *Lost:
			records = append(records, *rec)
		case *SyntaxError:
			records = append(records, *rec)
		default:
			t.Fatalf("a record is a %T", rec)
		}
	}
	require.NoError(t, r.Err())
	require.False(t, r.Scan())
	return records
}

func TestXCTraceTables(t *testing.T) {
	main := Sample{PID: 4711, TID: 4778, Thread: "Main Thread", Event: "time-profile"}
	jit := Sample{PID: 4711, TID: 4779, Thread: "C2 CompilerThre", Event: "time-profile"}
	worker := Sample{PID: 77, TID: 11181, Thread: "worker-1", Event: "cycles"}
	counted := Sample{PID: 5, TID: 1, Thread: "main", Event: "counters-profile"}
	with := func(s Sample, nanos int64, pc uint64, module, symbol string) Sample {
		s.MonoNanos, s.PC, s.Module, s.Symbol = nanos, pc, module, symbol
		return s
	}
	for file, want := range map[string][]any{
		"xctrace-time.xml": {
			with(main, 464248740, 0x1a0241c34, "dyld", "dyld4::Loader<int>::isValid(dyld4::RuntimeState const&) const"),
			with(jit, 465248740, 0x104b2d02c, "libjvm.dylib", "PhaseIdealLoop::build_loop_late(VectorSet&)"),
			with(main, 465248740, 0x11b3c5a40, "", ""),
			with(main, 466248740, 0x11b3c5a40, "", ""),
			Lost{Count: 1},
			with(jit, 469248740, 0x1a02543a0, "dyld", "start"), // the address is aligned, so it is right already
		},
		"xctrace-cpu.xml": {
			with(worker, 100000000, 0x18c8d7288, "libsystem_platform.dylib", "_platform_memmove"),
			with(worker, 101000000, 0x11b3c5a48, "", ""),
			with(worker, 102000000, 0x18c8d7288, "libsystem_platform.dylib", "_platform_memmove"),
			with(worker, 103000000, 0x11b3c5a48, "", ""),
			with(worker, 104000000, 0x104b2d030, "libjvm.dylib", "CodeHeap::find_block_for(void*) const"),
		},
		"xctrace-counters.xml": {
			with(counted, 200000000, 0x7ff805e6c784, "libsystem_kernel.dylib", "mach_msg2_trap"),
			with(counted, 201000000, 0xffffff8000212343, "kernel", ""),
		},
	} {
		assert.Equal(t, want, readXCTrace(t, string(readText(t, "testdata/"+file))), file)
	}
}

// export returns an export of time-profile with these rows.
func export(rows ...string) string {
	return `<trace-query-result><node><schema name="time-profile"/>` + strings.Join(rows, "") +
		`</node></trace-query-result>`
}

// TestXCTraceDamage checks that damage is reported, and that the reading goes on.
func TestXCTraceDamage(t *testing.T) {
	const good = `<row><sample-time>7</sample-time><backtrace><frame addr="0x11"/></backtrace></row>`
	sample := Sample{MonoNanos: 7, PID: NoPID, TID: NoPID, PC: 0x10, Event: "time-profile"}
	for text, want := range map[string]string{
		export(`<row><sample-time ref="9"/></row>`, good):                            "by a number that no value has",
		export(`<thread id="9"/><row><sample-time ref="9"/></row>`, good):            "by a number that no value has",
		export(`<row><backtrace><frame addr="0x1"/></backtrace></row>`, good):        "without sample-time",
		export(`<row><sample-time>x</sample-time></row>`, good):                      "without sample-time",
		export(`<row><frame name="`+strings.Repeat("x", 3*maxTag)+`"/></row>`, good): "longer than 1 MB",
		export(good) + "<row":                                        "in the middle of a tag",
		export(good) + `<!-- > `:                                     "in the middle of a tag",
		export(`<pid id="99999999999">1</pid>`, good):                "more values with numbers than gasm keeps",
		export(`<row><a><b>`, good):                                  "",
		export(strings.Repeat("<a>", 100), good):                     "",
		export(`<row><backtrace>`, good, `</row></row></backtrace>`): "",
		export(`<!-- <row> --><?x <row> ?>`, good):                   "",
		export(`<row><sample-time>1</sample-time><thread-state>Idle</thread-state></row>`, good): "",
	} {
		samples, bad := 0, ""
		for _, r := range readXCTrace(t, text) {
			switch r := r.(type) {
			case Sample:
				samples++
				assert.Equal(t, sample, r, "%.200s", text)
			case SyntaxError:
				bad += r.Msg
			}
		}
		assert.Equal(t, 1, samples, "%.200s", text)
		assert.Contains(t, bad, want, "%.200s", text)
		if want == "" {
			assert.Empty(t, bad, "%.200s", text)
		}
	}
	records := readXCTrace(t, `<?xml version="1.0"?><trace-toc></trace-toc>`)
	require.Len(t, records, 1)
	assert.Contains(t, records[0].(SyntaxError).Msg, "no table of samples")

	r := NewXCTraceReader(io.MultiReader(strings.NewReader(export()[:60]), iotest.ErrReader(errors.New("broken"))), "in")
	for r.Scan() {
	}
	assert.ErrorContains(t, r.Err(), "in:1: broken")
}

func TestXCTraceStart(t *testing.T) {
	nanos, err := XCTraceStart(bytes.NewReader(readText(t, "testdata/xctrace-counters.xml")))
	require.NoError(t, err)
	assert.EqualValues(t, 2897656234073*125/3, nanos)
	for _, text := range []string{"", export(),
		`<trace-query-result><schema name="time-info"/><row><mach-absolute-time>1</mach-absolute-time></row>`,
		`<x><schema name="time-info"/><row><mach-absolute-time>18446744073709551615</mach-absolute-time><mach-timebase-info>` +
			`<mach-timebase-info-field>125</mach-timebase-info-field><mach-timebase-info-field>0</mach-timebase-info-field></mach-timebase-info></row>`} {
		_, err := XCTraceStart(strings.NewReader(text))
		assert.Error(t, err, text)
	}
}

// A largeExport is an export of some size, which has only the next row in memory.
type largeExport struct {
	size, written int
	row           func(i int) string
	next          int
	rest          string
	ended         bool
}

func (l *largeExport) Read(buf []byte) (int, error) {
	if l.rest == "" {
		switch {
		case l.next == 0 && l.written == 0:
			l.rest = `<trace-query-result><node><schema name="time-profile"/>`
		case l.written < l.size:
			l.rest = l.row(l.next)
			l.next++
		case !l.ended:
			l.rest, l.ended = "</node></trace-query-result>", true
		default:
			return 0, io.EOF
		}
	}
	n := copy(buf, l.rest)
	l.rest = l.rest[n:]
	l.written += n
	return n, nil
}

// usualRow returns a row like those of a busy JVM: each has a time and a backtrace of its own, with 12
// frames, one of them new.
func usualRow(i int) string {
	var b strings.Builder
	id := i*8 + 100
	fmt.Fprintf(&b, `<row><sample-time id="%d" fmt="00:00.464.248">%d</sample-time><thread id="%d" fmt="Java: worker  0x12aa (java, pid: 47)"><tid id="%d" fmt="0x1">%d</tid>`+
		`<process id="%d" fmt="java (47)"><pid id="%d" fmt="47">47</pid></process></thread><thread-state id="%d" fmt="Running">Running</thread-state>`+
		`<backtrace id="%d"><frame id="%d" name="0x%x" addr="0x%x"/>`, id, i*1000, id+1, id+2, i%500, id+3, id+4, id+5, id+6,
		id+7, 0x10000000+i*4+1, 0x10000000+i*4+1)
	for k := range 11 {
		fmt.Fprintf(&b, `<frame ref="%d"/>`, 107+i/(k+2)*8)
	}
	b.WriteString("</backtrace></row>\n")
	return b.String()
}

// namedRow returns a row with a new function in a new file.
func namedRow(i int) string {
	return fmt.Sprintf(`<row><sample-time id="%d">1</sample-time><backtrace id="%d"><frame id="%d" name="function%d" addr="0x11"><binary id="%d" name="file%d"/></frame></backtrace></row>`,
		i*4+1, i*4+2, i*4+3, i, i*4+4, i)
}

// tinyRow returns a row with as many numbers as a row can have.
func tinyRow(i int) string {
	return fmt.Sprintf(`<pid id="%d"/><row><sample-time id="%d">1</sample-time></row>`, i*2+1, i*2+2)
}

// TestXCTraceMemory checks that an export of 100 MB is read within 300 MB, whatever is in it. What the
// reader holds at any time must be at most half of that, because the collector lets as much garbage
// gather (GOGC=100) before it frees any. How much garbage there is at some moment depends on the
// collector's timing, which differs from machine to machine, so the test counts what is left after a
// collection.
func TestXCTraceMemory(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	size, limit := 100<<20, int64(150<<20)
	if !gasmtest.Whole() {
		size, limit = size/10, 20<<20 // a tenth of the size has more than a tenth of the names
	}
	held := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	for name, row := range map[string]func(int) string{"usual": usualRow, "names": namedRow, "numbers": tinyRow} {
		before := held()
		in := &largeExport{size: size, row: row}
		r := NewXCTraceReader(in, "in")
		records, most, looked := 0, int64(0), 0
		for r.Scan() {
			if bad, ok := r.Record().(*SyntaxError); ok && !strings.Contains(bad.Msg, "more values") {
				t.Fatal(bad)
			}
			records++
			if in.written >= looked { // 20 times in all
				most, looked = max(most, held()-before), looked+size/20
			}
		}
		require.NoError(t, r.Err())
		most = max(most, held()-before)
		t.Logf("%s: %d MB, %d rows: %.1f MB are held, %d values, %d names", name, size>>20, records, float64(most)/(1<<20),
			len(r.values.pages)*xcPage, len(r.names.all))
		assert.Greater(t, records, size/1000, name)
		assert.Less(t, most, limit, name)
		assert.Greater(t, most, int64(size/1000), name)
	}
}

func BenchmarkXCTraceReader(b *testing.B) {
	var text bytes.Buffer
	_, err := io.Copy(&text, &largeExport{size: 8 << 20, row: usualRow})
	require.NoError(b, err)
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		r := NewXCTraceReader(bytes.NewReader(text.Bytes()), "in")
		for r.Scan() {
		}
		require.NoError(b, r.Err())
	}
}

// FuzzXCTraceReader checks that records have possible values, and compares the tags with those that
// encoding/xml reads.
func FuzzXCTraceReader(f *testing.F) {
	for _, file := range []string{"xctrace-time.xml", "xctrace-cpu.xml", "xctrace-counters.xml"} {
		text, err := os.ReadFile("testdata/" + file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(export(`<row><sample-time id='1'>5</sample-time><backtrace><frame addr="0xffffffffffffffff" name="&#x3c;&amp;&bad;"/></backtrace></row>`)))
	f.Add([]byte(`<row><!-- <a b="> --><a b='"></c>' /></row><`))
	f.Add([]byte(`<?xml version=1.0"?>>`))
	f.Fuzz(func(t *testing.T, in []byte) {
		rows := bytes.Count(in, []byte("row"))
		records, line := 0, 0
		r := NewXCTraceReader(bytes.NewReader(in), "fuzz")
		for r.Scan() {
			records++
			switch rec := r.Record().(type) {
			case *Sample:
				if rec.MonoNanos < 0 || rec.PID < NoPID || rec.TID < NoPID || len(rec.Thread) > 15 || rec.Event == "" ||
					(rec.PC >= KernelStart) != rec.Kernel() && rec.PC >= KernelStart {
					t.Errorf("%+v", rec)
				}
			case *SyntaxError:
				if rec.Line < line || rec.Msg == "" {
					t.Errorf("%+v after line %d", rec, line)
				}
				line = rec.Line
			}
		}
		if r.Err() != nil || records > rows+bytes.Count(in, []byte{'<'})+2 {
			t.Errorf("%d records of %d rows, error %v", records, rows, r.Err())
		}
		compareTags(t, in)
	})
}

// compareTags compares the tags of texts that encoding/xml accepts.
func compareTags(t *testing.T, in []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(in))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var want []string
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return
		}
		switch token := token.(type) {
		case xml.StartElement:
			tag := "+" + token.Name.Local
			for _, a := range token.Attr {
				tag += " " + a.Name.Local + "=" + a.Value
			}
			want = append(want, tag)
		case xml.EndElement:
			want = append(want, "-"+token.Name.Local)
		case xml.CharData:
			if bytes.ContainsAny(in, "<!") && bytes.Contains(in, []byte("<![CDATA[")) {
				return // this reader takes it for a declaration
			}
		case xml.Directive:
			return // its brackets may be nested
		}
	}
	if bytes.ContainsAny(in, ":\r") { // encoding/xml splits prefixes off names, and replaces line ends
		return
	}
	var got []string
	x := newXMLReader(bytes.NewReader(in))
	for x.scan() {
		if x.bad != "" {
			t.Fatalf("%q: %s", in, x.bad)
		}
		name, rest, end, empty := cutTag(x.tag)
		tag := "+" + string(name)
		attributes(rest, func(name, value []byte) { tag += " " + string(name) + "=" + string(unescapeXML(nil, value)) })
		if end {
			tag = "-" + string(name)
		}
		got = append(got, tag)
		if empty {
			got = append(got, "-"+string(name))
		}
	}
	assert.Equal(t, want, got, "%q", in)
}
