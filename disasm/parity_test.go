package disasm

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

var (
	logs   = flag.String("logs", "", "measure parity on the HotSpot logs that match this `glob`, not on testdata")
	update = flag.Bool("update", false, "with -logs: write testdata/<folder of the log>.hex.gz")
	misses = flag.Int("misses", 20, "how many kinds of differences to print")
)

// Text equal to objdump's, at least, in percent.
const (
	wantNmethods = 99.9
	wantWhole    = 99.5
)

// TestParity compares every instruction with GNU objdump's.
func TestParity(t *testing.T) {
	sets := fixtures
	if *logs != "" {
		sets = logBlobs
	}
	for name, blobs := range sets(t) {
		if arch := archOf(name); arch != AMD64 {
			t.Run(name, func(t *testing.T) { testParity(t, arch, ATT, blobs) })
			continue
		}
		for syntax, label := range map[Syntax]string{ATT: "att", Intel: "intel"} {
			t.Run(name+"/"+label, func(t *testing.T) { testParity(t, AMD64, syntax, blobs) })
		}
	}
}

// logBlobs reads the logs of -logs in place of the fixtures.
func logBlobs(t testing.TB) map[string][]blob {
	t.Helper()
	files, _ := filepath.Glob(*logs)
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
		if *update {
			if err := writeFixture("testdata/"+name+".hex.gz", blobs); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// A tally counts instructions compared and those with equal text.
type tally struct{ all, equal int }

func (n tally) percent() float64 { return 100 * float64(n.equal) / float64(max(n.all, 1)) }

func (n tally) String() string {
	return fmt.Sprintf("%d of %d (%.3f %%)", n.equal, n.all, n.percent())
}

func testParity(t *testing.T, arch Arch, syntax Syntax, blobs []blob) {
	var nmethods, whole tally
	differences := make(map[string]int) // by the two mnemonics
	example := make(map[string]string)
	boundaries := 0
	for i, want := range objdump(t, arch, syntax, blobs) {
		got, err := Decode(arch, syntax, blobs[i].code, blobs[i].pc)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			text, ok := take(&got, w)
			if !ok {
				boundaries++
			}
			equal := ok && text == squeeze(w.Text)
			whole.add(equal)
			if blobs[i].nmethod {
				nmethods.add(equal)
			}
			if !equal {
				key := firstWord(w.Text) + " / " + firstWord(text)
				differences[key]++
				off := w.Addr - blobs[i].pc
				example[key] = fmt.Sprintf("%x: % x: want %q, got %q", w.Addr, blobs[i].code[off:off+uint64(w.Len)], squeeze(w.Text), text)
			}
		}
	}
	t.Logf("equal to objdump: nmethods %v, whole %v, boundaries lost %d", nmethods, whole, boundaries)
	logDifferences(t, differences, example)
	if nmethods.percent() < wantNmethods || whole.percent() < wantWhole || boundaries > 0 {
		t.Errorf("want at least %v %% and %v %%, and no lost boundary", wantNmethods, wantWhole)
	}
}

func (n *tally) add(equal bool) {
	n.all++
	if equal {
		n.equal++
	}
}

// take removes from got what covers the bytes of want, and returns its text, and whether it starts and ends where want
// does. Undecodable bytes come singly from Decode, and with their prefixes from objdump: "(bad)" stands for either.
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

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}

func logDifferences(t *testing.T, count map[string]int, example map[string]string) {
	keys := make([]string, 0, len(count))
	for k := range count {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return count[keys[i]] > count[keys[j]] })
	for _, k := range keys[:min(len(keys), *misses)] {
		t.Logf("%6d × %s: %s", count[k], k, example[k])
	}
}
