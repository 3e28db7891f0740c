package callstack

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGrowing reads a file in pieces of all sizes. The stacks are the same as those of the whole file.
func TestGrowing(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file)
	id := ID(0)
	for i := range 50 {
		id = w.Push(id, Frame{Kind: Compiled, Name: fmt.Sprintf("C::m%d\n", i%7), PC: uint64(i), BCI: i, Line: Unknown})
	}
	require.NoError(t, w.Flush())
	want, err := Read(bytes.NewReader(file.Bytes()), "file")
	require.NoError(t, err)
	for size := 1; size < 200; size += 13 {
		var g Growing
		for text := file.Bytes(); len(text) > 0; {
			n, err := g.Write(text[:min(size, len(text))])
			require.NoError(t, err)
			text = text[n:]
		}
		require.Equal(t, want.Len(), g.Tree.Len())
		for i := range want.Len() {
			f, caller := want.Frame(ID(i + 1))
			got, gotCaller := g.Tree.Frame(ID(i + 1))
			assert.Equal(t, f, got)
			assert.Equal(t, caller, gotCaller)
		}
	}
	var g Growing
	_, err = g.Write([]byte("gasm stacks 1\ns 1 2 3\n"))
	assert.ErrorContains(t, err, "stacks:2:")
	_, again := g.Write([]byte("s 1 0 1\n"))
	assert.Equal(t, err, again)
}
