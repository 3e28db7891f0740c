package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// steadyBenchmark is compute-bound, in one method, and its score hardly moves.
const steadyBenchmark = `VectorSum\.sum`

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

// jmh is the command line of a run with so many measured iterations.
func (s *setup) jmh(j jdk, iterations int64, more ...string) []string {
	length, warmups := "1", "5"
	if s.short {
		length, warmups = "300ms", "2"
	}
	return append([]string{j.tool("java"), "-jar", s.jar, "-f", "1", "-wi", warmups, "-w", length,
		"-i", fmt.Sprint(iterations), "-r", length, steadyBenchmark}, more...)
}

func (s *setup) underGasm(argv []string) []string {
	return append([]string{s.gasm, "profile", "--report", filepath.Join(s.dir, "report.txt"), "--"}, argv...)
}

// steady compares scores under gasm with scores without, in pairs. Which of the
// two is first changes from pair to pair.
func steady(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJMH(); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		var plain, profiled []float64
		for i := range s.rounds {
			s.say("%s, pair %d of %d", j.label(), i+1, s.rounds)
			for k := range 2 {
				under := (i+k)%2 == 1
				score, err := s.score(ctx, j, under)
				if err != nil {
					return all, err
				}
				if under {
					profiled = append(profiled, score)
				} else {
					plain = append(plain, score)
				}
			}
		}
		slower := ratios(profiled, plain)
		for i := range slower {
			slower[i]--
		}
		nanos := unit{"%.1f ns", 1}
		all = append(all,
			figure{j.label() + ", plain score", plain, nanos, ""},
			figure{j.label() + ", score under gasm", profiled, nanos, ""},
			figure{"  time under gasm", slower, percent, "within 1 %"})
	}
	return all, nil
}

// score runs JMH and returns the time per operation that it measured.
func (s *setup) score(ctx context.Context, j jdk, under bool) (float64, error) {
	file := filepath.Join(s.dir, "score.json")
	defer os.Remove(file)
	argv := s.jmh(j, s.size(10, 2), "-rf", "json", "-rff", file)
	if under {
		argv = s.underGasm(argv)
	}
	if _, err := run(ctx, argv, nil); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("JMH left no scores: %w", err)
	}
	return parseScore(text)
}

// parseScore reads the score of the only benchmark in JMH's JSON.
func parseScore(text []byte) (float64, error) {
	var results []struct {
		PrimaryMetric struct {
			Score     float64
			ScoreUnit string
		}
	}
	if err := json.Unmarshal(text, &results); err != nil {
		return 0, fmt.Errorf("JMH's scores: %w", err)
	}
	if len(results) != 1 || results[0].PrimaryMetric.ScoreUnit != "ns/op" {
		return 0, fmt.Errorf("JMH's scores are not one in ns/op: %+v", results)
	}
	return results[0].PrimaryMetric.Score, nil
}

// latency is how long one waits for a report: from the command's last line to
// gasm's exit. JMH's own exit is in it.
func latency(ctx context.Context, s *setup) ([]figure, error) {
	if err := s.needJMH(); err != nil {
		return nil, err
	}
	iterations := s.size(25, 2)
	var all []figure
	for _, j := range s.jdks {
		s.say("%s, %d measured iterations", j.label(), iterations)
		waited, lasted, err := afterLastLine(ctx, s.underGasm(s.jmh(j, iterations)))
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
