package htmlpage

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCallWriter(t *testing.T) {
	children := map[string][]string{"all": {"a", "b"}, "a": {"c", "d"}, "c": {"e"}}
	w := NewCallWriter(2)
	kind := w.Kind("native")
	codes := map[string]int{}
	DepthFirst("all", func(n string) []string { return children[n] }, func(n string, depth int) {
		codes[n] = w.Code(n, map[string]string{"e": "libc.so.6"}[n])
		w.Node(w.Frame(codes[n], kind, 0, depth, map[string]string{"d": "p0-l1"}[n]), depth)
		switch n {
		case "c":
			w.Self(0, 0, 7, 2, 1)
			w.Rest(1, 0, 3)
		case "b":
			w.Self(0, 1, 5)
			w.Others(4)
		}
		w.Self(1) // nothing
	})
	assert.Equal(t, Calls{
		Kinds: []string{"native"}, Names: []string{"all", "a", "c", "libc.so.6", "e", "d", "b"}, Codes: []int{0, 0, 1, 0, 2,
			0, 4, 4, 5, 0, 6, 0},
		Frames: []int{0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 2, 0, 0, 2, 0, 3, 0, 0, 3, 0, 4, 0, 0, 2, 1, 5, 0, 0, 1, 0},
		Places: []string{"p0-l1"},
		Nodes:  []int{0, 0, 1, 0, 2, 0, 3, 0, 4, 2, 5, 2}, // all a c e d b
		Self:   [][]int{{2, 2, 0, 7, 2, 1, 3, 1, 1, 5}, {}}, Rest: [][]int{{}, {2, 1, 0, 3}}, Others: []int{5, 4},
	}, w.Calls)
	assert.Equal(t, kind, w.Kind("native"))
	assert.Equal(t, 4, w.Frame(codes["d"], kind, 0, 2, "p0-l1"), "the same frame")
	assert.Equal(t, 6, w.Frame(codes["d"], kind, 0, 3, "p0-l1"), "another line")
}
