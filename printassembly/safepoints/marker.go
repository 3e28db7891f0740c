package safepoints

import (
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A marker copies chains of frames, and marks in the copies how much of each frame is a guess. It makes each copy only
// once.
type marker struct {
	graph *graph
	tree  *tree
	made  map[markKey][]printassembly.Frame
}

type markKey struct {
	guess
	certain int32
}

// chain returns the frames of a guess. The records around the instruction agree on some outer frames, and agreed is the
// tree's node for these frames. They are certain; all other frames are marked as guesses.
func (m *marker) chain(at guess, agreed int32) []printassembly.Frame {
	if at.record < 0 {
		return []printassembly.Frame{{Method: m.tree.method, BCI: -1, Guess: printassembly.GuessedLine}}
	}
	key := markKey{at, agreed}
	if frames, ok := m.made[key]; ok {
		return frames
	}
	frames := append([]printassembly.Frame(nil), m.graph.framesOf(at.record)[at.cut:]...)
	if at.method != "" {
		frames = slices.Insert(frames, 0, printassembly.Frame{Method: at.method, BCI: -1})
	}
	certain := int(m.tree.nodes[m.tree.meet(agreed, m.tree.chain(frames))].depth+1) / 2
	for k := range frames {
		switch depth := len(frames) - k; { // the outermost frame has depth 1
		case depth > max(1, certain): // the outermost method is always certain, because the code belongs to it
			frames[k].Guess = printassembly.GuessedAll
		case depth == max(1, certain):
			frames[k].Guess = printassembly.GuessedLine
		}
	}
	m.made[key] = frames
	return frames
}
