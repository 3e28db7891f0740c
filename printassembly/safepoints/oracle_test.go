package safepoints_test

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/printassembly/safepoints"
	"github.com/gasm-profiler/gasm/printassembly/safepoints/oracle"
)

func share(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

// compare applies both rules to the hottest methods of a program, whose JVM had DebugNonSafepoints.
func compare(t *testing.T, path string) (byNext, byFlow, recordedNext, recordedFlow oracle.Score) {
	t.Helper()
	log, samples := open(t, path)
	for i := range log.Blobs {
		b := &log.Blobs[i]
		full, err := log.Code(b, disasm.ATT)
		require.NoError(t, err)
		require.NotEmpty(t, full, b.Name)
		require.True(t, oracle.Compare(b, full, &log.Bodies, samples[i], func(s *oracle.Sampled) {
			recordedNext.Add(s.Samples, s.Recorded, s.ByAddress)
			recordedFlow.Add(s.Samples, s.Recorded, s.ByFlow)
			if s.Reason == "" {
				byNext.Add(s.Samples, s.Record, s.ByAddress)
				byFlow.Add(s.Samples, s.Record, s.ByFlow)
			}
		}), b.Name)
	}
	require.NotZero(t, byFlow.Samples, "samples in methods")
	return byNext, byFlow, recordedNext, recordedFlow
}

// open reads a program's samples, by the index of their method in the log and by their address, and the log after an
// empty line. The samples are lines of the index of a method, an address, and their number.
func open(t *testing.T, path string) (*printassembly.Log, map[int]map[uint64]int) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := xz.NewReader(bufio.NewReader(f))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	head, log, ok := bytes.Cut(text, []byte("\n\n"))
	require.True(t, ok, path)
	samples := map[int]map[uint64]int{}
	for line := range strings.Lines(string(head)) {
		words := strings.Fields(line)
		require.Len(t, words, 3, line)
		method, err := strconv.Atoi(words[0])
		require.NoError(t, err)
		pc, err := strconv.ParseUint(words[1], 0, 64)
		require.NoError(t, err)
		if samples[method] == nil {
			samples[method] = map[uint64]int{}
		}
		samples[method][pc], err = strconv.Atoi(words[2])
		require.NoError(t, err)
	}
	l, err := printassembly.NewLog(bytes.NewReader(log), int64(len(log)), path)
	require.NoError(t, err)
	return l, samples
}

// TestOracle takes methods with all records, hides those that a JVM without DebugNonSafepoints does not keep, and lets
// both rules guess them. Only the log of JRuby has the bodies of methods.
func TestOracle(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.xz")
	require.NoError(t, err)
	require.Len(t, paths, 8)
	sort.Strings(paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".xz")
		t.Run(name, func(t *testing.T) {
			next, flow, allNext, allFlow := compare(t, path)
			t.Logf("%-9s %5d samples; wrong by address: method %4.1f %%, line %4.1f %%, chain %4.1f %%; by flow: method %4.1f %%, line %4.1f %%, chain %4.1f %%; certain and right %.2f %%",
				name, flow.Samples, 100-share(next.Method, next.Samples), 100-share(next.Line, next.Samples),
				100-share(next.Chain, next.Samples),
				100-share(flow.Method, flow.Samples), 100-share(flow.Line, flow.Samples), 100-share(flow.Chain, flow.Samples),
				share(flow.Certain, flow.Samples))
			t.Logf("with records of other code: %d samples; wrong by address: method %.1f %%; by flow: method %.1f %%",
				allFlow.Samples, 100-share(allNext.Method, allNext.Samples), 100-share(allFlow.Method, allFlow.Samples))
			assert.LessOrEqual(t, float64(flow.Samples-flow.Method), 0.5*float64(next.Samples-next.Method),
				"the innermost method is wrong too often")
			// If records of other code counted, even a rule that is always right would not reach half; see
			// PERFORMANCE.md.
			program, _, _ := strings.Cut(name, "-")
			most := cmp.Or(map[string]float64{"javac": 0.67, "jruby": 0.58, "scala": 0.72}[program], 0.5)
			assert.LessOrEqual(t, float64(allFlow.Samples-allFlow.Method), most*float64(allNext.Samples-allNext.Method),
				"with records of other code")
			assert.Greater(t, share(flow.Samples, allFlow.Samples), 90.0, "the samples that are compared")
			assert.Less(t, flow.Samples-flow.Line, next.Samples-next.Line, "the line is wrong more often than by address")
			assert.GreaterOrEqual(t, share(flow.Certain, flow.Samples), 99.0, "what is certain is wrong too often")
		})
	}
}

// TestSpreadAt finds the frames of every third instruction, whose code is only an outline, and compares them with those
// that Spread finds.
func TestSpreadAt(t *testing.T) {
	for _, name := range []string{"javac-17", "jruby-25"} {
		t.Run(name, func(t *testing.T) {
			log, _ := open(t, filepath.Join("testdata", name+".xz"))
			compared, without := 0, 0
			for i := range log.Blobs {
				b := &log.Blobs[i]
				full, err := log.Code(b, disasm.ATT)
				require.NoError(t, err)
				text, err := log.Text(b)
				require.NoError(t, err)
				outline, err := text.Outline(disasm.ATT)
				require.NoError(t, err)
				full, outline = oracle.Hide(full), oracle.Hide(outline)
				require.Len(t, outline, len(full), b.Name)
				var at []int
				for k := range outline {
					if outline[k].Text == "" {
						without++
					}
					if k%3 == 0 {
						at = append(at, k)
					}
				}
				require.True(t, safepoints.Spread(b, full, &log.Bodies), b.Name)
				require.True(t, safepoints.SpreadAt(b, outline, text, &log.Bodies, at), b.Name)
				for _, k := range at {
					require.Equal(t, full[k].Frames, outline[k].Frames, "%s, %#x: %s", b.Name, full[k].Lo, full[k].Text)
					compared++
				}
			}
			require.Greater(t, compared, 1000)
			require.Greater(t, without, compared)
		})
	}
}
