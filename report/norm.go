package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/sampler"
)

// A normal turns a number of samples of one event into an amount per operation.
type normal struct {
	factor   float64 // of a sample
	decimals int
	unit     string // "ns", "samples per 1000 operations"
}

// normal gives the scale for event e of the current profile.
func (r *textReport) normal(e int) normal { return perOperation(r.p, e, r.about.Frequency) }

// perOperation gives the scale for event e: CPU time where a sample stands for a
// time, samples elsewhere. The unit suits the whole profile.
func perOperation(p *profile.Profile, e, frequency int) normal {
	total, ops := float64(p.Accounts[e].Profiled), p.Operations
	nanos := sampler.ParseEvent(p.Events[e]).CPUNanos(frequency)
	if nanos == 0 {
		return scaled(total, normal{factor: 1000 / ops, unit: "samples per 1000 operations"})
	}
	n := normal{factor: nanos / ops, unit: "ns"}
	for _, unit := range []string{"us", "ms", "s"} {
		if total*n.factor < 10000 {
			break
		}
		n.factor, n.unit = n.factor/1000, unit
	}
	n.unit = "CPU time per operation, in " + n.unit
	return scaled(total, n)
}

// scaled chooses the decimals: five digits for the whole.
func scaled(total float64, n normal) normal {
	digits := 1
	if whole := total * n.factor; whole > 0 {
		digits = int(math.Floor(math.Log10(whole))) + 1
	}
	n.decimals = min(max(5-digits, 0), 6)
	return n
}

func (n normal) text(samples int64) string {
	return strconv.FormatFloat(float64(samples)*n.factor, 'f', n.decimals, 64)
}

// countsUnit says what the numbers of the report are.
func (r *textReport) countsUnit() string {
	switch r.o.Counts {
	case Raw:
		return "Event counts are numbers of samples."
	case Norm:
		var units []string
		for e := range r.p.Events {
			units = append(units, r.normal(e).unit)
		}
		return fmt.Sprintf("Event counts are %s (%.4g operations).", strings.Join(slices.Compact(units), " and "), r.p.Operations)
	}
	return "Percents are of all samples here. A cost may show on the next instruction."
}
