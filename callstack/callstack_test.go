package callstack

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/lines"
)

func TestWriteRead(t *testing.T) {
	stacks := [][]Frame{
		{{Kind: Native, PC: 0x7f3c5a09caa3, Module: "libc.so.6", Name: "clone3", BCI: Unknown, Line: Unknown},
			{Kind: Compiled, PC: 0x7f00, CompileID: 138, BCI: 17, Line: 42, Name: "Foo::bar"}},
		{{Kind: Native, PC: 0x7f3c5a09caa3, Module: "libc.so.6", Name: "clone3", BCI: Unknown, Line: Unknown},
			{Kind: Interpreted, BCI: 0, Line: Unknown, Name: "Foo::\"\n\u202e\xff"}},
		{{Kind: Chain, BCI: Unknown, Line: Unknown}, {Kind: Code, PC: 0x7f00, BCI: Unknown, Line: Unknown}},
		{{Kind: Cut, BCI: Unknown, Line: Unknown}, {Kind: Inlined, PC: 0x7f00, CompileID: 138, BCI: 1, Line: 2, Name: ""}},
	}
	var text bytes.Buffer
	w := NewWriter(&text)
	var ids []ID
	for range 2 { // the second time nothing is new
		ids = ids[:0]
		for _, frames := range stacks {
			id := ID(0)
			for _, f := range frames {
				id = w.Push(id, f)
			}
			ids = append(ids, id)
		}
	}
	require.NoError(t, w.Flush())
	assert.Equal(t, []ID{2, 3, 5, 7}, ids)
	tree, err := Read(bytes.NewReader(text.Bytes()), "stacks.txt")
	require.NoError(t, err, text.String())
	assert.Equal(t, 7, tree.Len())
	for i, id := range ids {
		var got []Frame
		for f := range tree.Frames(id) {
			got = append([]Frame{*f}, got...)
		}
		assert.Equal(t, stacks[i], got)
	}
	f, _ := tree.Frame(8)
	assert.Nil(t, f)
	f, _ = tree.Frame(0)
	assert.Nil(t, f)

	cut := text.Bytes()[:text.Len()-1]
	tree, err = Read(bytes.NewReader(cut), "stacks.txt")
	require.NoError(t, err, "a killed gasm has not written the last line to its end")
	assert.Equal(t, 6, tree.Len())
}

// TestPush checks that a tree can grow, whether it was read or is new.
func TestPush(t *testing.T) {
	a, b := Frame{Kind: Native, Name: "a"}, Frame{Kind: Code, PC: 7}
	read, err := Read(strings.NewReader(head+"f 1 cut - - - - \"\" \"\"\ns 1 0 1\n"), "stacks.txt")
	require.NoError(t, err)
	for offset, tree := range []*Tree{{}, read} {
		offset := ID(offset)
		for range 2 { // the second time nothing is new
			assert.Equal(t, offset+1, tree.Push(0, a))
			assert.Equal(t, offset+2, tree.Push(offset+1, b))
			assert.Equal(t, offset+3, tree.Push(0, b))
			assert.Equal(t, offset+4, tree.Push(offset+3, b))
		}
		assert.EqualValues(t, offset+4, tree.Len())
		f, caller := tree.Frame(offset + 2)
		assert.Equal(t, b, *f)
		assert.Equal(t, offset+1, caller)
		assert.Equal(t, NoRoom, tree.Push(NoRoom, a))
	}
}

func TestReadBadLines(t *testing.T) {
	const frame = "f 1 native 7f - - - \"\" \"\"\n"
	for _, bad := range []string{"", "x", "s 1 0 1", frame + "s 2 0 1", frame + "s 1 1 1", frame + "s 1 0 2",
		frame + "s 1 0 0", frame + "s 1 0", frame + "s 1 0 -1",
		"f 2 native 7f - - - \"\" \"\"", "f 1 other 7f - - - \"\" \"\"", "f 1 native 7x - - - \"\" \"\"",
		"f 1 native 7f - - - \"\"", "f 1 native 7f - - -1 \"\" \"\"", "f 1 native 7f - - - \"\" \"\" x"} {
		_, err := Read(strings.NewReader(head+bad+"\n"), "stacks.txt")
		var syntax *lines.SyntaxError
		assert.True(t, errors.As(err, &syntax), bad)
	}
	_, err := Read(strings.NewReader("gasm stacks 2\n"), "stacks.txt")
	assert.ErrorContains(t, err, "stacks.txt:1: not the first line of a file with stacks of this version of gasm")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(head + "f 1 native 7f3c5a09caa3 - - - \"libc.so.6\" \"clone3\"\ns 1 0 1\nf 2 compiled 7f3c44d0a1f4 138 17 42 \"\" \"Foo::bar\"\ns 2 1 2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, _ := Read(bytes.NewReader(text), "stacks.txt")
		for id := range tree.Len() { // nothing that Read accepts has an endless stack, and a Writer can write it again
			w := NewWriter(&bytes.Buffer{})
			var frames []Frame
			for f := range tree.Frames(ID(id + 1)) {
				frames = append(frames, *f)
			}
			require.LessOrEqual(t, len(frames), tree.Len())
			for i := range frames {
				w.Push(ID(i), frames[len(frames)-1-i])
			}
		}
	})
}
