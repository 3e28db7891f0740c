package record

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A window file is what a program, or what drives it, writes of the times in which it is to be
// measured (--window-file). It is text, a line for each thing:
//
//	# what begins with a # is a comment, and empty lines say nothing
//	trial org.sample.Bench.measure (size=10)
//	fork 2
//	score avgt ns/op
//	window 4711 1884749632617 1885749632617 63512000 15.745
//
// A window is of the process 4711, or of all JVMs where there is a 0, from the first time to the
// second one: CLOCK_MONOTONIC in ns, which is what System.nanoTime() gives on Linux. Behind them
// may stand the number of operations that were done in the window, and the score. Trial, fork and
// score (JMH's mode, and the unit) are those of the windows below them; none of them has to be
// there.
type windowFile struct {
	in     *lines.Reader
	record any
	window fileWindow // with what the lines so far say of those that follow
	bad    windowSyntaxError
}

// A fileWindow is one line of a window file, with what the lines above it say.
type fileWindow struct {
	Trial, Mode, Unit string
	Fork              int
	capture.Window
	Operations float64 // 0 when unknown
	Score      float64 // 0 when unknown
}

// A windowSyntaxError is a line of a window file that is none of those above.
type windowSyntaxError struct {
	Line int
	Msg  string
}

func (e *windowSyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

const (
	maxWindowLine = 64 << 10  // bytes; JMH's parameters are the longest
	maxWindows    = 1_000_000 // as of a capture
	maxFork       = 100_000
)

func newWindowFile(r io.Reader) *windowFile {
	return &windowFile{in: lines.NewReader(r, maxWindowLine)}
}

// Scan reads the next record. It is false at the end, and after an error of reading.
func (f *windowFile) Scan() bool {
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
			f.record = &f.window
			return true
		}
	}
	return false
}

func (f *windowFile) fail(msg string) bool {
	f.bad = windowSyntaxError{f.in.Number(), msg}
	f.record = &f.bad
	return true
}

// Record gives a *fileWindow or a *windowSyntaxError, valid until the next Scan.
func (f *windowFile) Record() any { return f.record }

// Err is the error that ended the reading; nil at the end of the file.
func (f *windowFile) Err() error { return f.in.Err() }

// take reads a line. msg says what is wrong with it.
func (f *windowFile) take(keyword, rest string) (msg string, isWindow bool) {
	w := &f.window
	switch keyword {
	case "trial":
		*w = fileWindow{Trial: rest}
	case "fork":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 || n > maxFork {
			return "the fork is no number", false
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
