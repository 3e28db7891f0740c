// Package safepoints finds out which methods the instructions of compiled code belong to if HotSpot has recorded this
// only at safepoints.
//
// A JVM without -XX:+DebugNonSafepoints keeps records of frames at calls, at polls, and in the stubs of uncommon traps.
// All other instructions have no record. For these, HotSpot itself would take the record at the next higher address,
// but that record is often in a block that control never reaches from the instruction. Instead, this package decodes
// the whole method and follows the flow of control:
//
//   - A record belongs to the instruction at its address. A conditional jump to the stub of an uncommon trap, or to a
//     slow path such as that of an allocation, takes the record of the call in the stub or the slow path. So does an
//     instruction that can cause an implicit exception, because that leads to such a stub. All these instructions are
//     called anchors.
//   - For any other instruction, the package makes a guess. It looks at the next anchor that control can reach, and at
//     the last one that control has passed. Between their records, control returns from inlined methods and enters
//     others. How far it has come on this way at the instruction is estimated from the numbers of the bytecodes.
//     Leaving a loop counts as a long way, so that the instructions of a loop prefer the records in the loop.
//   - An instruction that reads or writes a field shows which method it is in, if only one of the methods on this way
//     has a bytecode for a field at this offset. Its method may also be one that is called there and has no record,
//     such as a getter. gasm reads in the JVM's memory what the bytecodes refer to ([printassembly.MethodBody]).
//   - C1's code of level 3 counts what it executes, in an object of the method that is executed. Such an object shows
//     which inlined method an instruction is in, also if that method has no record.
//   - The code that sets up and removes the stack frame belongs to the compiled method itself.
//   - In C2's code, a copy of a register has the guess for the instruction that has computed the value.
//   - An outer frame is certain if it is in the next two records on every way ahead, and in the last two on every way
//     behind.
//
// A certain frame was on the stack. But the innermost certain frame may have called a method that HotSpot has inlined
// without a record.
package safepoints

import (
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Spread sets the frames of the instructions for which HotSpot has kept no record of frames, and returns true. It
// changes nothing if the method has no records at all, or has records between safepoints as well. For a method with
// records between safepoints, it returns false. insts are the instructions of the method b, sorted by address. They may
// be nonsense, because a damaged log may contain any bytes. bodies are those of the JVM, and may be nil.
func Spread(b *printassembly.Blob, insts []printassembly.Instruction,
	bodies *printassembly.Bodies) (safepointsOnly bool) {
	switch g := newGraph(insts); {
	case b.Compiler != jvmci && g.detailed():
		return false
	case g.records == 0:
	case Excerpt(insts):
		guessAll(insts)
	default:
		g.spread(b, bodies)
	}
	return true
}

// jvmci is the Compiler of methods that a JVMCI compiler has made. Graal also keeps records at null checks and
// deoptimizations, so their number does not tell whether DebugNonSafepoints was on.
const jvmci = "jvmci"

// detailed reports whether HotSpot has kept records of frames between safepoints, too, because DebugNonSafepoints was
// on when it compiled the method. With this flag, most records are between safepoints; detailed returns true if more
// than a quarter of them are. Without the flag, the only records that are neither at a call nor at a poll are those of
// C1's throws.
func (g *graph) detailed() bool {
	between := 0
	for i := range g.insts {
		if g.insts[i].OwnFrames && g.insts[i].Kind != disasm.Call && (i+1 == len(g.insts) || !g.polls(i+1)) {
			between++
		}
	}
	return between > g.records/4 && !Excerpt(g.insts)
}

// spread sets the frames of the instructions without a record.
func (g *graph) spread(b *printassembly.Blob, bodies *printassembly.Bodies) {
	t := newTree(b.Name)
	g.findChains(t)
	g.findAnchors()
	g.findLoops()
	s := spreader{graph: g, pace: paceC2, profiles: newProfiles(g.insts), ahead: g.nearest(&g.into),
		behind: g.nearest(&g.from),
		agreed: g.around(t), made: marker{graph: g, tree: t, made: map[markKey][]printassembly.Frame{}}}
	if b.Compiler == "c1" {
		s.c1, s.pace = true, paceC1
	}
	if bodies.Any() {
		s.witnesses(bodies)
	}
	for i := range g.insts {
		if in := &g.insts[i]; !in.OwnFrames {
			in.Frames = s.frames(i)
		}
	}
}

// A spreader holds all that is needed to find the frames of a method's instructions.
type spreader struct {
	*graph
	pace          pace
	profiles      *profiles
	ahead, behind []nearby // of each instruction
	agreed        []int32  // see around
	made          marker
	c1            bool // C1 has compiled the method
	// the records of the instructions that witnesses has found; otherwise none. nil without bodies
	witness []int32
	numbers map[candidate]int32 // see witnessOf
}

// frames returns the frames of an instruction without a record.
func (s *spreader) frames(i int) []printassembly.Frame {
	if s.polls(i) {
		return s.insts[i-1].Frames // this is the poll's own record: see polls
	}
	if r := s.recordIn(i); s.out[i] && r >= 0 {
		return s.insts[r].Frames // a stub only prepares its call
	}
	if SetsUpFrame(s.insts, i) {
		return s.made.chain(s.outermost(i), s.agreed[i])
	}
	if s.followsCall(i) {
		return s.made.chain(guess{record: int32(i - 1)}, s.agreed[i])
	}
	if d := s.definition(i); d >= 0 && !s.c1 {
		if s.insts[d].OwnFrames {
			return s.made.chain(guess{record: int32(d)}, s.agreed[i])
		}
		return s.made.chain(s.guess(d), s.agreed[i])
	}
	return s.made.chain(s.guess(i), s.agreed[i])
}

// outermost returns the guess that instruction i is in the compiled method itself, and not in an inlined one.
func (s *spreader) outermost(i int) guess {
	record := s.ahead[i].record
	if s.behind[i].record >= 0 {
		record = s.behind[i].record
	}
	if record < 0 {
		return guess{record: none}
	}
	return guess{record: record, cut: len(s.insts[record].Frames) - 1}
}

// followsCall reports whether an instruction is the padding after a call that has a record. JDK 20 and newer have such
// an instruction after each call, and keep data in it. Samples that are taken when the call returns have the address of
// the padding.
func (g *graph) followsCall(i int) bool {
	if i == 0 || !pads(&g.insts[i]) {
		return false
	}
	call := &g.insts[i-1]
	return call.Kind == disasm.Call && call.OwnFrames && call.Hi == g.insts[i].Lo
}

// guessAll is for an excerpt, in which only sampled instructions have records. Each of them has the record at the next
// higher address, and nothing says whether that record belongs to the instruction. So guessAll marks all frames as
// guesses, except that the method of the outermost frame is certain.
func guessAll(insts []printassembly.Instruction) {
	for i := range insts {
		in := &insts[i]
		if len(in.Frames) == 0 {
			continue
		}
		frames := make([]printassembly.Frame, len(in.Frames))
		for k, f := range in.Frames {
			f.Guess = printassembly.GuessedAll
			frames[k] = f
		}
		frames[len(frames)-1].Guess = printassembly.GuessedLine // the method itself
		in.Frames = frames
	}
}

// excerptMark is the beginning of a comment in gasm's copies of code. The comment stands at the start of a method if
// only the method's sampled instructions have records. Such a method is called an excerpt.
const excerptMark = "(only sampled instructions have lines"

// Excerpt reports whether only the sampled instructions of a method have records.
func Excerpt(insts []printassembly.Instruction) bool {
	if len(insts) == 0 {
		return false
	}
	_, ok := comment(&insts[0], excerptMark)
	return ok
}
