package gasmtest

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ulikunitz/xz"
)

// Captures are the names of folders in testdata/captures. Each has the log of a single JVM and its samples. Only the
// folder for aarch64 has no samples. Captures of several JVMs are packed differently; see UnpackFolder.
var Captures = []string{"jdk8-full-hsdis", "jdk11-lean-hsdis", "jdk11-lean-none", "jdk17-lean-none",
	"jdk17-lean-none-dtrace",
	"jdk17-full-hsdis", "jdk21-arm64-lean-none", "jdk25-lean-none", "jdk25-full-hsdis"}

// The files in each folder of Captures.
const (
	Log     = "asm.log"
	Samples = "samples.txt"
)

// unpacked holds the texts of the capture files that have been read so far, by path.
var unpacked sync.Map

// Capture returns the text of one file of a committed capture: Log or Samples. The caller must not change the bytes,
// because all tests of a package share them.
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

// Gunzip returns the text of a file packed by gzip.
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

// UnpackCapture writes the samples and the log of a committed capture into a folder, and returns the paths of the two
// files.
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

// Captures with several JVMs. Each is packed as testdata/captures/NAME.tar.xz.
const (
	Programs = "programs" // three JVMs of two programs
	Surefire = "surefire" // Maven and the forks of its tests
	// Chains is a capture of one JVM, with the call stacks that perf recorded by following frame pointers.
	Chains = "chains"
)

// UnpackFolder unpacks a whole capture into a new folder, and returns its path.
func UnpackFolder(tb testing.TB, name string) string {
	tb.Helper()
	dir := tb.TempDir()
	f, err := os.Open(Testdata("captures", name+".tar.xz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := xz.NewReader(bufio.NewReader(f))
	if err != nil {
		tb.Fatalf("%s: %v", f.Name(), err)
	}
	files := tar.NewReader(z)
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			tb.Fatalf("%s: %v", f.Name(), err)
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(files)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(head.Name)), text, 0o644)
		}
		if err != nil {
			tb.Fatalf("%s: %v", f.Name(), err)
		}
	}
}
