package safepoints

import (
	"math"

	"github.com/gasm-profiler/gasm/printassembly"
)

// leave is added to a distance for each loop that is left on the way. Distances are in instructions.
const leave = 1 << 12

// A nearby is an anchor and its distance from an instruction.
type nearby struct {
	record   int32 // index of the instruction that has the record; none if there is no anchor
	anchor   int32 // index of the anchor itself
	distance int32
}

// A guess is a chain of frames: those of a record without some of the inner ones and, if method is not "", an inlined
// method below them at an unknown bytecode.
type guess struct {
	record int32 // index of the instruction that has the record; none if there is no guess
	cut    int   // how many inner frames to leave out
	method string
}

// A pace says how much code the parts of the way between two anchors are expected to be. Between the records, control
// returns from methods that were inlined at the first one, goes on in the method that they have in common, and enters
// methods that are inlined at the second one. The records say at which bytecode it is in each of them, so a part is
// expected to be as long as it has bytecodes. The unit of all fields but near is a bytecode.
//
// The values come from measurements of programs whose JVMs kept all records: with these, the fewest samples were
// attributed wrongly. Values that differ by half give nearly the same results.
type pace struct {
	rest   int64 // from a record to the end of its method, of which only the beginning is known
	back   int64 // from the return of an inlined method to the end of its caller
	common int64 // added to the part that is in the method that the records have in common
	enter  int64 // added to the part in each method that is entered
	near   int32 // at this distance or less, an instruction belongs to the next anchor
}

// C1 keeps to the order of the bytecodes, and computes values where they are used, so most code is that of the next
// anchor.
var (
	paceC1 = pace{rest: 1, back: 1, common: 1, enter: 10, near: 5}
	paceC2 = pace{rest: 6, back: 3, common: 3, enter: 6, near: 3}
)

// choose returns the best guess for an instruction. ahead and behind are the nearest anchors.
func (g *graph) choose(ahead, behind nearby, p pace) guess {
	switch {
	case ahead.record < 0:
		return guess{record: behind.record}
	case behind.record < 0 && ahead.distance > 1: // the method's entry, which sets up the frame and saves arguments
		return guess{record: ahead.record, cut: len(g.insts[ahead.record].Frames) - 1}
	case behind.record < 0:
		return guess{record: ahead.record}
	case ahead.distance >= leave && behind.distance < ahead.distance+leave/2:
		// There is no record ahead in the loop. If the loop has no record at all, the last record before it belongs to
		// a check that was moved out of the loop, and the next record after it belongs to whatever follows.
		return guess{record: behind.record}
	case ahead.distance <= p.near:
		return guess{record: ahead.record}
	}
	return g.between(ahead, behind, p)
}

// between walks from the record of behind to that of ahead, and returns the frames that are expected at the
// instruction.
func (g *graph) between(ahead, behind nearby, p pace) guess {
	var few [24]part
	parts := g.way(few[:0], ahead.record, behind.record, p)
	var whole int64
	for _, x := range parts {
		whole += x.length
	}
	all := int64(ahead.distance) + int64(behind.distance) + 1
	at := whole * (2*int64(behind.distance) + 1) / 2 // where the instruction is on the way, times all
	for _, x := range parts {
		if at -= x.length * all; at <= 0 {
			return x.guess
		}
	}
	return guess{record: ahead.record}
}

// way appends the parts of the way from one record to another.
func (g *graph) way(parts []part, ahead, behind int32, p pace) []part {
	a, b := g.insts[ahead].Frames, g.insts[behind].Frames
	same, shared := sharedFrames(a, b)
	common := same + shared
	for depth := len(b); depth > common; depth-- {
		length := p.back
		if depth == len(b) {
			length = p.rest
		}
		parts = append(parts, part{guess{record: behind, cut: len(b) - depth}, length})
	}
	if common > 0 {
		from, to := bytecode(&b[len(b)-common]), bytecode(&a[len(a)-common])
		length, first := p.common+max(from, to)-min(from, to), int64(0)
		if from < to { // otherwise control goes back in a loop; more of the code belongs to what comes than to what was
			first = length / 3
		}
		parts = append(parts, part{guess{record: behind, cut: len(b) - common}, first},
			part{guess{record: ahead, cut: len(a) - common}, length - first})
	}
	for depth := common + 1; depth <= len(a); depth++ {
		parts = append(parts, part{guess{record: ahead, cut: len(a) - depth}, p.enter + bytecode(&a[len(a)-depth])})
	}
	return parts
}

// A part is a part of the way between two records, with all frames but the innermost ones of one of them.
type part struct {
	guess
	length int64 // in bytecodes
}

// bytecode returns the number of a frame's bytecode, and 0 for the entry of a method, whose number is -1.
func bytecode(f *printassembly.Frame) int64 { return int64(max(0, min(f.BCI, math.MaxUint16))) }

// sharedFrames returns how many outer frames two chains have in common. They are the same up to the bytecode in the
// first frames. If the next frame is of the same method at another bytecode, shared is 1.
func sharedFrames(a, b []printassembly.Frame) (same, shared int) {
	for same < len(a) && same < len(b) {
		fa, fb := &a[len(a)-1-same], &b[len(b)-1-same]
		if fa.Method != fb.Method {
			break
		}
		if fa.BCI != fb.BCI {
			return same, 1
		}
		same++
	}
	return same, 0
}
