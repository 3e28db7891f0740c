// Package hslog reads events from HotSpot's log. JDK 9 and newer write this log with the option that [Flag] returns:
//
//	[64285638247ns][4711][gc,start ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
//	[64287984335ns][4711][gc       ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 2.345ms
//
// Each message is preceded by decorations: the time (tn, CLOCK_MONOTONIC in ns), the thread (ti), and the tags of the
// message (tg), padded with blanks. A [Reader] also accepts logs with more decorations, or in a different order, if the
// time and the tags are among them.
//
// # Garbage collections
//
// A pause has two lines, as above. Both have the collection's number, and the second line begins with the text of the
// first. The heap's size and the duration may follow in the second line. The last parenthesis of the first line is
// the cause. Concurrent phases have the same form.
//
// With the Serial collector, a pause may contain another pause: when a young collection has no room, all that it does
// is start a full collection. The end of the young collection is logged after the end of the full one. The Reader ends
// the outer pause where the inner one begins, so that no time counts twice. The times of the JVM's
// GarbageCollectorMXBeans agree with this.
//
// A line with a duration counts as an event even if no earlier line reports the beginning.
//
// # Safepoints
//
// JDK 13 and newer write one line after the safepoint:
//
//	Safepoint "G1CollectForAllocation", Time since last: 96381 ns, Reaching safepoint: 1432 ns, Cleanup: 2101 ns,
//	  At safepoint: 98123 ns, Total: 101656 ns
//
// Newer JDKs don't write Cleanup, but write further fields (Leaving safepoint, Threads). The Reader uses only Reaching
// safepoint and Total. JDK 9 to 12 write four lines, the first of them when the safepoint begins:
//
//	Application time: 0.1203145 seconds
//	Entering safepoint region: G1CollectForAllocation
//	Leaving safepoint region
//	Total time for which application threads were stopped: 0.0012345 seconds,
//	  Stopping threads took: 0.0000123 seconds
//
// # VM operations and compilations
//
// With vmoperation=debug, the log has lines for the beginning and the end of each VM operation. With
// jit+compilation=debug, it has a line when a compilation starts, in the form of PrintCompilation without the time:
//
//	begin VM_Operation (0x00007f1e2c5fd5b0): G1CollectForAllocation, mode: safepoint, requested by thread 0x00007f1e54…
//	  71   %     4       Spin::spin @ 12 (38 bytes)
//
// The API may change between minor versions before 1.0.
package hslog

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A SyntaxError reports a line that is not in the format of HotSpot's log.
type SyntaxError = lines.SyntaxError

// A Reader reads the events of one JVM's log, in the order in which the events ended.
type Reader struct {
	in   *lines.Reader
	name string
	bad  SyntaxError

	event  event.Event
	isBad  bool
	open   []begun // collections and operations that have begun and not ended yet, the newest last
	region string  // the VM operation of the current safepoint, for JDK 9 to 12
	// regionMono is when the current safepoint began; 0 if unknown.
	regionMono int64
	names      map[string]label // by label.text
}

// A label is a text in the log, split into a name and, for a collection, its cause. If there is no cause, the field
// cause is "".
type label struct {
	text, name, cause string
}

// A begun is a collection or an operation whose end has not been read yet.
type begun struct {
	kind  event.Kind
	id    uint64 // the number of the collection, or the address of the operation
	mono  int64
	label label
	// inner is the time at which the first pause inside this one began. It is set when that pause ends, and is 0
	// before.
	inner int64
}

const (
	// longestLine is the maximum length of a line in bytes. HotSpot can write longer lines, because the name of a method
	// alone can be 64 kB long. The Reader reports such lines as bad.
	longestLine = 64 << 10
	// mostOpen is the maximum number of collections and operations whose end the Reader waits for. When another one
	// begins, the oldest is forgotten.
	mostOpen = 64
	// mostNames is the maximum number of texts that are remembered with their names and causes. Further texts are
	// parsed each time they occur.
	mostNames = 1 << 16
)

// NewReader returns a Reader of a JVM's log. The name is used in messages only.
func NewReader(r io.Reader, name string, pid int) *Reader {
	return &Reader{in: lines.NewReader(r, longestLine), name: name, names: map[string]label{},
		event: event.Event{PID: pid}}
}

// Err returns the I/O error that ended the reading, or nil at the end of the log.
func (r *Reader) Err() error {
	if err := r.in.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", r.name, err)
	}
	return nil
}

// Lines returns the number of lines that were read so far.
func (r *Reader) Lines() int { return r.in.Number() }

// Record returns what Scan has read: an *event.Event or a *SyntaxError. The result belongs to the Reader and is valid
// until the next Scan. The Args of an event may be kept.
func (r *Reader) Record() any {
	if r.isBad {
		return &r.bad
	}
	return &r.event
}

// Scan reads up to the next event or bad line. It ignores a last line without a line end, because the JVM may have
// been killed while it was writing that line.
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

// read reads a line. The result found is true if the line completes an event. If the line is bad, msg says why.
func (r *Reader) read(line []byte) (found bool, msg string) {
	if len(line) == 0 {
		return false, ""
	}
	d, ok := cutDecorations(line)
	switch {
	case !ok || d.tags == nil:
		return false, "HotSpot's decorations tn and tg (a time in nanoseconds, and tags) are missing: " +
			"-Xlog:gc,gc+start,safepoint:file=FILE:tn,ti,tg has them"
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

// decorations are the parts of a line: the values of its decorations, and the message after them.
type decorations struct {
	mono    int64
	tid     int
	tags    []byte // nil if there are none
	message []byte
}

// levels are the words that the decoration l (level) writes. They are not tags.
var levels = [][]byte{[]byte("trace"), []byte("debug"), []byte("info"), []byte("warning"), []byte("error")}

// cutDecorations splits a line into its decorations and its message. It returns false if the line has no time.
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
		case len(rest) == len(word): // the word does not begin with a digit
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

// lastMono is an upper bound for the time of an event, in ns: 36 years. A line with a later time is bad.
const lastMono = 1 << 60

// cutNumber splits off the decimal number at the start of a text. If the number is too large, n is MaxUint64.
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

// label returns the label of a text. It calls the function parse only for a text that it has not seen before.
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

// plainLabel returns the label of a text that has no cause: the whole text is its name.
func plainLabel(text string) label { return label{text: text, name: text} }

// begin records that a collection or an operation has begun. If mostOpen of them are open already, the oldest is
// forgotten, because its end must have been lost.
func (r *Reader) begin(b begun) {
	if len(r.open) >= mostOpen {
		r.open = append(r.open[:0], r.open[1:]...)
	}
	r.open = append(r.open, b)
}

// close removes the i-th open collection or operation and returns it.
func (r *Reader) close(i int) begun {
	b := r.open[i]
	r.open = append(r.open[:i], r.open[i+1:]...)
	return b
}
