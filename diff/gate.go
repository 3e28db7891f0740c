package diff

import (
	"fmt"
	"math"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/student"
)

// A Gate is what became slower by more than a limit.
//
// A benchmark is judged by its time per operation, JMH's score. It fails when that grew by more
// than the limit and the noise together. Where each side has several captures, the CPU time per
// operation is judged in the same way: on a machine that does much else, a thread often waits for
// a processor, which makes scores differ and CPU time not. Where each side has three captures or forks,
// one that was disturbed does not hide what all others show (trimmed.go). Any other program is judged by the shares of its methods
// and native functions: one fails when its share grew by more than the limit, in percentage
// points, and its noise together.
type Gate struct {
	Percent float64   `json:"percent"` // the limit
	Failed  int       `json:"failed"`  // of Rows
	Rows    []GateRow `json:"rows"`    // every benchmark; of other programs what fails
}

// A GateRow is one thing that is judged.
type GateRow struct {
	Trial string `json:"trial"`
	Name  string `json:"name,omitempty"` // the method; "" of a benchmark
	// Before and After are the time per operation in ns, or shares from 0 to 1.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Change and Noise are in percent of Before, or in percentage points. Noise is what chance can
	// make of a change; it is 0 and NoiseKnown false where nothing tells.
	Change     float64 `json:"change"`
	Noise      float64 `json:"noise"`
	NoiseKnown bool    `json:"noise_known"`
	CPU        bool    `json:"cpu_time,omitempty"` // by samples, because JMH's scores are not there
	// LeftOut is how many of the slowest captures or forks of each side are not in Before and After; see trimmedRow.
	LeftOut int  `json:"left_out,omitempty"`
	Failed  bool `json:"failed"`

	trial int // of the Result's Trials
}

// Judge says what became slower by more than percent.
func (r *Result) Judge(percent float64) *Gate {
	g := &Gate{Percent: percent, Rows: []GateRow{}}
	judged := 0
	for i := range r.Trials {
		judged += len(r.Trials[i].measures())
	}
	for i := range r.Trials {
		c := &r.Trials[i]
		if c.A.Samples == 0 || c.B.Samples == 0 {
			continue
		}
		for _, m := range c.measures() {
			row := c.timeRow(m, judged)
			row.Failed = row.failed(percent)
			if without, ok := c.trimmedRow(m, judged); ok && !row.Failed && without.failed(percent) {
				row, row.Failed = without, true
			}
			row.trial = i
			g.Rows = append(g.Rows, row)
		}
		if len(c.measures()) > 0 {
			continue
		}
		for _, row := range c.shareRows(percent) {
			row.trial = i
			g.Rows = append(g.Rows, row)
		}
	}
	for i := range g.Rows {
		if g.Rows[i].Failed {
			g.Failed++
		}
	}
	return g
}

// failed tells whether it became slower by more than percent.
func (r *GateRow) failed(percent float64) bool { return r.NoiseKnown && r.Change-r.Noise > percent }

// A measure is a time per operation of both sides, in ns: JMH's, or that of the samples.
type measure struct {
	a, b float64
	cpu  bool
}

// measures are those that a benchmark is judged by; none of what is no benchmark.
func (c *Comparison) measures() (m []measure) {
	if c.A.Samples == 0 || c.B.Samples == 0 {
		return nil
	}
	a, okA := c.A.scoreNanos()
	b, okB := c.B.scoreNanos()
	if okA && okB && isTime(a) && isTime(b) {
		m = append(m, measure{a, b, false})
	}
	if a, b := c.A.NanosPerOp, c.B.NanosPerOp; isTime(a) && isTime(b) && (len(m) == 0 || len(c.A.CPURuns) > 1 && len(c.B.CPURuns) > 1) {
		m = append(m, measure{a, b, true})
	}
	return m
}

// isTime tells whether a number of nanoseconds is one that an operation can take: a
// billionth of one to 30 years.
func isTime(nanos float64) bool { return nanos > 1e-9 && nanos < 1e18 }

// timeRow judges a benchmark by a measure, one of so many that are judged.
func (c *Comparison) timeRow(m measure, judged int) GateRow {
	row := GateRow{Trial: c.A.Title(), Before: m.a, After: m.b, Change: 100 * (m.b - m.a) / m.a, CPU: m.cpu}
	var noise float64
	switch probability := 1 - falseAlarms/float64(max(judged, 1)); {
	case !m.cpu:
		noise, row.NoiseKnown = c.scoreNoise(probability)
	case len(c.A.CPURuns) > 1 && len(c.B.CPURuns) > 1:
		noise, row.NoiseKnown = max(groupNoise(probability, c.A.CPURuns, c.B.CPURuns), c.sampledNoise()), true
	default:
		noise, row.NoiseKnown = c.sampledNoise(), len(c.A.Forks) > 1 && len(c.B.Forks) > 1
	}
	row.Noise = 100 * noise / m.a
	return row
}

// groupNoise is by how much the means of two groups of times can differ by chance, as the
// times in them differ.
func groupNoise(probability float64, a, b []float64) float64 {
	return student.Quantile(probability, len(a)+len(b)-2) * math.Sqrt(meanVariance(a)+meanVariance(b))
}

// scoreNoise is by how much JMH's times can differ by chance, in ns. How much a side's captures,
// forks or iterations differ among each other tells it, whichever differ the most. All that is
// judged together gives a false alarm with the probability falseAlarms.
//
// Iterations alone do not tell it: those of one JVM have the same code, the same heap and the same
// minute of the machine, and are more alike than those of two JVMs.
func (c *Comparison) scoreNoise(probability float64) (noise float64, known bool) {
	for _, groups := range []struct {
		times func(*TrialSide) []float64
		tell  bool
	}{{runTimes, true}, {forkTimes, true}, {iterationTimes, false}} {
		a, b := groups.times(c.A), groups.times(c.B)
		if len(a) > 1 && len(b) > 1 {
			noise, known = max(noise, groupNoise(probability, a, b)), known || groups.tell
		}
	}
	return noise, known
}

// sampledNoise is by how much CPU time per operation can differ by chance: by sampling, or, where
// nothing else is known, as the forks' samples differ.
func (c *Comparison) sampledNoise() float64 {
	variance := func(t *TrialSide) float64 {
		v := 1 / float64(t.Samples)
		if n := len(t.Forks); n > 1 && len(t.CPURuns) < 2 {
			var parts []float64
			for _, samples := range t.Forks {
				parts = append(parts, float64(samples)*float64(n)/float64(t.Samples))
			}
			v = max(v, meanVariance(parts))
		}
		return v * t.NanosPerOp * t.NanosPerOp
	}
	return c.Noise.SpreadFactor * math.Sqrt(variance(c.A)+variance(c.B))
}

// runTimes, forkTimes and iterationTimes are the times per operation of each capture, fork
// or iteration, in ns.
func runTimes(t *TrialSide) []float64 { return t.Runs }

func forkTimes(t *TrialSide) []float64 {
	var times []float64
	for _, fork := range t.Score.Forks {
		if nanos, ok := capture.Nanos(mean(fork), t.Score.Unit); ok { // of no iteration it is NaN
			times = append(times, nanos)
		}
	}
	return finite(times)
}

func iterationTimes(t *TrialSide) []float64 {
	var times []float64
	for _, fork := range t.Score.Forks {
		for _, x := range fork {
			if nanos, ok := capture.Nanos(x, t.Score.Unit); ok {
				times = append(times, nanos)
			}
		}
	}
	return finite(times)
}

// finite leaves out what is no number.
func finite(values []float64) []float64 {
	var kept []float64
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			kept = append(kept, x)
		}
	}
	return kept
}

// meanVariance is the variance of the mean of some values.
func meanVariance(values []float64) float64 {
	n, middle := float64(len(values)), mean(values)
	var squares float64
	for _, x := range values {
		squares += (x - middle) * (x - middle)
	}
	return squares / (n - 1) / n
}

// shareRows are the methods of a program whose shares grew by more than percent. Inlining is
// undone: which method is compiled into which one is no difference in speed. Native functions and
// stubs have no frames.
func (c *Comparison) shareRows(percent float64) []GateRow {
	var rows []GateRow
	judge := func(r *Row) {
		row := GateRow{Trial: c.A.Title(), Name: strings.TrimSpace(r.Source + " " + r.Name), Before: r.ShareA, After: r.ShareB,
			Change: 100 * r.Change, Noise: 100 * r.Threshold, NoiseKnown: true}
		if row.Failed = row.Change-row.Noise > percent; row.Failed {
			rows = append(rows, row)
		}
	}
	for i := range c.Frames {
		judge(&c.Frames[i])
	}
	for i := range c.Methods {
		if r := &c.Methods[i]; len(c.A.Frames) == 0 || !strings.Contains(r.Source, ", level ") {
			judge(r)
		}
	}
	return rows
}

// text says what a row is: "a.B.c: 12.1 us -> 15.0 us per operation, +24.0 % (noise 3.1 %)".
func (r *GateRow) text() string {
	noise := fmt.Sprintf("noise %.1f", r.Noise)
	if !r.NoiseKnown {
		noise = "not judged: noise takes two forks or captures on each side"
	}
	if r.Name != "" {
		return fmt.Sprintf("%s: %s has %s -> %s of the profile, %+.1f points (%s)", r.Trial, r.Name, percentText(r.Before), percentText(r.After), r.Change, noise)
	}
	what := "per operation"
	if r.CPU {
		what = "of CPU time per operation"
	}
	if r.LeftOut > 0 {
		what += fmt.Sprintf(", without the slowest %d of each side", r.LeftOut)
	}
	return fmt.Sprintf("%s: %s -> %s %s, %+.1f %% (%s)", r.Trial, nanosText(r.Before), nanosText(r.After), what, r.Change, noise)
}

// maxGateLines is how many of the things that fail are named.
const maxGateLines = 10

// Err is an error that names what failed; nil where nothing did.
func (g *Gate) Err() error {
	if g.Failed == 0 {
		return nil
	}
	var lines []string
	for i := range g.Rows {
		if !g.Rows[i].Failed {
			continue
		}
		if len(lines) == maxGateLines {
			lines = append(lines, fmt.Sprintf("and %d more", g.Failed-maxGateLines))
			break
		}
		lines = append(lines, g.Rows[i].text())
	}
	return fmt.Errorf("slower by more than the %g %% of --fail-above, beyond noise: %s", g.Percent, strings.Join(lines, "; "))
}
