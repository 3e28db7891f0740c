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
//     others. The package uses the numbers of the bytecodes to estimate how far control has come at the instruction.
//     Leaving a loop counts as a long way, so that the instructions of a loop prefer the records in the loop.
//   - An instruction that reads or writes a field shows which method it is in, if only one of the methods between the
//     two records has a bytecode for a field at this offset. That method may also be one that is called there and has
//     no record, such as a getter. gasm reads in the JVM's memory what the bytecodes refer to
//     ([printassembly.MethodBody]).
//   - C1's code of level 3 counts what it executes, in an object of the method that is executed. Such an object shows
//     which inlined method an instruction is in, even if that method has no record.
//   - The code that sets up and removes the stack frame belongs to the compiled method itself.
//   - In C2's code, a copy of a register has the guess for the instruction that has computed the value. The comparison
//     of a class has the record of the code that is executed if the type check fails. An instruction of a barrier of G1
//     has the guess for the barrier's store.
//   - An outer frame is certain if it is in the next two records on every way that control can take, and in the last
//     two records on every way that can have led to the instruction.
//
// A certain frame was on the stack. But the innermost certain frame may have called a method that HotSpot has inlined
// without a record.
package safepoints

import (
	"iter"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Spread sets the frames of the instructions for which HotSpot has kept no record of frames, and returns true. It
// changes nothing if the method has no records at all, or has records between safepoints as well. For a method with
// records between safepoints, it returns false. insts are the instructions of the method b, sorted by address. They may
// be nonsense, because a damaged log may contain any bytes. bodies are those of the JVM, and may be nil.
func Spread(b *printassembly.Blob, insts []printassembly.Instruction,
	bodies *printassembly.Bodies) (safepointsOnly bool) {
	return spread(b, insts, nil, bodies, everyIndex(len(insts)))
}

// SpreadAt does the same as Spread, but only for the instructions with the given indices. The frames of all others are
// not changed. insts may be the outline of text, see [printassembly.CodeText.Outline].
func SpreadAt(b *printassembly.Blob, insts []printassembly.Instruction, text *printassembly.CodeText,
	bodies *printassembly.Bodies, indices []int) (safepointsOnly bool) {
	return spread(b, insts, text, bodies, slices.Values(indices))
}

// spread sets the frames of the instructions with the given indices.
func spread(b *printassembly.Blob, insts []printassembly.Instruction, text *printassembly.CodeText,
	bodies *printassembly.Bodies, at iter.Seq[int]) (safepointsOnly bool) {
	switch g := newGraph(insts, text); {
	case b.Compiler != jvmci && g.detailed():
		return false
	case g.records == 0:
	case Excerpt(insts):
		for i := range at {
			insts[i].Frames = Guessed(insts[i].Frames)
		}
	default:
		g.spread(b, bodies, at)
	}
	return true
}

func everyIndex(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

// jvmci is the Compiler of methods that a JVMCI compiler has made. Graal also keeps records at null checks and
// deoptimizations, so their number does not tell whether DebugNonSafepoints was on.
const jvmci = "jvmci"

// detailed reports whether HotSpot has kept records of frames between safepoints, too, because DebugNonSafepoints was
// on when it compiled the method. With this flag, most records are between safepoints; the result is true if more than
// a quarter of them are. Without the flag, the only records that are neither at a call nor at a poll are those of C1's
// throws.
func (g *graph) detailed() bool {
	between := 0
	for i := range g.insts {
		if g.insts[i].OwnFrames && g.insts[i].Kind != disasm.Call && (i+1 == len(g.insts) || !g.polls(i+1)) {
			between++
		}
	}
	return between > g.records/4 && !Excerpt(g.insts)
}

// spread sets the frames of those instructions that have no record.
func (g *graph) spread(b *printassembly.Blob, bodies *printassembly.Bodies, at iter.Seq[int]) {
	t := newTree(b.Name)
	g.findChains(t)
	g.findAnchors()
	g.findLoops()
	s := spreader{graph: g, pace: paceC2, profiles: newProfiles(g), ahead: g.nearest(&g.into),
		behind: g.nearest(&g.from),
		agreed: g.around(t), made: marker{graph: g, tree: t, made: map[markKey][]printassembly.Frame{}}}
	if b.Compiler == "c1" {
		s.c1, s.pace = true, paceC1
	}
	if bodies.Any() {
		s.bodies, s.witness, s.numbers = bodies, make([]int32, len(g.insts)), map[candidate]int32{}
	}
	for i := range at {
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
	ahead, behind []nearby // the next and the last anchor of each instruction
	agreed        []int32  // see around
	made          marker
	c1            bool                  // C1 has compiled the method
	bodies        *printassembly.Bodies // may be nil
	witness       []int32               // see witnessAt; nil without bodies
	numbers       map[candidate]int32   // see witnessOf
}

// frames returns the frames of an instruction without a record.
func (s *spreader) frames(i int) []printassembly.Frame {
	if s.polls(i) {
		return s.insts[i-1].Frames // at a poll, the previous instruction has the poll's record: see polls
	}
	if r := s.recordIn(i); s.out[i] && r >= 0 {
		return s.insts[r].Frames // all other instructions of a stub only prepare its call
	}
	s.need(i-1, i+1)
	if SetsUpFrame(s.insts, i) {
		return s.made.chain(s.outermost(i), s.agreed[i])
	}
	if s.followsCall(i) {
		return s.made.chain(guess{record: int32(i - 1)}, s.agreed[i])
	}
	if s.c1 || s.anchor[i] >= 0 {
		return s.made.chain(s.guess(i), s.agreed[i])
	}
	if r := s.failure(i); r >= 0 {
		return s.made.chain(guess{record: r}, s.agreed[i])
	}
	if k := s.guarded(i); k >= 0 {
		return s.like(i, k)
	}
	if d := s.definition(i); d >= 0 {
		return s.like(i, d)
	}
	return s.made.chain(s.guess(i), s.agreed[i])
}

// like returns the frames of instruction i on the assumption that it belongs to the same bytecode as the instruction
// other.
func (s *spreader) like(i, other int) []printassembly.Frame {
	if s.insts[other].OwnFrames {
		return s.made.chain(guess{record: int32(other)}, s.agreed[i])
	}
	return s.made.chain(s.guess(other), s.agreed[i])
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

// Guessed returns the frames of an instruction in an excerpt, in which only sampled instructions have records. Each
// sampled instruction has the record at the next higher address, and nothing says whether that record belongs to the
// instruction. So all frames are marked as guesses, except that the method of the outermost frame is certain.
func Guessed(record []printassembly.Frame) []printassembly.Frame {
	if len(record) == 0 {
		return nil
	}
	frames := make([]printassembly.Frame, len(record))
	for k, f := range record {
		f.Guess = printassembly.GuessedAll
		frames[k] = f
	}
	frames[len(frames)-1].Guess = printassembly.GuessedLine // the method itself
	return frames
}

// excerptMark is the beginning of a comment in gasm's copies of code. The comment stands at the start of a method if
// only the method's sampled instructions have records. Such a method is called an excerpt.
const excerptMark = "(only sampled instructions have lines"

// Excerpt reports whether only the sampled instructions of a method have records.
func Excerpt(insts []printassembly.Instruction) bool {
	return len(insts) > 0 && IsExcerpt(insts[0].Comments)
}

// IsExcerpt does the same as Excerpt. It needs only the comments at the first instruction.
func IsExcerpt(comments []string) bool {
	return slices.ContainsFunc(comments, func(c string) bool { return strings.HasPrefix(c, excerptMark) })
}
