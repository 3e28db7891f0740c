package dtrace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func TestDropCounter(t *testing.T) {
	const text = "dtrace: description 'BEGIN ' matched 4 probes\n" +
		"dtrace: 12 drops on CPU 1\n" +
		"dtrace: [DTRACEDROP_PRINCIPAL] 3 drops on CPU 0\n" +
		"dtrace: error on enabled probe ID 3: invalid address\n" +
		"dtrace: 1 drop on CPU 1\n"
	const rest = "dtrace: description 'BEGIN ' matched 4 probes\n"
	// The lines arrive in parts of any size.
	for size := 1; size <= len(text); size++ {
		var c dropCounter
		for from := 0; from < len(text); from += size {
			part := text[from:min(from+size, len(text))]
			if n, err := c.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("%q: %d, %v", part, n, err)
			}
		}
		if got := c.drops.Load(); got != 17 || c.String() != rest {
			t.Fatalf("by %d bytes: %d drops and %q", size, got, c.String())
		}
	}

	// A line without a line end is kept, too. A line about drops is not kept.
	var c dropCounter
	c.Write([]byte("dtrace: 2 drops on CPU 0\nsudo: a password is requ"))
	c.Write([]byte("ired"))
	if got := c.String(); c.drops.Load() != 2 || got != "sudo: a password is required" {
		t.Errorf("got %d drops and %q", c.drops.Load(), got)
	}
}

func TestDropCounterLong(t *testing.T) {
	// A single write has more text about drops than a dropCounter would keep of other text.
	var c dropCounter
	c.Write([]byte(strings.Repeat("dtrace: 5 drops on CPU 1\n", 100_000) + "dtrace: x\n"))
	if got := c.drops.Load(); got != 500_000 || c.String() != "dtrace: x\n" {
		t.Errorf("got %d drops and %.100q", got, c.String())
	}
	check := func(line string) {
		t.Helper()
		var c dropCounter
		for range 20_000 {
			c.Write([]byte(line))
		}
		c.Write([]byte("\ndtrace: 5 drops on CPU 1\n"))
		if got := len(c.String()); c.drops.Load() != 5 || got != 64<<10 || cap(c.line) > 256<<10 {
			t.Errorf("%q: %d drops, %d bytes, %d held", line, c.drops.Load(), got, cap(c.line))
		}
	}
	check("much other text\n")
	check("a line without end ")
}

// copying returns an output whose method save is running, the pipe to which DTrace would print, and a function that
// returns the content of the file.
func copying(t *testing.T, paced bool) (text *output, in *os.File, saved func() string) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), textName))
	if err != nil {
		t.Fatal(err)
	}
	text = newOutput(out, file)
	text.paced = paced
	go text.save()
	t.Cleanup(func() {
		in.Close()
		text.abandon()
		<-text.saved
	})
	return text, in, func() string {
		got, err := os.ReadFile(file.Name())
		if err != nil {
			t.Error(err)
		}
		return string(got)
	}
}

func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: not within a minute", what)
	}
}

// TestOutputMarks checks that a mark is found if it comes in two parts, and that everything before
// the end mark is in the file when that mark is found.
func TestOutputMarks(t *testing.T) {
	check := func(paced bool) {
		t.Helper()
		text, in, saved := copying(t, paced)
		write := func(parts ...string) {
			for _, part := range parts {
				if _, err := in.WriteString(part); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
		write("CPU\n", "  0 :BEGIN gas", "m: be")
		if text.ended() {
			t.Error("ended")
		}
		write("gin 17\n")
		within(t, "begin", text.begun)
		samples := strings.Repeat("  1 :profile-1001 1 0x1 1\n", 1000)
		write(samples, "  0 :END gasm: e", "n")
		text.hurry()
		if text.ended() {
			t.Error("ended before the end")
		}
		write("d\n")
		within(t, "end", text.end)
		want := "CPU\n  0 :BEGIN gasm: begin 17\n" + samples + "  0 :END gasm: end"
		if got := saved(); !strings.HasPrefix(got, want) || text.err() != nil {
			t.Errorf("paced %t: got %d bytes, want %d, error %v", paced, len(got), len(want), text.err())
		}
		if got := text.before.String(); strings.Contains(got, ":profile-") {
			t.Errorf("kept as the start: %q", got)
		}
		in.Close()
		within(t, "the end of the pipe", text.saved)
	}
	check(false)
	check(true)
}

// TestOutputPaced checks that a paced output makes the writer wait for room in the pipe until the next reading, which
// comes after paceInterval.
func TestOutputPaced(t *testing.T) {
	lateness := gasmtest.Lateness(t)
	text, in, _ := copying(t, true)
	if !narrowPipe(in) {
		t.Skip("pipes have a fixed size here; Linux would do")
	}
	fmt.Fprintln(in, beginMark)
	within(t, "begin", text.begun)
	// Write as DTrace does: nothing for a while, so that a reading ends, and then everything that has gathered in the
	// meantime, which is more than the pipe can hold. Stop after the writer has had to wait three times.
	line := strings.Repeat("x", 99) + "\n"
	longest, waits := time.Duration(0), 0
	for began := time.Now(); waits < 3 && time.Since(began) < 30*time.Second; {
		time.Sleep(4 * lull)
		for written, wait := 0, time.Duration(0); written < 2*pipeSize && wait < paceInterval/2; written += len(line) {
			before := time.Now()
			if _, err := in.WriteString(line); err != nil {
				t.Fatal(err)
			}
			if wait = time.Since(before); wait >= paceInterval/2 {
				waits++
				longest = max(longest, wait)
			}
		}
	}
	t.Logf("%d waits, the longest took %v", waits, longest)
	if waits < 3 {
		t.Errorf("the writer had to wait %d times in 30 s", waits)
	}
	text.hurry()
	before := time.Now()
	fmt.Fprintln(in, endMark)
	within(t, "end", text.end)
	took, late := time.Since(before), 3*lateness() // reader and writer must be woken up, and the timer may be late
	if took > time.Second+late {                   // there was no pause, or it had already begun
		t.Errorf("the end took %v", took)
	}
	if longest > 3*paceInterval+late {
		t.Errorf("the writer waited %v", longest)
	}
}

// TestOutputUnwritable checks that the pipe is read even if the file can't be written.
func TestOutputUnwritable(t *testing.T) {
	text, in, _ := copying(t, false)
	text.file.Close()
	in.WriteString(strings.Repeat("x", 1<<20) + beginMark + endMark)
	within(t, "begin", text.begun)
	within(t, "end", text.end)
	if err := text.err(); err == nil || !strings.Contains(err.Error(), textName) {
		t.Errorf("got %v", err)
	}
}
