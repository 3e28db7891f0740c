package sampler

import (
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/native"
)

// A DTraceReader reads the text of DTrace's profile probe, as [DTraceProgram]
// makes it print. Every line that is not empty, not a heading and not one of
// DTrace's usual messages is one record.
type DTraceReader struct{ textReader }

// NewDTraceReader returns a reader of r. The name is only for messages.
func NewDTraceReader(r io.Reader, name string) *DTraceReader {
	return &DTraceReader{newTextReader(r, name, func() lineParser {
		return &dtraceParser{events: make(map[string]string), places: make(map[string]place), modules: make(map[string]string)}
	})}
}

// A dtraceParser reads lines of DTrace. [DTraceProgram] asks for the kernel too
// on Linux, not on macOS and not in JMH's dtraceasm: a text without a sample of
// it is of user space only.
type dtraceParser struct {
	events map[string]string
	// What is behind a place as DTrace spells it ("libjvm.so`_ZN2os5sleepEv");
	// nothing is allocated for one that was seen before.
	places  map[string]place
	modules map[string]string
}

// A place is what DTrace's ufunc() and func() tell of an address.
type place struct{ module, symbol string }

func (p *dtraceParser) parse(line []byte, cut bool, s *Sample) outcome {
	start := bytes.Index(line, []byte(":profile-"))
	if start < 0 {
		return parseMessage(line)
	}
	event, rest := cutWord(line[start+1:])
	pid, rest, okPID := cutInt(rest)
	pc, rest, okPC := cutHex(bytes.TrimPrefix(trimBlanks(rest), []byte("0x")))
	nanos, rest, okTime := cutUint(rest, math.MaxInt64)
	switch {
	case !okPID:
		return outcome{kind: badRecord, msg: "no process id after the probe"}
	case !okPC:
		return outcome{kind: badRecord, msg: "no address and time after the process id"}
	case !okTime || len(rest) > 0 && !isBlank(rest[0]):
		return outcome{kind: badRecord, msg: "no time in ns after the address"}
	case len(rest) == 0 && cut:
		return outcome{kind: badRecord, msg: "the line is cut in the time"}
	}
	*s = Sample{MonoNanos: int64(nanos), PID: pid, TID: NoPID, PC: pc, Event: intern(p.events, event)}
	rest = trimBlanks(rest)
	if cut { // in its name
		rest = rest[:bytes.IndexByte(rest, '`')+1]
	}
	at := p.place(rest)
	s.Module, s.Symbol = at.module, at.symbol
	if pc >= kernelStart {
		s.Module = KernelModule
	}
	return outcome{kind: sampleRecord, userOnly: pc < kernelStart}
}

// parseMessage takes a line that no profile probe printed. What DTrace says of
// drops is in the text when it was saved with its stderr.
func parseMessage(line []byte) outcome {
	if n, ok := parseDrops(line); ok {
		return outcome{kind: lostRecord, lost: n}
	}
	if isUsual(line) || bytes.Contains(line, []byte(":BEGIN")) || bytes.Contains(line, []byte(":END")) {
		return outcome{}
	}
	return outcome{kind: badRecord, msg: "no profile probe"}
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

// place takes what stands behind the time: nothing, an address, or a module and
// a backquote and then a name or an address. A name may hold anything.
func (p *dtraceParser) place(text []byte) place {
	if len(text) == 0 || isAddress(text) {
		return place{}
	}
	mod, name, _ := bytes.Cut(text, []byte("`"))
	if isAddress(name) { // too many to be remembered
		return place{module: intern(p.modules, mod)}
	}
	at, ok := p.places[string(text)]
	if !ok {
		at = place{module: intern(p.modules, mod), symbol: native.Demangle(parseSymbol(string(name)))}
		p.places[string(text)] = at
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
