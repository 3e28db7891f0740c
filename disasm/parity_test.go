package disasm

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	logs   = flag.String("logs", "", "measure parity on the HotSpot logs that match this `glob`, not on testdata")
	write  = flag.Bool("write", false, "with -logs: write testdata/<folder of the log>.hex.gz")
	misses = flag.Int("misses", 20, "how many differences to print")
)

// A disputed range is data between instructions which newer versions of objdump decode as instructions, but Decode
// does not.
type disputed struct {
	lo, hi uint64
	why    string
}

// disputedSince is the first version of objdump that knows APX.
const disputedSince = 242

var disputedRanges = map[string][]disputed{
	"jdk17-lean-none": {
		{0x7fae0897c138, 0x7fae0897c140, "a table of bytes, 62 61 60 66 65 64 6a 69: 62 may begin an APX instruction"},
		{0x7fae0897c168, 0x7fae0897c170, "the same"},
	},
	"jdk25-lean-none": {
		{0x7f2493b385b8, 0x7f2493b385e2, "APX instructions: HotSpot tries whether the system keeps r16 and r31"},
		{0x7f2493bc6db8, 0x7f2493bc6dc0, "a table of bytes, 62 61 60 66 65 64 6a 69"},
		{0x7f2493bc6de8, 0x7f2493bc6df0, "the same"},
	},
}

// TestParity compares every instruction with GNU objdump's. All are equal, except in disputedRanges.
func TestParity(t *testing.T) {
	sets := fixtures
	if *logs != "" {
		sets = logBlobs
	}
	for name, blobs := range sets(t) {
		if arch := archOf(name); arch != AMD64 {
			t.Run(name, func(t *testing.T) { testParity(t, name, arch, ATT, blobs) })
			continue
		}
		for syntax, label := range map[Syntax]string{ATT: "att", Intel: "intel"} {
			t.Run(name+"/"+label, func(t *testing.T) { testParity(t, name, AMD64, syntax, blobs) })
		}
	}
}

// logBlobs reads the logs of -logs instead of the fixtures.
func logBlobs(t testing.TB) map[string][]blob {
	t.Helper()
	files, err := filepath.Glob(*logs)
	if err != nil || len(files) == 0 {
		t.Fatalf("no log matches %q: %v", *logs, err)
	}
	all := make(map[string][]blob)
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
			if err := writeFixture("testdata/"+name+".hex.gz", blobs); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

func testParity(t *testing.T, name string, arch Arch, syntax Syntax, blobs []blob) {
	var ranges []disputed
	if objdumpVersion(t, arch) >= disputedSince {
		ranges = disputedRanges[name]
	}
	used := make([]bool, len(ranges))
	compared, differences := 0, 0
	for i, want := range objdump(t, arch, syntax, blobs) {
		got, err := Decode(arch, syntax, blobs[i].code, blobs[i].pc)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			compared++
			text, ok := take(&got, w)
			if ok && (text == squeeze(w.Text) || sharedSpelling(text) == sharedSpelling(w.Text)) {
				continue
			}
			at := slices.IndexFunc(ranges, func(d disputed) bool { return d.lo <= w.Addr && w.Addr < d.hi })
			if at >= 0 {
				used[at] = true
				continue
			}
			if differences++; differences <= *misses {
				off := w.Addr - blobs[i].pc
				t.Errorf("%x: % x: got %q, want %q", w.Addr, blobs[i].code[off:off+uint64(w.Len)], text, w.Text)
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
	for i, d := range ranges {
		if !used[i] {
			t.Errorf("no difference in [%x, %x): strike it from disputedRanges", d.lo, d.hi)
		}
	}
	t.Logf("%d of %d instructions differ from objdump's, %d ranges disputed", differences, compared, len(ranges))
}

// take removes the instructions that cover the bytes of want from got. It returns their text, and whether they begin
// and end where want does. Decode returns undecodable bytes one by one, objdump with their prefixes; "(bad)" stands
// for either.
func take(got *[]Inst, want Inst) (string, bool) {
	for len(*got) > 0 && (*got)[0].Addr < want.Addr {
		*got = (*got)[1:]
	}
	if len(*got) == 0 || (*got)[0].Addr != want.Addr {
		return "", false
	}
	first := (*got)[0]
	end := want.Addr
	bad := true
	for len(*got) > 0 && end < want.Addr+uint64(want.Len) {
		end += uint64((*got)[0].Len)
		bad = bad && (*got)[0].Bad
		*got = (*got)[1:]
	}
	ok := end == want.Addr+uint64(want.Len)
	if bad && want.Bad {
		return squeeze(want.Text), ok
	}
	return squeeze(first.Text), ok && first.Len == want.Len
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
