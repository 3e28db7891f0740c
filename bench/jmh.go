package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// steadyBenchmarks are bound by the CPU: one loop over memory in the first-level
// cache, one of arithmetic alone.
var steadyBenchmarks = []string{`VectorSum\.sum`, `MathLog\.`}

// steadyForks is how many JVMs there are to a score. From one JVM to the next a
// score moves by two percent, by where code and data come to lie.
const steadyForks = 2

func (s *setup) needJMH() error {
	if err := s.needJDK(); err != nil {
		return err
	}
	if err := needSampler(); err != nil {
		return err
	}
	if _, err := os.Stat(s.jar); err != nil {
		return missing("there is no %s (make benchmarks)", s.jar)
	}
	return nil
}

// jmh is the command line of a run of so many JVMs for each benchmark, each with
// two seconds of warm-up and so many measured ones.
func (s *setup) jmh(j jdk, forks, iterations int64, more ...string) []string {
	length := "1"
	if s.short {
		length = "300ms"
	}
	return append([]string{j.tool("java"), "-jar", s.jar, "-f", fmt.Sprint(forks), "-wi", "2", "-w", length,
		"-i", fmt.Sprint(iterations), "-r", length}, more...)
}

func (s *setup) underGasm(argv []string) []string {
	return append([]string{s.gasm, "profile", "--report", filepath.Join(s.dir, "report.txt"), "--"}, argv...)
}

// A contender is a way to run JMH, and its scores, one a round.
type contender struct {
	name   string
	before []string // of the java command
	goal   string
	scores []float64
}

// steady compares scores under gasm with scores without, and with those under
// perf alone: what sampling costs by itself depends on the machine, most of all
// on what an interrupt costs in a virtual one. Which of them is first changes
// from round to round.
func steady(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJMH(); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		contenders := []*contender{
			{name: "plain"},
			{name: "gasm", before: s.underGasm(nil), goal: "within 1 %"},
		}
		if needTool("perf") == nil {
			contenders = append(contenders, &contender{name: "perf record -F 1001", before: []string{
				"perf", "record", "-q", "-k", "mono", "-F", "1001", "-B", "-N", "-o", filepath.Join(s.dir, "perf.data"), "--"}})
		}
		for i := range s.rounds {
			for k := range contenders {
				c := contenders[(i+k)%len(contenders)]
				s.say("%s, round %d of %d, %s", j.label(), i+1, s.rounds, c.name)
				score, err := s.score(ctx, j, c.before)
				if err != nil {
					return all, err
				}
				c.scores = append(c.scores, score)
			}
		}
		all = append(all, steadyFigures(j, contenders)...)
	}
	return all, nil
}

func steadyFigures(j jdk, contenders []*contender) []figure {
	plain := contenders[0].scores
	figures := []figure{{j.label() + ", plain, geometric mean", plain, unit{"%.0f ns", 1}, ""}}
	for _, c := range contenders[1:] {
		slower := ratios(c.scores, plain)
		for i := range slower {
			slower[i]--
		}
		figures = append(figures, figure{"  " + c.name, slower, percent, c.goal})
	}
	return figures
}

// score runs JMH behind some words and returns the geometric mean of the times
// per operation that it measured.
func (s *setup) score(ctx context.Context, j jdk, before []string) (float64, error) {
	file := filepath.Join(s.dir, "score.json")
	defer os.Remove(file)
	jmh := s.jmh(j, s.size(steadyForks, 1), s.size(3, 2), append([]string{"-rf", "json", "-rff", file}, steadyBenchmarks...)...)
	if _, err := run(ctx, slices.Concat(before, jmh), nil); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("JMH left no scores: %w", err)
	}
	return parseScores(text, len(steadyBenchmarks))
}

// parseScores returns the geometric mean of the scores in JMH's JSON, of so many
// benchmarks: of two such means the ratio is the mean of the ratios.
func parseScores(text []byte, benchmarks int) (float64, error) {
	var results []struct {
		PrimaryMetric struct {
			Score     float64
			ScoreUnit string
		}
	}
	if err := json.Unmarshal(text, &results); err != nil {
		return 0, fmt.Errorf("JMH's scores: %w", err)
	}
	if len(results) != benchmarks {
		return 0, fmt.Errorf("JMH has %d scores instead of %d", len(results), benchmarks)
	}
	logs := 0.0
	for _, r := range results {
		if r.PrimaryMetric.ScoreUnit != "ns/op" {
			return 0, fmt.Errorf("JMH's scores are not in ns/op: %+v", results)
		}
		logs += math.Log(r.PrimaryMetric.Score)
	}
	return math.Exp(logs / float64(benchmarks)), nil
}

// latency is how long one waits for a report: from the command's last line to
// gasm's exit. JMH's own exit is in it.
func latency(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJMH(); err != nil {
		return nil, err
	}
	iterations := s.size(28, 2)
	var all []figure
	for _, j := range s.jdks {
		s.say("%s, %d measured iterations", j.label(), iterations)
		waited, lasted, err := afterLastLine(ctx, s.underGasm(s.jmh(j, 1, iterations, steadyBenchmarks[0])))
		if err != nil {
			return all, err
		}
		what := fmt.Sprintf("%s, behind a run of %.0f s", j.label(), lasted.Seconds())
		all = append(all, figure{what, []float64{waited.Seconds()}, seconds, "<= 1 s"})
	}
	return all, nil
}

// afterLastLine runs a command with stdout in a pipe. It returns the time from
// its last line to its exit, and from its start to the last line.
func afterLastLine(ctx context.Context, argv []string) (waited, lasted time.Duration, err error) {
	cmd := command(ctx, argv)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, commandError(argv, err, "")
	}
	last := begin
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		last = time.Now()
	}
	// The pipe ends with gasm, or before: what is left then is waited for here.
	err = cmd.Wait()
	end := time.Now()
	if err != nil {
		return 0, 0, commandError(argv, err, errs.String())
	}
	if last.Equal(begin) {
		return 0, 0, commandError(argv, fmt.Errorf("it printed nothing"), errs.String())
	}
	return end.Sub(last), last.Sub(begin), lines.Err()
}
