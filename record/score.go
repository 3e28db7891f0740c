package record

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
)

// score notes how many operations the newest iteration did. Its score tells that:
// "15.753 ns/op" is the time of one thread per operation, "63.2 ops/us" is how many
// operations all threads together do in that time.
func (r *jmhRun) score(line []byte) {
	fork := &r.forks[len(r.forks)-1]
	span := r.newest()
	fork.operations[len(fork.operations)-1] = operations(line, float64(span.ToMonoNanos-span.FromMonoNanos), fork.threads)
}

// nanosPer has JMH's units of time, in ns.
var nanosPer = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "hr": 3600e9, "day": 86400e9}

// operations is how many operations a line's score means for an iteration of nanos; 0
// when the score is not exact enough ("≈ 10⁻⁵ s/op") or there is none.
func operations(line []byte, nanos float64, threads int) float64 {
	words := bytes.Fields(line)
	at := len(words) - 2
	for i, word := range words { // "15.753 ±(99.9%) 0.2 ns/op"
		if bytes.HasPrefix(word, []byte("±")) {
			at = i - 1
		}
	}
	if at < 0 {
		return 0
	}
	value, err := strconv.ParseFloat(strings.Replace(string(words[at]), ",", ".", 1), 64)
	if err != nil || !(value > 0) || math.IsInf(value, 0) {
		return 0
	}
	unit := string(words[len(words)-1])
	if per, ok := strings.CutSuffix(unit, "/op"); ok && nanosPer[per] > 0 {
		return float64(threads) * nanos / (value * nanosPer[per])
	}
	if per, ok := strings.CutPrefix(unit, "ops/"); ok && nanosPer[per] > 0 {
		return value * nanos / nanosPer[per]
	}
	return 0
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
