package sampler

import (
	"bytes"
	"fmt"
	"io"
	"math"
)

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
type PerfReader struct{ textReader }

// NewPerfReader returns a reader of r. The name is only for messages.
func NewPerfReader(r io.Reader, name string) *PerfReader {
	return &PerfReader{newTextReader(r, name, func() lineParser { return newPerfParser() })}
}

// A perfParser reads lines of perf script.
type perfParser struct {
	events  map[string]event
	threads map[string]string
	places  map[string]perfPlace // by symbol and module as perf spells them
	heads   [recentHeads]perfHead
	oldest  int // of heads
}

// A perfPlace is what perf's "memcpy (/usr/lib/libc.so.6)" means.
type perfPlace struct {
	symbol string
	module module
}

// A perfHead is what stands in front of the time: a thread and its ids. A CPU
// seldom changes from one thread to another, so nearly all lines have one of the
// last few.
type perfHead struct {
	text     []byte
	thread   string
	pid, tid int
}

const recentHeads = 4

func newPerfParser() *perfParser {
	return &perfParser{events: make(map[string]event), threads: make(map[string]string), places: make(map[string]perfPlace)}
}

func (p *perfParser) parse(line []byte, _ bool, s *Sample) outcome {
	if line[0] == '#' {
		return outcome{}
	}
	*s = Sample{MonoNanos: -1, PID: NoPID, TID: NoPID}
	rest := p.head(line, s)
	if nanos, after, ok := cutTime(rest); ok {
		s.MonoNanos, rest = nanos, after
	}
	if after, ok := bytes.CutPrefix(rest, []byte("PERF_RECORD_LOST")); ok {
		return parseLost(after)
	}
	name, rest, ok := cutEvent(rest)
	if !ok {
		return outcome{kind: badRecord, msg: "no event"}
	}
	s.PC, rest, ok = cutHex(rest)
	if !ok {
		return outcome{kind: badRecord, msg: "no address after the event"}
	}
	at, ok := p.place(rest)
	if !ok {
		return outcome{kind: badRecord, msg: "no module in parentheses at the end"}
	}
	ev := p.event(name)
	s.Event, s.Symbol, s.Module = ev.name, at.symbol, at.module.at(s.PC)
	return outcome{kind: sampleRecord, userOnly: ev.userOnly}
}

// head reads the thread and its ids, where they are, and gives what follows.
func (p *perfParser) head(line []byte, s *Sample) (rest []byte) {
	for i := range p.heads {
		h := &p.heads[i]
		if n := len(h.text); n > 0 && n < len(line) && isBlank(line[n]) && bytes.Equal(line[:n], h.text) {
			s.Thread, s.PID, s.TID = h.thread, h.pid, h.tid
			return trimBlanks(line[n:])
		}
	}
	if pid, tid, after, ok := cutIDs(line); ok {
		s.PID, s.TID, rest = pid, tid, after
	} else if thread, pid, tid, after, ok := cutThread(line); ok {
		s.Thread, s.PID, s.TID, rest = intern(p.threads, thread), pid, tid, after
	} else {
		return line
	}
	h := &p.heads[p.oldest]
	p.oldest = (p.oldest + 1) % recentHeads
	h.text = append(h.text[:0], bytes.TrimRight(line[:len(line)-len(rest)], " \t")...)
	h.thread, h.pid, h.tid = s.Thread, s.PID, s.TID
	return rest
}

func (p *perfParser) event(name []byte) event {
	ev, ok := p.events[string(name)]
	if !ok {
		ev = parseEvent(string(name))
		p.events[string(name)] = ev
	}
	return ev
}

// maxPlaces bounds what is remembered: with offsets behind the symbols each
// place is another.
const maxPlaces = 1 << 16

func (p *perfParser) place(text []byte) (perfPlace, bool) {
	at, ok := p.places[string(text)]
	if ok {
		return at, true
	}
	sym, mod, ok := cutModule(text)
	if !ok {
		return perfPlace{}, false
	}
	at = perfPlace{parseSymbol(string(sym)), parseModule(string(mod))}
	if len(p.places) >= maxPlaces {
		clear(p.places)
	}
	p.places[string(text)] = at
	return at, true
}

// parseLost takes what follows PERF_RECORD_LOST: " lost 43" or
// "_SAMPLES lost 43".
func parseLost(text []byte) outcome {
	text, samples := bytes.CutPrefix(text, []byte("_SAMPLES"))
	_, digits, ok := bytes.Cut(text, []byte("lost"))
	n, after, okN := cutUint(bytes.TrimLeft(digits, ": \t"), math.MaxInt32)
	if !ok || !okN || len(after) > 0 {
		return outcome{kind: badRecord, msg: "no count of lost records"}
	}
	return outcome{kind: lostRecord, lost: int64(n), again: samples}
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
