package usdt

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A SyntaxError reports a line that does not have the form in which gasm writes lines.
type SyntaxError = lines.SyntaxError

// Lost says how many events were lost because gasm did not read them fast enough.
type Lost struct{ Events int64 }

// A Reader reads the text of one JVM's probes, and returns events in the order of their ends.
type Reader struct {
	in     *lines.Reader
	name   string
	pid    int
	record any
	open   map[opened][]begun
	n      int // the number of starts in open, in all threads together
	names  map[string]string
	// recorded has the names of the recorded probes. It is nil if the text does not list them.
	recorded map[string]bool
	rest     []begun // starts without an end in the text, which are returned last
	ended    bool
}

const (
	// longestLine is the maximum length of a line in bytes. A longer line is reported as a SyntaxError. A line can be
	// longer if it has three texts of 64 kB in which every byte is escaped.
	longestLine = 256 << 10
	// mostOpen is the maximum number of starts that wait for their end, in all threads of a JVM together. The line of any
	// further start is a bad line.
	mostOpen = 1 << 16
	// mostArguments is the maximum number of arguments of a probe (SystemTap's notes allow 12). A
	// line that has more is a bad line.
	mostArguments = 32
	// mostNames is the maximum number of names in Reader.names. When it is reached, the Reader forgets all of them.
	mostNames = 1 << 16
)

// NewReader returns a reader of a JVM's text. The name is for messages only.
func NewReader(r io.Reader, name string, pid int) *Reader {
	return &Reader{in: lines.NewReader(r, longestLine), name: name, pid: pid, open: map[opened][]begun{},
		names: map[string]string{}}
}

// Err returns the error that ended the reading; nil after the whole text was read.
func (r *Reader) Err() error {
	if err := r.in.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", r.name, err)
	}
	return nil
}

// Lines returns how many lines were read so far.
func (r *Reader) Lines() int { return r.in.Number() }

// Record returns what the last call of Scan has read: an *event.Event, a *Lost or a *SyntaxError.
func (r *Reader) Record() any { return r.record }

// Scan reads up to the next event, loss or bad line. It returns false at the end of the text or
// after an error. If the last line does not end with a newline, Scan skips it: gasm was killed
// while it wrote that line.
func (r *Reader) Scan() bool {
	for r.in.Scan() {
		r.record = nil
		msg := "the line is too long"
		if !r.in.TooLong() {
			msg = r.read(r.in.Line())
		}
		if msg != "" {
			r.record = &SyntaxError{File: r.name, Line: r.in.Number(), Msg: msg}
		}
		if r.record != nil {
			return true
		}
	}
	if !r.ended {
		r.unended()
	}
	return r.nextUnended()
}

// read reads a line. It returns what is wrong with the line, or "" if nothing is wrong.
func (r *Reader) read(line []byte) (msg string) {
	if len(line) == 0 || line[0] == '#' {
		if names, ok := bytes.CutPrefix(line, []byte(ProbesHead)); ok {
			r.recorded = map[string]bool{}
			for name := range strings.FieldsSeq(string(names)) {
				r.recorded[name] = true
			}
		}
		return ""
	}
	clock, rest, _ := bytes.Cut(line, []byte(" "))
	mono, ok := parseSeconds(clock)
	if !ok {
		return "no time on CLOCK_MONOTONIC at the start of the line"
	}
	number, rest, _ := bytes.Cut(rest, []byte(" "))
	tid, err := strconv.ParseInt(string(number), 10, 32)
	if err != nil || tid < 0 {
		return "no thread id after the time"
	}
	word, rest, _ := bytes.Cut(rest, []byte(" "))
	args, ok := parseArguments(rest)
	if !ok {
		return "arguments that are neither numbers nor texts in quotes"
	}
	switch name := r.intern(word); {
	case strings.Contains(name, ":"):
		return r.reached(firing{mono, int(tid), name, args})
	case name == WordAllocated:
		return r.allocated(mono, args)
	case name == WordLost && len(args) == 1 && args[0].number > 0:
		r.record = &Lost{args[0].number}
	case name == WordEnd && len(args) == 0:
	default:
		return "no probe after the thread id"
	}
	return ""
}

// intern returns the text as a string. The string is allocated only once for equal texts.
func (r *Reader) intern(text []byte) string {
	if s, ok := r.names[string(text)]; ok {
		return s
	}
	if len(r.names) >= mostNames {
		clear(r.names)
	}
	s := string(text)
	r.names[s] = s
	return s
}

// parseSeconds parses a time in seconds, such as 1884.749632617, and returns nanoseconds.
func parseSeconds(text []byte) (nanos int64, ok bool) {
	seconds, fraction, found := bytes.Cut(text, []byte("."))
	if !found || len(fraction) != 9 || len(seconds) == 0 || len(seconds) > 9 {
		return 0, false
	}
	for _, part := range [][]byte{seconds, fraction} {
		for _, c := range part {
			if c < '0' || c > '9' {
				return 0, false
			}
			nanos = 10*nanos + int64(c-'0')
		}
	}
	return nanos, true
}

// An argument is a number, or a text in quotes, or unknown if gasm could not read it.
type argument struct {
	number  int64
	text    string
	isText  bool
	unknown bool
}

func parseArguments(rest []byte) (args []argument, ok bool) {
	for text := string(rest); text != ""; {
		if len(args) == mostArguments {
			return nil, false
		}
		var a argument
		if text[0] == '"' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, false
			}
			a.isText = true
			if a.text, err = strconv.Unquote(quoted); err != nil {
				return nil, false
			}
			text = text[len(quoted):]
		} else {
			var word string
			if word, ok = a.scan(text); !ok {
				return nil, false
			}
			text = text[len(word):]
		}
		args = append(args, a)
		if text == "" {
			break
		}
		if text[0] != ' ' || len(text) == 1 {
			return nil, false
		}
		text = text[1:]
	}
	return args, true
}

// scan reads the number at the start of the text, or the ? of an unknown argument. It returns the
// text of what it read, up to the next blank.
func (a *argument) scan(text string) (word string, ok bool) {
	word, _, _ = strings.Cut(text, " ")
	if word == "?" {
		a.unknown = true
		return word, true
	}
	if digits, hex := strings.CutPrefix(word, "0x"); hex {
		n, err := strconv.ParseUint(digits, 16, 64)
		a.number = int64(n)
		return word, err == nil
	}
	n, err := strconv.ParseInt(word, 10, 64)
	a.number = n
	return word, err == nil
}

// allocated reads a line with the sum of the allocations of one class at one instruction.
func (r *Reader) allocated(mono int64, args []argument) (msg string) {
	if len(args) != 6 || args[4].number <= 0 || args[5].number < 0 {
		return "no addresses, class, count and bytes of allocations"
	}
	r.record = &event.Event{PID: r.pid, Kind: event.Alloc, Name: className(&args[3]), MonoNanos: mono,
		Bytes: args[5].number, PC: uint64(args[0].number),
		Args: []event.Arg{{Name: countArgument, Value: strconv.FormatInt(args[4].number, 10)},
			{Name: "caller", Value: args[1].shown(Address)}, {Name: "above", Value: args[2].shown(Address)}}}
	return ""
}

// countArgument is the name of an argument of allocation events. Its value is the number of allocations that the event
// represents.
const countArgument = "count"

// Count returns the number of allocations that an event of a [Reader] represents. For events other than allocations it
// returns 1.
func Count(e *event.Event) int64 {
	for _, a := range e.Args {
		if a.Name == countArgument {
			n, _ := strconv.ParseInt(a.Value, 10, 64) // allocated has formatted this number, so it is valid
			return n
		}
	}
	return 1
}
