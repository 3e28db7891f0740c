package disasm

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A blob is a piece of machine code that HotSpot printed.
type blob struct {
	nmethod bool // of a compiled method; otherwise of a stub, an adapter or the interpreter
	pc      uint64
	code    []byte
}

// fixtures returns the blobs of every fixture in testdata, by the fixture's name.
func fixtures(t testing.TB) map[string][]blob {
	t.Helper()
	files, err := filepath.Glob("testdata/*.hex.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in testdata: %v", err)
	}
	all := make(map[string][]blob)
	for _, file := range files {
		blobs, err := readFixture(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".hex.gz")] = blobs
	}
	return all
}

// archOf returns the instruction set in the name of a fixture, like "jdk21-arm64-lean-none".
func archOf(fixture string) Arch {
	for part := range strings.SplitSeq(fixture, "-") {
		if arch := ArchOf(part); Supported(arch) {
			return arch
		}
	}
	return AMD64
}

// readFixture reads gzipped lines "nmethod|stub <pc> <code>", with hexadecimal numbers.
func readFixture(file string) ([]blob, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var blobs []blob
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 4<<20)
	for sc.Scan() {
		kind, rest, _ := strings.Cut(sc.Text(), " ")
		addr, digits, _ := strings.Cut(rest, " ")
		pc, err1 := strconv.ParseUint(addr, 16, 64)
		code, err2 := hex.DecodeString(digits)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%s: bad line %.40q", file, sc.Text())
		}
		blobs = append(blobs, blob{kind == "nmethod", pc, code})
	}
	return blobs, sc.Err()
}

// writeFixture is the reverse of readFixture. It writes blobs with the same bytes only once.
func writeFixture(file string, blobs []blob) error {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	seen := make(map[string]bool)
	for _, b := range blobs {
		if len(b.code) == 0 || seen[string(b.code)] {
			continue
		}
		seen[string(b.code)] = true
		kind := "stub"
		if b.nmethod {
			kind = "nmethod"
		}
		fmt.Fprintf(z, "%s %x %x\n", kind, b.pc, b.code)
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, buf.Bytes(), 0o644)
}

var (
	hexRow  = regexp.MustCompile(`^\s+0x([0-9a-f]{16}): ([0-9a-f |]+)$`)
	hexGlue = strings.NewReplacer(" ", "", "|", "")
)

// readLog extracts the machine code from a log of HotSpot. Consecutive rows become one blob. Rows of several threads
// may be interleaved, so a row that does not continue the previous one starts a new blob.
func readLog(r io.Reader) ([]blob, error) {
	var blobs []blob
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
			blobs = append(blobs, blob{nmethod: nmethod})
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

func appendRow(blobs []blob, addr, digits string) []blob {
	pc, _ := strconv.ParseUint(addr, 16, 64)
	code, _ := hex.DecodeString(digits)
	last := &blobs[len(blobs)-1]
	if last.code != nil && last.pc+uint64(len(last.code)) != pc {
		blobs = append(blobs, blob{nmethod: last.nmethod})
		last = &blobs[len(blobs)-1]
	}
	if last.code == nil {
		last.pc = pc
	}
	last.code = append(last.code, code...)
	return blobs
}
