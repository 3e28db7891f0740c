package collect

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// DefaultFrequency is the number of samples per second and CPU if a sample costs little. JMH's perfasm and dtraceasm
// use about the same frequency by default.
const DefaultFrequency = 1001

// lowerFrequencies are the frequencies to choose from if a sample costs too much for DefaultFrequency. They are few and
// far apart. So gasm chooses the same one each time on a machine, although the measured cost varies.
var lowerFrequencies = []int{501, 301, 201, 101}

// maxShare is the largest share of a thread's time that samples take by default. With a lower share, a window of a few
// seconds in a virtual machine would have too few samples to be useful.
const maxShare = 0.01

// A Rate is the frequency at which gasm samples if the user does not choose one, and the reason for this frequency.
type Rate struct {
	Hertz int // per second and CPU
	// Cost is the time that the sampled thread loses by one sample. It is 0 if that can't be measured.
	Cost time.Duration
	// Stack is the part of Cost that the kernel takes to copy the thread's registers and stack.
	Stack time.Duration
	// Timers is the number of events that are clocks or count cycles. Each sample of such an event takes the time Cost.
	Timers int
	// CPUs is the number of the machine's CPUs if samples have stacks, and otherwise 0.
	CPUs int
}

// costStack is the number of bytes of a stack that the kernel copies for each sample while gasm measures what these
// copies cost. In a recording, the kernel copies all that is on the stack, up to 64 KiB. Even of JRuby's stacks, which
// are deep, 88 % are smaller than costStack.
const costStack = 16 << 10

// walkCost is the CPU time that gasm needs to find the call stack of one sample, with 30 to 40 Java methods, in a
// virtual machine. maxWalks is the largest share of one CPU that finding the stacks of all samples may take by default.
// One goroutine finds all stacks, so on a machine with many CPUs it could not keep up at DefaultFrequency.
const (
	walkCost = 40 * time.Microsecond
	maxWalks = 0.5
)

// assumedStackCost is used as Rate.Stack if the user may not lock enough memory to measure the cost of a stack.
const assumedStackCost = 8 * time.Microsecond

// ChooseRate measures the time that a sample takes from the command. It returns the highest rate at which the command
// keeps 99 % of its time, or the lowest of its rates if there is no such rate. If events is empty, it measures the
// first event that StartPerf would try.
//
// If stacks is true, ChooseRate also measures what a call stack adds to the cost of a sample. It then chooses a rate at
// which gasm takes at most half a CPU to find the stacks, even if the command uses all CPUs.
//
// ChooseRate takes 20 to 30 ms of one CPU, and at most 1.2 s on a busy machine.
//
// On hardware a sample is an interrupt of 1 or 2 us, and the rate is DefaultFrequency. In a virtual machine, the CPU
// leaves the guest several times for each sample of a clock event. In a nested virtual machine that takes 25 us, which
// at 1001 Hz is 2.5 % of all time.
//
// The cost of events that do not advance with time, such as page-faults, is not measured.
func ChooseRate(events []sampler.Event, stacks bool) Rate {
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
		return rateFor(Rate{})
	}
	rate := Rate{Cost: sampleCost(timers[0], 0), Timers: len(timers)}
	if stacks {
		rate.CPUs = runtime.NumCPU()
		if rate.Cost > 0 {
			rate.Stack = stackCost(timers[0], rate.Cost)
			rate.Cost += rate.Stack
		}
	}
	return rateFor(rate)
}

// stackCost returns how much more a sample costs if the kernel also copies the thread's registers and stack. The
// parameter without is the cost of a sample without these copies. stackCost measures the cost with the copies three
// times and uses the least result, because other work on the machine can only make the cost look higher.
func stackCost(e sampler.Event, without time.Duration) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 3 {
		with := sampleCost(e, costStack)
		if with == 0 {
			return assumedStackCost
		}
		least = min(least, with)
	}
	return max(0, least-without)
}

// rateFor completes a Rate: it returns the Rate with the frequency that follows from the other fields.
func rateFor(rate Rate) Rate {
	rate.Hertz = DefaultFrequency
	for _, lower := range lowerFrequencies {
		if rate.Share(rate.Hertz) <= maxShare && rate.walks(rate.Hertz) <= maxWalks {
			break
		}
		rate.Hertz = lower
	}
	return rate
}

// walks returns how many CPUs gasm would need to find the stacks of all samples, if the command used all CPUs.
func (r Rate) walks(hertz int) float64 {
	return walkCost.Seconds() * float64(r.Timers*r.CPUs) * float64(hertz)
}

// Share returns the share of its time that a thread loses if it is sampled at this frequency. It
// returns 0 if the cost of a sample is unknown.
func (r Rate) Share(hertz int) float64 {
	return r.Cost.Seconds() * float64(r.Timers) * float64(hertz)
}

// Note returns a text that says what this rate costs, and what the default rate would cost. It returns "" if this is
// the default rate.
func (r Rate) Note() string {
	if r.Hertz == DefaultFrequency {
		return ""
	}
	if r.Share(DefaultFrequency) <= maxShare {
		return fmt.Sprintf("%d Hz: to find the call stacks of %d CPUs takes up to %.1f CPUs, at %d Hz %.1f", r.Hertz, r.CPUs,
			r.walks(r.Hertz), DefaultFrequency, r.walks(DefaultFrequency))
	}
	text := fmt.Sprintf("%d Hz takes %.1f %%, %d %.1f %% of the time", r.Hertz, 100*r.Share(r.Hertz), DefaultFrequency,
		100*r.Share(DefaultFrequency))
	if r.Stack > 0 {
		text += fmt.Sprintf("; a sample takes %.1f us, of which %.1f are for its call stack", r.Cost.Seconds()*1e6,
			r.Stack.Seconds()*1e6)
	}
	return text
}

// chooseFrequency returns the frequency at which events are sampled, usually opts.Frequency. If the kernel allows only
// a lower one, chooseFrequency takes that one and returns a note. If opts.Drawn is set, it then draws a frequency near
// this one at random.
func chooseFrequency(opts Options) (hertz int, note fix.Note) {
	hertz, note = allowedFrequency(opts.Frequency)
	if opts.Drawn {
		limit, _ := machine.Sysctl(maxRateSysctl)
		hertz = drawFrequency(hertz, limit, rand.Float64())
	}
	return hertz, note
}

// The constants nearest and farthest are the smallest and the largest difference between a drawn frequency and the
// requested one, as a fraction of the requested one. The requested frequency itself is not used, because the program
// may have the same one. With a smaller difference, the samples would move too slowly through the program's period, and
// a measurement of a few seconds would not reach all parts of the period. With a difference of 3 %, the samples reach
// all parts within 33 periods.
const (
	nearest  = 0.03
	farthest = 0.10
)

// drawFrequency returns a frequency that is lower or higher than hertz by 3 to 10 % (nearest and farthest). If limit is
// positive, the result is at most limit. u is a random number in [0, 1). drawFrequency returns hertz itself if hertz is
// so low that there is no such frequency.
//
// The timer of a clock event has a fixed period. A program that draws frames, polls a device or ticks may have the same
// period. Then all samples would be in the same part of the program's work. A counter of cycles needs no random
// frequency, because the kernel keeps adapting its period.
func drawFrequency(hertz, limit int, u float64) int {
	asked := float64(hertz)
	low := int(math.Ceil(asked * (1 - farthest)))
	lows := max(int(math.Floor(asked*(1-nearest)))-low+1, 0)
	high := int(math.Ceil(asked * (1 + nearest)))
	top := int(math.Floor(asked * (1 + farthest)))
	if limit > 0 {
		top = min(top, limit)
	}
	highs := max(top-high+1, 0)
	if lows+highs < 2 {
		return hertz
	}
	n := int(u * float64(lows+highs))
	if n < lows {
		return low + n
	}
	return high + n - lows
}

// maxRateSysctl is the sysctl with the kernel's limit for the frequency of events.
const maxRateSysctl = "kernel/perf_event_max_sample_rate"

// allowedFrequency returns its argument or, if the kernel's limit is lower, this limit and a note.
func allowedFrequency(asked int) (hertz int, note fix.Note) {
	limit, ok := machine.Sysctl(maxRateSysctl)
	if !ok || limit <= 0 || limit >= asked {
		return asked, fix.Note{}
	}
	return limit, fix.Note{Text: fmt.Sprintf("sampled at %d Hz, not %d", limit, asked), Fix: RaiseLimit(asked)}
}

// RaiseLimit returns the command that makes the kernel allow a frequency in Hz.
func RaiseLimit(hertz int) string {
	percent, known := machine.Sysctl("kernel/perf_cpu_time_max_percent")
	return raiseLimit(hertz, percent, known)
}

// raiseLimit is RaiseLimit for a given value of kernel.perf_cpu_time_max_percent, if that value is known. With the
// values 0 and 100, the kernel refuses to change the limit for frequencies (EINVAL). So the command first sets the
// value to 25, which is its default. sysctl applies its settings in the order of its arguments.
func raiseLimit(hertz, percent int, known bool) string {
	first := ""
	if known && (percent == 0 || percent == 100) {
		first = "kernel.perf_cpu_time_max_percent=25 "
	}
	return fmt.Sprintf("sudo sysctl %skernel.perf_event_max_sample_rate=%d", first, hertz)
}
