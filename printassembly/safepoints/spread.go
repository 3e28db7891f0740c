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
//   - For any other instruction, the package makes a guess. It takes the record of an anchor that is near: either the
//     next anchor that control can reach, or the last one that control has passed. Leaving a loop counts as a long
//     way, so that the instructions of a loop prefer the records in the loop.
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

// Spread sets the frames of the instructions that have no record of their own. It changes nothing if the method has no
// records at all, or has records between safepoints as well. insts are the instructions of the method b, sorted by
// address. They may be nonsense, because a damaged log may contain any bytes.
func Spread(b *printassembly.Blob, insts []printassembly.Instruction) {
	switch g := newGraph(insts); {
	case g.records == 0 || g.detailed():
	case excerpt(insts):
		guessAll(insts)
	default:
		g.spread(b)
	}
}

// detailed reports whether HotSpot has kept records between safepoints, too, because DebugNonSafepoints was on when it
// compiled the method. With this flag, most records are between safepoints, and detailed requires more than a quarter
// of them to be there. Without the flag, the only records that are neither at a call nor at a poll are those of C1's
// throws.
func (g *graph) detailed() bool {
	between := 0
	for i := range g.insts {
		if g.insts[i].OwnFrames && g.insts[i].Kind != disasm.Call && (i+1 == len(g.insts) || !g.polls(i+1)) {
			between++
		}
	}
	return between > g.records/4 && !excerpt(g.insts)
}

// spread sets the frames of the instructions without a record.
func (g *graph) spread(b *printassembly.Blob) {
	insts := g.insts
	t := newTree(b.Name)
	g.findChains(t)
	g.findAnchors()
	g.findLoops()
	ahead, behind := g.nearest(&g.into), g.nearest(&g.from)
	agreed := g.around(t)
	made := marker{graph: g, tree: t, made: map[markKey][]printassembly.Frame{}}
	for i := range insts {
		in := &insts[i]
		if in.OwnFrames {
			continue
		}
		if g.polls(i) {
			in.Frames = insts[i-1].Frames // this is the poll's own record: see polls
			continue
		}
		if r := g.recordIn(i); g.out[i] && r >= 0 {
			in.Frames = insts[r].Frames // a stub only prepares its call
			continue
		}
		record, cut := g.choose(ahead[i], behind[i], b.Compiler == "c1")
		in.Frames = made.chain(record, cut, agreed[i])
	}
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

// Distances are in instructions. The constant leave is added to a distance for each loop that is left on the way. The
// constants near and far are limits that the method choose uses.
const (
	leave = 1 << 12
	near  = 3
	far   = 10
)

// A nearby is an anchor and its distance from an instruction.
type nearby struct {
	record   int32 // index of the instruction that has the record; none if there is no anchor
	distance int32
}

// choose returns the record that is the best guess for an instruction, and how many of its inner frames to leave out.
// It returns a record of -1 if there is no guess. ahead and behind are the nearest anchors. The limits on distances
// come from measurements of programs whose JVMs kept all records: with these limits, the fewest samples were attributed
// wrongly.
func (g *graph) choose(ahead, behind nearby, c1 bool) (record int32, cut int) {
	switch {
	case ahead.record < 0:
		return behind.record, 0
	case behind.record < 0 && ahead.distance > 1: // the method's entry, which sets up the frame and saves arguments
		return ahead.record, len(g.insts[ahead.record].Frames) - 1
	case behind.record < 0:
		return ahead.record, 0
	case ahead.distance >= leave && behind.distance < ahead.distance+leave/2:
		// There is no record ahead in the loop. If the loop has no record at all, the last record before it belongs to
		// a check that was moved out of the loop, and the next record after it belongs to whatever follows.
		return behind.record, 0
	case ahead.distance <= near:
		return ahead.record, 0
	}
	a, b := g.insts[ahead.record].Frames, g.insts[behind.record].Frames
	common := commonFrames(a, b)
	switch {
	case common == len(a) && common == len(b):
	case common == len(b): // the next record has all frames of the last one, and further inlined frames below them
		if !c1 && ahead.distance <= far {
			return behind.record, 0
		}
	case common == len(a): // the method of the last record has returned to that of the next record
		if behind.distance <= near {
			return behind.record, 0
		}
	case behind.distance > near && !c1:
		return behind.record, 0
	case common > 0:
		return ahead.record, len(a) - common
	}
	return ahead.record, 0
}

// commonFrames returns how many outer frames two chains have in common. In the innermost of these frames, the chains
// may be at different bytecodes.
func commonFrames(a, b []printassembly.Frame) (n int) {
	for n < len(a) && n < len(b) {
		fa, fb := &a[len(a)-1-n], &b[len(b)-1-n]
		if fa.Method != fb.Method {
			break
		}
		if n++; fa.BCI != fb.BCI {
			break
		}
	}
	return n
}

// A marker copies chains. In the copy, each frame says how much of it is a guess. A marker makes each copy only once.
type marker struct {
	graph *graph
	tree  *tree
	made  map[markKey][]printassembly.Frame
}

type markKey struct {
	record  int32
	cut     int
	certain int32
}

// chain returns the frames of a record, except for the innermost ones: cut says how many of these to leave out. The
// records around the instruction agree on some outer frames, and agreed is the node of these frames in the tree. They
// are certain, and all other frames are guesses.
func (m *marker) chain(record int32, cut int, agreed int32) []printassembly.Frame {
	if record < 0 {
		return []printassembly.Frame{{Method: m.tree.method, BCI: -1, Guess: printassembly.GuessedLine}}
	}
	key := markKey{record, cut, agreed}
	if frames, ok := m.made[key]; ok {
		return frames
	}
	frames := append([]printassembly.Frame(nil), m.graph.insts[record].Frames[cut:]...)
	certain := int(m.tree.nodes[m.tree.meet(agreed, m.tree.chain(frames))].depth+1) / 2
	for k := range frames {
		switch depth := len(frames) - k; { // the outermost frame has depth 1
		case depth > max(1, certain): // the code is that of the outermost method in any case
			frames[k].Guess = printassembly.GuessedAll
		case depth == max(1, certain):
			frames[k].Guess = printassembly.GuessedLine
		}
	}
	m.made[key] = frames
	return frames
}

// excerptMark is the beginning of a comment in gasm's copies of code. The comment stands at the start of a method if
// only the method's sampled instructions have records. Such a method is called an excerpt.
const excerptMark = "(only sampled instructions have lines"

// excerpt reports whether the instructions are those of an excerpt. There must be at least one.
func excerpt(insts []printassembly.Instruction) bool {
	_, ok := comment(&insts[0], excerptMark)
	return ok
}
