package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// captureFolder unpacks a committed capture as a folder that report and diff
// take.
func captureFolder(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Mkdir(dir, 0o755))
	_, log := gasmtest.UnpackCapture(t, name, dir)
	require.NoError(t, os.Rename(log, filepath.Join(dir, capture.LogFile(1))))
	return dir
}

// The parts of the JSON of diff that tests look at.
type jsonDiff struct {
	Schema int
	Kind   string
	Trials []struct {
		Methods, Frames []jsonDiffRow
		Regions         []struct {
			jsonDiffRow
			Listing []struct{ Op, Text, Frame string }
		}
	}
}

type jsonDiffRow struct {
	Source, Name string
	Change, Code float64
}

func runDiffJSON(t *testing.T, args ...string) *jsonDiff {
	t.Helper()
	r := runGasm(t, append([]string{"diff", "--format", "json"}, args...))
	require.Equal(t, 0, r.code, r.stderr)
	var d jsonDiff
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &d))
	assert.Equal(t, 1, d.Schema)
	assert.Equal(t, "diff", d.Kind)
	return &d
}

// changes returns the number of changes that a comparison shows.
func (d *jsonDiff) changes() (n int) {
	for _, tr := range d.Trials {
		n += len(tr.Methods) + len(tr.Frames) + len(tr.Regions)
	}
	return n
}

// TestDiffCaptures checks that a capture does not differ from itself, nor from its own JSON report. It does differ
// from a capture of another JDK.
func TestDiffCaptures(t *testing.T) {
	t.Parallel()
	jdk17, jdk25 := captureFolder(t, "jdk17-lean-none"), captureFolder(t, "jdk25-lean-none")
	file := filepath.Join(t.TempDir(), "jdk17.json")
	require.Equal(t, 0, runGasm(t, []string{"report", "--format", "json", "--report", file, jdk17}).code)
	for _, pair := range [][2]string{{jdk17, jdk17}, {file, jdk17}, {jdk17, file}, {file, file}} {
		r := runGasm(t, []string{"diff", pair[0], pair[1]})
		assert.Equal(t, 0, r.code, r.stderr)
		assert.Contains(t, r.stdout, "\nNothing changed above the noise: ")
		assert.NotContains(t, r.stdout, "....[")
	}
	assert.Positive(t, runDiffJSON(t, jdk17, jdk25).changes())

	to := filepath.Join(t.TempDir(), "diff.txt")
	r := runGasm(t, []string{"diff", "--ascii", "--color", "always", "--top", "3", "--report", to, jdk17, jdk25})
	assert.Equal(t, 0, r.code, "changes are no failure")
	assert.Empty(t, r.stdout)
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Contains(t, string(text), "\x1b[1m....[Changed Methods]\x1b[0m")
	assert.NotContains(t, string(text), "…")
}

// TestDiffHTML checks that the HTML page is written to a file, and is not shown on a terminal.
func TestDiffHTML(t *testing.T) {
	t.Parallel()
	jdk17, jdk25 := captureFolder(t, "jdk17-lean-none"), captureFolder(t, "jdk25-lean-none")
	code, screen := onTerminal(t, "diff", "--format", "html", jdk17, jdk25)
	assert.Equal(t, 2, code)
	assert.Contains(t, screen, "--format html is a page for a browser, and not for a terminal; use --report FILE")
	to := filepath.Join(t.TempDir(), "diff.html")
	r := runGasm(t, []string{"diff", "--format", "html", "--report", to, jdk17, jdk25})
	require.Equal(t, 0, r.code, r.stderr)
	text := string(readFile(t, to))
	assert.True(t, strings.HasPrefix(text, "<!DOCTYPE html>"))
	listed := 0
	for _, region := range runDiffJSON(t, jdk17, jdk25).Trials[0].Regions {
		listed += min(len(region.Listing), 1)
	}
	assert.Positive(t, listed)
	assert.Equal(t, listed, strings.Count(text, `<article class="aligned"`))
}

// TestDiffChosen checks that JVMs, threads, or all programs together can be chosen for a comparison, as for a report.
func TestDiffChosen(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, gasmtest.Programs)
	titles := func(flags ...string) []string {
		r := runGasm(t, append(append([]string{"diff"}, flags...), dir, dir))
		require.Equal(t, 0, r.code, r.stderr)
		assert.Contains(t, r.stdout, "\nNothing changed above the noise: ")
		return regexp.MustCompile(`(?m)^(?:Program|Trial): .*|^Samples: .*`).FindAllString(r.stdout, -1)
	}
	assert.Len(t, runDiffJSON(t, dir, dir).Trials, 2)
	assert.Len(t, runDiffJSON(t, "--jvm", "Spin", dir, dir).Trials, 1)
	assert.Len(t, runDiffJSON(t, "--merge-jvms", dir, dir).Trials, 1)
	t.Logf("%q", titles("--jvm", "Spin", "--thread", "app"))

	file := filepath.Join(t.TempDir(), "report.json")
	require.Equal(t, 0, runGasm(t, []string{"report", "--jvm", "Spin", "--format", "json", "--report", file, dir}).code)
	for _, c := range []struct {
		flags []string
		code  int
		want  string
	}{
		{[]string{"--jvm", "Spin", dir, file}, 2, "gasm: --jvm is for captures, but " + file +
			" is a report, whose samples are fixed"},
		{[]string{"--merge-jvms", file, dir}, 2, "gasm: --merge-jvms is for captures"},
		{[]string{"--jvm", "Nobody", dir, dir}, 1, "gasm: --jvm Nobody: no such JVM in this capture; it has "},
		{[]string{"--thread", "nobody", dir, dir}, 1,
			"has no samples in its profile (--thread nobody), so there is nothing to compare"},
		{[]string{"--thread", "(", dir, dir}, 2, "gasm: --thread: "},
	} {
		r := runGasm(t, append([]string{"diff"}, c.flags...))
		assert.Equal(t, c.code, r.code, r.stderr)
		assert.Contains(t, r.said(), c.want)
	}
	r := runGasm(t, []string{"diff", file, dir})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, oneLine(r.stdout),
		"A is a report of other samples (--jvm Spin) than B (all): their shares can't be compared")
}

func TestDiffErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	good := captureFolder(t, "jdk17-lean-none")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{good}, 2, "diff: name two captures or JSON reports, got 1"},
		{[]string{"--min-change", "0", good, good}, 2, "--min-change is 0; it is a share above 0 and up to 1"},
		{[]string{"--format", "pprof", good, good}, 2, `--format is "pprof"; it can be text, json, html or markdown`},
		{[]string{"--format", "csv", good, good}, 2, `--format is "csv"; it can be text, json, html or markdown`},
		{[]string{"--top", "-1", good, good}, 2, "--top is -1"},
		{[]string{good, filepath.Join(dir, "none")}, 1, "none does not exist; diff takes capture folders and JSON reports"},
		{[]string{dir, good}, 1, "diff takes capture folders and JSON reports"},
		{[]string{write("text.json", "hello"), good}, 1, "text.json is not a JSON report"},
		{[]string{good, write("two.json", `{"schema":2}`)}, 1, "has schema 2; this gasm reads schema 1 only"},
		{[]string{good, write("empty.json", `{"schema":1,"capture":{},"profiles":[]}`)}, 1,
			"empty.json has no samples in its profile"},
		{[]string{"--report", dir, good, good}, 1, "writing the comparison"},
	} {
		r := runGasm(t, append([]string{"diff"}, c.args...))
		assert.Equal(t, c.code, r.code, c.want)
		assert.Contains(t, r.said(), c.want)
		assert.Equal(t, 1, strings.Count(r.said(), "\n")+1, "one line: %s", r.said())
		assert.Empty(t, r.stdout)
	}
}

// TestDiffSameBenchmark compares two runs of the same benchmark. No change may be shown. If there are several forks,
// the comparison knows how much JVMs differ by chance, and in only one of a hundred comparisons does any row show a
// change by chance.
func TestDiffSameBenchmark(t *testing.T) {
	gasmtest.NeedNative(t)
	command := jmhCommand(t, "java", "-f", "4", "-wi", "1", "-w", "500ms", "-i", "2", "-r", "500ms",
		"VectorSum")
	run := func(name string) string {
		dir := filepath.Join(t.TempDir(), name)
		r := runGasm(t, append([]string{"profile", "-o", dir, "--report", os.DevNull, "--"}, command...))
		require.Equal(t, 0, r.code, r.stderr)
		return dir
	}
	a, b := run("a"), run("b")
	r := runGasm(t, []string{"diff", a, b})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, "\nNothing changed above the noise: ")

	// The JSON report of a capture with several forks must not differ from the capture.
	file := filepath.Join(t.TempDir(), "a.json")
	require.Equal(t, 0, runGasm(t, []string{"report", "--format", "json", "--report", file, a}).code)
	for _, pair := range [][2]string{{a, file}, {file, a}} {
		r := runGasm(t, []string{"diff", pair[0], pair[1]})
		assert.Contains(t, r.stdout, ", 4 forks;")
		assert.Contains(t, r.stdout, "\nNothing changed above the noise: ")
	}
	ofCapture, ofJSON := runGasm(t, []string{"diff", a, b}), runGasm(t, []string{"diff", file, b})
	assert.Equal(t, strings.ReplaceAll(ofCapture.stdout, a, file), ofJSON.stdout)
}

// loops is a program of three loops, one of which the test changes.
const loops = `
public class Loops {
    static final int[] numbers = new int[4096];

    static int mix(int h) {
        for (int i = 0; i < numbers.length; i++) {
            h = h * 31 + (numbers[i] ^ (h >>> 7));
        }
        return h;
    }

    static int turn(int h) {
        for (int i = 0; i < numbers.length; i++) {
            h = (h << 5 | h >>> 27) * 17 ^ numbers[i];BODY
        }
        return h;
    }

    static int fold(int h) {
        for (int i = 0; i < numbers.length; i++) {
            h = (h - numbers[i]) * 13 ^ (h << 3);
        }
        return h;
    }

    public static void main(String[] args) {
        int h = args.length;
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i * 0x9E3779B9;
        }
        for (int round = 0; round < 60_000; round++) {
            h = fold(turn(mix(h)));
        }
        System.out.println("sink " + h);
    }
}
`

// profileLoops compiles a program with the given body in one of its loops, and profiles it.
func profileLoops(t *testing.T, name, body string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Mkdir(dir, 0o755))
	source := filepath.Join(dir, "Loops.java")
	require.NoError(t, os.WriteFile(source, []byte(strings.Replace(loops, "BODY", body, 1)), 0o644))
	out, err := exec.Command("javac", "-g", "-d", dir, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	capture := filepath.Join(dir, "capture")
	r := runGasm(t, []string{"profile", "--frequency", "1001", "--fixed-frequency", "-o", capture, "--report", os.DevNull,
		"--", "java", "-cp", dir, "Loops"})
	require.Equal(t, 0, r.code, r.stderr)
	return capture
}

// TestDiffChangedLoop compares two versions of a program in which one loop has changed. diff must list that loop
// first.
func TestDiffChangedLoop(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	javaPrograms(t) // there is a javac
	before, after := profileLoops(t, "before", ""), profileLoops(t, "after", "\n            h = h / (i | 3) + h;")
	d := runDiffJSON(t, before, after)
	require.Len(t, d.Trials, 1)
	tr := d.Trials[0]
	require.NotEmpty(t, tr.Methods)
	require.NotEmpty(t, tr.Frames)
	require.NotEmpty(t, tr.Regions)
	assert.Equal(t, "Loops::turn", tr.Frames[0].Name)
	assert.Equal(t, "Loops::turn", tr.Methods[0].Name)
	assert.Positive(t, tr.Methods[0].Change)
	first := tr.Regions[0]
	assert.Equal(t, "Loops::turn", first.Name)
	assert.Positive(t, first.Code)
	divides := false
	for _, l := range first.Listing {
		divides = divides || l.Op == "+" && strings.HasPrefix(l.Text, "idiv")
	}
	assert.True(t, divides, "the listing has the new instruction")

	text := runGasm(t, []string{"diff", before, after})
	t.Logf("\n%s", text.stdout)
	assert.Regexp(t, `(?s)Changed Methods\].*?change\n[^\n]*Loops::turn .*Changed Region 1\]\.+\n[^\n]*Loops::turn`,
		text.stdout)
}
