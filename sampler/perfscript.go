package sampler

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
)

// maxLine is the longest line that is read. A symbol of C++ can be longer than
// the 64 kB that a bufio.Scanner takes by itself.
const maxLine = 16 << 20

// Lost tells of samples that the sampler could not keep.
type Lost struct {
	// Count is what this line adds to the samples known to be lost. perf tells
	// one loss twice, as PERF_RECORD_LOST while recording and as
	// PERF_RECORD_LOST_SAMPLES per event at the end: the second account counts
	// only where it exceeds the first, so the sum over all Lost is right.
	Count int64
}

// A SyntaxError is a line that is not what the sampler prints: a warning that
// went into the text, or the cut last line of a killed sampler.
type SyntaxError struct {
	File string
	Line int // from 1
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// A PerfReader reads the text of `perf script` with the fields
// [[comm,]pid,tid,][time,]event,ip,[sym,]dso. Every line that is not empty and not a #
// comment is one record.
type PerfReader struct {
	name string
	in   *bufio.Scanner
	line int
	err  error

	record any
	sample Sample
	lost   Lost
	bad    SyntaxError

	// What is behind a name as perf spells it; nothing is allocated for a name
	// that was seen before.
	events  map[string]event
	symbols map[string]string
	modules map[string]module
	threads map[string]string

	samples      bool // a sample was seen
	kernelEvents bool // one of them was of an event that includes the kernel

	lostRecords, lostSamples, lostTotal int64
}

// NewPerfReader returns a reader of r. The name is only for messages.
func NewPerfReader(r io.Reader, name string) *PerfReader {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	return &PerfReader{
		name:    name,
		in:      in,
		events:  make(map[string]event),
		symbols: make(map[string]string),
		modules: make(map[string]module),
		threads: make(map[string]string),
	}
}

// Scan reads the next record. It returns false at EOF and on an I/O error.
func (r *PerfReader) Scan() bool {
	for r.in.Scan() {
		r.line++
		line := bytes.TrimSpace(r.in.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		r.parse(line)
		return true
	}
	if err := r.in.Err(); err != nil {
		r.err = fmt.Errorf("%s:%d: %w", r.name, r.line+1, err)
	}
	r.record = nil
	return false
}

// Record returns what Scan read: a *Sample, *Lost or *SyntaxError. It belongs to
// the reader and is valid until the next Scan; its strings stay valid.
func (r *PerfReader) Record() any { return r.record }

// Err returns the I/O error that ended the reading, nil after plain EOF.
func (r *PerfReader) Err() error { return r.err }

// UserOnly tells whether all samples so far are of events that leave the kernel
// out ("cycles:u"): then a missing kernel sample means nothing. It is false as
// long as there is no sample.
func (r *PerfReader) UserOnly() bool { return r.samples && !r.kernelEvents }

// parse makes the record of a line that has neither blanks around it nor is
// empty.
func (r *PerfReader) parse(line []byte) {
	s := &r.sample
	*s = Sample{MonoNanos: -1, PID: NoPID, TID: NoPID}

	rest := line
	if pid, tid, after, ok := cutIDs(rest); ok {
		s.PID, s.TID, rest = pid, tid, after
	} else if thread, pid, tid, after, ok := cutThread(rest); ok {
		s.Thread, s.PID, s.TID, rest = intern(r.threads, thread), pid, tid, after
	}
	if nanos, after, ok := cutTime(rest); ok {
		s.MonoNanos, rest = nanos, after
	}
	if after, ok := bytes.CutPrefix(rest, []byte("PERF_RECORD_LOST")); ok {
		r.parseLost(after)
		return
	}

	name, rest, ok := cutEvent(rest)
	if !ok {
		r.fail("no event")
		return
	}
	s.PC, rest, ok = cutHex(rest)
	if !ok {
		r.fail("no address after the event")
		return
	}
	sym, mod, ok := cutModule(rest)
	if !ok {
		r.fail("no module in parentheses at the end")
		return
	}

	ev := r.event(name)
	s.Event = ev.name
	s.Symbol = r.symbol(sym)
	s.Module = r.module(mod).at(s.PC)
	r.samples = true
	r.kernelEvents = r.kernelEvents || !ev.userOnly
	r.record = s
}

// parseLost takes what follows PERF_RECORD_LOST: " lost 43" or
// "_SAMPLES lost 43".
func (r *PerfReader) parseLost(text []byte) {
	text, samples := bytes.CutPrefix(text, []byte("_SAMPLES"))
	_, digits, ok := bytes.Cut(text, []byte("lost"))
	n, after, okN := cutUint(bytes.TrimLeft(digits, ": \t"), math.MaxInt32)
	if !ok || !okN || len(after) > 0 {
		r.fail("no count of lost records")
		return
	}
	if samples {
		r.lostSamples += int64(n)
	} else {
		r.lostRecords += int64(n)
	}
	total := max(r.lostRecords, r.lostSamples)
	r.lost = Lost{Count: total - r.lostTotal}
	r.lostTotal = total
	r.record = &r.lost
}

func (r *PerfReader) fail(msg string) {
	r.bad = SyntaxError{File: r.name, Line: r.line, Msg: msg}
	r.record = &r.bad
}

func (r *PerfReader) event(name []byte) event {
	ev, ok := r.events[string(name)]
	if !ok {
		ev = parseEvent(string(name))
		r.events[string(name)] = ev
	}
	return ev
}

func (r *PerfReader) symbol(name []byte) string {
	sym, ok := r.symbols[string(name)]
	if !ok {
		sym = parseSymbol(string(name))
		r.symbols[string(name)] = sym
	}
	return sym
}

func (r *PerfReader) module(path []byte) module {
	mod, ok := r.modules[string(path)]
	if !ok {
		mod = parseModule(string(path))
		r.modules[string(path)] = mod
	}
	return mod
}

// cutIDs cuts "24997/24998" and the blanks after it. A PMU's event
// ("cpu_core/cycles/") is not taken for one.
func cutIDs(text []byte) (pid, tid int, rest []byte, ok bool) {
	pid, rest, ok = cutInt(text)
	if !ok || len(rest) == 0 || rest[0] != '/' {
		return 0, 0, text, false
	}
	// perf pads a tid to five columns.
	tid, rest, ok = cutInt(rest[1:])
	if !ok || len(rest) == 0 || !isBlank(rest[0]) {
		return 0, 0, text, false
	}
	return pid, tid, trimBlanks(rest), true
}

// cutThread cuts a thread's name and the ids behind it: "C2 CompilerThre
// 24997/25003". The name may hold anything, so the ids are those that a time
// follows.
func cutThread(text []byte) (name []byte, pid, tid int, rest []byte, ok bool) {
	for i := 1; i < len(text); i++ {
		if !isBlank(text[i-1]) || isBlank(text[i]) {
			continue
		}
		pid, tid, rest, ok := cutIDs(text[i:])
		if !ok {
			continue
		}
		if _, _, ok := cutTime(rest); ok {
			return bytes.TrimRight(text[:i], " \t"), pid, tid, rest, true
		}
	}
	return nil, 0, 0, text, false
}

// cutTime cuts "1884.749632617:" (seconds with 1 to 9 decimals) and the blanks
// after it, and returns nanoseconds.
func cutTime(text []byte) (nanos int64, rest []byte, ok bool) {
	sec, rest, ok := cutUint(text, math.MaxInt64/1_000_000_000-1)
	if !ok || len(rest) == 0 || rest[0] != '.' {
		return 0, text, false
	}
	rest = rest[1:]
	frac, after, ok := cutUint(rest, 999_999_999)
	decimals := len(rest) - len(after)
	if !ok || decimals > 9 || len(after) == 0 || after[0] != ':' {
		return 0, text, false
	}
	for ; decimals < 9; decimals++ {
		frac *= 10
	}
	return int64(sec)*1_000_000_000 + int64(frac), trimBlanks(after[1:]), true
}

// cutEvent cuts the event at the first colon that a blank follows.
func cutEvent(text []byte) (name, rest []byte, ok bool) {
	for i, c := range text {
		if c == ':' && i > 0 && i+1 < len(text) && isBlank(text[i+1]) {
			return text[:i], trimBlanks(text[i+1:]), true
		}
	}
	return nil, text, false
}

// cutHex cuts a bare hexadecimal number and the blanks after it.
func cutHex(text []byte) (x uint64, rest []byte, ok bool) {
	n := 0
	for n < len(text) && isHex(text[n]) {
		digit := text[n]
		switch {
		case digit >= 'a':
			digit -= 'a' - 10
		case digit >= 'A':
			digit -= 'A' - 10
		default:
			digit -= '0'
		}
		x = x<<4 | uint64(digit)
		n++
	}
	if n == 0 || n > 16 || n == len(text) || !isBlank(text[n]) {
		return 0, text, false
	}
	return x, trimBlanks(text[n:]), true
}

// cutModule splits "symbol (module)". Both may hold blanks and parentheses. The
// module is the balanced parenthesis at the end if that looks like a module;
// a path with a lone parenthesis in it starts at the first " (/" or " ([".
func cutModule(text []byte) (sym, mod []byte, ok bool) {
	if len(text) == 0 || text[len(text)-1] != ')' {
		return nil, nil, false
	}
	balanced := openingParen(text)
	open := balanced
	if open < 0 || !startsModule(text, open) || !pathLike(text[open+1:]) {
		open = firstPath(text)
	}
	if open < 0 {
		open = balanced
	}
	if open < 0 || !startsModule(text, open) || open+2 == len(text) {
		return nil, nil, false
	}
	return bytes.TrimRight(text[:open], " \t"), text[open+1 : len(text)-1], true
}

// openingParen returns the index of the parenthesis that the last byte closes,
// or -1.
func openingParen(text []byte) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// firstPath returns the index of the first parenthesis that opens a path or a
// bracketed name, or -1.
func firstPath(text []byte) int {
	for i, c := range text {
		if c == '(' && startsModule(text, i) && pathLike(text[i+1:]) {
			return i
		}
	}
	return -1
}

func startsModule(text []byte, open int) bool { return open == 0 || isBlank(text[open-1]) }

func pathLike(text []byte) bool { return len(text) > 0 && (text[0] == '/' || text[0] == '[') }

// cutInt cuts a decimal int32; a minus is allowed.
func cutInt(text []byte) (n int, rest []byte, ok bool) {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	x, rest, ok := cutUint(digits, math.MaxInt32)
	if !ok {
		return 0, text, false
	}
	n = int(x)
	if negative {
		n = -n
	}
	return n, rest, true
}

// cutUint cuts a decimal number of at most limit.
func cutUint(text []byte, limit uint64) (x uint64, rest []byte, ok bool) {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		x = x*10 + uint64(text[n]-'0')
		if x > limit {
			return 0, text, false
		}
		n++
	}
	return x, text[n:], n > 0
}

func trimBlanks(text []byte) []byte {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	return text
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
