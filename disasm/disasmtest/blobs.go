package disasmtest

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var (
	logs  = flag.String("logs", "", "measure parity on the HotSpot logs that match this `glob`, not on testdata")
	write = flag.Bool("write", false, "with -logs: write testdata/<folder of the log>.hex.gz")
)

// A Blob is a piece of machine code that HotSpot printed.
type Blob struct {
	PC      uint64
	Code    []byte
	nmethod bool // true if the code is of a compiled method; false for a stub, an adapter or the interpreter
}

// Blobs returns the blobs of every fixture in testdata. The keys are the names of the fixtures.
func Blobs(t testing.TB) map[string][]Blob {
	t.Helper()
	files, err := filepath.Glob("testdata/*.hex.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in testdata: %v", err)
	}
	all := make(map[string][]Blob)
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".hex.gz")] = readFixture(t, file)
	}
	return all
}

// AddSeeds adds the first 256 bytes of every 16th blob in testdata as seeds of a fuzz test.
func AddSeeds(f *testing.F) {
	f.Helper()
	for _, blobs := range Blobs(f) {
		for i := 0; i < len(blobs); i += 16 {
			code := blobs[i].Code
			f.Add(code[:min(len(code), 256)], blobs[i].PC)
		}
	}
}

// readFixture reads a gzip-compressed file of lines "nmethod|stub <pc> <code>". Both numbers are hexadecimal.
func readFixture(t testing.TB, file string) []Blob {
	t.Helper()
	var blobs []Blob
	for line := range strings.Lines(string(gasmtest.Gunzip(t, file))) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		addr, digits, _ := strings.Cut(rest, " ")
		pc, err1 := strconv.ParseUint(addr, 16, 64)
		code, err2 := hex.DecodeString(digits)
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: bad line %.40q", file, line)
		}
		blobs = append(blobs, Blob{pc, code, kind == "nmethod"})
	}
	return blobs
}

// writeFixture is the reverse of readFixture. It writes blobs with the same bytes only once.
func writeFixture(t testing.TB, file string, blobs []Blob) {
	t.Helper()
	var text bytes.Buffer
	seen := make(map[string]bool)
	for _, b := range blobs {
		if len(b.Code) == 0 || seen[string(b.Code)] {
			continue
		}
		seen[string(b.Code)] = true
		kind := "stub"
		if b.nmethod {
			kind = "nmethod"
		}
		fmt.Fprintf(&text, "%s %x %x\n", kind, b.PC, b.Code)
	}
	gasmtest.WriteGzip(t, file, text.Bytes())
}

// logBlobs returns the blobs of the logs that -logs matches. The keys are the names of the logs' folders. With -write,
// logBlobs also writes the blobs as fixtures.
func logBlobs(t testing.TB) map[string][]Blob {
	t.Helper()
	files, err := filepath.Glob(*logs)
	if err != nil || len(files) == 0 {
		t.Fatalf("no log matches %q: %v", *logs, err)
	}
	all := make(map[string][]Blob)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		blobs, err := readLog(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		all[name] = blobs
		if *write {
			writeFixture(t, "testdata/"+name+".hex.gz", blobs)
		}
	}
	return all
}

var (
	hexRow  = regexp.MustCompile(`^\s+0x([0-9a-f]{16}): ([0-9a-f |]+)$`)
	hexGlue = strings.NewReplacer(" ", "", "|", "")
)

// readLog extracts the machine code from a HotSpot log. Consecutive rows become one blob. Rows of several threads may
// be interleaved, so a row that does not continue the previous one starts a new blob.
func readLog(r io.Reader) ([]Blob, error) {
	var blobs []Blob
	nmethod, inside := false, false
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		line := sc.Text()
		switch {
		case strings.HasPrefix(line, "Compiled method"):
			nmethod = true
		case line == "[MachCode]":
			inside = true
			blobs = append(blobs, Blob{nmethod: nmethod})
		case line == "[/MachCode]":
			nmethod, inside = false, false
		case inside:
			if m := hexRow.FindStringSubmatch(line); m != nil {
				blobs = appendRow(blobs, m[1], hexGlue.Replace(m[2]))
			}
		}
	}
	return blobs, sc.Err()
}

func appendRow(blobs []Blob, addr, digits string) []Blob {
	pc, _ := strconv.ParseUint(addr, 16, 64)
	code, _ := hex.DecodeString(digits)
	last := &blobs[len(blobs)-1]
	if last.Code != nil && last.PC+uint64(len(last.Code)) != pc {
		blobs = append(blobs, Blob{nmethod: last.nmethod})
		last = &blobs[len(blobs)-1]
	}
	if last.Code == nil {
		last.PC = pc
	}
	last.Code = append(last.Code, code...)
	return blobs
}
