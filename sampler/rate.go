package sampler

import (
	"fmt"
	"strings"
	"time"
)

// DefaultFrequency is how often gasm samples where that is cheap, per second and
// CPU: JMH's perfasm and dtraceasm take about as many. It is prime to a machine's
// other clocks, so that the samples don't always meet the same of its work.
const DefaultFrequency = 1001

// lowerFrequencies are taken where samples are expensive. They are few and far
// apart, so that a machine takes the same one each time.
var lowerFrequencies = []int{201, 101}

// maxShare is the share of a CPU's time that samples may take by default. With
// what else capturing costs, a steady program loses less than 1 %.
const maxShare = 0.006

// A Rate is how often to sample when the user does not say.
type Rate struct {
	Hertz int // per second and CPU
	// Cost is what a sample takes of the sampled thread's time, 0 where that can't
	// be measured.
	Cost time.Duration
	// Timers is how many of the events sample by time, each of which costs that.
	Timers int
}

// ChooseRate measures what a sample costs and takes the highest rate that leaves
// the command 99.4 % of its time, or the lowest there is. No events are perf's
// best, as for StartPerf. It takes 20 ms of one CPU.
//
// On hardware a sample is an interrupt of a microsecond or two, and the rate is
// DefaultFrequency. In a virtual machine cpu-clock's timer leaves the guest
// several times a sample, and nested ones have 25 us: 2.5 % of all time at
// 1001 Hz. That of events that do not go on with time, as page-faults, is not
// measured.
func ChooseRate(events []string) Rate {
	if len(events) == 0 {
		events = []string{"cycles"}
	}
	var timers []string
	for _, text := range events {
		if name := parseEvent(text).name; isCycles(name) || ByClock(name) {
			timers = append(timers, name)
		}
	}
	if len(timers) == 0 {
		return rateFor(0, 0)
	}
	return rateFor(sampleCost(timers[0]), len(timers))
}

func isCycles(event string) bool { return event == "cycles" || event == "cpu-cycles" }

// ByClock tells the events that are sampled by a CPU's clock: perf's cpu-clock and
// task-clock, and at any frequency DTrace's profile-1001.
func ByClock(event string) bool {
	return event == "cpu-clock" || event == "task-clock" || strings.HasPrefix(event, "profile-")
}

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

// Share is the share of its time that a thread loses to samples, 0 where their
// cost is unknown.
func (r Rate) Share(hertz int) float64 {
	return r.Cost.Seconds() * float64(r.Timers) * float64(hertz)
}

// Note says what the rate costs, and what the default would; "" if it is that.
func (r Rate) Note() string {
	if r.Hertz == DefaultFrequency {
		return ""
	}
	sample := "a sample's interrupt takes"
	if r.Timers > 1 {
		sample = fmt.Sprintf("the interrupts of a sample of %d events take", r.Timers)
	}
	return fmt.Sprintf("sampled at %d Hz, %.1f %% of the time: %s %.0f us here (--frequency %d would take %.1f %%)",
		r.Hertz, 100*r.Share(r.Hertz), sample, float64(r.Timers)*r.Cost.Seconds()*1e6,
		DefaultFrequency, 100*r.Share(DefaultFrequency))
}
