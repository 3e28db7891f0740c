package windows

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// trialsOfFile returns the trials of the window file at path. It returns no trials if no window in the file belongs to
// a JVM of the command. The note says what could not be used.
func trialsOfFile(path string, run *Run) (trials []capture.Trial, note string) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Sprintf("the windows could not be read (--window-file): %v; the whole run is measured", err)
	}
	defer f.Close()
	t := newFileTrials(run.JVMs, run.Span)
	file := newWindowFile(f)
	for file.scan() {
		switch rec := file.record().(type) {
		case *fileWindow:
			t.add(rec)
		case *windowSyntaxError:
			t.leave(rec.Error())
		}
	}
	if err := file.err(); err != nil {
		t.leave(err.Error())
	}
	note = t.note(path)
	if len(t.trials) == 0 {
		note = strings.TrimPrefix(note+"; ", "; ") + path +
			" (--window-file) has no window of a JVM of the command: the whole run is measured"
	}
	return t.end(), note
}

// fileTrials collects the windows of a file into trials.
type fileTrials struct {
	jvms   []capture.JVM
	byPID  map[int][]int // indexes in jvms; the process id 0 has all of them
	run    capture.Span  // the whole recording
	trials []capture.Trial
	byName map[string]int // indexes of trials
	counts []trialCounts  // of trials
	taken  int            // number of windows in all trials
	left   int            // lines that could not be used
	first  string         // why the first of these lines could not be used
}

// trialCounts has the number of a trial's windows, and the number of those whose operations are known.
type trialCounts struct {
	windows, operations int
	pid                 int // the process id in the last window line
}

func newFileTrials(jvms []capture.JVM, run capture.Span) *fileTrials {
	t := &fileTrials{jvms: jvms, run: run, byPID: map[int][]int{}, byName: map[string]int{}}
	for i := range jvms {
		t.byPID[jvms[i].PID] = append(t.byPID[jvms[i].PID], i)
		t.byPID[0] = append(t.byPID[0], i)
	}
	return t
}

// leave counts a line that is left out. For the first such line, it remembers the reason.
func (t *fileTrials) leave(why string) {
	if t.left++; t.left == 1 {
		t.first = why
	}
}

// note returns a note about the lines that were left out, or "" if there were none.
func (t *fileTrials) note(path string) string {
	switch t.left {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("a line of %s (--window-file) is left out: %s", path, t.first)
	}
	return fmt.Sprintf("%d lines of %s (--window-file) are left out, the first: %s", t.left, path, t.first)
}

// maxFileTrials is the largest number of trials in a capture.
const maxFileTrials = 5_000

// add adds a window. A window of process 0 becomes a window of each JVM.
func (t *fileTrials) add(w *fileWindow) {
	if w.ToMonoNanos <= t.run.FromMonoNanos || w.FromMonoNanos >= t.run.ToMonoNanos {
		t.leave("a window is not within the run: its times must be those of CLOCK_MONOTONIC, in ns")
		return
	}
	of := t.byPID[w.PID]
	if len(of) == 0 {
		t.leave(fmt.Sprintf("process %d is not a JVM of the command", w.PID))
		return
	}
	at, ok := t.byName[w.Trial]
	if t.taken+len(of) > maxWindows || !ok && len(t.trials) == maxFileTrials {
		t.leave(fmt.Sprintf("there are more than %d windows or %d trials", maxWindows, maxFileTrials))
		return
	}
	if !ok {
		at = len(t.trials)
		t.byName[w.Trial] = at
		t.trials = append(t.trials, capture.Trial{Name: w.Trial})
		t.counts = append(t.counts, trialCounts{})
	}
	t.taken += len(of)
	trial, counts := &t.trials[at], &t.counts[at]
	for _, i := range of {
		trial.Windows = append(trial.Windows, capture.Window{PID: t.jvms[i].PID, Span: w.Span})
		if w.Fork > 0 {
			t.jvms[i].Fork = w.Fork
		}
	}
	newFork := counts.windows == 0 || counts.pid != w.PID
	counts.windows++
	counts.pid = w.PID
	if w.Operations > 0 {
		counts.operations++
	}
	trial.Operations += w.Operations
	addFileScore(trial, w, newFork)
}

// addFileScore adds the score of a window to its trial. newFork is true for the first window of a fork.
func addFileScore(t *capture.Trial, w *fileWindow, newFork bool) {
	if w.Score == 0 || w.Unit == "" || t.Score != nil && t.Score.Unit != w.Unit {
		return
	}
	if t.Score == nil {
		t.Score = &capture.Score{Mode: w.Mode, Unit: w.Unit}
	}
	s := t.Score
	if newFork || len(s.Forks) == 0 {
		s.Forks = append(s.Forks, nil)
	}
	s.Forks[len(s.Forks)-1] = append(s.Forks[len(s.Forks)-1], w.Score)
}

// end completes the trials and returns them.
func (t *fileTrials) end() []capture.Trial {
	for i := range t.trials {
		trial := &t.trials[i]
		if t.counts[i].operations < t.counts[i].windows {
			trial.Operations = 0 // the operations of some windows are not known
		}
		if trial.Score != nil {
			trial.Score.Estimate()
		}
	}
	return t.trials
}
