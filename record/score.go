package record

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
)

// score notes what the newest iteration's score is, and how many operations it did, which its
// score tells: "15.753 ns/op" is the time of one thread per operation, "63.2 ops/us" is how
// many operations all threads together do in that time.
func (r *jmhRun) score(line []byte) {
	fork := &r.forks[len(r.forks)-1]
	span, last := r.newest(), len(fork.operations)-1
	fork.operations[last] = operations(line, float64(span.ToMonoNanos-span.FromMonoNanos), fork.threads)
	if value, unit, ok := scoreOf(line); ok {
		fork.scores[last], fork.unit = value, unit
	}
}

// scoreOf reads the score of a line. It is false where the score is not exact enough
// ("≈ 10⁻⁵ s/op") or there is none.
func scoreOf(line []byte) (value float64, unit string, ok bool) {
	words := bytes.Fields(line)
	at := len(words) - 2
	for i, word := range words { // "15.753 ±(99.9%) 0.2 ns/op"
		if bytes.HasPrefix(word, []byte("±")) {
			at = i - 1
		}
	}
	if at < 0 {
		return 0, "", false
	}
	value, err := strconv.ParseFloat(strings.Replace(string(words[at]), ",", ".", 1), 64)
	if err != nil || !(value > 0) || math.IsInf(value, 0) {
		return 0, "", false
	}
	return value, string(words[len(words)-1]), true
}

// operations is how many operations a line's score means for an iteration of nanos; 0
// when there is no exact score.
func operations(line []byte, nanos float64, threads int) float64 {
	value, unit, ok := scoreOf(line)
	perOp, isTime := capture.Nanos(value, unit)
	switch {
	case !ok || !isTime:
		return 0
	case strings.HasPrefix(unit, "ops/"): // of all threads
		return nanos / perOp
	}
	return float64(threads) * nanos / perOp
}

// addOperations adds the operations of a fork's iterations to those of the trial; first
// tells that it is the trial's first fork. One iteration whose operations are unknown
// makes the trial's unknown too, 0.
func addOperations(t *capture.Trial, first bool, iterations []float64) {
	if !first && t.Operations == 0 {
		return
	}
	for _, n := range iterations {
		if n == 0 {
			t.Operations = 0
			return
		}
		t.Operations += n
	}
}

// modes are JMH's short names of what it announces: "Average time, time/op".
var modes = map[string]string{"Throughput": "thrpt", "Average time": "avgt", "Sampling time": "sample", "Single shot invocation time": "ss"}

// addScores adds the scores of a fork's iterations to those of the trial. Those of an iteration
// that is not known, or of one that was cut short, are left out.
func addScores(t *capture.Trial, f *jmhFork) {
	var known []float64
	for _, x := range f.scores {
		if x > 0 {
			known = append(known, x)
		}
	}
	if len(known) == 0 || t.Score != nil && t.Score.Unit != f.unit {
		return
	}
	if t.Score == nil {
		t.Score = &capture.Score{Mode: modes[f.mode], Unit: f.unit}
	}
	t.Score.Forks = append(t.Score.Forks, known)
	t.Score.Estimate()
}
