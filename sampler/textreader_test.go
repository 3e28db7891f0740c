package sampler

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// slowRecords parses a text line by line, and returns its records, each as a text.
func slowRecords(text string) (records []string) {
	p := newPerfParser()
	var first, again, total int64
	lines := strings.Split(text, "\n")
	skipped := 0
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if i < skipped || line == "" {
			continue
		}
		var s Sample
		var stack []byte
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
			stack = []byte(strings.TrimSpace(lines[i+1]))
		}
		switch o := p.parse([]byte(line), place{stack: stack}, &s); o.kind {
		case sampleRecord:
			for skipped = i + 1; o.stack && skipped < len(lines) && strings.HasPrefix(lines[skipped], "\t"); skipped++ {
			}
			records = append(records, fmt.Sprintf("%+v", s))
		case badRecord:
			records = append(records, fmt.Sprintf("%+v", SyntaxError{File: "in", Line: i + 1, Msg: o.msg}))
		case lostRecord:
			if o.again {
				again += o.lost
			} else {
				first += o.lost
			}
			records = append(records, fmt.Sprintf("%+v", Lost{max(first, again) - total}))
			total = max(first, again)
		}
	}
	return records
}

// TestChunks checks that the records are returned in the text's order although chunks are parsed at the same time,
// wherever a chunk ends, and in whatever parts the text arrives. The texts are random, but the same in each run.
func TestChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	lines := strings.SplitAfter(string(capture(t)), "\n")
	for round := range 6 {
		var b strings.Builder
		for b.Len() < 6*chunkSize {
			switch rng.IntN(40) {
			case 0:
				b.WriteString("nonsense\n")
			case 1:
				fmt.Fprintf(&b, "  PERF_RECORD_LOST lost %d\n", rng.IntN(5))
			case 2:
				fmt.Fprintf(&b, "  PERF_RECORD_LOST_SAMPLES lost %d\n", rng.IntN(9))
			case 3:
				b.WriteString("# comment\n\n\r\n")
			case 4:
				if rng.IntN(20) == 0 {
					b.WriteString("1/1 1.5: cycles: 7f00 " + strings.Repeat("x", rng.IntN(3*chunkSize)) + " (/a)\n")
				}
			default:
				b.WriteString(lines[rng.IntN(len(lines))])
			}
		}
		text := b.String()
		if round%2 == 0 {
			text = strings.TrimRight(text, "\n")
		}
		var in io.Reader = strings.NewReader(text)
		if round%3 == 1 {
			in = iotest.HalfReader(in)
		}
		var got []string
		r := NewPerfReader(in, "in")
		for r.Scan() {
			switch rec := r.Record().(type) {
			case *Sample:
				got = append(got, fmt.Sprintf("%+v", *rec))
			case *Lost:
				got = append(got, fmt.Sprintf("%+v", *rec))
			case *SyntaxError:
				got = append(got, fmt.Sprintf("%+v", *rec))
			}
		}
		require.NoError(t, r.Err())
		want := slowRecords(text)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i], got[i], "record %d", i)
		}
	}
}

// TestTooLongLine checks that a line that is too long becomes a bad record, and that the text after it is read,
// wherever in a chunk the line ends.
func TestTooLongLine(t *testing.T) {
	const sample = "1/1 1.5: cycles: 7f00 f (/a)\n"
	for _, n := range []int{maxLine + 1, maxLine + chunkSize, 5*maxLine + 7} {
		for _, end := range []string{"", "\n", "\n" + sample,
			"\n\n" + strings.Repeat("x", 2*maxLine) + "\n" + sample + sample} {
			r := NewPerfReader(strings.NewReader(sample+strings.Repeat("x", n)+end), "in")
			var samples int
			var bad []string
			for r.Scan() {
				switch rec := r.Record().(type) {
				case *Sample:
					samples++
				case *SyntaxError:
					bad = append(bad, rec.Error())
				}
			}
			require.NoError(t, r.Err())
			require.Equal(t, 1+strings.Count(end, sample), samples)
			want := []string{"in:2: longer than 1 MB, which no sampler's line is"}
			if strings.Contains(end, "x") {
				want = append(want, "in:4: longer than 1 MB, which no sampler's line is")
			}
			require.Equal(t, want, bad)
		}
	}
}
