package amount

import (
	"math"
	"strconv"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Scale converts numbers of samples of an event to amounts per operation.
type Scale struct {
	Factor   float64 // the amount of one sample
	Decimals int     // number of digits after the decimal point
	Unit     string  // "CPU time per operation, in ns", "samples per 1000 operations"
}

// PerOperation returns the scale for the event with index e. The Operations of the profile must be known. If each
// sample of the event represents some CPU time, the amounts are CPU times. Otherwise they are numbers of samples.
// PerOperation chooses the unit of CPU times (ns, us, ms or s) so that the amount of all samples together is a handy
// number. frequency is the sampler's frequency in Hz, or 0 if it is unknown.
func PerOperation(p *profile.Profile, e, frequency int) Scale {
	total, ops := float64(p.Accounts[e].Profiled), p.Operations
	nanos := sampler.ParseEvent(p.Counters[e]).CPUNanos(frequency)
	if nanos == 0 {
		return withDecimals(total, Scale{Factor: 1000 / ops, Unit: "samples per 1000 operations"})
	}
	s := Scale{Factor: nanos / ops, Unit: "ns"}
	for _, unit := range []string{"us", "ms", "s"} {
		if total*s.Factor < 10000 {
			break
		}
		s.Factor, s.Unit = s.Factor/1000, unit
	}
	s.Unit = "CPU time per operation, in " + s.Unit
	return withDecimals(total, s)
}

// withDecimals returns s with Decimals chosen so that the amount of all samples together is written with five digits.
// total is the number of all samples.
func withDecimals(total float64, s Scale) Scale {
	digits := 1
	if whole := total * s.Factor; whole > 0 {
		digits = int(math.Floor(math.Log10(whole))) + 1
	}
	s.Decimals = min(max(5-digits, 0), 6)
	return s
}

// Format returns a number of samples as an amount per operation, without the unit.
func (s Scale) Format(samples int64) string {
	return strconv.FormatFloat(float64(samples)*s.Factor, 'f', s.Decimals, 64)
}
