package safepoints

import (
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// unsearched is the value in s.witness for an instruction before witnessAt is first called for it.
const unsearched = 0

// witnessAt returns the record of an instruction whose method is known by the field that it accesses, or none if the
// method is not known. The method is often known, because only one of the methods between two records has a bytecode
// for a field at that offset. It searches only once for each instruction, and keeps the result in s.witness. Two is
// added there, so that no result equals unsearched.
func (s *spreader) witnessAt(i int) int32 {
	if s.witness[i] == unsearched {
		s.witness[i] = s.findWitness(i) + 2
	}
	return s.witness[i] - 2
}

func (s *spreader) findWitness(i int) int32 {
	s.need(i, i)
	a, ok := accessOf(&s.insts[i])
	if !ok || s.out[i] || s.insts[i].OwnFrames || a.array && s.c1 {
		return none
	}
	w := search{spreader: s, access: a}
	switch behind := s.behind[i]; {
	case s.anchor[i] >= 0:
		w.called(s.anchor[i])
	case a.store && !a.array && a.offset < header && behind.record >= 0 && behind.distance <= initializing:
		return behind.record
	default:
		w.between(s.ahead[i].record, behind.record)
	}
	if best := w.best(i); best != nil {
		return s.witnessOf(best)
	}
	return none
}

// witnessOf returns the number that stands for a candidate's chain wherever a record is identified by its index: the
// number of instructions plus the index of the chain in s.witnessed. Candidates that differ only in their bytecodes
// share a chain.
func (s *spreader) witnessOf(c *candidate) int32 {
	shared := *c
	shared.bci = 0
	n, ok := s.numbers[shared]
	if !ok {
		n = int32(len(s.insts) + len(s.witnessed))
		s.witnessed = append(s.witnessed, s.chainOf(c))
		s.numbers[shared] = n
	}
	return n
}

// initializing is the maximum distance, in instructions, from an allocation to the code that writes the header of the
// new object. An instruction that does so gets the record of the allocation, which is in the allocation's slow path.
const initializing = 12

// guess returns the guess for an instruction without a record. The code right before a field access usually prepares
// that access, so it gets the same guess. An instruction that updates a profile is in the method of that profile.
func (s *spreader) guess(i int) guess {
	counts := s.profiles != nil && s.profiles.counter(i) != ""
	if s.witness != nil && !counts {
		if r := s.witnessAt(i); r >= 0 {
			return guess{record: r}
		}
		next := &s.ahead[i]
		for _, e := range s.from.of(int32(i)) {
			near := e.length <= 1 && (next.record < 0 || next.distance > 1 || next.anchor == e.to)
			if !near {
				continue
			}
			if r := s.witnessAt(int(e.to)); r >= 0 {
				return guess{record: r}
			}
		}
	}
	return s.profiled(i, s.choose(s.ahead[i], s.behind[i], s.pace))
}

// A candidate is a bytecode that may be the one for which the compiler made an access.
type candidate struct {
	record int32 // its Frames[cut:] are the outer frames of the bytecode, and calls the inner ones
	cut    int
	bci    int
	// the methods that are called there and have no record, outermost first; nil after the last one
	calls [maxUnrecorded]*printassembly.MethodBody
}

// A search collects the candidates for an access.
type search struct {
	*spreader
	access access
	found  []candidate
	seen   int // number of references examined
}

const (
	// maxCandidates is the maximum number of candidates for an access. An access with that many says little.
	maxCandidates = 64
	// maxSeen is the maximum number of references that are examined for an access. A few hundred are common.
	maxSeen = 1 << 12
	// maxUnrecorded is the maximum length of a chain of methods without a record that call one another.
	maxUnrecorded = 4
	// endOfMethod is a bci after all bytecodes of a method.
	endOfMethod = 1 << 16
)

// between looks for candidates on the way between two records, from the one named behind to the one named ahead: in the
// methods from which control returns, in the innermost method that both records have in common, and in the methods that
// control enters.
func (w *search) between(ahead, behind int32) {
	var to, from []printassembly.Frame
	if ahead >= 0 {
		to = w.insts[ahead].Frames
	}
	if behind >= 0 {
		from = w.insts[behind].Frames
	}
	common := 0
	if ahead >= 0 && behind >= 0 {
		same, shared := sharedFrames(to, from)
		common = same + shared
	}
	for cut := range from[:len(from)-common] {
		w.in(behind, cut, from[cut].BCI, endOfMethod)
	}
	if cut := len(to) - common; common > 0 {
		first, last := from[len(from)-common].BCI, to[cut].BCI
		if first >= last { // a loop leads back
			w.in(behind, len(from)-common, first, endOfMethod)
			first = 0
		}
		w.in(ahead, cut, first, last)
	}
	for cut := len(to) - common - 1; cut >= 0; cut-- {
		w.in(ahead, cut, 0, to[cut].BCI)
	}
}

// called looks for candidates in a method that the record's bytecode calls. HotSpot may combine the null check for such
// a call with the first access of the called method.
func (w *search) called(record int32) {
	f := &w.insts[record].Frames[0]
	w.in(record, 0, f.BCI, f.BCI)
	w.found = slices.DeleteFunc(w.found, func(c candidate) bool { return c.calls[0] == nil })
}

// The method in looks for candidates in a frame of a record, at the bytecodes from first to last.
func (w *search) in(record int32, cut, first, last int) {
	for _, body := range w.bodies.Of(w.insts[record].Frames[cut].Method) {
		if w.seen++; w.seen > maxSeen {
			return
		}
		w.body(body, candidate{record: record, cut: cut}, 0, first, last)
	}
}

// body looks for candidates in a method, and in the methods that it calls and that HotSpot may have inlined without a
// record. depth is the number of elements of at.calls.
func (w *search) body(body *printassembly.MethodBody, at candidate, depth, first, last int) {
	for i := range body.Refs {
		if w.seen++; w.seen > maxSeen || len(w.found) == maxCandidates {
			return
		}
		r := &body.Refs[i]
		switch {
		case r.BCI < first || r.BCI > last:
		case r.Kind == printassembly.CallRef && r.Callee != nil && depth < maxUnrecorded:
			inner := at
			inner.calls[depth] = r.Callee
			w.body(r.Callee, inner, depth+1, 0, endOfMethod)
		case w.access.matches(r):
			at.bci = r.BCI
			w.found = append(w.found, at)
		}
	}
}

// best returns one of the candidates for instruction i, or nil if there are none. It first guesses the method as if the
// instruction accessed nothing, and returns the first candidate in that method. If there is none in it, best returns
// the first candidate of all.
func (w *search) best(i int) *candidate {
	if len(w.found) == 0 {
		return nil
	}
	at := w.profiled(i, w.choose(w.ahead[i], w.behind[i], w.pace))
	method := at.method
	if method == "" && at.record >= 0 {
		method = w.insts[at.record].Frames[at.cut].Method
	}
	for k := range w.found {
		if c := &w.found[k]; w.methodOf(c) == method {
			return c
		}
	}
	return &w.found[0]
}

// methodOf returns the innermost method of a candidate.
func (s *spreader) methodOf(c *candidate) string {
	for _, body := range slices.Backward(c.calls[:]) {
		if body != nil {
			return body.Method
		}
	}
	return s.insts[c.record].Frames[c.cut].Method
}

// chainOf returns the frames of a candidate. The lines of methods without a record are not known.
func (s *spreader) chainOf(c *candidate) []printassembly.Frame {
	frames := make([]printassembly.Frame, 0, len(c.calls)+8)
	for _, body := range slices.Backward(c.calls[:]) {
		if body != nil {
			frames = append(frames, printassembly.Frame{Method: body.Method, BCI: -1})
		}
	}
	return append(frames, s.insts[c.record].Frames[c.cut:]...)
}

// framesOf returns the frames of a record. The parameter record is the index of the instruction that has the record, or
// a number that witnessOf has returned.
func (g *graph) framesOf(record int32) []printassembly.Frame {
	if at := int(record) - len(g.insts); at >= 0 {
		return g.witnessed[at]
	}
	return g.insts[record].Frames
}
