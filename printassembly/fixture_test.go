package printassembly

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
)

var update = flag.Bool("update", false, "rewrite golden files")

// captures are the folders of testdata/captures.
var captures = []string{"jdk8-full-hsdis", "jdk11-lean-hsdis", "jdk11-lean-none", "jdk17-lean-none", "jdk17-full-hsdis", "jdk21-arm64-lean-none",
	"jdk25-lean-none", "jdk25-full-hsdis"}

// unpacked holds the logs of captures that were read.
var unpacked sync.Map

// readCapture unpacks the log of a capture, which must not be changed.
func readCapture(tb testing.TB, name string) []byte {
	tb.Helper()
	if log, ok := unpacked.Load(name); ok {
		return log.([]byte)
	}
	f, err := os.Open(filepath.Join("../testdata/captures", name, "asm.log.gz"))
	require.NoError(tb, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(tb, err)
	log, err := io.ReadAll(z)
	require.NoError(tb, err)
	unpacked.Store(name, log)
	return log
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

// texts squeezes the blanks out of the instructions' texts, one a line.
func texts(insts []Instruction) string {
	lines := make([]string, len(insts))
	for i, in := range insts {
		lines[i] = strings.Join(strings.Fields(in.Text), " ")
	}
	return strings.Join(lines, "\n")
}

// checkIndex fails where an index breaks its promises.
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

// checkCode fails where the instructions of a blob do not ascend, overlap or
// leave the blob.
func checkCode(tb testing.TB, b *Blob, insts []Instruction) {
	tb.Helper()
	if !b.HasCode && len(insts) > 0 {
		tb.Fatalf("%s: %d instructions of a blob without code", b.Name, len(insts))
	}
	at := b.Lo
	for i := range insts {
		in := &insts[i]
		if in.Lo < at || in.Hi <= in.Lo || in.Hi > b.Hi {
			tb.Fatalf("%s [%#x, %#x): instruction %d is at [%#x, %#x) behind %#x", b.Name, b.Lo, b.Hi, i, in.Lo, in.Hi, at)
		}
		if in.OwnFrames && len(in.Frames) == 0 {
			tb.Fatalf("%s: instruction %d has empty debug info", b.Name, i)
		}
		at = in.Hi
	}
}

// golden compares with testdata/name, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update")
	if bytes.Equal(want, got) {
		return
	}
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		var w, g string
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if w != g {
			t.Fatalf("%s:%d:\n-%s\n+%s\n(go test -update accepts)", path, i+1, w, g)
		}
	}
}
