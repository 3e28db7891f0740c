package collect

import (
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// DefaultFrequency is how often gasm samples if a sample costs little, per second and CPU. JMH's
// perfasm and dtraceasm take about as many. 1001 is not a multiple of the frequencies of a machine's
// other clocks, so samples don't hit the same part of its work again and again.
const DefaultFrequency = 1001

// lowerFrequencies are chosen if a sample costs more. They are few and far apart, so that a machine
// chooses the same one each time.
var lowerFrequencies = []int{501, 301, 201, 101}

// maxShare is the share of a thread's time that samples may take by default. With a lower one, a window
// of a few seconds in a virtual machine would have too few samples to be useful.
const maxShare = 0.01

// A Rate is how often to sample if the user does not say.
type Rate struct {
	Hertz int // per second and CPU
	// Cost is how much of the sampled thread's time a sample takes, or 0 if that can't be measured.
	Cost time.Duration
	// Timers is how many of the events are sampled by time. Each of them takes Cost.
	Timers int
}

// ChooseRate measures what a sample costs and returns the highest rate that leaves the command 99 % of
// its time, or the lowest rate if none does. No events stand for those that StartPerf takes by default.
// ChooseRate takes 20 ms of one CPU, and at most 0.3 s on a busy machine.
//
// On hardware a sample is an interrupt of 1 or 2 us, and the rate is DefaultFrequency. In a virtual
// machine the timer of a clock event makes the CPU leave the guest several times for a sample. In a
// nested one that takes 25 us, which at 1001 Hz is 2.5 % of all time.
//
// The cost of events that do not advance with time, such as page-faults, is not measured.
func ChooseRate(events []sampler.Event) Rate {
	if len(events) == 0 {
		events = bestEvents[:1]
	}
	var timers []sampler.Event
	for _, e := range events {
		if e.CountsCycles() || e.ByClock() {
			timers = append(timers, e)
		}
	}
	if len(timers) == 0 {
		return rateFor(0, 0)
	}
	return rateFor(sampleCost(timers[0]), len(timers))
}

// rateFor returns the rate for what a sample costs; 0 means that the cost is unknown.
func rateFor(cost time.Duration, timers int) Rate {
	rate := Rate{DefaultFrequency, cost, timers}
	for _, lower := range lowerFrequencies {
		if rate.Share(rate.Hertz) <= maxShare {
			break
		}
		rate.Hertz = lower
	}
	return rate
}

// Share returns the share of its time that a thread loses if it is sampled at this frequency. It
// returns 0 if the cost of a sample is unknown.
func (r Rate) Share(hertz int) float64 {
	return r.Cost.Seconds() * float64(r.Timers) * float64(hertz)
}

// Note says what the rate costs, and what the default rate would cost. It returns "" for the default
// rate.
func (r Rate) Note() string {
	if r.Hertz == DefaultFrequency {
		return ""
	}
	return fmt.Sprintf("%d Hz takes %.1f %%, %d %.1f %% of the time", r.Hertz, 100*r.Share(r.Hertz), DefaultFrequency, 100*r.Share(DefaultFrequency))
}

// allowedFrequency returns how often the kernel lets events be sampled, with a note if that is less
// than what was asked for.
func allowedFrequency(asked int) (hertz int, note fix.Note) {
	limit, ok := machine.Sysctl("kernel/perf_event_max_sample_rate")
	if !ok || limit <= 0 || limit >= asked {
		return asked, fix.Note{}
	}
	return limit, fix.Note{Text: fmt.Sprintf("sampled at %d Hz, not %d", limit, asked),
		Fix: fmt.Sprintf("sudo sysctl kernel.perf_event_max_sample_rate=%d", asked)}
}
