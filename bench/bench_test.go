package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/sampler"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 2, 100}, 3},
	} {
		assert.Equal(t, c.want, median(c.in), "%v", c.in)
	}
	in := []float64{3, 1, 2}
	median(in)
	assert.Equal(t, []float64{3, 1, 2}, in, "median must not sort what is the caller's")
}

func TestMedianOfRatios(t *testing.T) {
	assert.Equal(t, []float64{2, 3}, ratios([]float64{2, 9, 5}, []float64{1, 3}))
}

// readAll reads samples, which must be all there is.
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
	return all
}

func TestMultiply(t *testing.T) {
	t.Chdir("..")
	for _, capture := range []string{"jdk25-lean-none", "jdk17-lean-none-dtrace"} {
		t.Run(capture, func(t *testing.T) {
			packed, closeFile, err := openPacked(capture, "samples.txt")
			require.NoError(t, err)
			defer closeFile()
			text, err := io.ReadAll(packed)
			require.NoError(t, err)
			once := readAll(t, text)
			first, last := once[0].MonoNanos, once[0].MonoNanos
			for _, s := range once {
				first, last = min(first, s.MonoNanos), max(last, s.MonoNanos)
			}

			n := 2*len(once) + 3
			m, err := newSampleText(text)
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, m.writeTo(&out, int64(n)))
			many := readAll(t, out.Bytes())
			require.Len(t, many, n)
			assert.True(t, bytes.HasPrefix(out.Bytes(), bytes.TrimRight(text, "\n")), "the first copy is not the capture")
			for i, got := range many {
				want := once[i%len(once)]
				want.MonoNanos += int64(i/len(once)) * (last - first + 1e6)
				require.Equal(t, want, got, "sample %d", i)
			}
		})
	}
}

func TestMultiplyNothing(t *testing.T) {
	_, err := newSampleText([]byte("CPU     ID                    FUNCTION:NAME\n\n"))
	assert.EqualError(t, err, "no samples in 2 lines")
}

func TestParseResult(t *testing.T) {
	took, sum, err := parseResult("classes 200 seconds 7.125 checksum 00ab12cd\n")
	require.NoError(t, err)
	assert.Equal(t, 7.125, took)
	assert.Equal(t, "00ab12cd", sum)
	_, _, err = parseResult("")
	assert.ErrorContains(t, err, `the program's result is ""`)
}

func TestParseScores(t *testing.T) {
	mean, err := parseScores([]byte(`[{"benchmark": "x", "primaryMetric": {"score": 512.5, "scoreUnit": "ns/op"}}]`), 1)
	require.NoError(t, err)
	assert.InEpsilon(t, 512.5, mean, 1e-9)
	two := `[{"primaryMetric": {"score": 20, "scoreUnit": "ns/op"}}, {"primaryMetric": {"score": 500, "scoreUnit": "ns/op"}}]`
	mean, err = parseScores([]byte(two), 2)
	require.NoError(t, err)
	assert.InEpsilon(t, 100.0, mean, 1e-9)
	for _, bad := range []string{`[]`, two, `[{"primaryMetric": {"score": 1, "scoreUnit": "ops/s"}}]`, `{`} {
		_, err := parseScores([]byte(bad), 1)
		assert.Error(t, err, bad)
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	writeTable(&b, []section{
		{name: "small", figures: []figure{{"report", []float64{0.012, 0.010, 0.020}, millis, "<= 60 ms"}, {"again", []float64{1}, times, ""}}},
		{name: "steady", err: missing("there is no perf")},
	})
	assert.Equal(t, `                median  lowest to highest  goal
 small  report   12 ms           10 to 20  <= 60 ms
        again   1.00 x
steady: not measured: there is no perf
`, b.String())
}

func TestPick(t *testing.T) {
	all, err := pick("")
	require.NoError(t, err)
	assert.Len(t, all, len(measurements))
	two, err := pick("small,log-hex")
	require.NoError(t, err)
	assert.Equal(t, "small", two[0].name)
	assert.Equal(t, "log-hex", two[1].name)
	_, err = pick("smal")
	assert.ErrorContains(t, err, `there is no "smal"`)
}
