package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The reasons why perfasm counts a sample for another place than gasm. testdata/perfasm/README.md describes them.
// explainCode and explainNative check which of them applies.
const (
	dueToFirstAlone = "first instruction alone"
	dueToHead       = "head not read"
	dueToNotPrinted = "not printed"
	dueToLastAlone  = "last address alone"
	dueToMerging    = "merged"
	dueToRangeEnd   = "end of a function's range"
	dueToNesting    = "nested ranges"
)

// TestPerfasm checks that JMH's perfasm and gasm count each sample of the same files for the same place, except for
// known reasons that lie in perfasm.
func TestPerfasm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		capture string
		agreed  int            // samples
		code    map[string]int // samples in the code cache that perfasm counts for another place, by cause
		native  map[string]int // the same for samples outside of the code cache
	}{
		{
			"jdk8-full-hsdis", 3541,
			map[string]int{dueToFirstAlone: 1, dueToHead: 60, dueToNotPrinted: 8},
			map[string]int{dueToRangeEnd: 59, dueToNesting: 5, dueToMerging: 3, dueToLastAlone: 1},
		},
		{
			"jdk17-full-hsdis", 2784,
			map[string]int{dueToFirstAlone: 31, dueToHead: 59, dueToNotPrinted: 9},
			map[string]int{dueToRangeEnd: 118, dueToNesting: 51, dueToMerging: 4, dueToLastAlone: 1},
		},
		{
			"jdk25-full-hsdis", 3300,
			map[string]int{dueToFirstAlone: 44, dueToHead: 56, dueToNotPrinted: 2},
			map[string]int{dueToRangeEnd: 34, dueToMerging: 2, dueToLastAlone: 1},
		},
	} {
		t.Run(c.capture, func(t *testing.T) {
			samples, log := savedCapture(t, c.capture)
			s := readSamples(t, samples)
			perfasm := runPerfasm(t, s, log)
			gasm := runGasmByPC(t, samples, log, s)
			l := readHeads(t, log, s)

			agreed, code, native := 0, map[string]int{}, map[string]int{}
			rows := map[place]*placeRow{}
			at := func(p place) *placeRow {
				if rows[p] == nil {
					rows[p] = &placeRow{causes: map[string]int{}}
				}
				return rows[p]
			}
			for pc, n := range s.counts {
				ours, inCode := gasm[pc]
				if !inCode {
					ours = s.names[pc]
				}
				theirs := l.place(perfasm.regionOf(pc).desc)
				at(ours).gasm += n
				at(theirs).perfasm += n
				if ours == theirs {
					agreed += n
					continue
				}
				cause := ""
				if inCode {
					cause = explainCode(pc, ours, perfasm, s, l)
					code[cause] += n
				} else {
					cause = explainNative(pc, theirs, perfasm, s)
					native[cause] += n
				}
				if cause == "" {
					t.Errorf("%x: perfasm has %d samples in %v, gasm in %v", pc, n, theirs, ours)
				}
				at(ours).causes[cause] -= n
				at(theirs).causes[cause] += n
			}
			t.Logf("%s\n%s", c.capture, placeTable(rows))
			t.Logf("both agree on %d of %d samples, %.1f %%", agreed, s.total, 100*float64(agreed)/float64(s.total))
			assert.Equal(t, c.agreed, agreed)
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.native, native)
		})
	}
}

// A place is what a sample is counted for, with gasm's names.
type place struct {
	source, name string
	compileID    int
}

func (p place) String() string {
	if p.compileID > 0 {
		return fmt.Sprintf("%s %s #%d", p.source, p.name, p.compileID)
	}
	return strings.TrimSpace(p.source + " " + cmp.Or(p.name, "[unknown]"))
}

// A placeRow has the numbers of samples of one place. The sum of the causes is perfasm's number minus gasm's.
type placeRow struct {
	perfasm, gasm int
	causes        map[string]int
}

// placeTable returns a table of the rows that differ.
func placeTable(rows map[place]*placeRow) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%7s %7s  %-70s %s\n", "perfasm", "gasm", "", "causes")
	for _, p := range slices.SortedFunc(maps.Keys(rows), func(a, b place) int {
		return cmp.Or(cmp.Compare(rows[b].gasm, rows[a].gasm), cmp.Compare(a.String(), b.String()))
	}) {
		r := rows[p]
		var causes []string
		for _, cause := range slices.Sorted(maps.Keys(r.causes)) {
			causes = append(causes, fmt.Sprintf("%s %+d", cause, r.causes[cause]))
		}
		if len(causes) > 0 {
			fmt.Fprintf(&out, "%7d %7d  %-70.70s %s\n", r.perfasm, r.gasm, p, strings.Join(causes, ", "))
		}
	}
	return out.String()
}

// A sampleText has the samples of a capture by their addresses, with the names that perf gave to the addresses.
type sampleText struct {
	event  string
	text   []byte // in the form that perfasm reads: without pid and tid, and only the JVM's samples
	total  int
	counts map[uint64]int
	names  map[uint64]place
	sorted []uint64               // addresses in perfasm's order, which is that of signed numbers
	ranges map[place]addressRange // for each name, the range from the lowest to the highest sampled address
}

type addressRange struct{ lo, hi uint64 }

var sampleLine = regexp.MustCompile(`^ *\d+/\d+ +(\d+\.\d+: ([a-z-]+): +([0-9a-f]+) (.*) \((.*)\))$`)

// readSamples reads the samples of a capture in which perf sampled a single process.
func readSamples(t *testing.T, file string) *sampleText {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	s := &sampleText{counts: map[uint64]int{}, names: map[uint64]place{}, ranges: map[place]addressRange{}}
	for line := range strings.Lines(string(text)) {
		f := sampleLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		require.NotNil(t, f, line)
		s.event = f[2]
		s.text = append(s.text, f[1]+"\n"...)
		pc := parseHex(t, f[3])
		s.total++
		s.counts[pc]++
		s.names[pc] = nativePlace(f[5], f[4])
	}
	s.sorted = slices.SortedFunc(maps.Keys(s.counts), func(a, b uint64) int { return cmp.Compare(int64(a), int64(b)) })
	for _, pc := range s.sorted {
		r, ok := s.ranges[s.names[pc]]
		if !ok {
			r.lo = pc
		}
		r.hi = pc
		s.ranges[s.names[pc]] = r
	}
	return s
}

// nativePlace returns gasm's names for a module and a symbol of perf's.
func nativePlace(dso, symbol string) place {
	module := filepath.Base(strings.TrimSpace(dso))
	if module == "[kernel.kallsyms]" {
		module = "kernel"
	}
	if symbol == "[unknown]" {
		symbol = ""
	}
	return place{source: module, name: symbol}
}

func parseHex(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 16, 64)
	require.NoError(t, err)
	return n
}

// A perfasmName is perfasm's name for a place.
type perfasmName struct{ source, name string }

// A perfasmResult is what the program SavedPerfAsm has printed.
type perfasmResult struct {
	regions   []perfasmRegion        // in ascending order, as signed numbers
	addresses map[uint64]perfasmName // names of sampled addresses in perfasm's assembly
}

type perfasmRegion struct {
	lo, hi uint64 // hi is the last address
	desc   perfasmName
}

// regionOf returns the region that contains pc, or the zero region if none does.
func (p *perfasmResult) regionOf(pc uint64) perfasmRegion {
	for _, r := range p.regions {
		if int64(r.lo) <= int64(pc) && int64(pc) <= int64(r.hi) {
			return r
		}
	}
	return perfasmRegion{}
}

// runPerfasm runs JMH's perfasm on the samples and the log. It checks that perfasm's regions add up to its table of
// methods.
func runPerfasm(t *testing.T, s *sampleText, log string) *perfasmResult {
	t.Helper()
	jar, err := filepath.Abs("../../testdata/perfasm/target/perfasm.jar")
	require.NoError(t, err)
	if _, err := os.Stat(jar); err != nil {
		t.Skip("no perfasm.jar: make perfasm builds it")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("no java on PATH: scripts/setup.sh installs a JDK")
	}
	samples := filepath.Join(t.TempDir(), "perfasm.txt")
	require.NoError(t, os.WriteFile(samples, s.text, 0o644))
	cmd := exec.Command("java", "-jar", jar, s.event, samples, log)
	cmd.Env = append(cmd.Environ(), "JMH_PERF=true")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())

	p := &perfasmResult{addresses: map[uint64]perfasmName{}}
	var methods []string
	sums := map[perfasmName]int{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch f[0] {
		case "method":
			methods = append(methods, strings.Join(strings.Fields(f[1]), " "))
		case "region":
			n, err := strconv.Atoi(f[3])
			require.NoError(t, err)
			d := perfasmName{f[4], f[5]}
			p.regions = append(p.regions, perfasmRegion{parseHex(t, f[1]), parseHex(t, f[2]), d})
			sums[d] += n
		case "address":
			p.addresses[parseHex(t, f[1])] = perfasmName{f[2], f[3]}
		default:
			require.Fail(t, line)
		}
	}
	var want []string
	for d, n := range sums {
		want = append(want, strings.Join(strings.Fields(fmt.Sprint(n, " ", d.source, " ", d.name)), " "))
	}
	slices.Sort(want)
	slices.Sort(methods)
	require.Equal(t, want, methods, "perfasm's table of methods")
	return p
}

// runGasmByPC returns gasm's place for each sampled address in the code cache. It checks that these samples add up to
// gasm's table of methods, and the samples at all other addresses to gasm's table of native functions.
func runGasmByPC(t *testing.T, samples, log string, s *sampleText) map[uint64]place {
	t.Helper()
	r := runGasm(t, []string{"report", "--format", "json", samples, log})
	require.Equal(t, 0, r.code, r.stderr)
	whole := readReport(t, []byte(r.stdout)).Profiles[0]
	require.EqualValues(t, s.total, whole.Account.Of(s.event).Profiled, "every sample is the JVM's")
	// Without a margin, each instruction is a region.
	r = runGasm(t, []string{"report", "--format", "json", "--skip-asm", "--merge-margin", "0", samples, log})
	require.Equal(t, 0, r.code, r.stderr)
	byPC := readReport(t, []byte(r.stdout)).Profiles[0]

	places := map[uint64]place{}
	sums := map[place]int{}
	for _, r := range byPC.Regions {
		pc := uint64(r.Lo)
		require.EqualValues(t, s.counts[pc], r.Counts.Of(s.event), "%#x: all samples of an address are one place's", r.Lo)
		places[pc] = place{r.Source, r.Method, r.CompileID}
		sums[place{r.Source, r.Method, 0}] += int(r.Counts.Of(s.event))
	}
	for pc, n := range s.counts {
		if _, ok := places[pc]; !ok {
			sums[s.names[pc]] += n
		}
	}
	got := map[place]int{}
	for _, m := range whole.Methods {
		got[place{m.Source, m.Name, 0}] += int(m.Counts.Of(s.event))
	}
	for _, n := range whole.Native {
		got[place{n.Module, n.Symbol, 0}] += int(n.Counts.Of(s.event))
	}
	require.Equal(t, sums, got, "gasm's tables")
	return places
}

// A logHeads has the facts in a log that the comparison needs. They come from a simple search through the log.
type logHeads struct {
	kinds  map[int]string  // compile_kind by compile id
	starts map[uint64]bool // the starts of the address ranges that perfasm was able to parse
	heads  map[uint64]head // for each sampled instruction, the head of the code in which it was printed
}

// A head is the line that names a stub, and the line before it.
type head struct{ text, before string }

// read reports whether perfasm takes the line for the head of a stub.
func (h head) read() bool {
	return (strings.Contains(h.before, "--------") || strings.Contains(h.text, "StubRoutines::")) &&
		strings.Count(h.text, "0x") == 2
}

var (
	nmethodTag  = regexp.MustCompile(`^<nmethod compile_id='(\d+)' (?:compile_kind='(\w+)' )?.*entry='0x([0-9a-f]+)'`)
	stubHead    = regexp.MustCompile(`^\S.*\[0x([0-9a-f]+), 0x[0-9a-f]+[][]`)
	instruction = regexp.MustCompile(`^ *0x([0-9a-f]+):`)
)

func readHeads(t *testing.T, log string, s *sampleText) *logHeads {
	t.Helper()
	f, err := os.Open(log)
	require.NoError(t, err)
	defer f.Close()
	l := &logHeads{kinds: map[int]string{}, starts: map[uint64]bool{}, heads: map[uint64]head{}}
	var current head
	before := "" // the last line that was not empty
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.TrimSpace(line) == "" {
			continue
		}
		if m := instruction.FindStringSubmatch(line); m != nil {
			if pc := parseHex(t, m[1]); s.counts[pc] > 0 {
				l.heads[pc] = current
			}
		} else if m := nmethodTag.FindStringSubmatch(line); m != nil {
			id, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			l.kinds[id] = m[2]
			l.starts[parseHex(t, m[3])] = true
		} else if m := stubHead.FindStringSubmatch(line); m != nil {
			current = head{line, before}
			l.starts[parseHex(t, m[1])] = true
		} else if strings.HasPrefix(line, "Decoding ") { // JDK 8: no range
			current = head{line, before}
		}
		before = line
	}
	require.NoError(t, lines.Err())
	return l
}

var javaName = regexp.MustCompile(`^(.*), version \d+, compile id (\d+)$`)

// place returns gasm's names for a name of perfasm's. perfasm distinguishes neither OSR methods nor wrappers of
// native methods from others, but the log does.
func (l *logHeads) place(d perfasmName) place {
	name := strings.TrimSpace(d.name)
	if m := javaName.FindStringSubmatch(name); m != nil {
		id, _ := strconv.Atoi(m[2])
		p := place{strings.ToLower(d.source), html.UnescapeString(m[1]), id}
		switch l.kinds[id] {
		case "osr":
			p.source += ", osr"
		case "c2n":
			p.source = "native wrapper"
		}
		return p
	}
	switch d.source {
	case "interpreter": // "invokeinterface  185 invokeinterface"
		name, _, _ = strings.Cut(name, "  ")
		return place{source: d.source, name: name}
	case "runtime stub":
		return place{source: "stub", name: name}
	case "":
		return place{name: cmp.Or(name, "(in no region)")}
	}
	return nativePlace(d.source, name)
}

// explainCode returns the reason why perfasm counts the samples at pc for another place than gasm. The parameter ours
// is gasm's place, which is in the code cache. The result is "" if no known reason applies.
func explainCode(pc uint64, ours place, p *perfasmResult, s *sampleText, l *logHeads) string {
	r := p.regionOf(pc)
	theirs, known := p.addresses[pc]
	h, printed := l.heads[pc]
	blank := r.desc.name == "<unknown>" || l.place(r.desc) == s.names[pc] // perf's name: perf-PID.map [unknown]
	switch {
	case !blank:
		return ""
	case known && l.place(theirs) == ours && r.lo == pc && r.hi == pc && l.starts[pc]:
		return dueToFirstAlone
	case !known && printed && !h.read() && strings.Contains(h.text, ours.name):
		return dueToHead
	case !known && !printed && ours.source == "stub, not printed":
		return dueToNotPrinted
	}
	return ""
}

// explainNative returns the reason why perfasm counts the samples at pc not for the function that perf named, but for
// the place theirs.
func explainNative(pc uint64, theirs place, p *perfasmResult, s *sampleText) string {
	r := p.regionOf(pc)
	if r == (perfasmRegion{}) {
		last := len(s.sorted) - 1
		if s.sorted[last] == pc && last > 0 && pc-s.sorted[last-1] > 32 {
			return dueToLastAlone
		}
		return ""
	}
	// perfasm gives a region the name of its first address. The addresses in a region are at most 32 bytes apart.
	i, _ := slices.BinarySearchFunc(s.sorted, pc, func(a, b uint64) int { return cmp.Compare(int64(a), int64(b)) })
	for ; s.sorted[i] != r.lo; i-- {
		if s.sorted[i]-s.sorted[i-1] > 32 {
			return ""
		}
	}
	first := s.names[r.lo]
	own := s.ranges[first]
	unknown := theirs.name == "<unknown>"
	if theirs == first {
		return dueToMerging
	}
	if unknown && r.lo == own.hi && own.lo < own.hi {
		return dueToRangeEnd
	}
	// If the ranges of two functions contain the address, perfasm finds only the one that begins closest below it.
	var closest place
	for name, other := range s.ranges {
		if int64(other.lo) <= int64(r.lo) && (closest == place{} || int64(other.lo) > int64(s.ranges[closest].lo)) {
			closest = name
		}
	}
	inside := int64(r.lo) < int64(s.ranges[closest].hi)
	if closest != first && (unknown && !inside || theirs == closest && inside) {
		return dueToNesting
	}
	return ""
}
