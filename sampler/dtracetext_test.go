package sampler

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// readDTrace reads the text and returns copies of its records.
func readDTrace(t testing.TB, text string) []any {
	t.Helper()
	var records []any
	r := NewDTraceReader(strings.NewReader(text), "in")
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
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}

func TestDTraceSample(t *testing.T) {
	check := func(line string, want Sample) {
		t.Helper()
		want.TID, want.Event = NoPID, "profile-1001"
		for _, end := range []string{"\n", "\r\n", "   \n", "\t\r\n\n"} {
			got := readDTrace(t, line+end)
			if len(got) != 1 || got[0] != any(want) {
				t.Errorf("%q:\n got %+v\nwant %+v", line+end, got, want)
			}
		}
	}
	// Texts of Linux: with ufunc(), and without it, as dtrace.Program asks for.
	check("  1   3977                    :profile-1001 3356 0x7fbffc6bc568 1702201016319  libjvm.so`_ZN2os5sleepEP6Threadlb                  ",
		Sample{MonoNanos: 1702201016319, PID: 3356, PC: 0x7fbffc6bc568, Module: "libjvm.so", Symbol: "os::sleep"})
	check("  0   3977                    :profile-1001 25165 0x7f7844b83f18 1912993111528  libc.so.6`0x7f7844b83f18                          ",
		Sample{MonoNanos: 1912993111528, PID: 25165, PC: 0x7f7844b83f18, Module: "libc.so.6"})
	check("  1   3977                    :profile-1001 25168 0x7fdc1e2b60af 1912996845967  0x7fdc1e2b60af                                    ",
		Sample{MonoNanos: 1912996845967, PID: 25168, PC: 0x7fdc1e2b60af})
	check("  1   3973                    :profile-1001 9149 0x48a192 3380699881073",
		Sample{MonoNanos: 3380699881073, PID: 9149, PC: 0x48a192})
	check("  0   3973                    :profile-1001 77 0xffffffff816a7477 1693700087293  vmlinux`damon_pa_batch_lock",
		Sample{MonoNanos: 1693700087293, PID: 77, PC: 0xffffffff816a7477, Module: KernelModule,
			Symbol: "damon_pa_batch_lock"})
	check("  0   3973                    :profile-1001 77 0xffffffffc0201477 1693700087294  nf_tables`nft_do_chain",
		Sample{MonoNanos: 1693700087294, PID: 77, PC: 0xffffffffc0201477, Module: KernelModule, Symbol: "nft_do_chain"})
	check("  0   3973                    :profile-1001 77 0xffffffff816a7477 1693700087293  0xffffffff816a7477",
		Sample{MonoNanos: 1693700087293, PID: 77, PC: 0xffffffff816a7477, Module: KernelModule})
	// macOS.
	check("  2  12345                  :profile-1001 4711 0x7fff2039c2ea 81234567890123   libsystem_kernel.dylib`__psynch_cvwait",
		Sample{MonoNanos: 81234567890123, PID: 4711, PC: 0x7fff2039c2ea, Module: "libsystem_kernel.dylib",
			Symbol: "__psynch_cvwait"})
	check("  2  12345                  :profile-1001 4711 0x10f2c3a40 81234567890124   0x10f2c3a40",
		Sample{MonoNanos: 81234567890124, PID: 4711, PC: 0x10f2c3a40})
	// Lines without blanks before the columns, or without the first two columns.
	check(":profile-1001 1 0x1 1 a`b", Sample{MonoNanos: 1, PID: 1, PC: 1, Module: "a", Symbol: "b"})
	check("12 1234567 FUNCTION:profile-1001\t1\t0xffff7fffffffffff\t9223372036854775807\ta`b",
		Sample{MonoNanos: 9223372036854775807, PID: 1, PC: 0xffff_7fff_ffff_ffff, Module: "a", Symbol: "b"})
}

func TestDTraceNames(t *testing.T) {
	check := func(text, symbol, module string) {
		t.Helper()
		got := readDTrace(t, "  2  12345   :profile-997 1 0x7f00 15  "+text+"  \n")
		want := Sample{MonoNanos: 15, PID: 1, TID: NoPID, PC: 0x7f00, Event: "profile-997", Symbol: symbol, Module: module}
		if len(got) != 1 || got[0] != any(want) {
			t.Errorf("%q:\n got %+v\nwant %+v", text, got, want)
		}
	}
	check("", "", "")
	check("0x7f00", "", "")
	check("0x7F00", "", "")
	check("libc.so.6`0x7f00", "", "libc.so.6")
	check("libc.so.6`", "", "libc.so.6")
	check("libc.so.6", "", "libc.so.6")
	check("libc.so.6`memcpy", "memcpy", "libc.so.6")
	check("libc.so.6`memcpy+0x1f", "memcpy", "libc.so.6")
	check("libc.so.6`+0x1f", "+0x1f", "libc.so.6")
	check("libc.so.6`0x7f00x", "0x7f00x", "libc.so.6")
	check("libc.so.6`0x", "0x", "libc.so.6")
	check("a`b`c", "b`c", "a")
	check("a``", "`", "a")
	check("`main", "main", "")
	check("my program`my function", "my function", "my program")
	// Names are mangled on Linux, and demangled on macOS.
	check("libjvm.so`_ZN11SymbolTable6lookupEPKci", "SymbolTable::lookup", "libjvm.so")
	check("libjvm.so`_ZNSt6vectorIiSaIiEE9push_backERKi+0x8", "std::vector<int, std::allocator<int> >::push_back",
		"libjvm.so")
	check("libx.dylib`__ZN1a1bEv", "a::b", "libx.dylib")
	check("librust.so`_RNvC1a1b", "a::b", "librust.so")
	check("libjvm.so`_Zcut", "_Zcut", "libjvm.so")
	check("libjvm.dylib`SymbolTable::lookup(char const*, int)", "SymbolTable::lookup(char const*, int)", "libjvm.dylib")
	check("a.dylib`std::function<int (int)>::operator()(int) const", "std::function<int (int)>::operator()(int) const",
		"a.dylib")
	check("a.dylib`(anonymous namespace)::f(void (*)(int), int (&) [3])",
		"(anonymous namespace)::f(void (*)(int), int (&) [3])", "a.dylib")
	check("Foundation`-[NSObject foo:]", "-[NSObject foo:]", "Foundation")
	check("AppKit`+[NSView(Private) _bar:with:]", "+[NSView(Private) _bar:with:]", "AppKit")
	check("a`__56-[Foo bar]_block_invoke_2", "__56-[Foo bar]_block_invoke_2", "a")
}

func TestDTraceSyntaxErrors(t *testing.T) {
	check := func(line, msg string) {
		t.Helper()
		got := readDTrace(t, "CPU     ID                    FUNCTION:NAME\n\n"+line)
		want := SyntaxError{File: "in", Line: 3, Msg: msg}
		if len(got) != 1 || got[0] != any(want) {
			t.Errorf("%q:\n got %+v\nwant %+v", line, got, want)
		}
	}
	const noProbe, noPID = "no profile probe", "no process id after the probe"
	const noPC, noTime, cut = "no address and time after the process id", "no time in ns after the address", "the line is cut in the time"
	// The last line is cut.
	check("  1", noProbe)
	check("  1   3977                    ", noProbe)
	check("  1   3977                    :prof", noProbe)
	check("  1   3977                    :profile-", noPID)
	check("  1   3977                    :profile-10", noPID)
	check("  1   3977                    :profile-1001 ", noPID)
	check("  1   3977                    :profile-1001 251", noPC)
	check("  1   3977                    :profile-1001 25165 ", noPC)
	check("  1   3977                    :profile-1001 25165 0x", noPC)
	check("  1   3977                    :profile-1001 25165 0x7f78", noPC)
	check("  1   3977                    :profile-1001 25165 0x7f7844b83f18 ", noPC)
	check("  1   3977                    :profile-1001 25165 0x7f7844b83f18 19129", cut)
	check("  1   3977                    :profile-1001 25165 0x7f7844b83f18 1912993111528", cut)
	// The line is garbled, or a number is too large.
	check("  1   3977                    :profile-1001 x 0x7f 19\n", noPID)
	check("  1   3977                    :profile-1001 99999999999 0x7f 19\n", noPID)
	check("  1   3977                    :profile-1001 1 0x7g 19\n", noPC)
	check("  1   3977                    :profile-1001 1 0x10000000000000000 19\n", noPC)
	check("  1   3977                    :profile-1001 1 0x7f x\n", noTime)
	check("  1   3977                    :profile-1001 1 0x7f 19x\n", noTime)
	check("  1   3977                    :profile-1001 1 0x7f -19\n", noTime)
	check("  1   3977                    :profile-1001 1 0x7f 9223372036854775808\n", noTime)
	check("  1   3977                    :profile-1001 1 0x7f\n", noPC) // the time is missing
	check("  1   3977                    :tick-1s 1 0x7f 19\n", noProbe)
	check("dtrace: error on enabled probe ID 3 (ID 3977: profile:::profile-1001): invalid address\n", noPID)
	check("dtrace: buffer size lowered to 2m\n", noProbe)
	check("nonsense\n", noProbe)
}

// TestDTraceCutName reads last lines that are cut in their last field: the sample is whole, but the
// name in that field is ignored.
func TestDTraceCutName(t *testing.T) {
	check := func(text, module, symbol string) {
		t.Helper()
		got := readDTrace(t, "  1   3977   :profile-1001 7 0x7f00 19"+text)
		want := Sample{MonoNanos: 19, PID: 7, TID: NoPID, PC: 0x7f00, Event: "profile-1001", Module: module, Symbol: symbol}
		if len(got) != 1 || got[0] != any(want) {
			t.Errorf("%q:\n got %+v\nwant %+v", text, got, want)
		}
	}
	check(" ", "", "")
	check("  lib", "", "")
	check("  libjvm.so", "", "")
	check("  libjvm.so`", "libjvm.so", "")
	check("  libjvm.so`mem", "libjvm.so", "")
	check("  libjvm.so`memcpy ", "libjvm.so", "memcpy")
	check("  libjvm.so`memcpy                 \r", "libjvm.so", "memcpy")
	check("  0x7f", "", "")
}

// TestDTraceMixed checks that the lines around a bad one are read, in the order of the text.
func TestDTraceMixed(t *testing.T) {
	got := readDTrace(t, `dtrace: system integrity protection is on, some features will not be available

dtrace: description 'BEGIN ' matched 4 probes
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN gasm: begin 17
  1   3977                    :profile-99 7 0x10 30  a`+"`f"+`
  0   3977                    :profile-99 7 0x11 2
  0   39  1   3977                    :profi
dtrace: 12 drops on CPU 1
  0   3977                    :profile-99 7 0xffffffff81000000 21  vmlinux`+"`g"+`

  0      2                             :END gasm: end
`)
	s := Sample{MonoNanos: 30, PID: 7, TID: NoPID, PC: 0x10, Event: "profile-99", Module: "a", Symbol: "f"}
	u := Sample{MonoNanos: 2, PID: 7, TID: NoPID, PC: 0x11, Event: "profile-99"}
	k := Sample{MonoNanos: 21, PID: 7, TID: NoPID, PC: 0xffffffff81000000, Event: "profile-99", Module: KernelModule,
		Symbol: "g"}
	want := []any{s, u, SyntaxError{File: "in", Line: 8, Msg: "no profile probe"}, Lost{12}, k}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	checkNothing := func(text string) {
		t.Helper()
		if got := readDTrace(t, text); len(got) > 0 {
			t.Errorf("%q: got %+v", text, got)
		}
	}
	checkNothing("")
	checkNothing("\n")
	checkNothing("\r\n\r\n")
	checkNothing("CPU     ID                    FUNCTION:NAME")
	checkNothing("CPU     ID                    FUNCTION:NAME\r\n")
}

func TestDTraceDrops(t *testing.T) {
	check := func(line string, want int64) {
		t.Helper()
		n, ok := DTraceDrops([]byte(line))
		if n != want || ok != (want > 0) {
			t.Errorf("%q: got %d, %t, want %d", line, n, ok, want)
		}
		if got := readDTrace(t, line+"\n"); ok && (len(got) != 1 || got[0] != any(Lost{want})) {
			t.Errorf("%q: got %+v", line, got)
		}
	}
	check("dtrace: 12 drops on CPU 1", 12)
	check("dtrace: 1 drop on CPU 0", 1)
	check("dtrace: [DTRACEDROP_PRINCIPAL] 3 drops on CPU 0", 3)
	check("[DTRACEDROP_PRINCIPAL] 3 drops on CPU 0", 3)
	check("dtrace: 7 aggregation drops on CPU 0", 7)
	check("dtrace: 5 dynamic variable drops with non-empty dirty list", 5)
	check("dtrace: drops on CPU 1", 0)
	check("dtrace: 12drops", 0)
	check("dtrace: 12 probes", 0)
	check("dtrace: [DTRACEDROP_PRINCIPAL", 0)
	check("dtrace: [DTRACEDROP_PRINCIPAL]", 0)
	check("dtrace: 99999999999 drops on CPU 1", 0)
	check("12 drops on CPU 1", 0)
	check("dtrace: ", 0)
	check("dtrace:", 0)
}

func TestDTraceUserOnly(t *testing.T) {
	const user, kernel = "  1   3977   :profile-99 7 0x10 30\n", "  1   3977   :profile-99 7 0xffffffff81000000 30\n"
	check := func(text string, want bool) {
		t.Helper()
		r := NewDTraceReader(strings.NewReader(text), "in")
		for r.Scan() {
		}
		if got := r.UserOnly(); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
	check("", false)
	check("nonsense\n", false)
	check(user, true)
	check(user+user, true)
	check(user+kernel+user, false)
}

func TestDTraceLongLine(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	got := readDTrace(t, ":profile-99 7 0x10 30 a`"+long+"\n:profile-99 7 0x11 31 a`f\n")
	if len(got) != 2 || got[0].(Sample).Symbol != long || got[1].(Sample).PC != 0x11 {
		t.Errorf("got %d records of a 200 kB line and the one after it", len(got))
	}
}

func TestDTraceReadError(t *testing.T) {
	bad := errors.New("disk on fire")
	in := io.MultiReader(strings.NewReader(":profile-99 7 0x10 30\n"), iotest.ErrReader(bad))
	r := NewReader(in, "samples.txt")
	n := 0
	for r.Scan() {
		n++
	}
	if err := r.Err(); n != 1 || !errors.Is(err, bad) || err.Error() != "samples.txt:2: disk on fire" {
		t.Errorf("got %v after %d records", err, n)
	}
	if r.Scan() || r.Record() != nil {
		t.Error("goes on after an error")
	}
}
