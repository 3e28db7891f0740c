package callstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The stacks of two trees have the same frames after they were joined.
func TestAppend(t *testing.T) {
	read := func(names ...string) *Tree {
		var text strings.Builder
		w := NewWriter(&text)
		var at ID
		for _, name := range names {
			at = w.Push(at, Frame{Kind: Native, BCI: Unknown, Line: Unknown, Name: name})
		}
		w.Push(0, Frame{Kind: Cut, BCI: Unknown, Line: Unknown})
		require.NoError(t, w.Flush())
		tree, err := Read(strings.NewReader(text.String()), "stacks.txt")
		require.NoError(t, err)
		return tree
	}
	names := func(t *Tree, id ID) (names []string) {
		for f := range t.Frames(id) {
			names = append(names, f.Kind.String()+" "+f.Name)
		}
		return names
	}
	joined := &Tree{}
	first, ok := joined.Append(read("a", "b"), 7)
	require.True(t, ok)
	second, ok := joined.Append(read("c", "b", "a"), 7)
	require.True(t, ok)
	assert.Equal(t, []string{"native b", "native a"}, names(joined, first+2))
	assert.Equal(t, []string{"cut "}, names(joined, first+3))
	assert.Equal(t, []string{"native a", "native b", "native c"}, names(joined, second+3))
	assert.Equal(t, []string{"cut "}, names(joined, second+4))
	_, ok = joined.Append(read("d"), 8)
	assert.False(t, ok)
	assert.Equal(t, 7, joined.Len())
}
