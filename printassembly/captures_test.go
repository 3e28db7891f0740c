package printassembly

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestCaptures reads all code of all captures and checks what must hold for each of them.
func TestCaptures(t *testing.T) {
	for _, name := range captures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := captureLog(t, name)
			checkIndex(t, l.Index)
			require.Greater(t, len(l.Blobs), 300)
			assert.Zero(t, l.Damaged)
			assert.False(t, l.Cut)
			noCode, gaps, bad, all := 0, 0, 0, 0
			for i := range l.Blobs {
				b := &l.Blobs[i]
				insts := code(t, l, b)
				checkCode(t, b, insts)
				checkSyntax(t, l, b, insts)
				if !b.HasCode {
					noCode++
					continue
				}
				// HotSpot leaves out the last bytes that do not fill a cell.
				var sum, missing uint64 = 0, 3
				if b.Kind.Java() || strings.HasSuffix(name, "hsdis") {
					missing = 0
				}
				for _, in := range insts {
					sum += in.Hi - in.Lo
					if b.Kind.Java() {
						all++
						if in.Bad {
							bad++
						}
					}
				}
				if sum+missing < b.Hi-b.Lo {
					gaps++
					t.Logf("%s, %s: %d bytes of %d", b.Source(), b.Name, sum, b.Hi-b.Lo)
				}
			}
			t.Logf("%d blobs, %d without code, %d with gaps; %d of %d instructions of methods undecodable",
				len(l.Blobs), noCode, gaps, bad, all)
			assert.Zero(t, gaps)
			if disasm.Supported(l.arch) {
				assert.LessOrEqual(t, bad, all/100)
			}
			if name == "jdk11-lean-none" {
				assert.Equal(t, len(l.Blobs), noCode)
			} else {
				assert.Zero(t, noCode)
			}
		})
	}
}

// checkSyntax fails if comments are on other instructions in Intel syntax.
func checkSyntax(t *testing.T, l *Log, b *Blob, att []Instruction) {
	intel, err := l.Code(b, disasm.Intel)
	require.NoError(t, err)
	require.Len(t, intel, len(att))
	for i := range att {
		require.Equal(t, att[i].Comments, intel[i].Comments, "%s: %s", b.Name, att[i].Text)
	}
}

// TestGolden compares the index, and the code of one method, with golden files.
func TestGolden(t *testing.T) {
	l := captureLog(t, "jdk25-lean-none")
	gasmtest.Golden(t, "index.golden", indexText(l.Index, 60))
	for i := range l.Blobs {
		if b := &l.Blobs[i]; b.Name == "Workload::dot" && b.OSR && b.Level == 4 {
			gasmtest.Golden(t, "dot.golden", codeText(code(t, l, b)))
			break
		}
	}
}

// indexText returns the header and n evenly spread blobs, one per line.
func indexText(x *Index, n int) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%+v\n%d blobs, %d damaged, cut %v\n", x.Header, len(x.Blobs), x.Damaged, x.Cut)
	for i := range n {
		b := &x.Blobs[i*len(x.Blobs)/n]
		fmt.Fprintf(&out, "%7d ms %5v  %x-%x  %-17s %4d %-3d %s\n", b.UptimeMillis, b.Stamped, b.Lo, b.Hi, b.Source(),
			b.ID, b.OSRBCI, b.Name)
	}
	return out.Bytes()
}

// codeText returns one instruction per line, with its comments and frames on the lines below.
func codeText(insts []Instruction) []byte {
	var out bytes.Buffer
	for _, in := range insts {
		if in.Section != "" {
			fmt.Fprintf(&out, "[%s]\n", in.Section)
		}
		fmt.Fprintf(&out, "%x  %s\n", in.Lo, in.Text)
		for _, c := range in.Comments {
			fmt.Fprintf(&out, "\t; %s\n", c)
		}
		if in.OwnFrames {
			fmt.Fprintf(&out, "\t- %v\n", in.Frames)
		}
	}
	return out.Bytes()
}
