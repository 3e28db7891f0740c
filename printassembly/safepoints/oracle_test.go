package safepoints

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A score says for how many samples frames were right.
type score struct {
	samples, method, line, chain int // all; the innermost method, its line, and the whole chain are right
	certain                      int // what is marked as certain is right
}

func share(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

// add compares the frames of an instruction with those of its own record.
func (s *score) add(samples int, want, got []printassembly.Frame) {
	s.samples += samples
	if len(got) == 0 { // reports take the method itself
		got = []printassembly.Frame{{Method: want[len(want)-1].Method, Guess: printassembly.GuessedLine}}
	}
	if got[0].Method == want[0].Method {
		s.method += samples
		if got[0].Line == want[0].Line {
			s.line += samples
		}
	}
	if slices.EqualFunc(want, got, func(a, b printassembly.Frame) bool { return a.Method == b.Method && a.Line == b.Line }) {
		s.chain += samples
	}
	if certainlyRight(want, got) {
		s.certain += samples
	}
}

// certainlyRight reports whether the frames that are not a guess are those of the record: their methods, and their
// lines where these are certain, too.
func certainlyRight(want, got []printassembly.Frame) bool {
	for k, f := range got {
		if f.Guess == printassembly.GuessedAll {
			continue
		}
		at := len(want) - (len(got) - k)
		if at < 0 || want[at].Method != f.Method || f.Guess == printassembly.Certain && want[at].Line != f.Line {
			return false
		}
	}
	return true
}

// hide returns a method as a JVM without DebugNonSafepoints has it: with the records at safepoints alone, which are
// calls that return into Java or HotSpot, and polls. In JVMs with the flag, these are the records with an oop map, but
// for one in a thousand, at C1's throws.
func hide(insts []printassembly.Instruction) []printassembly.Instruction {
	sparse := slices.Clone(insts)
	for i := range sparse {
		in := &sparse[i]
		safepoint := false
		if in.OwnFrames && in.Kind == disasm.Call {
			safepoint = slices.ContainsFunc(in.Comments, callsAtSafepoint)
		} else if in.OwnFrames && i+1 < len(sparse) {
			_, safepoint = comment(&sparse[i+1], "{poll")
		}
		if !safepoint {
			in.OwnFrames, in.Frames = false, nil
		}
		in.Comments = slices.DeleteFunc(slices.Clone(in.Comments), func(c string) bool { return strings.HasPrefix(c, "*") })
	}
	return sparse
}

// callsAtSafepoint reports whether a comment is the relocation of a call during which the thread can stop. The others
// are leaf calls: of stubs such as StubRoutines::arraycopy, and of functions of libjvm.so.
func callsAtSafepoint(relocation string) bool {
	if name, ok := strings.CutPrefix(relocation, "{runtime_call"); ok {
		return !strings.Contains(name, "::") && name != "}"
	}
	return strings.Contains(relocation, "_call")
}

// byAddress sets frames by the rule of HotSpot and of older versions of gasm: the record at the next higher address.
func byAddress(insts []printassembly.Instruction) {
	var frames []printassembly.Frame
	for i := len(insts) - 1; i >= 0; i-- {
		if in := &insts[i]; in.OwnFrames {
			frames = in.Frames
		} else {
			in.Frames = frames
		}
	}
}

// compare applies both rules to the hottest methods of a program, whose JVM had DebugNonSafepoints.
func compare(t *testing.T, path string) (byNext, byFlow score) {
	t.Helper()
	log, samples := open(t, path)
	for i := range log.Blobs {
		b := &log.Blobs[i]
		full, err := log.Code(b, disasm.ATT)
		require.NoError(t, err)
		require.NotEmpty(t, full, b.Name)
		next := hide(full)
		flow := slices.Clone(next)
		byAddress(next)
		Spread(b, flow)
		for k, in := range full {
			n := samples[sampled{i, in.Lo}]
			if n == 0 || len(in.Frames) == 0 {
				continue
			}
			byNext.add(n, in.Frames, next[k].Frames)
			byFlow.add(n, in.Frames, flow[k].Frames)
		}
	}
	require.NotZero(t, byFlow.samples, "samples in methods")
	return byNext, byFlow
}

// A sampled is where samples are: the index of a method in the log, and an address.
type sampled struct {
	method int
	pc     uint64
}

// open reads a program's samples, and the log after an empty line. The samples are lines of the index of a method, an
// address, and their number.
func open(t *testing.T, path string) (*printassembly.Log, map[sampled]int) {
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
	samples := map[sampled]int{}
	for line := range strings.Lines(string(head)) {
		words := strings.Fields(line)
		require.Len(t, words, 3, line)
		method, err := strconv.Atoi(words[0])
		require.NoError(t, err)
		pc, err := strconv.ParseUint(words[1], 0, 64)
		require.NoError(t, err)
		samples[sampled{method, pc}], err = strconv.Atoi(words[2])
		require.NoError(t, err)
	}
	l, err := printassembly.NewLog(bytes.NewReader(log), int64(len(log)), path)
	require.NoError(t, err)
	return l, samples
}

// TestOracle takes methods with all records, hides those that a JVM without DebugNonSafepoints does not keep, and has
// both rules guess them.
//
// The records that are hidden are not always right themselves: C2 gives code that it has moved or made anew the
// bytecode that it happened to be at. So no rule can reach 100 %. Methods without any record, such as inlined getters,
// can't be found either; javac, whose C1 code has many, is the hardest of these.
func TestOracle(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.xz")
	require.NoError(t, err)
	require.Len(t, paths, 6)
	sort.Strings(paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".xz")
		t.Run(name, func(t *testing.T) {
			next, flow := compare(t, path)
			t.Logf("%-9s %5d samples; wrong by address: method %4.1f %%, line %4.1f %%, chain %4.1f %%; by flow: method %4.1f %%, line %4.1f %%, chain %4.1f %%; certain and right %.2f %%",
				name, flow.samples, 100-share(next.method, next.samples), 100-share(next.line, next.samples), 100-share(next.chain, next.samples),
				100-share(flow.method, flow.samples), 100-share(flow.line, flow.samples), 100-share(flow.chain, flow.samples), share(flow.certain, flow.samples))
			most := 0.5
			if strings.HasPrefix(name, "javac") {
				most = 0.7
			}
			assert.LessOrEqual(t, float64(flow.samples-flow.method), most*float64(next.samples-next.method), "the innermost method is wrong too often")
			assert.Less(t, flow.samples-flow.line, next.samples-next.line, "the line is wrong more often than by address")
			assert.GreaterOrEqual(t, share(flow.certain, flow.samples), 99.0, "what is certain is wrong too often")
		})
	}
}
