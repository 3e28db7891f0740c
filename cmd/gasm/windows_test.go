package main

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
)

// TestWindowCloses checks that after the window has closed, nothing is sampled or written any more while the program
// continues, and that no samples are missing in the account.
func TestWindowCloses(t *testing.T) {
	for name, need := range samplers {
		t.Run(name, func(t *testing.T) {
			sideBySide(t, name) // the test measures how late it is woken up itself
			need(t)
			gasmtest.NeedTime(t)
			closeWindow(t, name)
		})
	}
}

func closeWindow(t *testing.T, name string) {
	classes, dir := javaPrograms(t), filepath.Join(t.TempDir(), "capture")
	limit := mostLate(t)
	out, stderr := newLineWaiter("READY"), newLineWaiter("window closed")
	delay := max(2*time.Second, warmUp(t)).Round(100 * time.Millisecond)
	cmd := exec.Command(binary, "profile", "--sampler", name, "--frequency", "1001", "--fixed-frequency", "--delay",
		delay.String(), "--length", "1500ms", "-o", dir,
		"--", "java", "-Dsec=3600", "-cp", classes, "Spin")
	cmd.Stdout, cmd.Stderr = out, stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	out.wait(t)
	stderr.wait(t)
	awaitRest(t, dir)
	require.NotContains(t, out.String(), "sink", "the program has ended: the test was too slow")
	require.NoError(t, syscall.Kill(spinPID(t, out), syscall.SIGTERM))
	require.Equal(t, 143, exitCode(t, cmd), stderr)
	assert.Equal(t, []string{fmt.Sprintf("gasm: window opened after %.1f s", delay.Seconds()),
		"gasm: window closed after 1.5 s; Ctrl-C ends the command and shows the report"},
		linesOf(stderr.String(), "gasm: window"))

	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	to := d.Trials[0].Windows[0].ToMonoNanos
	late := samplesAfter(t, dir, d.JVMs[0].PID, to)
	t.Logf("the last sample was %v after the window", late)
	assert.Less(t, late, limit())
	r := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, r.code, r.stderr)
	rep := readReport(t, []byte(r.stdout))
	p := rep.Profiles[0]
	assert.InDelta(t, 1.5, p.WindowSeconds, 0.001)
	assert.Contains(t, p.Methods[0].Name, "Spin::")
	unresolvedAtMost(t, &p, 0.02)
	for _, note := range append(rep.Capture.Notes, p.Warnings...) {
		assert.NotRegexp(t, `not whole|in the middle|could not be|missing`, note)
	}
}

// mostLate begins to measure how late this process is woken up. The function that it returns ends that, and returns
// how long after a window samples may be taken: 0.2 s, plus four times that lateness. The factor is four because four
// have to be woken up one after another to end the sampling: gasm's timer, the goroutine that sends commands to perf,
// perf itself, and gasm again for perf's answer.
func mostLate(t *testing.T) (limit func() time.Duration) {
	t.Helper()
	late := gasmtest.Lateness(t)
	return func() time.Duration { return 200*time.Millisecond + 4*late() }
}

// awaitRest waits until a folder has not grown for 2 s. A sampler that works writes at least once a second. After
// DTrace was told to end, it may write for another 10 s, and for longer on a busy machine.
func awaitRest(t *testing.T, dir string) {
	t.Helper()
	size, since := folderSize(t, dir), time.Now()
	for deadline := since.Add(hangs); time.Since(since) < 2*time.Second; time.Sleep(50 * time.Millisecond) {
		if now := folderSize(t, dir); now != size {
			size, since = now, time.Now()
		}
		require.True(t, time.Now().Before(deadline), "the folder grows while the program runs")
	}
}

// folderSize returns the sum of the sizes of all files in a folder.
func folderSize(t *testing.T, dir string) (size int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	}))
	return size
}

// linesOf returns the lines that begin with a word.
func linesOf(text, begin string) (lines []string) {
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, begin) {
			lines = append(lines, line)
		}
	}
	return lines
}

// samplesAfter returns how long after the time mono the last sample of a process was taken.
func samplesAfter(t *testing.T, dir string, pid int, mono int64) (last time.Duration) {
	t.Helper()
	for _, s := range samplesOf(t, dir, pid) {
		last = max(last, time.Duration(s-mono))
	}
	return last
}

// samplesOf returns the times of a process's samples.
func samplesOf(t *testing.T, dir string, pid int) (times []int64) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, capture.SamplesFile))
	require.NoError(t, err)
	defer f.Close()
	r := sampler.NewReader(f, "samples")
	for r.Scan() {
		if s, ok := r.Record().(*sampler.Sample); ok && s.PID == pid {
			times = append(times, s.MonoNanos)
		}
	}
	require.NoError(t, r.Err())
	return times
}

var (
	roundLine = regexp.MustCompile(`(?m)^(BEGIN|END) (\d+) (\d+)$`)
	roundCPU  = regexp.MustCompile(`(?m)^cpu (\d+) (\d+)$`)
)

// TestWindowsReopen checks windows that open again. The sampling must pause between them, and continue with each
// window. The lines that open and close them are on stderr.
func TestWindowsReopen(t *testing.T) {
	for name, need := range samplers {
		t.Run(name, func(t *testing.T) {
			sideBySide(t, name) // the test measures how late it is woken up itself
			need(t)
			gasmtest.NeedTime(t)
			dir, limit := filepath.Join(t.TempDir(), "capture"), mostLate(t)
			r := runGasm(t, []string{"profile", "--sampler", name, "--frequency", "1001", "--fixed-frequency", "--window-start",
				"^BEGIN", "--window-end", "^END", "-o", dir,
				"--", "java", "-Drounds=3", "-Din=600", "-Dout=900", "-Dto=err", "-cp", javaPrograms(t), "Rounds"})
			require.Equal(t, 0, r.code, r.stderr)
			times := map[string]int64{}
			for _, m := range roundLine.FindAllStringSubmatch(r.stderr, -1) {
				at, err := strconv.ParseInt(m[3], 10, 64)
				require.NoError(t, err)
				times[m[1]+m[2]] = at
			}
			require.Len(t, times, 6, r.stderr)
			said := linesOf(r.stderr, "gasm: window")
			require.GreaterOrEqual(t, len(said), 5, r.stderr) // the last END may be missing
			for i, line := range said {
				want := "closed after 0\\.[67] s; Ctrl-C ends the command and shows the report"
				if i%2 == 0 {
					want = `opened after \d+\.\d s`
				}
				assert.Regexp(t, "^gasm: window "+want+"$", line)
			}
			for _, m := range roundCPU.FindAllStringSubmatch(r.stdout, -1) {
				nanos, err := strconv.ParseInt(m[2], 10, 64)
				require.NoError(t, err)
				times["cpu"+m[1]] = nanos
			}
			checkPauses(t, dir, times, limit())
		})
	}
}

// checkPauses compares the samples with the times at which the program entered and left its windows.
func checkPauses(t *testing.T, dir string, times map[string]int64, limit time.Duration) {
	t.Helper()
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	require.Len(t, d.Trials[0].Windows, 3)
	samples := samplesOf(t, dir, d.JVMs[0].PID)
	for round := 1; round <= 3; round++ {
		begin, end := times[fmt.Sprint("BEGIN", round)], times[fmt.Sprint("END", round)]
		win := d.Trials[0].Windows[round-1]
		inside, first, last := 0, int64(1<<62), int64(0)
		for _, at := range samples {
			if at >= begin && at < end {
				first = min(first, at)
			}
			if at >= win.FromMonoNanos && at < end {
				inside++
			}
			if at >= end && (round == 3 || at < times[fmt.Sprint("BEGIN", round+1)]) {
				last = max(last, at-end)
			}
		}
		t.Logf("round %d: window from %v to %v of the lines, %d samples, the first after %v, the last one outside after %v",
			round,
			time.Duration(win.FromMonoNanos-begin), time.Duration(win.ToMonoNanos-end), inside, time.Duration(first-begin),
			time.Duration(last))
		// The program measures its CPU time from the moment at which it prints its line. gasm sees the line some ms
		// later, and the program's other threads have some samples, too. Until the first sample, whose time is
		// limited below, the program may have used a whole CPU.
		expected := float64(times[fmt.Sprint("cpu", round)]) * 1001e-9
		missed := float64(first-begin) * 1001e-9
		assert.Greater(t, float64(inside), expected*0.9-15-missed, "samples of the program's CPU time in the window")
		assert.Less(t, float64(inside), expected*1.1+15, "samples of the program's CPU time in the window")
		assert.Less(t, time.Duration(last), limit, "samples outside")
		assert.Less(t, time.Duration(first-begin), limit, "the first sample inside")
	}
}

// TestWindowNotClosed checks the note about a last window that was not closed. It must have the number of windows.
func TestWindowNotClosed(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	r := runGasm(t, []string{"profile", "--window-from", "stdout", "--window-start", "^BEGIN", "--window-end",
		"^END [12] ",
		"--", "java", "-Drounds=3", "-Din=300", "-Dout=50", "-cp", javaPrograms(t), "Rounds"})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, oneLine(r.stdout),
		"note: of 3 windows, the last one was not closed: no line of stdout matched --window-end after it had opened, so it goes on to the end of the run")
}

// TestJMHOutputFile checks that JMH's trials are found if JMH writes to a file, even if a script starts JMH.
func TestJMHOutputFile(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for _, form := range []string{"-o %s", "-o%s", "script"} {
		dir, script := t.TempDir(), form == "script"
		if script {
			form = "-o %s"
		}
		args := strings.Fields(fmt.Sprintf("VectorSum -f 1 -wi 1 -i 2 -w 200ms -r 400ms -p size=1024 "+form, "out.txt"))
		command := jmhCommand(t, gasmtest.NeedJava(t), args...)
		if script {
			path := filepath.Join(dir, "run.sh")
			require.NoError(t, os.WriteFile(path, []byte("mkdir results; cd results; "+strings.Join(command,
				" ")+"\nmv out.txt ..\n"), 0o755))
			command = []string{"sh", path}
		}
		waited := watchWaiting()
		r := runGasm(t, append([]string{"profile", "--format", "json", "--report", filepath.Join(dir, "report.json"), "--"},
			command...), inFolder(dir))
		waiting := waited().Seconds()
		require.Equal(t, 0, r.code, "%s: %s", form, r.stderr)
		assert.Empty(t, strings.TrimSpace(r.stdout), "JMH writes into its file")
		text, err := os.ReadFile(filepath.Join(dir, "out.txt"))
		require.NoError(t, err)
		assert.Contains(t, string(text), "# Run complete.")
		rep := readReport(t, readFile(t, filepath.Join(dir, "report.json")))
		require.Len(t, rep.Profiles, 1)
		p := rep.Profiles[0]
		assert.Contains(t, p.Trial, "VectorSum.sum (size=1024)", form)
		// A window begins when gasm reads the line. That is later by the time for which threads wait for a CPU.
		const around = 0.3
		off := math.Abs(p.WindowSeconds - 0.8)
		assert.LessOrEqual(t, off, around+waiting, "two iterations of 0.4 s, with what JMH takes around each: %s", form)
		if off <= around { // otherwise the operations may not be known
			assert.Positive(t, p.Operations)
		}
	}
}
