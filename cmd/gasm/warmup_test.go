package main

import (
	"bufio"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// printCompilation matches a line that -XX:+PrintCompilation prints: the time in ms, the id, attributes, the level,
// the method, and a text if the code was discarded.
var printCompilation = regexp.MustCompile(`^ *(\d+) +(\d+) ([ %][ s][ !][ b][ n]) +(\d) +(\S+::\S+)(.*)$`)

// repeated matches the end of a line that says more about a compilation that already had a line.
var repeated = regexp.MustCompile(`\)   +(made zombie|blocked|COMPILE SKIPPED)`)

// A printed is a compilation, as PrintCompilation or gasm reports it.
type printed struct {
	level  int
	osr    bool
	method string
}

// TestWarmUpAndPrintCompilation checks that gasm has the same compilations, and the same code discarded by HotSpot,
// as PrintCompilation has printed in the same run.
func TestWarmUpAndPrintCompilation(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classPath := programs8(t, "WarmUp")
	for _, j := range gasmtest.NeedJDKs(t, withLog) {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel()
			dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
			r := runGasm(t, []string{"profile", "--events", "compile", "-o", dir, "--format", "json", "--report", file, "--",
				j.Java(), "-XX:+PrintCompilation", "-cp", classPath, "WarmUp"})
			require.Equal(t, 0, r.code, r.stderr)
			said, stamps, gone := readPrintCompilation(r.stdout)
			require.Greater(t, len(said), 100)

			listed := runGasm(t, []string{"events", "--format", "jsonl", dir})
			require.Equal(t, 0, listed.code, listed.stderr)
			found, starts, discarded, timed := map[int]printed{}, map[int]float64{}, map[int]bool{}, 0
			lines := bufio.NewScanner(strings.NewReader(listed.stdout))
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				var e struct {
					Kind  string            `json:"kind"`
					Name  string            `json:"name"`
					Mono  int64             `json:"mono_nanos"`
					Nanos int64             `json:"nanos"`
					Args  map[string]string `json:"args"`
				}
				require.NoError(t, json.Unmarshal(lines.Bytes(), &e), lines.Text())
				id, err := strconv.Atoi(e.Args["id"])
				switch {
				case e.Kind == "compile":
					require.NoError(t, err, lines.Text())
					level, err := strconv.Atoi(e.Args["level"])
					require.NoError(t, err)
					if before, twice := found[id]; twice {
						t.Fatalf("listed twice: %v, %s", before, lines.Text())
					}
					found[id], starts[id] = printed{level, e.Args["osr"] == "true", e.Name}, float64(e.Mono)/1e6
					if e.Nanos > 0 {
						timed++
					}
				case e.Kind == "discard":
					discarded[id] = true
				}
			}
			// While the JVM ends, each of its compiler threads may have reported something in one place, but not in
			// the other.
			const threads = 4
			checkSame(t, said, found, threads)
			checkSame(t, gone, discarded, threads)
			checkStamps(t, stamps, starts)

			report := readReport(t, readFile(t, file))
			p := &report.Profiles[0]
			require.NotNil(t, p.JIT)
			levels := map[int]int{}
			for _, c := range found {
				levels[c.level]++
			}
			sum, known := 0, 0
			for _, l := range p.JIT.Levels {
				assert.Equal(t, levels[l.Level], l.Count, "level %d", l.Level)
				sum, known = sum+l.Count, known+l.Timed
			}
			assert.Equal(t, []int{len(found), timed}, []int{sum, known})
			t.Logf("%d compilations, %d with times, %d discarded, %d deoptimizations", len(found), timed, len(discarded),
				p.JIT.AllDeopts)
			if known > 0 {
				assert.NotEmpty(t, p.JIT.Longest)
			}
			require.Len(t, p.WarmUp, 1)
			var samples int64
			for _, s := range p.WarmUp[0].Spans {
				samples += s.Interpreted + s.C1Profiled + s.C1 + s.C2 + s.Compiled + s.Stubs + s.JIT + s.GC + s.Service + s.Native +
					s.Unnamed
			}
			assert.Equal(t, report.Capture.JVMs[0].Taken.Values[0], samples, "in the window or not")
			checkLibrary(t, p.Library, p.Sources)
		})
	}
}

// readPrintCompilation parses what -XX:+PrintCompilation has printed. It returns the compilations by id, the times at
// which they began, and the ids of those whose code was discarded.
func readPrintCompilation(text string) (said map[int]printed, stamps map[int]float64, gone map[int]bool) {
	said, stamps, gone = map[int]printed{}, map[int]float64{}, map[int]bool{}
	for line := range strings.Lines(text) {
		m := printCompilation.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || repeated.MatchString(m[6]) {
			continue
		}
		id, _ := strconv.Atoi(m[2])
		if strings.Contains(m[6], "made not ") {
			gone[id] = true
			continue
		}
		level, _ := strconv.Atoi(m[4])
		stamps[id], _ = strconv.ParseFloat(m[1], 64)
		said[id] = printed{level, m[3][0] == '%', m[5]}
	}
	return said, stamps, gone
}

// checkSame checks that two maps are equal, except for at most few keys.
func checkSame[V comparable](t *testing.T, want, got map[int]V, few int) {
	t.Helper()
	var differ []int
	for id := range want {
		if got[id] != want[id] {
			differ = append(differ, id)
		}
	}
	for id := range got {
		if _, ok := want[id]; !ok {
			differ = append(differ, id)
		}
	}
	slices.Sort(differ)
	assert.LessOrEqual(t, len(differ), few, "of %d and %d: %v", len(want), len(got), differ)
}

// checkStamps compares the times at which compilations began, which two sources have on different clocks. For most
// compilations, the difference between the two must be the same. It may be larger if a thread had to wait for a CPU
// between the two reports.
func checkStamps(t *testing.T, stamps, starts map[int]float64) {
	t.Helper()
	var apart []float64
	for id := range maps.Keys(stamps) {
		if at, ok := starts[id]; ok {
			apart = append(apart, at-stamps[id])
		}
	}
	slices.Sort(apart)
	require.NotEmpty(t, apart)
	n := len(apart)
	t.Logf("of %d compilations, the middle half began within %.3f ms", n, apart[3*n/4]-apart[n/4])
	assert.Less(t, apart[3*n/4]-apart[n/4], 20.0)
}

// checkLibrary checks that the sum of the kinds of work in HotSpot's library is the number of all samples in libjvm.
func checkLibrary(t *testing.T, work []schema.LibraryWork, sources []schema.Source) {
	t.Helper()
	var sum, want int64
	for _, w := range work {
		sum += w.Counts.Values[0]
	}
	for _, s := range sources {
		if strings.HasPrefix(s.Source, "libjvm.") {
			want += s.Counts.Values[0]
		}
	}
	assert.Equal(t, want, sum)
	assert.Positive(t, sum)
}
