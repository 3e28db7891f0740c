package jvm

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// score notes how many operations the newest iteration did, which its score
// tells: "15.753 ns/op" is a thread's time per operation, "63.2 ops/us" is what
// all threads do in that time.
func (r *jmhRun) score(line []byte) {
	fork := &r.forks[len(r.forks)-1]
	span := r.newest()
	fork.operations[len(fork.operations)-1] = operations(line, float64(span.ToMonoNanos-span.FromMonoNanos), fork.threads)
}

// nanosPer are JMH's units of time.
var nanosPer = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "hr": 3600e9, "day": 86400e9}

// operations is how many operations a score means in a time of nanos; 0 when
// the line has no such score ("≈ 10⁻⁵ s/op").
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

// addOperations adds what a fork's iterations did. One that is unknown makes the whole
// unknown.
func (t *Trial) addOperations(first bool, iterations []float64) {
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
