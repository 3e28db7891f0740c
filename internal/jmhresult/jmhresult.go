// Package jmhresult reads the results that JMH writes as JSON (its -rf json -rff FILE):
//
//	[ { "jmhVersion" : "1.37", "benchmark" : "org.sample.Bench.measure", "mode" : "avgt", "threads" : 1, "forks" : 2,
//	    "params" : { "size" : "10" },
//	    "primaryMetric" : { "score" : 15.7, "scoreError" : 0.2, "scoreUnit" : "ns/op",
//	        "rawData" : [ [ 15.6, 15.8 ], [ 15.7, 15.7 ] ] }, … }, … ]
//
// JSON has no number such as NaN. JMH writes it as a string: "scoreError" : "NaN".
package jmhresult

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// A Result is what JMH measured for one benchmark with one set of parameters in one mode.
type Result struct {
	Name  string // as in JMH's output: "org.sample.Bench.measure (size=10)"
	Mode  string // "avgt", "thrpt", "sample", "ss"
	Unit  string // "ns/op", "ops/us"
	Score float64
	Error float64     // half the width of the 99.9 % confidence interval; 0 if JMH does not know it
	Forks [][]float64 // the scores of each fork's iterations; nil in the mode "sample"
}

const (
	maxFile    = 64 << 20 // bytes; the results of 5000 trials with 100 iterations each take 20 MB
	maxResults = 5_000    // a capture has no more trials than this
)

// ReadFile reads a file of results.
func ReadFile(path string) ([]Result, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading JMH's results: %w", err)
	}
	defer f.Close()
	if size > maxFile {
		return nil, fmt.Errorf("reading JMH's results: %s has %d MiB; the limit is %d MiB", path, size>>20, maxFile>>20)
	}
	results, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("reading JMH's results: %s: %w", path, err)
	}
	return results, nil
}

// A result is one element of JMH's JSON array, before conversion to a Result.
type result struct {
	Benchmark string
	Mode      string
	Params    params
	Primary   struct {
		Score      number
		ScoreError number
		ScoreUnit  string
		RawData    [][]number
	} `json:"primaryMetric"`
}

// Read reads the results in r, which has the format of JMH's JSON file.
func Read(r io.Reader) ([]Result, error) {
	dec := json.NewDecoder(io.LimitReader(r, maxFile))
	if start, err := dec.Token(); err != nil || start != json.Delim('[') {
		return nil, errors.Join(errors.New("not a list of JMH's results (-rf json writes one)"), err)
	}
	var results []Result
	for dec.More() {
		if len(results) == maxResults {
			return nil, fmt.Errorf("more than %d results", maxResults)
		}
		var in result
		if err := dec.Decode(&in); err != nil {
			return nil, err
		}
		results = append(results, in.result())
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected data after the list of results")
	}
	return results, nil
}

func (in *result) result() Result {
	r := Result{Name: in.Benchmark, Mode: in.Mode, Unit: in.Primary.ScoreUnit, Score: float64(in.Primary.Score),
		Error: in.Primary.ScoreError.known()}
	if len(in.Params) > 0 {
		r.Name += " (" + strings.Join(in.Params, ", ") + ")"
	}
	for _, fork := range in.Primary.RawData {
		scores := make([]float64, len(fork))
		for i, n := range fork {
			scores[i] = float64(n)
		}
		r.Forks = append(r.Forks, scores)
	}
	return r
}

// A number is a JSON number, or a string such as "NaN" or "Infinity", because JSON has no such numbers.
type number float64

// UnmarshalJSON reads a number. Anything else becomes NaN.
func (n *number) UnmarshalJSON(text []byte) error {
	var f float64
	if json.Unmarshal(text, &f) != nil {
		f = math.NaN()
	}
	*n = number(f)
	return nil
}

// known returns n, or 0 if n is NaN or infinite.
func (n number) known() float64 {
	if f := float64(n); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f
	}
	return 0
}

// params are a benchmark's parameters, each as a text such as "size=10". They are in the order of
// the file. JMH prints them in the same order.
type params []string

// UnmarshalJSON reads an object. Its values are usually strings.
func (p *params) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(text)))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return err // err is nil for null, which means no parameters
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return err
		}
		*p = append(*p, fmt.Sprintf("%v=%v", name, value))
	}
	return nil
}
