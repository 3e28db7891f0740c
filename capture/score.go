package capture

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/student"
)

// A Score is the result that JMH measured for a trial.
type Score struct {
	Mode  string  `json:"mode"`  // "avgt", "thrpt", "sample", "ss"
	Unit  string  `json:"unit"`  // "ns/op", "ops/us"
	Value float64 `json:"value"` // the mean of all iterations
	// Error is half the width of the 99.9 % confidence interval, as JMH computes it. It is 0 if unknown.
	Error float64 `json:"error,omitempty"`
	// For each fork, Forks has a list of the scores of the fork's iterations. It is empty if the scores are unknown.
	Forks [][]float64 `json:"forks,omitempty"`
}

// confidence is the confidence level of JMH's score errors.
const confidence = 0.999

// Estimate sets Value and Error. It computes them from Forks, as JMH does. If Forks is empty, it changes nothing.
func (s *Score) Estimate() {
	var sum, squares float64
	n := 0
	for _, fork := range s.Forks {
		for _, x := range fork {
			sum += x
			n++
		}
	}
	if n == 0 {
		return
	}
	s.Value, s.Error = sum/float64(n), 0
	for _, fork := range s.Forks {
		for _, x := range fork {
			squares += (x - s.Value) * (x - s.Value)
		}
	}
	if n > 2 {
		s.Error = student.Quantile(1-(1-confidence)/2, n-1) * math.Sqrt(squares/float64(n-1)/float64(n))
	}
}

// String returns the score in words: "15.745 ±0.213 ns/op (avgt, 6 iterations in 2 forks)". It leaves out what is
// unknown.
func (s *Score) String() string {
	decimals := 3 // as in JMH
	if x := math.Abs(s.Value); x > 0 && x < 1 {
		decimals = min(3-int(math.Floor(math.Log10(x))), 20) // four significant digits
	}
	text := strconv.FormatFloat(s.Value, 'f', decimals, 64)
	if s.Error > 0 {
		text += " ±" + strconv.FormatFloat(s.Error, 'f', decimals, 64)
	}
	text += " " + s.Unit
	var of []string
	if s.Mode != "" {
		of = append(of, s.Mode)
	}
	iterations := 0
	for _, fork := range s.Forks {
		iterations += len(fork)
	}
	if iterations > 0 {
		of = append(of, counted(iterations, "iteration")+" in "+counted(len(s.Forks), "fork"))
	}
	if len(of) > 0 {
		text += " (" + strings.Join(of, ", ") + ")"
	}
	return text
}

// counted returns a number of things in words: "1 fork", "2 forks".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Sound reports whether a score can be shown and compared. That is the case if all its numbers are finite and it has a
// unit. For example, JMH writes NaN if a benchmark fails.
func (s *Score) Sound() bool {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	for _, fork := range s.Forks {
		for _, x := range fork {
			if !finite(x) {
				return false
			}
		}
	}
	return finite(s.Value) && finite(s.Error) && s.Error >= 0 && s.Unit != ""
}

// nanosPer maps JMH's units of time to their length in ns.
var nanosPer = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "hr": 3600e9, "day": 86400e9}

// Nanos returns the time per operation for a value with a unit, in ns: 15.7 for "15.7 ns/op", and 20 for "50 ops/us".
// It returns false if the unit is neither a time per operation nor operations per time.
func Nanos(value float64, unit string) (nanos float64, ok bool) {
	if per, is := strings.CutSuffix(unit, "/op"); is && nanosPer[per] > 0 {
		return value * nanosPer[per], true
	}
	if per, is := strings.CutPrefix(unit, "ops/"); is && nanosPer[per] > 0 && value > 0 {
		return nanosPer[per] / value, true
	}
	return 0, false
}
