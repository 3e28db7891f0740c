package sampler

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/native"
)

// A DTraceReader reads the text of DTrace's profile probe, as [DTraceProgram]
// makes it print. Every line that is not empty, not a heading and not one of
// DTrace's usual messages is one record.
type DTraceReader struct {
	name string
	in   *lineScanner
	err  error
	saw  bool // a sample
	kern bool // one of the kernel

	record any
	sample Sample
	lost   Lost
	bad    SyntaxError

	events map[string]string
	// What is behind a place as DTrace spells it ("libjvm.so`_ZN2os5sleepEv");
	// nothing is allocated for one that was seen before.
	places  map[string]place
	modules map[string]string
}

// A place is what DTrace's ufunc() and func() tell of an address.
type place struct{ module, symbol string }

// NewDTraceReader returns a reader of r. The name is only for messages.
func NewDTraceReader(r io.Reader, name string) *DTraceReader {
	return &DTraceReader{
		name:    name,
		in:      newLineScanner(r),
		events:  make(map[string]string),
		places:  make(map[string]place),
		modules: make(map[string]string),
	}
}

// Scan reads the next record. It returns false at EOF and on an I/O error.
func (r *DTraceReader) Scan() bool {
	for r.in.scan() {
		if line := bytes.TrimSpace(r.in.text); len(line) > 0 && r.parse(line) {
			return true
		}
	}
	if r.in.err != nil {
		r.err = fmt.Errorf("%s:%d: %w", r.name, r.in.line+1, r.in.err)
	}
	r.record = nil
	return false
}

// Record returns what Scan read: a *Sample, *Lost or *SyntaxError. It belongs to
// the reader and is valid until the next Scan; its strings stay valid.
func (r *DTraceReader) Record() any { return r.record }

// Err returns the I/O error that ended the reading, nil after plain EOF.
func (r *DTraceReader) Err() error { return r.err }

// UserOnly tells whether no sample so far is of the kernel. DTraceProgram asks
// for the kernel too on Linux, not on macOS and not in JMH's dtraceasm.
func (r *DTraceReader) UserOnly() bool { return r.saw && !r.kern }

// parse makes the record of a line that has neither blanks around it nor is
// empty. It is false for a line that tells nothing.
func (r *DTraceReader) parse(line []byte) bool {
	start := bytes.Index(line, []byte(":profile-"))
	if start < 0 {
		return r.parseMessage(line)
	}
	event, rest := cutWord(line[start+1:])
	pid, rest, okPID := cutInt(rest)
	pc, rest, okPC := cutHex(bytes.TrimPrefix(trimBlanks(rest), []byte("0x")))
	nanos, rest, okTime := cutUint(rest, math.MaxInt64)
	switch {
	case !okPID:
		return r.fail("no process id after the probe")
	case !okPC:
		return r.fail("no address and time after the process id")
	case !okTime || len(rest) > 0 && !isBlank(rest[0]):
		return r.fail("no time in ns after the address")
	case len(rest) == 0 && r.in.cutWord():
		return r.fail("the line is cut in the time")
	}
	s := &r.sample
	*s = Sample{MonoNanos: int64(nanos), PID: pid, TID: NoPID, PC: pc, Event: intern(r.events, event)}
	at := r.place(r.whole(trimBlanks(rest)))
	s.Module, s.Symbol = at.module, at.symbol
	if pc >= kernelStart {
		s.Module, r.kern = KernelModule, true
	}
	r.saw = true
	r.record = s
	return true
}

// parseMessage takes a line that no profile probe printed. What DTrace says of
// drops is in the text when it was saved with its stderr.
func (r *DTraceReader) parseMessage(line []byte) bool {
	if n, ok := parseDrops(line); ok {
		r.lost.Count = n
		r.record = &r.lost
		return true
	}
	if isUsual(line) {
		return false
	}
	if bytes.Contains(line, []byte(":BEGIN")) || bytes.Contains(line, []byte(":END")) {
		return false
	}
	return r.fail("no profile probe")
}

// usualLines start lines that say nothing about samples: the heading, how many
// probes there are, and that macOS protects its own programs.
var usualLines = [][]byte{
	[]byte("CPU "), []byte("dtrace: description "), []byte("dtrace: script "),
	[]byte("dtrace: system integrity protection is on"),
}

func isUsual(line []byte) bool {
	return slices.ContainsFunc(usualLines, func(usual []byte) bool { return bytes.HasPrefix(line, usual) })
}

// parseDrops reads "dtrace: 12 drops on CPU 1", with or without a tag before the
// number or words before "drops". Drops of other things than records of probes,
// which a program without aggregations and speculations does not have, count as
// well: better one too many.
func parseDrops(line []byte) (n int64, ok bool) {
	text, named := bytes.CutPrefix(line, []byte("dtrace: "))
	text, tagged := bytes.CutPrefix(text, []byte("[DTRACEDROP_"))
	if tagged {
		_, text, _ = bytes.Cut(text, []byte("] "))
	}
	count, text, ok := cutUint(text, math.MaxInt32)
	isDrop := bytes.HasPrefix(text, []byte(" ")) && bytes.Contains(text, []byte(" drop"))
	if !ok || !isDrop || !named && !tagged {
		return 0, false
	}
	return int64(count), true
}

func (r *DTraceReader) fail(msg string) bool {
	r.bad = SyntaxError{File: r.name, Line: r.in.line, Msg: msg}
	r.record = &r.bad
	return true
}

// whole leaves out the name that a cut line ends in.
func (r *DTraceReader) whole(text []byte) []byte {
	if !r.in.cutWord() {
		return text
	}
	return text[:bytes.IndexByte(text, '`')+1]
}

// place takes what stands behind the time: nothing, an address, or a module and
// a backquote and then a name or an address. A name may hold anything.
func (r *DTraceReader) place(text []byte) place {
	if len(text) == 0 || isAddress(text) {
		return place{}
	}
	mod, name, _ := bytes.Cut(text, []byte("`"))
	if isAddress(name) { // too many to be remembered
		return place{module: intern(r.modules, mod)}
	}
	at, ok := r.places[string(text)]
	if !ok {
		at = place{module: intern(r.modules, mod), symbol: native.Demangle(parseSymbol(string(name)))}
		r.places[string(text)] = at
	}
	return at
}

// intern gives the string of some bytes, the same one for the same bytes.
func intern(known map[string]string, text []byte) string {
	s, ok := known[string(text)]
	if !ok {
		s = string(text)
		known[s] = s
	}
	return s
}

func isAddress(text []byte) bool {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	for _, c := range digits {
		ok = ok && isHex(c)
	}
	return ok && len(digits) > 0
}

// cutWord cuts what stands before the next blank, and the blanks after it.
func cutWord(text []byte) (word, rest []byte) {
	for i, c := range text {
		if isBlank(c) {
			return text[:i], trimBlanks(text[i:])
		}
	}
	return text, nil
}
