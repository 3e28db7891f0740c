package sampler

import (
	"bytes"
	"io"
	"math"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/fields"
)

// A PerfReader reads the text of `perf script`. The fields may be [[comm,]pid,tid,][time,][period,]event,ip,[sym,]dso,
// where fields in brackets are optional. They may also be the fields that perf script prints by default:
// comm,tid,[cpu,]time,period,event,ip,sym,dso. Every line is one record, except for empty lines, comments (#) and
// stacks. If there are stacks, the first line of a stack has the sample's address and function. A line that gasm's own
// sampling has written may end with the ID of a stack.
type PerfReader struct{ textReader }

// NewPerfReader returns a reader of r. The name is for messages only.
func NewPerfReader(r io.Reader, name string) *PerfReader {
	return &PerfReader{newTextReader(r, name, func() lineParser { return newPerfParser() })}
}

// A perfParser parses lines of perf script. It remembers the meaning of texts that it has parsed before, so that it
// need not parse them again.
type perfParser struct {
	events    map[string]*Event // by Spec
	event     *Event            // the event of the last line; the next line usually has the same event
	threads   map[string]string
	functions map[string]perfFunction
	heads     [recentHeads]perfHead
	oldest    int // index of the oldest head, which the next new head replaces
}

// A perfFunction is the function and the module in a text like "memcpy (/usr/lib/libc.so.6)".
type perfFunction struct {
	symbol string
	module module
}

// A perfHead is the text before the time: the thread's name and ids. A CPU seldom switches to another thread, so nearly
// all lines have the same head as one of the last few lines.
type perfHead struct {
	text     []byte
	thread   string
	pid, tid int
}

const recentHeads = 4

func newPerfParser() *perfParser {
	return &perfParser{events: make(map[string]*Event), event: new(Event), threads: make(map[string]string),
		functions: make(map[string]perfFunction)}
}

func (p *perfParser) parse(line []byte, in place, s *Sample) outcome {
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
	rest = cutPeriod(rest)
	if in.stack != nil && s.MonoNanos >= 0 && len(rest) > 1 && rest[len(rest)-1] == ':' {
		p.setEvent(s, rest[:len(rest)-1])
		return outcome{kind: sampleRecord, userOnly: p.event.UserOnly, stack: true}
	}
	event, rest, ok := cutEvent(rest)
	if !ok {
		return outcome{kind: badRecord, msg: "no event"}
	}
	s.PC, rest, ok = fields.CutHex(rest)
	if !ok {
		return outcome{kind: badRecord, msg: "no address after the event"}
	}
	var stack callstack.ID
	if n := len(rest); n > 0 && rest[n-1] != ')' {
		if rest, stack = cutStack(rest); in.cut {
			stack = 0 // the sampler was stopped, so digits at the end of the ID may be missing
		}
	}
	at, ok := p.function(rest)
	if !ok {
		return outcome{kind: badRecord, msg: "no module in parentheses at the end"}
	}
	p.setEvent(s, event)
	s.Stack = stack
	s.Symbol, s.Module = at.symbol, at.module.at(s.PC)
	return outcome{kind: sampleRecord, userOnly: p.event.UserOnly}
}

// setEvent sets the event of s.
func (p *perfParser) setEvent(s *Sample, spec []byte) {
	if string(spec) != p.event.Spec {
		p.event = p.eventOf(spec)
	}
	s.Event = p.event.Name
}

// head reads the thread's name and ids into s, if the line has them, and returns the text that follows.
func (p *perfParser) head(line []byte, s *Sample) (rest []byte) {
	for i := range p.heads {
		h := &p.heads[i]
		if n := len(h.text); n > 0 && n < len(line) && fields.IsBlank(line[n]) && bytes.Equal(line[:n], h.text) {
			s.Thread, s.PID, s.TID = h.thread, h.pid, h.tid
			return fields.TrimBlanks(line[n:])
		}
	}
	if pid, tid, after, ok := cutIDs(line); ok {
		s.PID, s.TID, rest = pid, tid, after
	} else if thread, pid, tid, after, ok := cutThread(line, cutIDs); ok {
		s.Thread, s.PID, s.TID, rest = intern(p.threads, thread), pid, tid, after
	} else if thread, pid, tid, after, ok := cutThread(line, cutTID); ok {
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

func (p *perfParser) eventOf(spec []byte) *Event {
	e := p.events[string(spec)]
	if e == nil {
		parsed := ParseEvent(string(spec))
		e = &parsed
		p.events[e.Spec] = e
	}
	return e
}

// maxFunctions is the maximum number of functions that a perfParser remembers. When the limit is reached, the
// perfParser forgets all functions. The limit matters if there are offsets after the symbols ("memcpy+0x1f"), because
// then almost every line has a different text.
const maxFunctions = 1 << 16

func (p *perfParser) function(text []byte) (perfFunction, bool) {
	at, ok := p.functions[string(text)]
	if ok {
		return at, true
	}
	sym, mod, ok := cutModule(text)
	if !ok {
		return perfFunction{}, false
	}
	at = perfFunction{parseSymbol(string(sym)), parseModule(string(mod))}
	if len(p.functions) >= maxFunctions {
		clear(p.functions)
	}
	p.functions[string(text)] = at
	return at, true
}

// stackMark is what gasm's own sampling writes between the module and the ID of a stack: "memcpy (/usr/lib/libc.so.6)
// #17".
const stackMark = " #"

// cutStack cuts the ID of a stack off the end of a line. If there is no ID, it returns the line and 0. A module's name
// may end like an ID, as in "f (/tmp/a (x) #3)", but then the line ends with a parenthesis.
func cutStack(line []byte) (rest []byte, id callstack.ID) {
	digits := len(line)
	for digits > 0 && '0' <= line[digits-1] && line[digits-1] <= '9' {
		digits--
	}
	rest, ok := bytes.CutSuffix(line[:digits], []byte(stackMark))
	n, after, number := fields.CutUint(line[digits:], math.MaxUint32)
	if !ok || !number || len(after) > 0 || n == 0 || len(rest) == 0 || rest[len(rest)-1] != ')' {
		return line, 0
	}
	return rest, callstack.ID(n)
}

// parseLost parses what follows PERF_RECORD_LOST: " lost 43" or "_SAMPLES lost 43".
func parseLost(text []byte) outcome {
	text, samples := bytes.CutPrefix(text, []byte("_SAMPLES"))
	_, digits, ok := bytes.Cut(text, []byte("lost"))
	n, after, okN := fields.CutUint(bytes.TrimLeft(digits, ": \t"), math.MaxInt32)
	if !ok || !okN || len(after) > 0 {
		return outcome{kind: badRecord, msg: "no count of lost records"}
	}
	return outcome{kind: lostRecord, lost: int64(n), again: samples}
}

// cutIDs cuts "24997/24998" and the blanks after it. An event with a PMU ("cpu_core/cycles/") has a
// slash too, but no number before it.
func cutIDs(text []byte) (pid, tid int, rest []byte, ok bool) {
	pid, rest, ok = fields.CutInt(text)
	if !ok || len(rest) == 0 || rest[0] != '/' {
		return 0, 0, text, false
	}
	// perf pads a tid to five columns.
	tid, rest, ok = fields.CutInt(rest[1:])
	if !ok || len(rest) == 0 || !fields.IsBlank(rest[0]) {
		return 0, 0, text, false
	}
	return pid, tid, fields.TrimBlanks(rest), true
}

// cutTID cuts "24998 [003]", the thread's id and the CPU, as perf prints them by default. The CPU is missing if perf
// did not record it. There is no process id, so pid is NoPID.
func cutTID(text []byte) (pid, tid int, rest []byte, ok bool) {
	tid, rest, ok = fields.CutInt(text)
	if !ok || len(rest) == 0 || !fields.IsBlank(rest[0]) {
		return 0, 0, text, false
	}
	rest = fields.TrimBlanks(rest)
	if len(rest) > 0 && rest[0] == '[' {
		if _, after, ok := fields.CutInt(rest[1:]); ok && len(after) > 1 && after[0] == ']' {
			rest = fields.TrimBlanks(after[1:])
		}
	}
	return NoPID, tid, rest, true
}

// An idCutter cuts the ids of a process and a thread off the start of a text, with the blanks after them.
type idCutter func(text []byte) (pid, tid int, rest []byte, ok bool)

// cutPeriod cuts off the number of events since the last sample, and the blanks after the number. perf may print this
// number before the event's name.
func cutPeriod(text []byte) (rest []byte) {
	if _, after, ok := fields.CutUint(text, math.MaxInt64); ok && len(after) > 0 && fields.IsBlank(after[0]) {
		return fields.TrimBlanks(after)
	}
	return text
}

// cutThread cuts off the start of a line like "C2 CompilerThre 24997/25003 ": a thread's name, its ids and the blanks
// after them. The name may contain anything, including text that looks like ids. So cutThread accepts ids only if a
// time comes after them, as in the lines of samples.
func cutThread(text []byte, cutIDs idCutter) (name []byte, pid, tid int, rest []byte, ok bool) {
	for i := 1; i < len(text); i++ {
		if !fields.IsBlank(text[i-1]) || fields.IsBlank(text[i]) {
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

// cutTime cuts "1884.749632617:" (seconds with 1 to 9 decimals) and the blanks after it, and returns
// nanoseconds.
func cutTime(text []byte) (nanos int64, rest []byte, ok bool) {
	sec, rest, ok := fields.CutUint(text, math.MaxInt64/1_000_000_000-1)
	if !ok || len(rest) == 0 || rest[0] != '.' {
		return 0, text, false
	}
	rest = rest[1:]
	frac, after, ok := fields.CutUint(rest, 999_999_999)
	decimals := len(rest) - len(after)
	if !ok || decimals > 9 || len(after) == 0 || after[0] != ':' {
		return 0, text, false
	}
	for ; decimals < 9; decimals++ {
		frac *= 10
	}
	return int64(sec)*1_000_000_000 + int64(frac), fields.TrimBlanks(after[1:]), true
}

// cutEvent cuts the event and the blanks after it. The event ends at the first colon before a blank, because an event
// may contain colons: "sched:sched_switch: ".
func cutEvent(text []byte) (name, rest []byte, ok bool) {
	for i, c := range text {
		if c == ':' && i > 0 && i+1 < len(text) && fields.IsBlank(text[i+1]) {
			return text[:i], fields.TrimBlanks(text[i+1:]), true
		}
	}
	return nil, text, false
}

// cutModule splits "symbol (module)". Both may contain blanks and parentheses. The module is normally in the balanced
// parentheses at the end. But a path may have an unbalanced parenthesis in it, as in "f (/tmp/a) b)". So if the content
// of the balanced parentheses does not look like a module, the module begins at the first " (/" or " ([".
func cutModule(text []byte) (sym, mod []byte, ok bool) {
	if len(text) == 0 || text[len(text)-1] != ')' {
		return nil, nil, false
	}
	balanced := openingParen(text)
	start := balanced
	if start < 0 || !startsModule(text, start) || !pathLike(text[start+1:]) {
		start = firstPath(text)
	}
	if start < 0 {
		start = balanced
	}
	if start < 0 || !startsModule(text, start) || start+2 == len(text) {
		return nil, nil, false
	}
	return bytes.TrimRight(text[:start], " \t"), text[start+1 : len(text)-1], true
}

// openingParen returns the index of the opening parenthesis that belongs to the closing one at the end of the text. It
// returns -1 if there is none.
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

// firstPath returns the index of the first parenthesis that may begin a module, with a path or a name in brackets after
// it: " (/" or " ([". It returns -1 if there is no such parenthesis.
func firstPath(text []byte) int {
	for i, c := range text {
		if c == '(' && startsModule(text, i) && pathLike(text[i+1:]) {
			return i
		}
	}
	return -1
}

// startsModule reports whether the parenthesis at an index may begin a module: it is at the start of the text, or a
// blank comes before it.
func startsModule(text []byte, paren int) bool { return paren == 0 || fields.IsBlank(text[paren-1]) }

func pathLike(text []byte) bool { return len(text) > 0 && (text[0] == '/' || text[0] == '[') }
