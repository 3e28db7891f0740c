package windows

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/capture"
)

// TestWatcherSpans checks the windows between lines that the user named. The pieces arrive at the times 10, 20, 30
// and so on.
func TestWatcherSpans(t *testing.T) {
	check := func(start, end, want string, parts ...string) {
		t.Helper()
		compile := func(re string) *regexp.Regexp {
			if re == "" {
				return nil
			}
			return regexp.MustCompile(re)
		}
		w := NewOutput(Rules{Start: compile(start), End: compile(end)})
		for i, p := range parts {
			w.See([]byte(p), int64(i+1)*10)
		}
		var got []string
		for _, s := range w.Spans() {
			got = append(got, fmt.Sprintf("%d-%d", s.FromMonoNanos, s.ToMonoNanos))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("start %q, end %q, %q: got %q, want %q", start, end, parts, got, want)
		}
	}
	check("", "", "", "MEASURE\n", "DONE\n")
	check("MEASURE", "DONE", "20-40", "a\n", "MEASURE\n", "b\n", "DONE\n", "DONE\n")
	check("MEASURE", "DONE", "10-20 30-0", "MEASURE\n", "DONE\n", "MEASURE\n", "b\n")
	check("MEASURE", "DONE", "10-40", "MEASURE\n", "MEASURE\n", "b\n", "DONE\n")
	check("MEASURE", "DONE", "20-30", "DONE\n", "MEASURE\n", "DONE\n")
	check("MEASURE", "", "20-0", "a\n", "MEASURE\n", "MEASURE\n")
	check("", "DONE", "0-20", "a\n", "DONE\n", "DONE\n")
	check("", "DONE", "", "a\n", "b\n")
	check("MEASURE", "DONE", "10-10", "MEASURE\nDONE\n")
	check("round", "round", "10-20 30-0", "round 1\n", "round 2\n", "round 3\n") // a line ends or begins, in turn
	// a line begins or ends a window, not both
	check("begin|end", "end", "10-20", "begin and end\n", "end\n")
	check("begin", "begin.*end", "10-20", "begin and end\n", "begin and end\n")
	check("> ", "ready", "20-40", "a\n", "prompt> ", "ready ", "\nready") // lines that are not complete yet
	check("start now", "ok", "30-50", "st", "art ", "now", " or later\n", "ok")
	check("^b$", "^c$", "10-20", "a\r\nb\r\n", "c\r\n")
	check("x{1000}y", "", "", strings.Repeat("x", 5000), "y\n") // the match is beyond the bytes that gasm looks at
	check("a", "b", "20-20", strings.Repeat("x", 5000), "\na\nb\n")
}

// TestWatcherStreams checks that lines of both streams, or of one stream, open and close windows. The lines of the
// two streams are kept apart. Lines that JVMs print because of gasm's options do not count.
func TestWatcherStreams(t *testing.T) {
	check := func(from Source, want string, parts ...string) { // "o:" or "e:" and text
		t.Helper()
		w := NewOutput(Rules{Start: regexp.MustCompile("^MEASURE|Picked|NonSafe"), End: regexp.MustCompile("^DONE"),
			From: from})
		for i, part := range parts {
			if text, ok := strings.CutPrefix(part, "e:"); ok {
				w.SeeStderr([]byte(text), int64(i+1)*10)
			} else {
				w.See([]byte(strings.TrimPrefix(part, "o:")), int64(i+1)*10)
			}
		}
		var got []string
		for _, s := range w.Spans() {
			got = append(got, fmt.Sprintf("%d-%d", s.FromMonoNanos, s.ToMonoNanos))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("from %q, %q: got %q, want %q", from, parts, got, want)
		}
	}
	for _, both := range []Source{"", FromBoth} {
		check(both, "10-20 30-40", "o:MEASURE\n", "e:DONE\n", "e:MEASURE\n", "o:DONE\n")
		check(both, "30-40", "o:MEAS", "e:URE\n", "o:URE\n", "e:DONE\n")
	}
	check(FromStdout, "10-40", "o:MEASURE\n", "e:DONE\n", "e:MEASURE\n", "o:DONE\n")
	check(FromStderr, "30-0", "o:MEASURE\n", "e:DONE\n", "e:MEASURE\n", "o:DONE\n")
	check(FromBoth, "", "e:Picked up JAVA_TOOL_OPTIONS: -XX:+DebugNonSafepoints\n",
		"e:NOTE: Picked up JDK_JAVA_OPTIONS: MEASURE\n")
	check(FromBoth, "", "e:Pick", "e:ed up JAVA_TOOL_OPTIONS: -XX:+DebugNonSafepoints\n")
	check(FromBoth, "20-0", "e:Pick", "e:ed\n")
	check(FromBoth, "10-0", "e:-XX:+DebugNonSafepoints\n")
}

func TestUnclosedNote(t *testing.T) {
	o := Rules{}
	if got, want :=
		o.unclosedNote(1), "no line of output matched --window-end: the one window goes on to the end of the run"; got !=
		want {
		t.Errorf("got %q, want %q", got, want)
	}
	o.From = FromStderr
	want :=
		"of 3 windows, the last one was not closed: no line of stderr matched --window-end after it had opened, so it goes on to the end of the run"
	if got := o.unclosedNote(3); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// checkSpans checks what must be true for all sequences of windows.
func checkSpans(t *testing.T, spans []capture.Span) {
	t.Helper()
	var to int64
	for i, s := range spans {
		open := s.ToMonoNanos == 0
		if s.FromMonoNanos < to || !open && s.ToMonoNanos < s.FromMonoNanos || open && i < len(spans)-1 {
			t.Fatalf("span %d of %v: out of order", i, spans)
		}
		to = s.ToMonoNanos
	}
}

func FuzzWatcher(f *testing.F) {
	for _, r := range recordings {
		var all []byte
		for _, c := range recording(f, r.name) {
			all = append(all, c.text...)
		}
		f.Add(all[:min(len(all), 1500)], uint16(7), true)
		f.Add(all[len(all)/3:len(all)/2], uint16(100), false)
	}
	f.Add([]byte("MEASURE\nDONE\r\nMEASURE DONE\n"), uint16(3), false)
	f.Add([]byte("Iteration   1: 1 ns/op\nIteration   2: <failure>\n.Iteration   3: "), uint16(1), true)
	f.Add([]byte(strings.Repeat("≈", 2000)+"\r\n 10⁻⁵ s/op"), uint16(4096), true)
	f.Fuzz(func(t *testing.T, out []byte, cut uint16, headed bool) {
		// gasm looks at the whole line again for each of its pieces, so the text must not be too long.
		out = out[:min(len(out), 6000)]
		small := 1 + len(out)/100
		if headed {
			out = slices.Concat([]byte(jmhHead+"# Fork: 1 of 1\nIteration   1: "), out)
		}
		start, end := regexp.MustCompile("MEAS|[0-9]: "), regexp.MustCompile("DONE|/op")
		see := func(chunks []chunk) *Output {
			w := NewOutput(Rules{Start: start, End: end})
			for _, c := range chunks {
				w.See(c.text, c.at)
			}
			checkSpans(t, w.Spans())
			for _, fork := range w.jmh.forks {
				checkSpans(t, fork.iterations)
			}
			return w
		}
		result := func(w *Output) string {
			jvms := []capture.JVM{{PID: 1, Main: "Main"}, {PID: 2, Main: forkedMain}}
			return fmt.Sprint(w.Spans(), w.JMHTrials(jvms, 1e9), jvms, w.JMHBlackholes())
		}
		// The output arrives in pieces at increasing times.
		growing := pieces([]chunk{{0, out}}, int(cut)+small)
		for i := range growing {
			growing[i].at = int64(i + 1)
		}
		see(growing)
		// The output arrives all at one time, in one piece or several.
		whole := result(see([]chunk{{7, out}}))
		for _, n := range []int{small, int(cut) + small} {
			if got := result(see(pieces([]chunk{{7, out}}, n))); got != whole {
				t.Errorf("in pieces of %d bytes: got %s, want %s", n, got, whole)
			}
		}
	})
}
