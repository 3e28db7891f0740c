package printassembly

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowIndex is the index as one line after the other gives it.
func slowIndex(log []byte) Index {
	x := newIndexer()
	for line := range bytes.Lines(log) {
		end, cut := bytes.CutSuffix(line, []byte("\n"))
		x.line(trimCR(end))
		x.at += int64(len(line))
		x.cut = !cut
	}
	x.finish(int64(len(log)))
	x.idx.Cut = !x.seenEnd && (x.seenHeader || x.cut)
	return x.idx
}

// Blocks have each line once, wherever they begin, and give the same index as
// the lines one by one.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range captures {
		log := readCapture(t, name)
		for len(log) < 3*blockSize {
			log = append(log, log...) // so that blobs lie in two blocks
		}
		for range 3 {
			log := log[:len(log)-rng.IntN(blockSize)]
			idx, err := readIndex(bytes.NewReader(log), int64(len(log)), name)
			require.NoError(t, err)
			require.Equal(t, slowIndex(log), *idx)
		}
	}
}

// Lines of any length, in blocks that may have no beginning of a line at all.
func TestBlockLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var want []string
		for size := 0; size < 5*blockSize; size += len(want[len(want)-1]) + 1 {
			n := rng.IntN(100)
			switch rng.IntN(50) {
			case 0:
				n = rng.IntN(3 * blockSize)
			case 1:
				n = max(blockSize-size%blockSize-rng.IntN(3), 0) // to the end of the block, or nearly so
			}
			want = append(want, strings.Repeat("x", n))
		}
		text := strings.Join(want, "\n")
		if rng.IntN(2) == 0 {
			text += "\n"
		}
		var got []string
		br := blockReader{r: strings.NewReader(text), size: int64(len(text))}
		require.NoError(t, br.each(func(b *block) {
			for _, s := range b.spans {
				assert.Equal(t, text[b.at+int64(s.from):b.at+int64(s.to)], string(b.data[s.from:s.to]))
				got = append(got, strings.Split(strings.TrimSuffix(string(b.data[s.from:s.to]), "\n"), "\n")...)
			}
		}))
		want = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if !slices.Equal(want, got) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
	}
}

// A file that becomes shorter while it is read is an error, not a hang.
func TestBlocksOfShorterFile(t *testing.T) {
	text := strings.Repeat("x\n", blockSize)
	_, err := readIndex(strings.NewReader(text), int64(len(text))+1, "asm.log")
	require.ErrorContains(t, err, "reading asm.log at offset 524288: unexpected EOF")
}
