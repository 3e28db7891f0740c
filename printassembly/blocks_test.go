package printassembly

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// lineIndex returns the index that results from handling the lines one by one.
func lineIndex(log []byte) Index {
	x := newIndexer()
	for line := range bytes.Lines(log) {
		end, cut := bytes.CutSuffix(line, []byte("\n"))
		end = trimCR(end)
		x.line(end, classify(end))
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

// Blocks contain each line once, wherever they begin, and produce the same index as the lines one by one.
func TestBlocks(t *testing.T) {
	require.NotEmpty(t, captures)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range captures {
		log := readCapture(t, name)
		for len(log) < 2*blockSize {
			log = append(log, log...) // so that blobs extend over two blocks
		}
		log = log[:len(log)-rng.IntN(blockSize)]
		idx, err := readIndex(bytes.NewReader(log), int64(len(log)), name)
		require.NoError(t, err)
		require.Equal(t, lineIndex(log), *idx)
	}
}

// itemLines returns the lines from which the blocks were made, with their line ends. None of them may be idle.
func itemLines(t *testing.T, text string, blockBytes int64) (lines []string) {
	t.Helper()
	r := blockReader{log: strings.NewReader(text), size: int64(len(text)), block: blockBytes}
	next := int64(0)
	require.NoError(t, r.each(func(b *block) error {
		kept := string(b.text)
		for _, item := range b.items {
			require.Equal(t, next, item.at)
			size := item.size
			if !item.isRun() {
				require.Equal(t, text[item.at:][:size], kept[:size])
				kept = kept[size:]
				size += len(text[item.at:][size:][:min(1, len(text)-int(item.at)-size)])
			}
			lines = slices.AppendSeq(lines, strings.Lines(text[item.at:][:size]))
			next = item.at + int64(size)
		}
		require.Empty(t, kept)
		return nil
	}))
	return lines
}

// Lines of any length, in blocks in which no line may begin at all.
func TestBlockLines(t *testing.T) {
	const blockBytes = 2 * readSize
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var want []string
		for size := 0; size < 5*blockBytes; size += len(want[len(want)-1]) {
			n := rng.IntN(100)
			switch rng.IntN(500) {
			case 0:
				n = rng.IntN(3 * blockBytes)
			case 1:
				n = max(blockBytes-size%blockBytes-rng.IntN(3), 0) // to the end of the block, or almost
			}
			want = append(want, strings.Repeat([]string{" ", "x"}[rng.IntN(2)], n+2)+"\n")
		}
		if rng.IntN(2) == 0 {
			want = append(want, "cut")
		}
		got := itemLines(t, strings.Join(want, ""), blockBytes)
		if !slices.Equal(want, got) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
	}
}

// A block has the beginning of a line that is longer than maxLine. The lines after it are complete.
func TestLineTooLong(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	for _, n := range []int{maxLine - 1, maxLine, maxLine + 1, maxLine + blockSize, 3 * maxLine} {
		for _, behind := range []string{"", "\n", "\nb", "\nb\n", "\nbb\nc\n"} {
			text := "a\n" + strings.Repeat("x", n) + behind
			r := blockReader{log: strings.NewReader(text), size: int64(len(text)), block: blockSize}
			var lines []string
			require.NoError(t, r.each(func(b *block) error {
				kept := string(b.text)
				for _, item := range b.items {
					assert.Equal(t, text[item.at:][:item.size], kept[:item.size])
					lines, kept = append(lines, kept[:item.size]), kept[item.size:]
				}
				return nil
			}))
			want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			require.Len(t, lines, len(want), "%d bytes, then %q", n, behind)
			assert.GreaterOrEqual(t, len(lines[1]), min(n, maxLine))
			assert.LessOrEqual(t, len(lines[1]), 2*maxLine)
			want[1] = lines[1]
			assert.Equal(t, want, lines)
		}
	}
}

// A hole in the file, which a crash may leave, is one line of 300 MB. It must be neither held in memory nor looked at
// more than once.
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

// A file that becomes shorter while it is read causes an error, not a hang.
func TestBlocksOfShorterFile(t *testing.T) {
	for _, size := range []int{blockSize / 2, blockSize, 5 * blockSize} {
		text := strings.Repeat("x\n", size/2)
		_, err := readIndex(strings.NewReader(text), int64(size)+1, "asm.log")
		require.ErrorContains(t, err, fmt.Sprintf("reading asm.log at offset %d: unexpected EOF", size))
	}
}

// Lines of each class, and lines that almost belong to another one.
func TestClassify(t *testing.T) {
	lines := map[lineClass][]string{
		rowLine: {"", "  ", "   ", "  # {method} {0x00007fad93400ec8} &apos;dot&apos;",
			"                      ;   {poll}", "  0", "\r"},
		codeLine: {"  0x00007efcf8ece120:   call   0x00007efd102f3600",
			"  0x00007fae08ed77a0: e85b be41 | 1566 6666 | ", "  0x"},
		idleLine: {" ", " x", " total", " main data [0x0000000000000010,0x0000000000000020] = 16", " stub", "[",
			"[/MachCode]",
			"[Verified Entry Point]", "[MachCodes", "---", "----------", "===", "- - - [END] - - -", "<bc code='180' bci='1'/>",
			"</loop>",
			"<type id='680' name='void'/>", "</print_nmethod>"},
		partLine: {" total in heap  [0x00007fae08ed7610,0x00007fae08ed7a90] = 1152",
			" main code      [0x00007fae08ed77a0,0x00007fae08ed7900] = 352",
			" stub code      [0x00007fae08ed7900,0x00007fae08ed7918] = 24"},
		tagLine: {"<", "<writer thread='2504'/>", "<nmethod compile_id='3'/>", "<bcs", "<typed/>", "</loop",
			"</hotspot_log>", "<task compile_id='3'>"},
		machCodeLine: {"[MachCode]", "[MachCode]\r"},
		compiledLine: {"Compiled method (c2) 363   73 %     4       Workload::dot @ 4 (28 bytes)"},
		decodingLine: {"Decoding VtableStub vtbl[3]@12",
			"Decoding RuntimeStub - wrong_method_stub 0x… [0x…, 0x…] (1136 bytes)"},
		handlerLine: {"argument handler #0 for: static java.lang.System.registerNatives()V (fingerprint = 29, 11 bytes generated)"},
		rangedLine: {"StubRoutines::libmLog [0x…, 0x…] (631 bytes)",
			"invokehandle  233 invokehandle  [0x…, 0x…]  768 bytes"},
		textLine: {"25.0.5", "-", "--", "-XX:+UseSerialGC", "=", "==x", "Compiled method", "Decoding", "x bytes ",
			"bytes", "StubRoutines::libmLog [0x1000, 0x1300] (768 byte", "Workload"},
	}
	require.Len(t, lines, int(textLine)+1)
	for class, ofClass := range lines {
		require.NotEmpty(t, ofClass)
		for _, line := range ofClass {
			assert.Equal(t, class, classify(trimCR([]byte(line))), "%q", line)
		}
	}
}
