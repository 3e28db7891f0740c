package windows

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
)

func TestResultFile(t *testing.T) {
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"java", "-jar", "b.jar", "-rf", "json", "-rff", "out.json"}, "out.json"},
		{[]string{"java", "-jar", "b.jar", "-rff=out.json", "-rf=JSON"}, "out.json"},
		{[]string{"java", "-jar", "b.jar", "-rf", "json"}, "jmh-result.json"},
		{[]string{"java", "-jar", "b.jar", "-rf", "csv", "-rff", "out.csv"}, ""},
		{[]string{"java", "-jar", "b.jar", "-rff", "out.txt"}, ""},
		{[]string{"java", "-jar", "b.jar", "-rf"}, ""},
		{[]string{"java"}, ""},
	} {
		assert.Equal(t, c.want, resultFile(c.command), "%v", c.command)
	}
}

func TestTakeResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	command := []string{"java", "-rf", "json", "-rff", path}
	trial := func(name, mode string) []capture.Trial {
		return []capture.Trial{{Name: name, Score: &capture.Score{Mode: mode, Unit: "ns/op", Value: 1}}}
	}
	now := time.Now().UnixNano()
	assert.Contains(t, takeResults(command, now, trial("a.B.c (size=1)", "avgt")), "JMH wrote no results into "+path)
	assert.Empty(t, takeResults(command, now, nil), "no benchmark was measured")
	require.NoError(t, os.WriteFile(path, []byte(`[
{"benchmark":"a.B.c","mode":"avgt","params":{"size":"1"},"primaryMetric":{"score":15.5,"scoreError":"NaN","scoreUnit":"us/op","rawData":[[15,16]]}},
{"benchmark":"a.B.c","mode":"thrpt","params":{"size":"1"},"primaryMetric":{"score":7,"scoreError":0.5,"scoreUnit":"ops/us","rawData":[[7]]}},
{"benchmark":"a.B.d","mode":"avgt","primaryMetric":{"score":"NaN","scoreUnit":"us/op"}}]`), 0o600))

	trials := trial("a.B.c (size=1)", "avgt")
	assert.Empty(t, takeResults(command, now, trials))
	assert.Equal(t, &capture.Score{Mode: "avgt", Unit: "us/op", Value: 15.5, Forks: [][]float64{{15, 16}}},
		trials[0].Score)
	trials = trial("a.B.c (size=1), Throughput", "thrpt")
	assert.Empty(t, takeResults(command, now, trials))
	assert.Equal(t, &capture.Score{Mode: "thrpt", Unit: "ops/us", Value: 7, Error: 0.5, Forks: [][]float64{{7}}},
		trials[0].Score)
	trials = trial("a.B.d", "avgt")
	assert.Empty(t, takeResults(command, now, trials))
	assert.EqualValues(t, 1, trials[0].Score.Value, "a score that is not a number is not taken")
	trials = trial("a.B.c (size=2)", "avgt")
	assert.Empty(t, takeResults(command, now, trials))
	assert.EqualValues(t, 1, trials[0].Score.Value, "of other parameters")

	require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(0, now).Add(-time.Hour)))
	assert.Contains(t, takeResults(command, now, trials), "wrote no results", "the file is of an older run")
	require.NoError(t, os.WriteFile(path, []byte(`{}`), 0o600))
	assert.Contains(t, takeResults(command, now, trials), "not a list of JMH's results")
}

// TestScoresOfLines checks that the scores in JMH's lines are those in the table that JMH prints at the end.
func TestScoresOfLines(t *testing.T) {
	chunks := recording(t, "two-forks")
	jvms := jvmsOf(chunks)
	trials := watch(chunks).JMHTrials(jvms, last(chunks))
	require.Len(t, trials, 1)
	s := trials[0].Score
	require.NotNil(t, s)
	assert.Equal(t, "avgt", s.Mode)
	assert.Equal(t, "ns/op", s.Unit)
	require.Len(t, s.Forks, 2)
	assert.Len(t, s.Forks[0], 3)
	var text []byte
	for _, c := range chunks {
		text = append(text, c.text...)
	}
	assert.Regexp(t, `VectorSum.sum +4096 +avgt +6 +`+shortNumber(s.Value)+` ± +`+shortNumber(s.Error)+` +ns/op`,
		string(text), "JMH's own table")
}

// shortNumber returns a regular expression for a number as JMH writes it. Its last digit may differ, because the scores
// of the lines are rounded.
func shortNumber(x float64) string {
	text := strconv.FormatFloat(x, 'f', 3, 64)
	return regexp.QuoteMeta(text[:len(text)-1]) + "[0-9]"
}
