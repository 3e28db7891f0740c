package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

func TestDescriptionRoundTrip(t *testing.T) {
	want := &Description{
		Schema: 1, Gasm: "v1.0.0", Command: []string{"java", "-jar", "a b.jar", "<>&\""},
		Host:    Host{OS: "linux", Arch: "amd64", Kernel: "6.12.0", CPUs: 2},
		Sampler: "perf", Events: []string{"cycles:P"}, Frequency: 1001, Notes: []string{"no window"},
		Clocks: []Clock{{MonoNanos: 1, WallNanos: 1_700_000_000_000_000_001}},
		JVMs: []JVM{
			{PID: 7, Main: "bench.jar", Version: "17.0.15+6", LogFile: "asm-7.log", StartMonoNanos: 5},
			{PID: 8, Main: "org.openjdk.jmh.runner.ForkedMain 127.0.0.1 36045", LogFile: "asm-8.log", StartMonoNanos: 6,
				Fork: 1},
		},
		Trials:   []Trial{{Name: "a.B.c (size=10)", Windows: []Window{{8, Span{10, 20}}}}},
		ExitCode: 3,
	}
	dir := t.TempDir()
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, DescriptionFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gasmtest.Golden(t, "capture.json", text)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	if got, err := ReadDescription(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if err := want.Write(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: got %v", err)
	}
}

// If the disk is full, Write leaves no half of a description, because the rest can be read without one.
func TestDescriptionOfFullDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, DescriptionFile)
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip(err) // macOS has no such file
	}
	d := Description{Schema: 1}
	if err := d.Write(dir); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", path, err)
	}
}

// A recording that is not finished has no samples.txt. The error says so if there is a file that samplers write.
func TestOpenUnfinished(t *testing.T) {
	for _, name := range []string{"samples.part", "perf.data"} {
		dir := t.TempDir()
		for _, file := range []string{name, LogFile(4711)} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("<hotspot_log version='160 1'>\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Open(dir)
		if want := "the recording in " + dir + " is not finished"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// TestOpenCutOff checks that the capture of an unfinished recording can be read if it says what threads did by the wall
// clock, with the samples so far, even if there are none.
func TestOpenCutOff(t *testing.T) {
	for _, samples := range []string{"", "java 4711/4712  1.000000001: cpu-clock:  7f45a793878c [unknown] (//anon) #1\n"} {
		dir := t.TempDir()
		for name, text := range map[string]string{LogFile(4711): "<hotspot_log version='160 1' process='4711'>\n",
			"samples.part": samples,
			"stacks.part":  "gasm stacks 1\nf 1 native 7f08f46428ec - - - \"libc.so.6\" \"clone3\"\ns 1 0 1\n",
			WallText(4711): "gasm wall 1 4711 20 1\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if !c.Guessed || len(c.WallFiles()) != 1 || !strings.Contains(strings.Join(c.Notes, "\n"),
			"the recording is not finished") {
			t.Errorf("%v %v", c.Notes, c.WallFiles())
		}
		if tree, notes := c.ReadStacks(); tree == nil || tree.Len() != 1 || len(notes) > 0 {
			t.Errorf("%v %v", tree, notes)
		}
		if !Reads(dir, filepath.Join(dir, "samples.part")) || !Reads(dir, filepath.Join(dir, WallText(4711))) {
			t.Error("a report could overwrite what it is made from")
		}
	}
}

func TestReadDescriptionErrors(t *testing.T) {
	check := func(text, want string) {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, DescriptionFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadDescription(dir)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%q: got %v, want the path and %q", text, err, want)
		}
	}
	check(`{"schema":3,"gasm":"v9"}`, "has schema 3, but this gasm reads schemas 1 and 2: use the gasm that made it (v9)")
	check(`{"schema":2,"gasm":"v9","stacks":3}`,
		"have call stacks of version 3, but this gasm reads versions up to 2: use the gasm that made it (v9)")
	check(`{"schema":"1"}`, "not a capture's description")
	check("{}", "not a capture's description")
	check("[]", "not a capture's description")
	check("", "not a capture's description")
	check(`{"schema":1}{`, "not a capture's description")
	check("Failed to write\n", "not a capture's description")
	if _, err := ReadDescription(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v, want fs.ErrNotExist", err)
	}
}

// An impossible number of lost samples is damage. A note says so, and no samples are counted as lost.
func TestLostDamaged(t *testing.T) {
	check := func(lost string, want int64, notes int) {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, DescriptionFile), []byte(`{"schema":1,"lost":`+lost+`}`),
			0o600); err != nil {
			t.Fatal(err)
		}
		d, err := ReadDescription(dir)
		if err != nil || d.Lost != want || len(d.Notes) != notes || notes > 0 &&
			!strings.Contains(d.Notes[0], "lost "+lost+" samples") {
			t.Errorf("%s: got %+v, %v", lost, d, err)
		}
	}
	check("0", 0, 0)
	check("4711", 4711, 0)
	check("-1", 0, 1)
	check("9223372036854775807", 0, 1)
	check("-9223372036854775808", 0, 1)
}

func TestLogs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b] *?") // it must not be read as a pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{LogFile(123), LogFile(45), LogFile(6), "asm.log", "asm-pid7.log.tmp", "asm-pidx.log.x",
		"samples.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{filepath.Join(dir, "asm-123.log"), filepath.Join(dir, "asm-45.log"), filepath.Join(dir, "asm-6.log")}
	if got, err := Logs(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	none := filepath.Join(dir, "none")
	logs, err := Logs(none)
	if len(logs) != 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: got %q, %v", logs, err)
	}
}

func TestClock(t *testing.T) {
	before := time.Now().UnixNano()
	c := ReadClock()
	after := time.Now().UnixNano()
	if c.WallNanos < before || c.WallNanos > after {
		t.Errorf("wall clock %d is not between %d and %d", c.WallNanos, before, after)
	}
	// Mono returns the reading of the other clock, except for a pause between the two readings. So the best of several
	// tries counts.
	best := int64(1 << 62)
	for range 20 {
		wall := time.Now().UnixNano()
		mono := monotonic.Nanos()
		best = min(best, max(mono-c.Mono(wall), c.Mono(wall)-mono))
	}
	if best > int64(time.Millisecond) {
		t.Errorf("clocks differ by %v after the mapping", time.Duration(best))
	}
	if got := (Clock{MonoNanos: 1000, WallNanos: 5000}).Mono(4500); got != 500 {
		t.Errorf("got %d, want 500", got)
	}
}

// A note says if a log is missing that capture.json names. Otherwise the samples in that JVM's code would be unresolved
// without a reason.
func TestMissingLog(t *testing.T) {
	dir := t.TempDir()
	d := &Description{Schema: 1, JVMs: []JVM{{PID: 7, LogFile: "asm-7.log"}, {PID: 8, LogFile: "asm-8.log"}}}
	if err := d.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"asm-7.log": gasmtest.Capture(t, "jdk17-lean-none", gasmtest.Log),
		SamplesFile: gasmtest.Capture(t, "jdk17-lean-none", gasmtest.Samples),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want := Notes{"asm-8.log is missing: the code of JVM 8 has no names in the report"}
	if !slices.Equal(c.Notes, want) {
		t.Errorf("got %q, want %q", c.Notes, want)
	}
	if c.JVMs[0].Log == nil || c.JVMs[1].Log != nil {
		t.Errorf("got %+v", c.JVMs)
	}
}
