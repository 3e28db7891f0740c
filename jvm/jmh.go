package jvm

import (
	"bytes"
	"strings"
)

// jmhRun follows JMH's text output (its TextReportFormat):
//
//	# JMH version: 1.37
//	# Blackhole mode: compiler (auto-detected, use -Djmh.blackhole.autoDetect=false to disable)
//	# Benchmark mode: Average time, time/op
//	# Benchmark: org.sample.Bench.measure
//	# Parameters: (size = 10)
//	# Fork: 1 of 2                            or "# Fork: N/A, test runs in the host VM"
//	# Warmup Iteration   1: 17.459 ns/op
//	Iteration   1: 15.753 ns/op
//
// JMH flushes after "Iteration   1: ", so the arrival of this piece is the
// iteration's beginning, and that of the score its end. What the benchmark
// itself prints may stand between the two.
type jmhRun struct {
	benchmark, params, mode string
	forks                   []jmhFork
	measuring               bool
	blackholes              string // "compiler (auto-detected, use …)"
	// onProbe is told when JMH is about to ask a JVM for compiler blackholes,
	// and when it has its answer; nil: nobody wants to know.
	onProbe func(begins bool)
	headed  bool // the current line begins with "Iteration"
}

// A jmhFork is one run of a trial's iterations in one JVM.
type jmhFork struct {
	trial, mode string
	host        bool // no fork at all: the iterations run in the host JVM
	warmup      bool
	iterations  []Span
}

func (r *jmhRun) see(line []byte, whole bool, mono int64) {
	if bytes.HasPrefix(line, []byte("Iteration ")) {
		r.iterationLine(line, whole, mono)
		return
	}
	if !whole {
		return
	}
	r.headed = false
	if len(line) > 0 && line[0] != '#' {
		if r.measuring && looksLikeScore(line) {
			r.endIteration(mono)
		}
		return
	}
	if len(line) > 0 {
		r.comment(string(line))
	}
	// JMH goes on without a score that we could see: the iteration is over.
	r.endIteration(mono)
}

func (r *jmhRun) probe(begins bool) {
	if r.onProbe != nil {
		r.onProbe(begins)
	}
}

// comment takes a whole line that begins with "# ".
func (r *jmhRun) comment(line string) {
	key, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
	if !ok {
		return
	}
	switch key {
	case "JMH version":
		r.probe(true)
	case "Blackhole mode":
		r.probe(false)
		r.blackholes = value
	case "Benchmark mode":
		r.mode, _, _ = strings.Cut(value, ",")
	case "Benchmark":
		r.benchmark, r.params = value, ""
	case "Parameters":
		r.params = strings.ReplaceAll(value, " = ", "=")
	case "Fork", "Warmup Fork":
		if r.benchmark == "" {
			return // not JMH
		}
		trial := r.benchmark
		if r.params != "" {
			trial += " " + r.params
		}
		r.forks = append(r.forks, jmhFork{trial: trial, mode: r.mode,
			host: strings.HasPrefix(value, "N/A"), warmup: key == "Warmup Fork"})
	}
}

func (r *jmhRun) iterationLine(line []byte, whole bool, mono int64) {
	_, score, ok := bytes.Cut(line, []byte(": "))
	if !ok || len(r.forks) == 0 {
		return
	}
	fork := &r.forks[len(r.forks)-1]
	if !r.headed {
		r.headed = true
		r.endIteration(mono)
		fork.iterations = append(fork.iterations, Span{FromMonoNanos: mono})
		r.measuring = true
	}
	if whole {
		r.headed = false
		if looksLikeScore(score) {
			r.endIteration(mono)
		}
	}
}

func (r *jmhRun) endIteration(mono int64) {
	if !r.measuring {
		return
	}
	r.measuring = false
	fork := &r.forks[len(r.forks)-1]
	fork.iterations[len(fork.iterations)-1].ToMonoNanos = mono
}

// looksLikeScore tells JMH's "15.753 ns/op", "≈ 10⁻⁵ s/op" and "3 ±(99.9%) 1
// ops/us" from what a benchmark prints.
func looksLikeScore(s []byte) bool {
	words := bytes.Fields(s)
	if len(words) < 2 {
		return false
	}
	first, unit := words[0], words[len(words)-1]
	number := first[0] >= '0' && first[0] <= '9' || first[0] == '-' || bytes.HasPrefix(first, []byte("≈")) || bytes.Equal(first, []byte("NaN"))
	return number && (bytes.HasSuffix(unit, []byte("/op")) || bytes.HasPrefix(unit, []byte("ops/")))
}
