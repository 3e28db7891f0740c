package windows

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/capture"
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
// JMH flushes its output after "Iteration 1: ". So the iteration begins when this piece arrives, and ends when the
// score arrives. Both arrive late; a jmhLink finds out by how much. The benchmark itself may print text between the two
// pieces, and before each of them on the same line.
type jmhRun struct {
	benchmark, params, mode string        // of the trial that JMH announced last
	threads                 int           // number of threads that run the benchmark
	length                  time.Duration // of a measured iteration; 0 when unknown
	forks                   []jmhFork
	measuring               bool   // the newest iteration has no score yet, or a later line may replace its score
	headed                  bool   // "Iteration 1: " is in the current line
	probing                 bool   // JMH is asking a JVM for compiler blackholes
	blackholes              string // JMH's words: "compiler (auto-detected, use …)"
	// onProbe is called with true when JMH begins to ask a JVM for compiler blackholes, and with false when JMH has the
	// answer. It may be nil.
	onProbe func(begins bool)
	// onMoment is called when an iteration of a fork has begun or ended. It may be nil.
	onMoment func(jmhMoment)
}

// A jmhFork is one run of a trial's iterations in one JVM.
type jmhFork struct {
	trial, mode string
	number      int  // JMH's number of the fork, from 1
	host        bool // there is no fork: the iterations run in JMH's own JVM
	warmup      bool
	threads     int
	announced   int64          // when JMH announced the fork
	iterations  []capture.Span // according to the times at which JMH's lines arrived
	sent        []sentTimes    // when the fork sent the lines of each iteration
	operations  []float64      // of each iteration; 0 if they can't be computed from its score
	scores      []float64      // of each iteration; 0 when unknown
	unit        string         // of the scores
	last        int            // JMH's number of the newest iteration
}

// see examines line, which is the part of the current line that has arrived by the time mono. It is called again when
// more of the line arrives. whole is true if the line is complete.
func (r *jmhRun) see(line []byte, whole bool, mono int64) {
	if !r.headed && len(r.forks) > 0 {
		r.head(line, mono)
	}
	if !whole {
		return
	}
	switch {
	case r.measuring && looksLikeScore(line) && (r.headed || line[0] != ' '):
		// A benchmark may print a line that looks like a score, so gasm uses the last such line of an iteration. A line that
		// begins with a blank is not a score: JMH indents secondary results.
		r.newest().ToMonoNanos = mono
		r.score(line)
		r.moment(true)
	case r.measuring && isFailure(line), bytes.HasPrefix(line, []byte(`Result "`)):
		r.endIteration(mono)
	case bytes.HasPrefix(line, []byte("# ")):
		r.comment(string(line), mono)
	}
	r.headed = false
}

// probe notes that JMH begins to ask a JVM for compiler blackholes (begins is true), or that it has got the answer.
func (r *jmhRun) probe(begins bool) {
	if r.probing != begins && r.onProbe != nil {
		r.onProbe(begins)
	}
	r.probing = begins
}

// comment reads a whole line that begins with "# ".
func (r *jmhRun) comment(line string, mono int64) {
	key, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
	if !ok {
		return
	}
	switch key {
	case "JMH version":
		r.endIteration(mono)
		r.probe(true)
	case "Blackhole mode":
		r.probe(false)
		r.blackholes = value
	case "Warmup":
		r.probe(false) // JMH before 1.33 has no blackhole modes
	case "Measurement":
		r.length = iterationLength(value)
	case "Threads": // "4 threads, will synchronize iterations"
		word, _, _ := strings.Cut(value, " ")
		r.threads, _ = strconv.Atoi(word)
	case "Benchmark mode":
		r.mode, _, _ = strings.Cut(value, ",")
	case "Benchmark":
		r.benchmark, r.params = value, ""
	case "Parameters":
		r.params = strings.ReplaceAll(value, " = ", "=")
	case "Fork", "Warmup Fork":
		r.endIteration(mono)
		r.fork(value, key == "Warmup Fork", mono)
	case "Run progress", "Run complete. Total time", "Processing profiler results":
		// JMH has moved on. If the iteration has no score yet, gasm has missed the score.
		r.endIteration(mono)
	}
}

// fork notes that JMH has announced a fork. value is the text after "# Fork: ", such as "1 of 2".
func (r *jmhRun) fork(value string, warmup bool, mono int64) {
	if r.benchmark == "" {
		return // no benchmark was announced, so the line is not JMH's
	}
	trial := r.benchmark
	if r.params != "" {
		trial += " " + r.params
	}
	f := jmhFork{announced: mono, trial: trial, mode: r.mode, threads: max(1, r.threads), warmup: warmup,
		host: strings.HasPrefix(value, "N/A")}
	if word, _, _ := strings.Cut(value, " "); !f.host {
		f.number, _ = strconv.Atoi(word)
	}
	r.forks = append(r.forks, f)
}

// iterationHead matches what JMH prints at the beginning of an iteration: "Iteration %3d: ".
var iterationHead = regexp.MustCompile(`Iteration ( {0,2}[0-9]+): `)

// head looks in the current line for what JMH prints at the beginning of an iteration, such as "Iteration 1: ". There
// may be other text before it, if the benchmark prints without a newline.
func (r *jmhRun) head(line []byte, mono int64) {
	fork := &r.forks[len(r.forks)-1]
	for _, at := range iterationHead.FindAllSubmatchIndex(line, -1) {
		number := line[at[2]:at[3]]
		n, err := strconv.Atoi(string(bytes.TrimLeft(number, " ")))
		if err != nil || len(number) < 3 || n <= fork.last || bytes.HasSuffix(line[:at[0]], []byte("Warmup ")) {
			continue
		}
		r.endIteration(mono)
		fork.iterations = append(fork.iterations, capture.Span{FromMonoNanos: mono})
		fork.sent = append(fork.sent, sentTimes{})
		fork.operations = append(fork.operations, 0)
		fork.scores = append(fork.scores, 0)
		fork.last = n
		r.measuring, r.headed = true, true
		r.moment(false)
		return
	}
}

// newest returns the times of the newest iteration.
func (r *jmhRun) newest() *capture.Span {
	fork := &r.forks[len(r.forks)-1]
	return &fork.iterations[len(fork.iterations)-1]
}

// endIteration ends the newest iteration. If the iteration has no score, it ends at mono.
func (r *jmhRun) endIteration(mono int64) {
	if r.measuring && r.newest().ToMonoNanos == 0 {
		r.newest().ToMonoNanos = mono
	}
	r.measuring = false
}

// looksLikeScore reports whether a line ends like one of JMH's scores: "15.753 ns/op", "≈ 10⁻⁵ s/op", "3 ±(99.9%) 1
// ops/us".
func looksLikeScore(line []byte) bool {
	words := bytes.Fields(line)
	if len(words) < 2 {
		return false
	}
	number, unit := words[len(words)-2], words[len(words)-1]
	last, _ := utf8.DecodeLastRune(number)
	return (unicode.IsNumber(last) || bytes.HasSuffix(number, []byte("NaN"))) &&
		(bytes.HasSuffix(unit, []byte("/op")) || bytes.HasPrefix(unit, []byte("ops/")))
}

// isFailure reports whether a line says that the benchmark failed. JMH prints such a line instead of a score.
func isFailure(line []byte) bool {
	return bytes.HasSuffix(line, []byte("<failure>")) || bytes.Contains(line, []byte("<forked VM failed with exit code "))
}
