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

// A SyntaxError is a line that is not as gasm writes them.
type SyntaxError = lines.SyntaxError

// Lost says that so many events were lost, because they came faster than they were read.
type Lost struct{ Events int64 }

// A Reader reads the text of one JVM's probes, and gives events in the order in which they
// ended.
type Reader struct {
	in     *lines.Reader
	name   string
	pid    int
	record any
	open   map[opened][]begun
	n      int // of what is open
	names  map[string]string
	// recorded are the probes that were; nil where the text does not say.
	recorded map[string]bool
	rest     []begun // what had not ended, at the end of the text
	ended    bool
}

const (
	// longestLine: three texts of 64 kB, of which each byte may be escaped, are not to be read.
	longestLine = 256 << 10
	// mostOpen is more than all threads of a JVM are in at once.
	mostOpen = 1 << 16
	// mostArguments is more than any probe has; SystemTap's notes allow 12.
	mostArguments = 32
	// mostNames bounds what is kept of names that are read again and again.
	mostNames = 1 << 16
)

// NewReader returns a reader of a JVM's text. The name is for messages.
func NewReader(r io.Reader, name string, pid int) *Reader {
	return &Reader{in: lines.NewReader(r, longestLine), name: name, pid: pid, open: map[opened][]begun{}, names: map[string]string{}}
}

// Err is the error that ended the reading; nil after all was read.
func (r *Reader) Err() error {
	if err := r.in.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", r.name, err)
	}
	return nil
}

// Lines is how many lines were read so far.
func (r *Reader) Lines() int { return r.in.Number() }

// Record gives what Scan has read: an *event.Event, a *Lost or a *SyntaxError.
func (r *Reader) Record() any { return r.record }

// Scan reads to the next event or bad line. A last line without its end is left out: gasm was
// killed while it wrote it.
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

// read reads a line. What is wrong with it is "" when nothing is.
func (r *Reader) read(line []byte) (msg string) {
	if len(line) == 0 || line[0] == '#' {
		if names, ok := bytes.CutPrefix(line, []byte(recordedHead)); ok {
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
		return "no time of CLOCK_MONOTONIC at the begin of the line"
	}
	number, rest, _ := bytes.Cut(rest, []byte(" "))
	tid, err := strconv.ParseInt(string(number), 10, 32)
	if err != nil || tid < 0 {
		return "no thread id behind the time"
	}
	word, rest, _ := bytes.Cut(rest, []byte(" "))
	args, ok := parseArguments(rest)
	if !ok {
		return "arguments that are no numbers, and no texts in quotes"
	}
	switch name := r.intern(word); {
	case strings.Contains(name, ":"):
		return r.reached(firing{mono, int(tid), name, args})
	case name == wordAllocated:
		return r.allocated(mono, args)
	case name == wordLost && len(args) == 1 && args[0].number > 0:
		r.record = &Lost{args[0].number}
	case name == wordEnd && len(args) == 0:
	default:
		return "no probe behind the thread id"
	}
	return ""
}

// intern gives a string, the same one for the same text.
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

// parseSeconds reads a time as 1884.749632617, in nanoseconds.
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

// An argument is a number, or a text in quotes; unknown when it could not be read.
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

// scan reads a number, in front of a blank.
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

// allocated reads the sum of an instruction's allocations.
func (r *Reader) allocated(mono int64, args []argument) (msg string) {
	if len(args) != 6 || args[4].number <= 0 || args[5].number < 0 {
		return "no addresses, class, count and bytes of allocations"
	}
	r.record = &event.Event{PID: r.pid, Kind: event.Alloc, Name: className(&args[3]), MonoNanos: mono, Bytes: args[5].number, PC: uint64(args[0].number),
		Args: []event.Arg{{Name: countArgument, Value: strconv.FormatInt(args[4].number, 10)}, {Name: "caller", Value: args[1].shown(address)}, {Name: "above", Value: args[2].shown(address)}}}
	return ""
}

// countArgument is the argument of an event of allocations that says how many they were.
const countArgument = "count"

// Count is how many allocations an event of this source stands for.
func Count(e *event.Event) int64 {
	for _, a := range e.Args {
		if a.Name == countArgument {
			n, _ := strconv.ParseInt(a.Value, 10, 64) // it is written by allocated
			return n
		}
	}
	return 1
}
