package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// steadyBenchmarks are limited by the CPU: a loop over memory in the first-level cache, and a loop of arithmetic
// only.
var steadyBenchmarks = []string{`VectorSum\.sum`, `MathLog\.`}

// steadyForks is the number of JVMs that run each benchmark. A score is the mean over these JVMs. One JVM is not
// enough: the scores of two JVMs differ by 2 %, because code and data have different addresses.
const steadyForks = 2

func (s *setup) needJMH() error {
	if err := s.needJDK(); err != nil {
		return err
	}
	if err := needSampler(); err != nil {
		return err
	}
	if _, err := os.Stat(s.jar); err != nil {
		return missing("there is no %s: 'make benchmarks' builds it", s.jar)
	}
	return nil
}

// jmh returns the command line that runs benchmarks in JMH. JMH starts a number of JVMs (forks) for each benchmark.
// Each JVM runs two iterations of warm-up, and then the measured iterations. An iteration takes one second, or 0.3 s
// with -short.
func (s *setup) jmh(j installedJDK, forks, iterations int64, more ...string) []string {
	length := "1"
	if s.short {
		length = "300ms"
	}
	// Without ignoreLock, JMH does not start while another run of JMH is on the machine, even a forgotten one.
	return append([]string{j.tool("java"), "-Djmh.ignoreLock=true", "-jar", s.jar, "-f", fmt.Sprint(forks), "-wi", "2",
		"-w", length,
		"-i", fmt.Sprint(iterations), "-r", length}, more...)
}

// underGasm returns the command line that profiles a command with gasm.
func (s *setup) underGasm(argv []string) []string {
	return append([]string{s.gasm, "profile", "--report", filepath.Join(s.dir, "report.txt"), "--"}, argv...)
}

// A contender is a way to run JMH, for example under gasm. It also has the scores of these runs.
type contender struct {
	name   string
	prefix []string // inserted before the java command
	goal   string
	scores []float64 // one per round
}

// measureSteady compares the scores of JMH benchmarks under gasm with the scores without gasm. It also measures scores
// under perf alone, because the cost of sampling depends on the machine. For example, interrupts are expensive in a
// virtual machine. The order of the contenders changes from round to round.
func measureSteady(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJMH(); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		contenders := []*contender{
			{name: "plain"},
			{name: "gasm", prefix: s.underGasm(nil), goal: "within 1 %"},
		}
		if needTool("perf") == nil {
			contenders = append(contenders, &contender{name: "perf record -F 1001", prefix: []string{
				"perf", "record", "-q", "-k", "mono", "-F", "1001", "-B", "-N", "-o", filepath.Join(s.dir, "perf.data"),
				"--"}})
		}
		for i := range s.rounds {
			for k := range contenders {
				c := contenders[(i+k)%len(contenders)]
				s.say("%s, round %d of %d, %s", j.label(), i+1, s.rounds, c.name)
				score, err := s.score(ctx, j, c.prefix)
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

// steadyFigures returns the table's rows for one JDK. The first contender is the baseline for the others.
func steadyFigures(j installedJDK, contenders []*contender) []figure {
	plain := contenders[0].scores
	figures := []figure{{j.label() + ", plain, geometric mean", plain, unit{"%.0f ns", 1}, ""}}
	for _, c := range contenders[1:] {
		slower := ratios(c.scores, plain)
		for i := range slower {
			slower[i]--
		}
		figures = append(figures, figure{"  " + c.name, slower, inPercent, c.goal})
	}
	return figures
}

// score runs JMH with a prefix before its command. It returns the geometric mean of the benchmarks' times per
// operation in ns.
func (s *setup) score(ctx context.Context, j installedJDK, prefix []string) (float64, error) {
	file := filepath.Join(s.dir, "score.json")
	defer os.Remove(file)
	jmh := s.jmh(j, s.size(steadyForks, 1), s.size(3, 2),
		append([]string{"-rf", "json", "-rff", file}, steadyBenchmarks...)...)
	if _, err := run(ctx, slices.Concat(prefix, jmh), nil); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("JMH left no scores: %w", err)
	}
	return parseScores(text, len(steadyBenchmarks))
}

// parseScores returns the geometric mean of the scores in JMH's JSON. There must be one result per benchmark. The ratio
// of the means of two runs is then the geometric mean of the benchmarks' ratios.
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

// measureLatency measures how long a user waits for the report: from the command's last line of output to gasm's
// exit. This includes the time that JMH itself needs to exit.
func measureLatency(ctx context.Context, s *setup) ([]figure, error) {
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
		what := fmt.Sprintf("%s, after a run of %.0f s", j.label(), lasted.Seconds())
		all = append(all, figure{what, []float64{waited.Seconds()}, inSeconds, "<= 0.15 s"})
	}
	return all, nil
}

// afterLastLine runs a command. It returns the time from the command's last line of output to its exit, and the time
// from the command's start to that line.
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
	// The output can end before gasm does, so wait until gasm has exited.
	err = cmd.Wait()
	end := time.Now()
	if err != nil {
		return 0, 0, commandError(argv, err, errs.String())
	}
	if last.Equal(begin) {
		return 0, 0, commandError(argv, errors.New("it printed nothing"), errs.String())
	}
	return end.Sub(last), last.Sub(begin), lines.Err()
}
