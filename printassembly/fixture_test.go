package printassembly

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// captures are the directories of testdata/captures.
var captures = []string{"jdk8-full-hsdis", "jdk11-lean-hsdis", "jdk11-lean-none", "jdk17-lean-none", "jdk17-full-hsdis",
	"jdk21-arm64-lean-none",
	"jdk25-lean-none", "jdk25-full-hsdis"}

// readCapture returns the unpacked log of a capture. The bytes are shared and must not be changed.
func readCapture(tb testing.TB, name string) []byte {
	tb.Helper()
	return gasmtest.Capture(tb, name, gasmtest.Log)
}

func captureLog(tb testing.TB, name string) *Log {
	tb.Helper()
	log := readCapture(tb, name)
	l, err := NewLog(bytes.NewReader(log), int64(len(log)), name)
	require.NoError(tb, err)
	return l
}

// newLog indexes a log that is given as text.
func newLog(tb testing.TB, text string) *Log {
	tb.Helper()
	l, err := NewLog(strings.NewReader(text), int64(len(text)), "test.log")
	require.NoError(tb, err)
	return l
}

func code(tb testing.TB, l *Log, b *Blob) []Instruction {
	tb.Helper()
	insts, err := l.Code(b, disasm.ATT)
	require.NoError(tb, err)
	return insts
}

// texts returns the instructions' texts, one per line, with runs of blanks replaced by one blank.
func texts(insts []Instruction) string {
	lines := make([]string, len(insts))
	for i, in := range insts {
		lines[i] = strings.Join(strings.Fields(in.Text), " ")
	}
	return strings.Join(lines, "\n")
}

// checkIndex fails if an index does not have the documented properties.
func checkIndex(tb testing.TB, x *Index) {
	tb.Helper()
	for i := range x.Blobs {
		b := &x.Blobs[i]
		if b.Lo >= b.Hi || b.offset < 0 || b.offset >= b.end {
			tb.Fatalf("blob %d: %+v", i, *b)
		}
		if b.installed > b.offset || i > 0 && x.Blobs[i-1].installed >= b.installed {
			tb.Fatalf("blobs %d and %d are not in the log's order", i-1, i)
		}
	}
}

// checkCode fails if the instructions of a blob are not sorted, overlap, or leave the blob.
func checkCode(tb testing.TB, b *Blob, insts []Instruction) {
	tb.Helper()
	if !b.HasCode && len(insts) > 0 {
		tb.Fatalf("%s: %d instructions of a blob without code", b.Name, len(insts))
	}
	at := b.Lo
	for i := range insts {
		in := &insts[i]
		if in.Lo < at || in.Hi <= in.Lo || in.Hi > b.Hi {
			tb.Fatalf("%s [%#x, %#x): instruction %d is at [%#x, %#x) after %#x", b.Name, b.Lo, b.Hi, i, in.Lo, in.Hi,
				at)
		}
		if in.OwnFrames && len(in.Frames) == 0 {
			tb.Fatalf("%s: instruction %d has empty debug info", b.Name, i)
		}
		at = in.Hi
	}
}
