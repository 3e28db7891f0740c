package safepoints

import (
	"math"

	"github.com/gasm-profiler/gasm/printassembly"
)

// leave is added to the distance between two instructions for each loop that control leaves on the way. So an
// instruction in a loop is nearer to all others in the loop than to those outside. Distances are in instructions.
const leave = 1 << 12

// A nearby is an anchor, which is an instruction whose frames are known (see the package comment), and its distance
// from another instruction.
type nearby struct {
	record   int32 // index of the instruction that has the record; none if there is no anchor
	anchor   int32 // index of the anchor itself
	distance int32
}

// A guess is a guessed chain of frames: the frames of a record, except for some of the innermost ones. If method is not
// "", the chain has one more frame, the innermost: this inlined method, at an unknown bytecode.
type guess struct {
	record int32 // index of the instruction that has the record; none if there is no guess
	cut    int   // how many of the record's innermost frames to leave out
	method string
}

// A pace says how much code is expected for each part of the way between two records. On this way, control returns from
// the methods that were inlined at the first record, goes on in the method that both records have in common, and enters
// the methods that are inlined at the second record. A record has the number of a bytecode in each of its methods. So
// for a method that control goes on in or enters, a part is as long as the number of bytecodes that were passed, plus a
// constant. For a method that control returns from, that number is unknown, and the part is a constant. The unit of all
// fields except near is a bytecode.
//
// The values come from measurements of programs whose JVMs kept all records. With these values, the fewest samples were
// attributed to the wrong method. Values that differ by half have nearly the same results.
type pace struct {
	rest   int64 // from a record to the end of its method, which is at an unknown bytecode
	back   int64 // from the return of an inlined method to the end of its caller
	common int64 // added to the part that is in the method that the records have in common
	enter  int64 // added to the part in each method that is entered
	near   int32 // an instruction at this distance from the next anchor, or nearer, belongs to that anchor
}

// C1 generates code in the order of the bytecodes, and computes a value right before the code that uses it. So most of
// the code between two anchors, which are instructions whose frames are known, belongs to the second one.
var (
	paceC1 = pace{rest: 1, back: 1, common: 1, enter: 10, near: 5}
	paceC2 = pace{rest: 6, back: 3, common: 3, enter: 6, near: 3}
)

// choose returns the best guess for an instruction. The parameter ahead is the next anchor that control reaches after
// the instruction. The parameter behind is the last anchor that control has passed before the instruction.
func (g *graph) choose(ahead, behind nearby, p pace) guess {
	switch {
	case ahead.record < 0:
		return guess{record: behind.record}
	case behind.record < 0 && ahead.distance > 1: // in the method's entry, which sets up the frame and saves arguments
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

// between estimates how far control has come at an instruction that lies between two anchors. It divides the way from
// the first anchor (behind) to the second one (ahead) into parts, and returns the guess for the part that the
// instruction is in.
func (g *graph) between(ahead, behind nearby, p pace) guess {
	var few [24]part
	parts := g.way(few[:0], ahead.record, behind.record, p)
	var whole int64
	for _, x := range parts {
		whole += x.length
	}
	all := int64(ahead.distance) + int64(behind.distance) + 1
	at := whole * (2*int64(behind.distance) + 1) / 2 // position on the way in bytecodes, times all
	for _, x := range parts {
		if at -= x.length * all; at <= 0 {
			return x.guess
		}
	}
	return guess{record: ahead.record}
}

// way appends the parts of the way between two records to the list parts, in order. Control goes from the first record,
// the parameter behind, to the second one, the parameter ahead.
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
		if from < to { // otherwise control goes back in a loop, and most of the code belongs to the record ahead
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

// A part is a section of the way from one record to the next. An instruction in it has the frames of one of these two
// records, except some of the innermost frames.
type part struct {
	guess
	length int64 // in bytecodes
}

// bytecode returns the number of a frame's bytecode, and 0 for the entry of a method, whose number is -1.
func bytecode(f *printassembly.Frame) int64 { return int64(max(0, min(f.BCI, math.MaxUint16))) }

// sharedFrames compares two chains from the outermost frame inwards. The result same is the number of frames that are
// equal. shared is 1 if the next frames have the same method but different bytecodes, and otherwise 0.
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
