package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func TestMedian(t *testing.T) {
	check := func(want float64, values ...float64) {
		t.Helper()
		assert.Equal(t, want, median(values), "%v", values)
	}
	check(0)
	check(7, 7)
	check(2, 9, 1, 2)
	check(3, 4, 1, 2, 100)
	in := []float64{3, 1, 2}
	median(in)
	assert.Equal(t, []float64{3, 1, 2}, in, "the caller's values must not be sorted")
}

func TestRatios(t *testing.T) {
	assert.Equal(t, []float64{2, 3}, ratios([]float64{2, 9, 5}, []float64{1, 3}))
}

// The captures that the measurements use must exist.
func TestOpenPacked(t *testing.T) {
	check := func(name, file string) {
		t.Helper()
		r, closeFile, err := openPacked(name, file)
		require.NoError(t, err)
		defer closeFile()
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(gasmtest.Capture(t, name, file), text))
	}
	t.Chdir("..")
	check(hexCapture, logName)
	check(hexCapture, samplesName)
	check(hsdisCapture, logName)
	check(dtraceCapture, samplesName)
	t.Chdir("bench")
	_, _, err := openPacked(hexCapture, logName)
	var lack *missingError
	require.ErrorAs(t, err, &lack)
	assert.Contains(t, lack.what, "run it in the root of the repository")
}

// A home in the list must be a JDK. A JRE is not a JDK, and neither is a JDK without a version.
func TestFindJDKs(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home := func(name, release string, tools ...string) string {
		bin := filepath.Join(dir, name, "bin")
		require.NoError(t, os.MkdirAll(bin, 0o755))
		for _, tool := range tools {
			require.NoError(t, os.WriteFile(filepath.Join(bin, tool), nil, 0o755))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "release"), []byte(release), 0o644))
		return filepath.Join(dir, name)
	}
	jdk25 := home("25", "JAVA_RUNTIME_VERSION=\"25.0.3+9-LTS\"\nJAVA_VERSION=\"25.0.3\"\n", "java", "javac")
	jdk8 := home("8", "JAVA_VERSION=\"1.8.0_432\"\n", "java", "javac")
	found, err := findJDKs(jdk25 + "," + jdk8 + "," + jdk25)
	require.NoError(t, err)
	assert.Equal(t, []installedJDK{{jdk8, "1.8.0_432", 8}, {jdk25, "25.0.3+9-LTS", 25}}, found)
	_, err = findJDKs(home("none", "JAVA_VERSION=\"17\"\n"))
	assert.ErrorContains(t, err, "none is not a JDK: ")
	jre := home("jre", "JAVA_VERSION=\"17\"\n", "java")
	found, err = findJDKs(jre)
	require.NoError(t, err)
	assert.Equal(t, []installedJDK{{jre, "17", 17}}, found)
	t.Setenv("JAVA_HOME", jre)
	found, err = findJDKs("")
	require.NoError(t, err)
	assert.NotContains(t, found, installedJDK{jre, "17", 17}, "without javac it must be named")
	_, err = findJDKs(home("strange", "", "java", "javac"))
	assert.ErrorContains(t, err, "strange/release names no version")
}

func TestParseResult(t *testing.T) {
	took, checksum, err := parseResult("classes 200 seconds 7.125 checksum 00ab12cd\n")
	require.NoError(t, err)
	assert.Equal(t, 7.125, took)
	assert.Equal(t, "00ab12cd", checksum)
	_, _, err = parseResult("")
	assert.ErrorContains(t, err, `the program's result is ""`)
}

func TestParseScores(t *testing.T) {
	two :=
		`[{"primaryMetric": {"score": 20, "scoreUnit": "ns/op"}}, {"primaryMetric": {"score": 500, "scoreUnit": "ns/op"}}]`
	check := func(want float64, text string, benchmarks int) {
		t.Helper()
		mean, err := parseScores([]byte(text), benchmarks)
		require.NoError(t, err)
		assert.InEpsilon(t, want, mean, 1e-9) // rounding of the logarithms
	}
	check(512.5, `[{"benchmark": "x", "primaryMetric": {"score": 512.5, "scoreUnit": "ns/op"}}]`, 1)
	check(100, two, 2)
	checkErr := func(want, text string) {
		t.Helper()
		_, err := parseScores([]byte(text), 1)
		assert.ErrorContains(t, err, want)
	}
	checkErr("JMH has 0 scores instead of 1", `[]`)
	checkErr("JMH has 2 scores instead of 1", two)
	checkErr("JMH's scores are not in ns/op", `[{"primaryMetric": {"score": 1, "scoreUnit": "ops/s"}}]`)
	checkErr("JMH's scores: ", `{`)
}

func TestTable(t *testing.T) {
	var b strings.Builder
	writeTable(&b, []section{
		{name: "small", figures: []figure{{"report", []float64{0.012, 0.010, 0.020}, inMillis, "<= 60 ms"},
			{"again", []float64{1}, asRatio, ""}}},
		{name: "steady", err: missing("there is no perf")},
		{name: "latency", err: io.ErrUnexpectedEOF},
	})
	assert.Equal(t, `                median  lowest to highest  goal
 small  report   12 ms           10 to 20  <= 60 ms
        again   1.00 x
steady: not measured: there is no perf
latency: it failed; stderr has the error
`, b.String())
}

func TestPick(t *testing.T) {
	require.NotEmpty(t, measurements)
	all, err := pick("")
	require.NoError(t, err)
	assert.Len(t, all, len(measurements)-5)
	apart, err := pick("stacks,inlining,lines,wall-tools,wall-latency")
	require.NoError(t, err)
	require.Len(t, apart, 5)
	for _, m := range apart {
		assert.True(t, m.apart, m.name)
	}
	two, err := pick("small,log-hex")
	require.NoError(t, err)
	require.Len(t, two, 2)
	assert.Equal(t, "small", two[0].name)
	assert.Equal(t, "log-hex", two[1].name)
	_, err = pick("smal")
	assert.ErrorContains(t, err, `there is no measurement "smal"`)
}
