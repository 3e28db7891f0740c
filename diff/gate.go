package diff

import (
	"fmt"
	"math"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/noise"
	"github.com/gasm-profiler/gasm/internal/student"
)

// A Gate says which benchmarks or methods became slower by more than a limit (--fail-above).
//
// A benchmark is judged by its time per operation, JMH's score. It fails if this time grew by more
// than the sum of the limit and the noise. If each side has several captures, the CPU time per
// operation is judged in the same way. On a busy machine threads often wait for a processor: this
// changes the score, but not the CPU time. If each side has at least three captures or forks, one
// disturbed capture or fork can't hide a slowdown that all others show (trimmed.go).
//
// Any other program is judged by the shares of its methods and native functions. A method fails if
// its share grew by more than the sum of the limit, in percentage points, and the noise.
type Gate struct {
	Percent float64   `json:"percent"` // the limit
	Failed  int       `json:"failed"`  // how many of Rows failed
	Rows    []GateRow `json:"rows"`    // all benchmarks; for other programs only the methods that failed
}

// A GateRow is the verdict on one benchmark or method.
type GateRow struct {
	Trial string `json:"trial"`
	Name  string `json:"name,omitempty"` // the method; "" for a benchmark
	// Before and After are the time per operation in ns, or shares from 0 to 1.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Change and Noise are in percent of Before for a benchmark, and in percentage points for a
	// method. Noise is the largest change that chance can explain. If NoiseKnown is false, the real
	// noise may be larger than Noise, and the row can't fail.
	Change     float64 `json:"change"`
	Noise      float64 `json:"noise"`
	NoiseKnown bool    `json:"noise_known"`
	CPU        bool    `json:"cpu_time,omitempty"` // the times are CPU times, estimated from samples
	// Before and After do not include the slowest LeftOut captures or forks of each side; see
	// trimmedRow.
	LeftOut int  `json:"left_out,omitempty"`
	Failed  bool `json:"failed"`

	trial int // index in the Result's Trials
}

// Judge returns the verdict on every trial. percent is the limit. For a benchmark it is in percent
// of the time per operation, and for any other program in percentage points.
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

// failed reports whether the time or share grew by more than the given percentage even after the noise is subtracted.
func (r *GateRow) failed(percent float64) bool { return r.NoiseKnown && r.Change-r.Noise > percent }

// A measure is a time per operation on both sides, in ns: JMH's score, or the CPU time from samples.
type measure struct {
	a, b float64
	cpu  bool
}

// measures returns the measures by which a trial is judged. There are none if the time per
// operation is unknown, for example because the program is not a benchmark.
func (c *Comparison) measures() (m []measure) {
	if c.A.Samples == 0 || c.B.Samples == 0 {
		return nil
	}
	a, okA := c.A.scoreNanos()
	b, okB := c.B.scoreNanos()
	if okA && okB && isTime(a) && isTime(b) {
		m = append(m, measure{a, b, false})
	}
	if a, b := c.A.NanosPerOp, c.B.NanosPerOp; isTime(a) && isTime(b) &&
		(len(m) == 0 || len(c.A.CPURuns) > 1 && len(c.B.CPURuns) > 1) {
		m = append(m, measure{a, b, true})
	}
	return m
}

// isTime reports whether an operation can take this number of nanoseconds. It accepts anything from
// a billionth of a nanosecond to 30 years.
func isTime(nanos float64) bool { return nanos > 1e-9 && nanos < 1e18 }

// timeRow judges a benchmark by a measure. The parameter judged is the number of measures that are judged in the whole
// Result. The more there are, the larger the noise gets, because each of them could be a false alarm.
func (c *Comparison) timeRow(m measure, judged int) GateRow {
	row := GateRow{Trial: c.A.Title(), Before: m.a, After: m.b, Change: 100 * (m.b - m.a) / m.a, CPU: m.cpu}
	var chance float64
	switch probability := 1 - noise.FalseAlarms/float64(max(judged, 1)); {
	case !m.cpu:
		chance, row.NoiseKnown = c.scoreNoise(probability)
	case len(c.A.CPURuns) > 1 && len(c.B.CPURuns) > 1:
		chance, row.NoiseKnown = max(groupNoise(probability, c.A.CPURuns, c.B.CPURuns), c.sampledNoise()), true
	default:
		chance, row.NoiseKnown = c.sampledNoise(), len(c.A.Forks) > 1 && len(c.B.Forks) > 1
	}
	row.Noise = 100 * chance / m.a
	return row
}

// groupNoise returns by how much the means of two groups of times can differ by chance. It
// estimates this from how much the times within each group differ.
func groupNoise(probability float64, a, b []float64) float64 {
	return student.Quantile(probability, len(a)+len(b)-2) * math.Sqrt(meanVariance(a)+meanVariance(b))
}

// scoreNoise returns by how much JMH's times can differ by chance, in ns. It is estimated from the
// differences among a side's captures, among its forks and among its iterations; the largest
// estimate counts. probability is chosen so that all judgements together give a false alarm with
// the probability noise.FalseAlarms.
//
// The second result is true only if both sides have several captures, or both have several forks.
// Iterations alone are not enough. The iterations of one JVM share its code, its heap and the same
// minute on the machine, so they are more alike than the iterations of two JVMs.
func (c *Comparison) scoreNoise(probability float64) (noise float64, known bool) {
	for _, groups := range []struct {
		times func(*TrialSide) []float64
		tell  bool // true if the noise can be estimated from these times
	}{{runTimes, true}, {forkTimes, true}, {iterationTimes, false}} {
		a, b := groups.times(c.A), groups.times(c.B)
		if len(a) > 1 && len(b) > 1 {
			noise, known = max(noise, groupNoise(probability, a, b)), known || groups.tell
		}
	}
	return noise, known
}

// sampledNoise returns the largest difference in CPU time per operation that chance explains, in ns. One cause is
// random sampling. Another is the difference between the forks of a side that has a single capture.
// For each side, only the cause with the larger effect counts.
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

// runTimes, forkTimes and iterationTimes return the times per operation of each capture, fork
// or iteration, in ns.
func runTimes(t *TrialSide) []float64 { return t.Runs }

func forkTimes(t *TrialSide) []float64 {
	var times []float64
	for _, fork := range t.Score.Forks {
		if nanos, ok := capture.Nanos(mean(fork), t.Score.Unit); ok { // NaN for a fork without iterations
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

// finite returns the values that are neither NaN nor infinite.
func finite(values []float64) []float64 {
	var kept []float64
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			kept = append(kept, x)
		}
	}
	return kept
}

// meanVariance returns the variance of the values' mean.
func meanVariance(values []float64) float64 {
	n, middle := float64(len(values)), mean(values)
	var squares float64
	for _, x := range values {
		squares += (x - middle) * (x - middle)
	}
	return squares / (n - 1) / n
}

// shareRows returns the methods of a program whose shares grew by more than the given percentage. It judges frames
// rather than compiled methods, because a compiled method's share also changes when HotSpot inlines it into a different
// caller. It also judges native functions, stubs and the interpreter, which have no frames. If there are no frames at
// all, it judges every method.
func (c *Comparison) shareRows(percent float64) []GateRow {
	var rows []GateRow
	judge := func(r *Row) {
		row := GateRow{Trial: c.A.Title(), Name: strings.TrimSpace(r.Source + " " + r.Name), Before: r.ShareA,
			After:  r.ShareB,
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

// noiseUnknown says why a time per operation could not be judged.
const noiseUnknown = "the noise is known only with two forks or captures on each side"

// text describes a row: "a.B.c: 12.1 us -> 15.0 us per operation, +24.0 % (noise 3.1 %)".
func (r *GateRow) text() string {
	noise := fmt.Sprintf("noise %.1f", r.Noise)
	if !r.NoiseKnown {
		noise = "not judged: " + noiseUnknown
	}
	if r.Name != "" {
		return fmt.Sprintf("%s: %s has %s -> %s of the profile, %+.1f points (%s)", r.Trial, r.Name, percentText(r.Before),
			percentText(r.After), r.Change, noise)
	}
	what := "per operation"
	if r.CPU {
		what = "of CPU time per operation"
	}
	if r.LeftOut > 0 {
		what += fmt.Sprintf(", without the slowest %d of each side", r.LeftOut)
	}
	return fmt.Sprintf("%s: %s -> %s %s, %+.1f %% (%s)", r.Trial, nanosText(r.Before), nanosText(r.After), what, r.Change,
		noise)
}

// maxGateLines is the maximum number of failed rows that an error lists.
const maxGateLines = 10

// Err returns an error that names the benchmarks or methods that failed, or nil if none failed.
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
	return fmt.Errorf("slower by more than the %g %% of --fail-above, beyond noise: %s", g.Percent,
		strings.Join(lines, "; "))
}
