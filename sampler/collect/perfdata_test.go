package collect

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/sampler"
)

// An attr is a short form of a perf_event_attr.
type attr struct {
	kind     uint32
	config   uint64
	userOnly bool
}

var (
	attrCycles    = attr{config: 0}
	attrDummy     = attr{kind: typeSoftware, config: softwareDummy}
	attrClock     = attr{kind: typeSoftware, config: softwareCPUClock}
	attrTaskClock = attr{kind: typeSoftware, config: softwareTaskClock}
)

// perfData returns a perf.data file that perf has begun: its header says that there are 0 bytes of
// data, and names features that perf has not written yet. The data follows nevertheless.
func perfData(data string, attrs ...attr) []byte {
	const attrSize = 144
	le := binary.LittleEndian
	b := []byte(perfMagic)
	for _, x := range []uint64{perfHeaderSize, attrSize, perfHeaderSize, uint64(len(attrs)) * attrSize,
		perfHeaderSize + uint64(len(attrs))*attrSize, 0, 0, 0, 0xf6f17ff8, 0, 0, 0} {
		b = le.AppendUint64(b, x)
	}
	for _, a := range attrs {
		var x [attrSize]byte
		le.PutUint32(x[:], a.kind)
		le.PutUint64(x[8:], a.config)
		if a.userOnly {
			le.PutUint64(x[attrFlagsAt:], flagExcludeKernel)
		}
		b = append(b, x[:]...)
	}
	return append(b, data...)
}

func writeFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenedEvents(t *testing.T) {
	check := func(content []byte, message string, want ...openedEvent) {
		t.Helper()
		got, err := openedEvents(writeFile(t, content))
		if !reflect.DeepEqual(got, want) || (err == nil) != (message == "") || err != nil &&
			!strings.Contains(err.Error(), message) {
			t.Errorf("got %+v and error %v, want %+v and %q", got, err, want, message)
		}
	}
	check(perfData("", attrCycles, attrDummy), "", openedEvent{})
	check(perfData("", attrClock, attr{kind: 4, config: 0x3c, userOnly: true}), "", openedEvent{clock: sampler.CPUClock},
		openedEvent{userOnly: true})
	check(perfData("", attrTaskClock, attr{kind: typeSoftware, config: 2}), "", openedEvent{clock: sampler.TaskClock},
		openedEvent{})
	check(perfData(""), "")

	whole := perfData("", attrCycles)
	check(whole[:50], "no header")
	check(whole[:200], "attributes")
	check(bytes.Replace(whole, []byte(perfMagic), []byte("2ELIFREP"), 1), "not a perf.data file")
	whole[16] = 8
	check(whole, "attributes of 8 bytes")
}

func TestCompletePerfData(t *testing.T) {
	const record = "\x09\x00\x00\x00\x02\x00\x10\x00.......!" // type 9, 16 bytes
	check := func(data string, wantSize uint64, message string) {
		t.Helper()
		path := writeFile(t, perfData(data, attrCycles))
		err := completePerfData(path)
		if (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%q: got error %v, want %q", data, err, message)
		}
		if err != nil {
			return
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if size := binary.LittleEndian.Uint64(got[dataSizeAt:]); size != wantSize {
			t.Errorf("%q: got %d bytes of data, want %d", data, size, wantSize)
		}
		if features := got[featuresAt:perfHeaderSize]; !bytes.Equal(features, make([]byte, 32)) {
			t.Errorf("%q: features %x", data, features)
		}
		// Completing the file a second time changes nothing.
		if err := completePerfData(path); err != nil {
			t.Error(err)
		}
		if again, _ := os.ReadFile(path); !bytes.Equal(again, got) {
			t.Errorf("%q: completed twice", data)
		}
	}
	check(record, 16, "")
	check(record+record, 32, "")
	check(record+record[:15], 16, "")
	check(record+record[:7], 16, "")
	check(record+strings.Repeat("\x00", 4096), 16, "") // a hole left by a full disk
	check(record[:15], 0, "no samples")
	check("", 0, "no samples")
}

// FuzzPerfData checks that gasm either turns any file of perf's into one whose records end within the file, or
// returns an error.
func FuzzPerfData(f *testing.F) {
	f.Add(perfData("", attrCycles))
	f.Add(perfData("\x09\x00\x00\x00\x00\x00\x10\x00abcdefgh\x09\x00", attrClock, attrDummy))
	f.Add([]byte(perfMagic))
	beyond := perfData("")
	binary.LittleEndian.PutUint64(beyond[40:], 1<<63) // the offset of the data
	f.Add(beyond)
	f.Fuzz(func(t *testing.T, content []byte) {
		path := writeFile(t, content)
		_, _ = openedEvents(path) // an error is expected, because the file may not be perf's
		if completePerfData(path) != nil {
			return
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		h, err := readPerfHeader(file)
		if err != nil {
			t.Fatal(err)
		}
		had, err := readPerfHeader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if had.dataSize == 0 && h.dataOffset+h.dataSize > uint64(len(content)) {
			t.Errorf("the data ends at %d of %d bytes", h.dataOffset+h.dataSize, len(content))
		}
	})
}
