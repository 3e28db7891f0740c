package multiply

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
)

// readAll reads samples. It fails if there is anything else.
func readAll(t *testing.T, text []byte) []sampler.Sample {
	t.Helper()
	var all []sampler.Sample
	r := sampler.NewReader(bytes.NewReader(text), "test")
	for r.Scan() {
		s, ok := r.Record().(*sampler.Sample)
		require.True(t, ok, "%v", r.Record())
		all = append(all, *s)
	}
	require.NoError(t, r.Err())
	require.NotEmpty(t, all)
	return all
}

func TestPerf(t *testing.T) {
	checkCopies(t, gasmtest.Capture(t, "jdk25-lean-none", gasmtest.Samples))
}
func TestDTrace(t *testing.T) {
	checkCopies(t, gasmtest.Capture(t, "jdk17-lean-none-dtrace", gasmtest.Samples))
}

// checkCopies writes samples twice, and some of them a third time.
func checkCopies(t *testing.T, text []byte) {
	once := readAll(t, text)
	first, last := once[0].MonoNanos, once[0].MonoNanos
	for _, s := range once {
		first, last = min(first, s.MonoNanos), max(last, s.MonoNanos)
	}
	n := 2*len(once) + 3
	m, err := New(text)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, m.Write(&out, int64(n)))
	many := readAll(t, out.Bytes())
	require.Len(t, many, n)
	assert.True(t, bytes.HasPrefix(out.Bytes(), bytes.TrimRight(text, "\n")), "the first copy is not the capture")
	for i, got := range many {
		want := once[i%len(once)]
		want.MonoNanos += int64(i/len(once)) * (last - first + 1e6)
		require.Equal(t, want, got, "sample %d", i)
	}
}

func TestNothing(t *testing.T) {
	_, err := New([]byte("CPU     ID                    FUNCTION:NAME\n\n"))
	assert.EqualError(t, err, "no samples in 2 lines")
}
