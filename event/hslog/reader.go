// Package hslog reads events from HotSpot's log, as JDK 9 and newer write it under [Flag]:
//
//	[64285638247ns][4711][gc,start ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
//	[64287984335ns][4711][gc       ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 2.345ms
//
// In front of each message are its decorations: the time (tn, CLOCK_MONOTONIC in ns), the
// thread (ti), and the tags of the message (tg). HotSpot fills them up with blanks. A reader
// also takes a log with more decorations, or in another order, as long as there are the time
// and the tags.
//
// # Garbage collections
//
// A pause has two lines, as above. Both have its number, and the second one begins as the
// first one does. Then it may have the heap's size and the duration. The last parenthesis
// of the first line is the cause. Concurrent phases look the same. With Serial one pause may lie
// inside another: a young collection for which there is no room does nothing but begin a full
// one, and its end is told of behind that of the full one. It is taken to end where the full one
// begins, so that no time counts twice. The JVM's beans say the same.
// A line that has a duration and no beginning is an event, too.
//
// # Safepoints
//
// JDK 13 and newer write one line when the safepoint is over:
//
//	Safepoint "G1CollectForAllocation", Time since last: 96381 ns, Reaching safepoint: 1432 ns, Cleanup: 2101 ns, At safepoint: 98123 ns, Total: 101656 ns
//
// Newer ones lack the Cleanup, and have more fields (Leaving safepoint, Threads). The fields
// that count here are Reaching safepoint and Total. JDK 9 to 12 write four lines, the first one when the safepoint begins:
//
//	Application time: 0.1203145 seconds
//	Entering safepoint region: G1CollectForAllocation
//	Leaving safepoint region
//	Total time for which application threads were stopped: 0.0012345 seconds, Stopping threads took: 0.0000123 seconds
//
// # VM operations and compilations
//
// With vmoperation=debug there are lines for the begin and the end of each VM operation,
// and with jit+compilation=debug a line when a compilation starts, in the form of
// PrintCompilation without the time:
//
//	begin VM_Operation (0x00007f1e2c5fd5b0): G1CollectForAllocation, mode: safepoint, requested by thread 0x00007f1e54027000
//	  71   %     4       Spin::spin @ 12 (38 bytes)
package hslog

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A SyntaxError reports a line that does not have the form in which HotSpot writes its log.
type SyntaxError = lines.SyntaxError

// A Reader reads the events of one JVM's log, in the order in which they ended.
type Reader struct {
	in   *lines.Reader
	name string
	bad  SyntaxError

	event  event.Event
	isBad  bool
	open   []begun // what has begun, the newest at the end
	region string  // the operation of the safepoint that JDK 9 to 12 are in
	// regionMono is when that has begun; 0 for unknown.
	regionMono int64
	names      map[string]label // by the text that a name was read from
}

// A label is what a text says: a name, and for a collection its cause.
type label struct {
	text, name, cause string
}

// A begun is a collection or an operation whose end is not read yet.
type begun struct {
	kind  event.Kind
	id    uint64 // the number of the collection, or the address of the operation
	mono  int64
	label label
	// inner is when a pause began inside of this one, and has ended; 0 for none.
	inner int64
}

const (
	// longestLine is longer than any line of these parts of the log. Of a method's name of
	// 64 kB only the beginning would be of use.
	longestLine = 64 << 10
	// mostOpen is more than ever goes on at once.
	mostOpen = 64
	// mostNames is more than the names of all collections, operations and their causes.
	mostNames = 1 << 16
)

// NewReader returns a reader of a JVM's log. The name is for messages.
func NewReader(r io.Reader, name string, pid int) *Reader {
	return &Reader{in: lines.NewReader(r, longestLine), name: name, names: map[string]label{}, event: event.Event{PID: pid}}
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

// Record gives what Scan has read: an *event.Event or a *SyntaxError. It belongs to the
// reader, until the next Scan. The Args of an event may be kept.
func (r *Reader) Record() any {
	if r.isBad {
		return &r.bad
	}
	return &r.event
}

// Scan reads to the next event or bad line. A last line without its end is left out, because
// a JVM that was killed was writing it.
func (r *Reader) Scan() bool {
	for r.in.Scan() {
		found, msg := false, "the line is too long"
		if !r.in.TooLong() {
			found, msg = r.read(r.in.Line())
		}
		if r.isBad = msg != ""; r.isBad {
			r.bad = SyntaxError{File: r.name, Line: r.in.Number(), Msg: msg}
		}
		if found || r.isBad {
			return true
		}
	}
	return false
}

// read reads a line. found tells that it completes an event; msg says why it is a bad line.
func (r *Reader) read(line []byte) (found bool, msg string) {
	if len(line) == 0 {
		return false, ""
	}
	d, ok := cutDecorations(line)
	switch {
	case !ok || d.tags == nil:
		return false, "it has not HotSpot's decorations tn and tg, a time in nanoseconds and tags: " +
			"-Xlog:gc,gc+start,safepoint:file=FILE:tn,ti,tg writes them"
	}
	r.event = event.Event{PID: r.event.PID, TID: d.tid, MonoNanos: d.mono}
	switch string(d.tags) {
	case "gc", "gc,start", "gc,marking":
		return r.collection(d.message, false)
	case "gc,phases":
		return r.collection(d.message, true)
	case "safepoint":
		return r.safepoint(d.message)
	case "vmoperation":
		return r.operation(d.message)
	case "jit,compilation":
		return r.compilation(d.message)
	}
	return false, ""
}

// decorations are what is in front of a message.
type decorations struct {
	mono    int64
	tid     int
	tags    []byte // nil without
	message []byte
}

// levels are the words of the decoration l, which are no tags.
var levels = [][]byte{[]byte("trace"), []byte("debug"), []byte("info"), []byte("warning"), []byte("error")}

// cutDecorations parts a line. It is false for one without a time.
func cutDecorations(line []byte) (d decorations, ok bool) {
	for len(line) > 0 && line[0] == '[' {
		end := bytes.IndexByte(line, ']')
		if end < 0 {
			return d, false
		}
		word := bytes.TrimRight(line[1:end], " ")
		line = line[end+1:]
		n, rest := cutNumber(word)
		switch {
		case len(rest) == len(word): // it begins with no digit
			if d.tags == nil && !isLevel(word) {
				d.tags = word
			}
		case string(rest) == "ns" && !ok:
			if n > lastMono {
				return d, false
			}
			d.mono, ok = int64(n), true
		case len(rest) == 0 && n < 1<<31:
			d.tid = int(n)
		}
	}
	d.message = bytes.TrimPrefix(line, []byte(" "))
	return d, ok
}

func isLevel(word []byte) bool {
	for _, l := range levels {
		if bytes.Equal(word, l) {
			return true
		}
	}
	return false
}

// lastMono is later than any time of an event, in ns: 36 years.
const lastMono = 1 << 60

// cutNumber cuts a decimal number from the start of a text. Of one that is too big it gives
// the biggest there is.
func cutNumber(text []byte) (n uint64, rest []byte) {
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		if n > (1<<64-1-9)/10 {
			n = 1<<64 - 1
			continue
		}
		n = 10*n + uint64(text[i]-'0')
	}
	return n, text[i:]
}

// label gives the label of a text; parse makes it where the text is new.
func (r *Reader) label(text []byte, parse func(string) label) label {
	if l, ok := r.names[string(text)]; ok {
		return l
	}
	l := parse(string(text))
	if len(r.names) < mostNames {
		r.names[l.text] = l
	}
	return l
}

// plainLabel is the label of a text that is a name.
func plainLabel(text string) label { return label{text: text, name: text} }

// begin notes that something has begun. If too much is open, the oldest is forgotten: its
// end was lost.
func (r *Reader) begin(b begun) {
	if len(r.open) >= mostOpen {
		r.open = append(r.open[:0], r.open[1:]...)
	}
	r.open = append(r.open, b)
}

// close takes what has begun at a place.
func (r *Reader) close(i int) begun {
	b := r.open[i]
	r.open = append(r.open[:i], r.open[i+1:]...)
	return b
}
