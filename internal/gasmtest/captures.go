package gasmtest

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Captures are the folders of testdata/captures that have a log and, but for that of
// aarch64, its samples. Others are whole captures, see UnpackFolder.
var Captures = []string{"jdk8-full-hsdis", "jdk11-lean-hsdis", "jdk11-lean-none", "jdk17-lean-none", "jdk17-lean-none-dtrace",
	"jdk17-full-hsdis", "jdk21-arm64-lean-none", "jdk25-lean-none", "jdk25-full-hsdis"}

// The files of a committed capture.
const (
	Log     = "asm.log"
	Samples = "samples.txt"
)

// unpacked holds the files of captures that were read, by their path.
var unpacked sync.Map

// Capture gives the text of one file of a committed capture, Log or Samples. The
// bytes are shared by all tests of a package and must not be changed.
func Capture(tb testing.TB, capture, file string) []byte {
	tb.Helper()
	path := Testdata("captures", capture, file+".gz")
	if text, ok := unpacked.Load(path); ok {
		return text.([]byte)
	}
	text := Gunzip(tb, path)
	unpacked.Store(path, text)
	return text
}

// Gunzip gives the text of a file packed by gzip.
func Gunzip(tb testing.TB, path string) []byte {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return text
}

// UnpackCapture writes the samples and the log of a committed capture into a
// folder, and gives the paths of both.
func UnpackCapture(tb testing.TB, capture, dir string) (samples, log string) {
	tb.Helper()
	samples, log = filepath.Join(dir, Samples), filepath.Join(dir, Log)
	for _, path := range []string{samples, log} {
		if err := os.WriteFile(path, Capture(tb, capture, filepath.Base(path)), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return samples, log
}

// UnpackFolder writes a committed capture that 'gasm profile -o' made into a new folder, and
// gives its path.
func UnpackFolder(tb testing.TB, capture string) (dir string) {
	tb.Helper()
	dir = filepath.Join(tb.TempDir(), capture)
	files, err := filepath.Glob(Testdata("captures", capture, "*.gz"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no capture %s: %v", capture, err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".gz")
		if err := os.WriteFile(filepath.Join(dir, name), Gunzip(tb, file), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}
