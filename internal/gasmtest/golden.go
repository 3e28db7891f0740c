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

// Golden compares got with the file testdata/name beside the test, or writes that
// file under -update. A difference is shown line by line.
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

// GoldenGzip is Golden with a file that is packed by gzip, for long texts. zcat shows
// it.
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

// WriteGzip writes a text into a file, packed by gzip as small as it can be.
func WriteGzip(tb testing.TB, path string, text []byte) {
	tb.Helper()
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                       // a buffer takes all
	_ = z.Close()
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// maxDifferences is how many differing lines are shown.
const maxDifferences = 10

// differingLines shows the lines at which two texts differ, as a diff does, but
// without aligning them; "" for equal texts.
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
