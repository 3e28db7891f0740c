package collect

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/sampler"
)

// readWithStacks returns copies of the samples in a text, with the frames of their stacks, innermost first.
func readWithStacks(t *testing.T, r sampler.Reader, tree *callstack.Tree, push bool) (samples []sampler.Sample,
	stacks [][]callstack.Frame) {
	t.Helper()
	for r.Scan() {
		s, ok := r.Record().(*sampler.Sample)
		if !ok {
			continue
		}
		id := s.Stack
		if push {
			id = s.PushChain(tree.Push)
		}
		var frames []callstack.Frame
		for f := range tree.Frames(id) {
			frames = append(frames, *f)
		}
		kept := *s
		kept.Chain, kept.Stack = nil, 0
		samples, stacks = append(samples, kept), append(stacks, frames)
	}
	require.NoError(t, r.Err())
	return samples, stacks
}

// TestChainText checks that the text with the IDs of stacks, together with the stacks, says the same as perf's text.
func TestChainText(t *testing.T) {
	for _, name := range []string{"chains-fp.txt", "chains-nofp.txt"} {
		raw, err := os.ReadFile("../testdata/" + name)
		require.NoError(t, err)
		var text, stacks bytes.Buffer
		c := newChainText([]sampler.Event{sampler.ParseEvent("cpu-clock:u")})
		require.NoError(t, c.convert(iotest.HalfReader(bytes.NewReader(raw)), &text, &stacks))
		assert.Zero(t, c.bad)
		tree, err := callstack.Read(&stacks, "stacks.txt")
		require.NoError(t, err)
		assert.Contains(t, text.String(), " cpu-clock:u: ", "the event has the name that it was asked for by")
		samples, frames := readWithStacks(t, sampler.NewReader(&text, "text"), tree, false)
		wantSamples, wantFrames := readWithStacks(t, sampler.NewChainReader(bytes.NewReader(raw), "raw"), &callstack.Tree{},
			true)
		assert.Equal(t, wantSamples, samples)
		assert.Equal(t, wantFrames, frames)
		for i, f := range frames {
			require.NotEmpty(t, f)
			assert.Equal(t, callstack.Chain, f[len(f)-1].Kind, i)
		}
	}
}

func TestChainTextLosesNothing(t *testing.T) {
	var text, stacks bytes.Buffer
	c := newChainText([]sampler.Event{sampler.ParseEvent("cycles:P")})
	require.NoError(t, c.convert(strings.NewReader("java 7/8 1.5: cycles:P: \n\t1 f (/a b)\n\tnonsense\n\njava 7/8 2.5: PERF_RECORD_LOST lost 3\n"+
		"java 7/8 3.5: page-faults: \n\t2 g ([vdso])\n\n7/8 4.5: PERF_RECORD_LOST_SAMPLES lost 5\n"), &text, &stacks))
	assert.Equal(t, 1, c.bad)
	assert.EqualError(t, &c.firstBad, "perf script:3: no address in a stack")
	var events, names []string
	lost := int64(0)
	for r := sampler.NewReader(&text, "text"); r.Scan(); {
		switch rec := r.Record().(type) {
		case *sampler.Sample:
			events, names = append(events, rec.Event), append(names, rec.Symbol+" "+rec.Module)
		case *sampler.Lost:
			lost += rec.Count
		default:
			t.Errorf("%+v", rec)
		}
	}
	assert.Equal(t, []string{"cycles", "page-faults"}, events)
	assert.Equal(t, []string{"f a b", "g [vdso]"}, names)
	assert.EqualValues(t, 5, lost)
}

// TestChainTextErrors checks that errors of reading and writing are returned.
func TestChainTextErrors(t *testing.T) {
	raw, err := os.ReadFile("../testdata/chains-fp.txt")
	require.NoError(t, err)
	raw = bytes.Repeat(raw, 50) // more than fits into all buffers
	full, broken := errors.New("full"), errors.New("broken")
	var out bytes.Buffer
	c := newChainText(nil)
	assert.ErrorIs(t, c.convert(bytes.NewReader(raw), failingWriter{full}, &out), full)
	assert.ErrorIs(t, newChainText(nil).convert(bytes.NewReader(raw), &out, failingWriter{full}), full)
	assert.ErrorIs(t, newChainText(nil).convert(iotest.ErrReader(broken), &out, &out), broken)
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }
