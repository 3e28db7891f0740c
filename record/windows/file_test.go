package windows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
)

const twoForks = `# two forks of one benchmark
trial a.B.c (size=10)
fork 1
score avgt ns/op
window 11 100 200 50 2.0
window 11 200 300 50 4.0

trial a.B.c (size=10)
fork 2
score avgt ns/op
window 12 500 600 25 6.0
`

func TestWindowFile(t *testing.T) {
	f := newWindowFile(strings.NewReader(twoForks))
	var got []fileWindow
	for f.scan() {
		w, ok := f.record().(*fileWindow)
		require.True(t, ok, "%v", f.record())
		got = append(got, *w)
	}
	require.NoError(t, f.err())
	require.Len(t, got, 3)
	assert.Equal(t, fileWindow{Trial: "a.B.c (size=10)", Mode: "avgt", Unit: "ns/op", Fork: 2, Operations: 25, Score: 6,
		Window: capture.Window{PID: 12, Span: capture.Span{FromMonoNanos: 500, ToMonoNanos: 600}}}, got[2])

	for line, want := range map[string]string{
		"window 1 2":                            "a window has a process id",
		"window 1 2 3 4 5 6":                    "a window has a process id",
		"window x 2 3":                          "a window has a process id",
		"window 1 -2 3":                         "a window has a process id",
		"window 1 3 3":                          "ends before it begins",
		"window 99999999999 2 3":                "process can't be",
		"window 1 2 3 NaN":                      "a window has a process id",
		"window 1 2 3 4 -1":                     "a window has a process id",
		"fork two":                              "not a number",
		"fork -1":                               "not a number",
		"score avgt":                            "a mode and a unit",
		"end":                                   "neither a trial",
		"trial " + strings.Repeat("x", 200_000): "longer than",
	} {
		f := newWindowFile(strings.NewReader(line + "\nwindow 1 2 3\n"))
		require.True(t, f.scan(), line)
		bad, ok := f.record().(*windowSyntaxError)
		require.True(t, ok, line)
		assert.Equal(t, 1, bad.Line)
		assert.Contains(t, bad.Error(), want, line)
		assert.True(t, f.scan(), "a bad line is not the end")
		assert.IsType(t, &fileWindow{}, f.record())
		assert.False(t, f.scan())
	}
	f = newWindowFile(strings.NewReader("window 1 2 3\nwindow 1 2 34"))
	assert.True(t, f.scan())
	assert.False(t, f.scan(), "a line without its end may be half of one")
	assert.NoError(t, f.err())
}

// fileRun returns the trials that a window file defines in a run from time 50 to 1000 with two forks.
func fileRun(t *testing.T, text string) (trials []capture.Trial, jvms []capture.JVM, note string) {
	path := filepath.Join(t.TempDir(), "windows")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	jvms = []capture.JVM{{PID: 11, Main: forkedMain}, {PID: 12, Main: forkedMain}, {PID: 13, Main: "Other"}}
	trials, notes := (&Rules{File: path}).Trials(&Run{Span: capture.Span{FromMonoNanos: 50, ToMonoNanos: 1000},
		JVMs: jvms})
	return trials, jvms, strings.Join(notes, "")
}

func TestFileTrials(t *testing.T) {
	trials, jvms, note := fileRun(t, twoForks)
	assert.Empty(t, note)
	assert.Equal(t, "a.B.c (size=10)\n  pid 11, fork 1: 100 to 200\n  pid 11, fork 1: 200 to 300\n  pid 12, fork 2: 500 to 600\n", describe(jvms, trials))
	assert.EqualValues(t, 125, trials[0].Operations)
	require.NotNil(t, trials[0].Score)
	assert.Equal(t, [][]float64{{2, 4}, {6}}, trials[0].Score.Forks)
	assert.EqualValues(t, 4, trials[0].Score.Value)

	trials, jvms, note = fileRun(t, "window 0 100 200\n")
	assert.Empty(t, note)
	assert.Equal(t, "\n  pid 11, fork 0: 100 to 200\n  pid 12, fork 0: 100 to 200\n  pid 13, fork 0: 100 to 200\n",
		describe(jvms, trials), "0 is every JVM")
	assert.Zero(t, trials[0].Operations)
	assert.Nil(t, trials[0].Score)

	trials, _, note = fileRun(t, "window 11 100 200 5\nwindow 11 300 400\nwindow 99 100 200\nwindow 11 2000 3000\nx\n")
	assert.Contains(t, note, "3 lines of ")
	assert.Contains(t, note, "the first: process 99 is not a JVM of the command")
	assert.Len(t, trials[0].Windows, 2)
	assert.Zero(t, trials[0].Operations, "the operations of a window are not known")

	trials, _, note = fileRun(t, "window 11 2000 3000\n")
	assert.Contains(t, note, "CLOCK_MONOTONIC")
	assert.Contains(t, note, "has no window of a JVM of the command: the whole run is measured")
	assert.Len(t, trials[0].Windows, 3)
	assert.Equal(t, capture.Span{FromMonoNanos: 50, ToMonoNanos: 1000}, trials[0].Windows[0].Span)

	_, notes := (&Rules{File: filepath.Join(t.TempDir(), "none")}).Trials(&Run{})
	assert.Contains(t, strings.Join(notes, ""), "could not be read (--window-file)")
}

// FuzzWindowFile reads arbitrary text. Each window must end after it begins, and the numbers of trials and windows
// must be within their limits.
func FuzzWindowFile(f *testing.F) {
	f.Add(twoForks)
	f.Add("window 0 1 2\ntrial \nfork 1000000\nscore  \nwindow 1 2 3 1e400\r\n#\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, trials := newWindowFile(strings.NewReader(text)), newFileTrials([]capture.JVM{{PID: 1}, {PID: 2}},
			capture.Span{ToMonoNanos: 1 << 40})
		for file.scan() {
			switch rec := file.record().(type) {
			case *fileWindow:
				assert.Less(t, rec.FromMonoNanos, rec.ToMonoNanos)
				assert.GreaterOrEqual(t, rec.Operations, 0.0)
				trials.add(rec)
			case *windowSyntaxError:
				assert.NotEmpty(t, rec.Msg)
				trials.leave(rec.Error())
			}
		}
		for _, trial := range trials.end() {
			assert.NotEmpty(t, trial.Windows)
			if trial.Score != nil {
				assert.NotEmpty(t, trial.Score.Forks)
			}
		}
	})
}
