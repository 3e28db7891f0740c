package sampler

import (
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/internal/fields"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A DTraceReader reads the text that DTrace prints for dtrace.Program. Every line is one record,
// except empty lines, headings and DTrace's usual messages.
type DTraceReader struct{ textReader }

// NewDTraceReader returns a reader of r. The name is for messages only.
func NewDTraceReader(r io.Reader, name string) *DTraceReader {
	return &DTraceReader{newTextReader(r, name, func() lineParser {
		return &dtraceParser{events: make(map[string]string), functions: make(map[string]dtraceFunction),
			modules: make(map[string]string)}
	})}
}

// A dtraceParser parses lines of DTrace's text. The keys of its maps are texts as DTrace prints them. A text that is in
// a map need not be parsed again.
//
// The text does not say whether DTrace was asked for samples of the kernel. dtrace.Program asks for them on Linux, but
// not on macOS, and JMH's dtraceasm never does. So if a text has no sample of the kernel, the parser assumes that
// DTrace sampled only user space.
type dtraceParser struct {
	events    map[string]string
	functions map[string]dtraceFunction // "libjvm.so`_ZN2os5sleepEv"
	modules   map[string]string
}

// A dtraceFunction is what DTrace's ufunc() and func() print for an address.
type dtraceFunction struct{ module, symbol string }

func (p *dtraceParser) parse(line []byte, in place, s *Sample) outcome {
	start := bytes.Index(line, []byte(":profile-"))
	if start < 0 {
		return parseMessage(line)
	}
	event, rest := fields.CutWord(line[start+1:])
	pid, rest, okPID := fields.CutInt(rest)
	pc, rest, okPC := fields.CutHex(bytes.TrimPrefix(fields.TrimBlanks(rest), []byte("0x")))
	nanos, rest, okTime := fields.CutUint(rest, math.MaxInt64)
	switch {
	case !okPID:
		return outcome{kind: badRecord, msg: "no process id after the probe"}
	case !okPC:
		return outcome{kind: badRecord, msg: "no address and time after the process id"}
	case !okTime || len(rest) > 0 && !fields.IsBlank(rest[0]):
		return outcome{kind: badRecord, msg: "no time in ns after the address"}
	case len(rest) == 0 && in.cut:
		return outcome{kind: badRecord, msg: "the line is cut in the time"}
	}
	*s = Sample{MonoNanos: int64(nanos), PID: pid, TID: NoPID, PC: pc, Event: intern(p.events, event)}
	rest = fields.TrimBlanks(rest)
	if in.cut { // The module is whole if a backquote follows it; the function may be cut.
		rest = rest[:bytes.IndexByte(rest, '`')+1]
	}
	at := p.function(rest)
	s.Module, s.Symbol = at.module, at.symbol
	if pc >= KernelStart {
		s.Module = KernelModule
	}
	return outcome{kind: sampleRecord, userOnly: pc < KernelStart}
}

// parseCall is never called, because a sample of DTrace has one line.
func (p *dtraceParser) parseCall([]byte, *Call) string { return "" }

// parseMessage parses a line that no profile probe printed. If DTrace's stderr was saved with the text, such a line may
// report drops.
func parseMessage(line []byte) outcome {
	if n, ok := DTraceDrops(line); ok {
		return outcome{kind: lostRecord, lost: n}
	}
	if IsDTraceHeading(line) || bytes.Contains(line, []byte(":BEGIN")) || bytes.Contains(line, []byte(":END")) {
		return outcome{}
	}
	return outcome{kind: badRecord, msg: "no profile probe"}
}

// usualLines has the beginnings of lines that say nothing about samples: the heading, DTrace's lines about how many
// probes matched, and macOS's line about system integrity protection.
var usualLines = [][]byte{
	[]byte("CPU "), []byte("dtrace: description "), []byte("dtrace: script "),
	[]byte("dtrace: system integrity protection is on"),
}

// IsDTraceHeading reports whether a line of DTrace's text says nothing about samples: see usualLines.
func IsDTraceHeading(line []byte) bool {
	return slices.ContainsFunc(usualLines, func(usual []byte) bool { return bytes.HasPrefix(line, usual) })
}

// DTraceDrops parses "dtrace: 12 drops on CPU 1". There may be a tag before the number ("dtrace: [DTRACEDROP_PRINCIPAL]
// 3 drops on CPU 0") and words after it ("7 aggregation drops"). It treats all drops as lost samples. Other drops occur
// only in programs with aggregations or speculations, and dtrace.Program has neither.
func DTraceDrops(line []byte) (n int64, ok bool) {
	text, named := bytes.CutPrefix(line, []byte("dtrace: "))
	text, tagged := bytes.CutPrefix(text, []byte("[DTRACEDROP_"))
	if tagged {
		_, text, _ = bytes.Cut(text, []byte("] "))
	}
	count, text, ok := fields.CutUint(text, math.MaxInt32)
	isDrop := bytes.HasPrefix(text, []byte(" ")) && bytes.Contains(text, []byte(" drop"))
	if !ok || !isDrop || !named && !tagged {
		return 0, false
	}
	return int64(count), true
}

// DTraceSampleTime returns the time in a sample's line, on CLOCK_MONOTONIC. ok is false for any other
// line.
func DTraceSampleTime(line []byte) (monoNanos int64, ok bool) {
	start := bytes.Index(line, []byte(":profile-"))
	if start < 0 {
		return 0, false
	}
	_, rest := fields.CutWord(line[start+1:])
	_, rest, okPID := fields.CutInt(rest)
	_, rest, okPC := fields.CutHex(bytes.TrimPrefix(fields.TrimBlanks(rest), []byte("0x")))
	nanos, _, okTime := fields.CutUint(rest, math.MaxInt64)
	return int64(nanos), okPID && okPC && okTime
}

// function parses the text after the time. There may be no text, or only an address, or a module, a backquote, and then
// a name or an address. A name may contain any characters.
func (p *dtraceParser) function(text []byte) dtraceFunction {
	if len(text) == 0 || isAddress(text) {
		return dtraceFunction{}
	}
	mod, name, _ := bytes.Cut(text, []byte("`"))
	if isAddress(name) { // not remembered, because there are too many addresses
		return dtraceFunction{module: intern(p.modules, mod)}
	}
	at, ok := p.functions[string(text)]
	if !ok {
		at = dtraceFunction{module: intern(p.modules, mod), symbol: native.Demangle(parseSymbol(string(name)))}
		p.functions[string(text)] = at
	}
	return at
}

// intern returns the bytes as a string. It allocates a new string only if the map does not have the string yet.
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
		ok = ok && fields.IsHex(c)
	}
	return ok && len(digits) > 0
}
