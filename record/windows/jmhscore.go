package windows

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
)

// score notes the newest iteration's score, and the number of its operations. The number follows from the score:
// "15.753 ns/op" is the time that one thread takes for an operation, and "63.2 ops/us" is the number of operations of
// all threads in a microsecond.
func (r *jmhRun) score(line []byte) {
	fork := &r.forks[len(r.forks)-1]
	span, last := r.newest(), len(fork.operations)-1
	fork.operations[last] = operations(line, float64(span.ToMonoNanos-span.FromMonoNanos), fork.threads)
	if value, unit, ok := scoreOf(line); ok {
		fork.scores[last], fork.unit = value, unit
	}
}

// scoreOf reads the score in a line. ok is false if there is no score, or if it is not exact enough ("≈ 10⁻⁵ s/op").
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

// operations returns the number of operations in an iteration, computed from the score in the line and the iteration's
// duration in ns. It returns 0 if there is no exact score.
func operations(line []byte, nanos float64, threads int) float64 {
	value, unit, ok := scoreOf(line)
	perOp, isTime := capture.Nanos(value, unit)
	switch {
	case !ok || !isTime:
		return 0
	case strings.HasPrefix(unit, "ops/"): // the score is that of all threads
		return nanos / perOp
	}
	return float64(threads) * nanos / perOp
}

// addOperations adds the operations of a fork's iterations to the operations of the trial. The parameter first is true
// for the trial's first fork. If the operations of one iteration are unknown (0), the operations of the trial are
// unknown, too, and are set to 0.
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

// modes maps the names of JMH's modes, as in "# Benchmark mode: Average time, time/op", to JMH's short names for them.
var modes = map[string]string{"Throughput": "thrpt", "Average time": "avgt", "Sampling time": "sample",
	"Single shot invocation time": "ss"}

// addScores adds the scores of a fork's iterations to the scores of the trial. It skips iterations without a score,
// such as those that were cut short.
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
