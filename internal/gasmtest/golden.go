package gasmtest

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// update is the flag -update of all tests that have golden files.
var update = flag.Bool("update", false, "rewrite golden files instead of comparing with them")

// Golden compares a text with the golden file testdata/name in the test's folder. If they differ, the test fails and
// shows the differing lines. With -update, Golden writes the file instead.
func Golden(tb testing.TB, name string, got []byte) {
	tb.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := differingLines(string(want), string(got)); diff != "" {
		tb.Errorf("%s differs (go test -update accepts what is new):\n%s", path, diff)
	}
}

// GoldenGzip is like Golden, but the file is packed by gzip. It is for long texts.
func GoldenGzip(tb testing.TB, name string, got []byte) {
	tb.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		WriteGzip(tb, path, got)
		return
	}
	if diff := differingLines(string(Gunzip(tb, path)), string(got)); diff != "" {
		tb.Errorf("%s differs (go test -update accepts what is new):\n%s", path, diff)
	}
}

// WriteGzip writes a text to a file, packed by gzip with the best compression.
func WriteGzip(tb testing.TB, path string, text []byte) {
	tb.Helper()
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                       // a bytes.Buffer never returns an error
	_ = z.Close()
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// maxDifferences is the maximum number of differing lines that a failed test shows.
const maxDifferences = 10

// differingLines returns the lines in which two texts differ, in the form of a diff. It just compares each line with
// the line of the same number, so after an inserted line all lines differ. It returns "" for equal texts.
func differingLines(want, got string) string {
	if want == got {
		return ""
	}
	wanted, gotten := strings.Split(want, "\n"), strings.Split(got, "\n")
	line := func(lines []string, i int) string {
		if i < len(lines) {
			return fmt.Sprintf("%q", lines[i])
		}
		return "(no such line)"
	}
	var out strings.Builder
	shown := 0
	for i := range max(len(wanted), len(gotten)) {
		w, g := line(wanted, i), line(gotten, i)
		if w == g {
			continue
		}
		if shown++; shown > maxDifferences {
			out.WriteString("and more\n")
			break
		}
		fmt.Fprintf(&out, "line %d\n-%s\n+%s\n", i+1, w, g)
	}
	return out.String()
}
