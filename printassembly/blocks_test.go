package printassembly

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"
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
	if err := x.addNamed(bytes.NewReader(log)); err != nil {
		panic(err)
	}
	x.idx.Cut = !x.seenEnd && (x.seenHeader || x.cut)
	return x.idx
}

// Blocks have each line once, wherever they begin, and give the same index as
// the lines one by one.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range captures {
		log := readCapture(t, name)
		for len(log) < 2*blockSize {
			log = append(log, log...) // so that blobs lie in two blocks
		}
		log = log[:len(log)-rng.IntN(blockSize)]
		want := slowIndex(log)
		path := filepath.Join(t.TempDir(), "asm.log") // which is mapped
		require.NoError(t, os.WriteFile(path, log, 0o600))
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		for _, r := range []io.ReaderAt{bytes.NewReader(log), file} {
			idx, err := readIndex(r, int64(len(log)), name)
			require.NoError(t, err)
			require.Equal(t, want, *idx)
		}
	}
}

// Lines of any length, in blocks that may have no beginning of a line at all.
func TestBlockLines(t *testing.T) {
	const blockBytes = 100 << 10
	rng := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	for round := range 50 {
		var want []string
		for size := 0; size < 5*blockBytes; size += len(want[len(want)-1]) + 1 {
			n := rng.IntN(100)
			switch rng.IntN(50) {
			case 0:
				n = rng.IntN(3 * blockBytes)
			case 1:
				n = max(blockBytes-size%blockBytes-rng.IntN(3), 0) // to the end of the block, or nearly so
			}
			want = append(want, strings.Repeat("x", n))
		}
		text := strings.Join(want, "\n")
		if rng.IntN(2) == 0 {
			text += "\n"
		}
		var got []string
		path := filepath.Join(dir, "lines")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		file, err := os.Open(path)
		require.NoError(t, err)
		br := blockReader{r: strings.NewReader(text), size: int64(len(text)), block: blockBytes}
		if round%2 == 0 {
			br.r = file // mapped
		}
		require.NoError(t, br.each(func(b *block) {
			for _, s := range b.spans {
				assert.Equal(t, text[b.at+int64(s.from):b.at+int64(s.to)], string(b.data[s.from:s.to]))
				got = append(got, strings.Split(strings.TrimSuffix(string(b.data[s.from:s.to]), "\n"), "\n")...)
			}
		}))
		require.NoError(t, file.Close())
		want = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if !slices.Equal(want, got) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
	}
}

// A hole in the file, as a crash may leave it, is one line of 300 MB, which is
// neither held in memory nor looked at again and again.
func TestHole(t *testing.T) {
	log := readCapture(t, "jdk11-lean-none")
	half := bytes.LastIndex(log[:len(log)/2], []byte("\n<writer")) + 1
	path := filepath.Join(t.TempDir(), "asm.log")
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	const hole = 300 << 20
	for at, part := range map[int][]byte{0: log[:half], half + hole: append([]byte{'\n'}, log[half:]...)} {
		_, err := file.WriteAt(part, int64(at))
		require.NoError(t, err)
	}
	want, err := readIndex(bytes.NewReader(log), int64(len(log)), path)
	require.NoError(t, err)
	got, err := readIndex(file, int64(len(log))+hole+1, path)
	require.NoError(t, err)
	require.Len(t, got.Blobs, len(want.Blobs))
	for i := range got.Blobs {
		assert.Equal(t, want.Blobs[i].Name, got.Blobs[i].Name)
		assert.Equal(t, want.Blobs[i].Lo, got.Blobs[i].Lo)
	}
	assert.False(t, got.Cut)
}

// A file that becomes shorter while it is read is an error, not a hang.
func TestBlocksOfShorterFile(t *testing.T) {
	text := strings.Repeat("x\n", blockSize/4)
	_, err := readIndex(strings.NewReader(text), int64(len(text))+1, "asm.log")
	require.ErrorContains(t, err, "reading asm.log at offset 1048576: unexpected EOF")
}

// One that does so while it is mapped is an error too, and no crash.
func TestMappedFileShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "asm.log")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("<x>\n", 3*blockSize/4)), 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	br := blockReader{r: file, size: 3 * blockSize, block: blockSize}
	err = br.each(func(b *block) {
		require.NoError(t, os.Truncate(path, 10))
		for _, s := range b.spans {
			_ = b.data[s.from]
		}
	})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// Every line that starts before rowsEnd's offset is a row, and where there is
// enough text behind it, a line that is none starts right behind the '\n' there.
func TestRowsEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 20000 {
		data := make([]byte, random.IntN(200))
		for i := range data {
			data[i] = "  \n  \n  \nx"[random.IntN(9+random.IntN(2))]
		}
		first := len(data) // the '\n' in front of the first line that is no row
		for i := range data {
			if data[i] == '\n' && i+2 < len(data) && !rowAt(data, i+1) {
				first = i
				break
			}
		}
		got := rowsEnd(data)
		require.LessOrEqual(t, got, first, "%q", data)
		if got > 0 && got < first {
			require.Less(t, len(data)-got, 34, "%q", data)
		}
		if got == first && first > 0 {
			found++
		}
	}
	t.Logf("found %d", found)
	if runtime.GOARCH == "amd64" && cpu.X86.HasAVX2 {
		assert.Greater(t, found, 1000)
	}
}
