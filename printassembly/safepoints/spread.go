// Package safepoints finds out which methods instructions belong to, where HotSpot has recorded that only at
// safepoints.
//
// A JVM without -XX:+DebugNonSafepoints keeps records of frames at calls, at polls, and in the stubs of uncommon traps.
// All other instructions have none. HotSpot itself would take the record at the next higher address, but that one is
// often in a block that control never reaches from the instruction. This package decodes the whole method, and follows
// the flow of control instead:
//
//   - A record belongs to its instruction. A conditional jump to the stub of an uncommon trap, or to a slow path such as
//     that of an allocation, has the record of the call there. So has an instruction that causes an implicit exception.
//     These instructions are the anchors.
//   - The guess for any other instruction is an anchor near it: the next one that control can reach, or the last one
//     that control has passed. Leaving a loop counts as a long way, so that a loop keeps its own records.
//   - The outer frames that the next two records on all ways ahead, and the last two on all ways behind, agree on are
//     certain.
//
// What is certain is that the frames were on the stack. The innermost of them may have called a method that HotSpot has
// inlined without a record.
package safepoints

import (
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Spread sets the frames of those instructions of a method that have none of their own. It leaves a method alone that
// has records between safepoints. The instructions are sorted by address. They may be any bytes, because a damaged log
// may have any.
func Spread(b *printassembly.Blob, insts []printassembly.Instruction) {
	switch g := newGraph(insts); {
	case g.records == 0 || g.detailed():
	case excerpt(insts):
		guessAll(insts)
	default:
		g.spread(b)
	}
}

// detailed reports whether HotSpot has kept records between safepoints, too: DebugNonSafepoints was switched on before
// it compiled the method. Records between safepoints are then most of all. Without the flag, C1's throws are the only
// ones that are neither at a call nor at a poll.
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
			in.Frames = insts[i-1].Frames // HotSpot keeps the record of a poll at the poll's address
			continue
		}
		if r := g.recordIn(i); g.out[i] && r >= 0 {
			in.Frames = insts[r].Frames // a stub is nothing but the way to its call
			continue
		}
		record, cut := g.choose(ahead[i], behind[i], b.Compiler == "c1")
		in.Frames = made.chain(record, cut, agreed[i])
	}
}

// guessAll is for a method of which only sampled instructions have records: those at the next higher address. Nothing
// says which of them belong to their instructions.
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

// Distances are in instructions. To leave a loop counts as leave of them.
const (
	leave = 1 << 12
	near  = 3
	far   = 10
)

// A nearby is an anchor and how far it is away.
type nearby struct {
	record   int32 // index of the instruction that has the record; -1 for none
	distance int32
}

// choose returns the record that is the best guess, and how many of its inner frames to leave out. It returns -1 for
// none. The distances are from measurements: they make the fewest samples wrong on programs whose JVMs had all records.
func (g *graph) choose(ahead, behind nearby, c1 bool) (record int32, cut int) {
	switch {
	case ahead.record < 0:
		return behind.record, 0
	case behind.record < 0 && ahead.distance > 1: // the method's own entry, which makes its frame and saves arguments
		return ahead.record, len(g.insts[ahead.record].Frames) - 1
	case behind.record < 0:
		return ahead.record, 0
	case ahead.distance >= leave && behind.distance < ahead.distance+leave/2:
		// The loop has no record ahead. If it has none at all, the last one before it is that of a check that was moved
		// out of it, while the next one after it is of whatever follows.
		return behind.record, 0
	case ahead.distance <= near:
		return ahead.record, 0
	}
	a, b := g.insts[ahead.record].Frames, g.insts[behind.record].Frames
	common := commonFrames(a, b)
	switch {
	case common == len(a) && common == len(b):
	case common == len(b): // the method of the last record calls the next one's
		if !c1 && ahead.distance <= far {
			return behind.record, 0
		}
	case common == len(a): // it has returned to the method of the next one
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

// commonFrames returns how many outer frames two chains have in common. In the last one of them, the chains may be at
// different bytecodes.
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

// A marker makes chains whose frames say what is guessed of them, each of them once.
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

// chain returns the frames of a record without some inner ones. agreed is the node of the tree that the records around
// the instruction agree on.
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
		switch depth := len(frames) - k; { // from the outermost frame, which is 1
		case depth > max(1, certain): // the code is that of the outermost method in any case
			frames[k].Guess = printassembly.GuessedAll
		case depth == max(1, certain):
			frames[k].Guess = printassembly.GuessedLine
		}
	}
	m.made[key] = frames
	return frames
}

// excerptMark begins a comment of gasm's copies at the start of methods of which only sampled instructions have
// records.
const excerptMark = "(only sampled instructions have lines"

// excerpt reports whether a method is such a copy.
func excerpt(insts []printassembly.Instruction) bool {
	_, ok := comment(&insts[0], excerptMark)
	return ok
}
