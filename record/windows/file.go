package windows

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A windowFile reads a window file (--window-file). The program, or a tool that drives it, writes into this file the
// times during which the program should be measured. The file is text:
//
//	# lines that begin with # are comments; empty lines are skipped
//	trial org.sample.Bench.measure (size=10)
//	fork 2
//	score avgt ns/op
//	window 4711 1884749632617 1885749632617 63512000 15.745
//
// A window line has a process id, or 0 for all JVMs, and the times at which the window begins and ends, in ns on
// CLOCK_MONOTONIC. System.nanoTime() returns this time on Linux. After the times, the line may have the number of
// operations that were done in the window, and the score. Lines for the trial, the fork and the score (JMH's mode, and
// the unit) apply to the windows below them, up to the next trial line. All three are optional.
type windowFile struct {
	in      *lines.Reader
	current any
	window  fileWindow // the newest window, and what the lines so far say about further windows
	bad     windowSyntaxError
}

// A fileWindow has the content of a window line, and of the earlier lines that apply to it.
type fileWindow struct {
	Trial, Mode, Unit string
	Fork              int
	capture.Window
	Operations float64 // 0 when unknown
	Score      float64 // 0 when unknown
}

// A windowSyntaxError reports a line of a window file that is not in the format that windowFile describes.
type windowSyntaxError struct {
	Line int
	Msg  string
}

func (e *windowSyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

const (
	maxWindowLine = 64 << 10  // in bytes; trial lines are the longest, because they have JMH's parameters
	maxWindows    = 1_000_000 // the largest number of windows in a capture
	maxFork       = 100_000
)

func newWindowFile(r io.Reader) *windowFile {
	return &windowFile{in: lines.NewReader(r, maxWindowLine)}
}

// scan reads lines up to the next record. It returns false at the end of the file, and after an error.
func (f *windowFile) scan() bool {
	for f.in.Scan() {
		if f.in.TooLong() {
			return f.fail(fmt.Sprintf("it is longer than %d bytes", maxWindowLine))
		}
		keyword, rest, _ := strings.Cut(strings.TrimSpace(string(f.in.Line())), " ")
		if keyword == "" || keyword[0] == '#' {
			continue
		}
		if msg, isWindow := f.take(keyword, strings.TrimSpace(rest)); msg != "" {
			return f.fail(msg)
		} else if isWindow {
			f.current = &f.window
			return true
		}
	}
	return false
}

func (f *windowFile) fail(msg string) bool {
	f.bad = windowSyntaxError{f.in.Number(), msg}
	f.current = &f.bad
	return true
}

// record returns a *fileWindow or a *windowSyntaxError. It is valid until the next scan.
func (f *windowFile) record() any { return f.current }

// err returns the error that ended the reading. It returns nil if scan has reached the end of the file.
func (f *windowFile) err() error { return f.in.Err() }

// take reads a line. keyword is the line's first word, and rest is the text after it. msg says what is wrong with the
// line; it is "" if nothing is wrong. isWindow is true for a window line.
func (f *windowFile) take(keyword, rest string) (msg string, isWindow bool) {
	w := &f.window
	switch keyword {
	case "trial":
		*w = fileWindow{Trial: rest}
	case "fork":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 || n > maxFork {
			return "the fork is not a number", false
		}
		w.Fork = n
	case "score":
		mode, unit, ok := strings.Cut(rest, " ")
		if !ok {
			return "a score has a mode and a unit: avgt ns/op", false
		}
		w.Mode, w.Unit = mode, strings.TrimSpace(unit)
	case "window":
		return f.takeWindow(strings.Fields(rest)), true
	default:
		return "it is neither a trial nor a fork, a score or a window", false
	}
	return "", false
}

func (f *windowFile) takeWindow(words []string) (msg string) {
	const form = "a window has a process id, two times in ns, and perhaps the operations and the score"
	if len(words) < 3 || len(words) > 5 {
		return form
	}
	w := &f.window
	var times [3]int64
	for i := range times {
		n, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil || n < 0 {
			return form
		}
		times[i] = n
	}
	if times[0] > math.MaxInt32 || times[1] >= times[2] {
		return "the window ends before it begins, or its process can't be"
	}
	w.PID, w.Span = int(times[0]), capture.Span{FromMonoNanos: times[1], ToMonoNanos: times[2]}
	var numbers [2]float64
	for i, word := range words[3:] {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return form
		}
		numbers[i] = x
	}
	w.Operations, w.Score = numbers[0], numbers[1]
	return ""
}
