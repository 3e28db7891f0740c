package sampler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Event is an event that makes a sampler take a sample: a perf event, DTrace's profile probe, or the timer or
// counter of Instruments.
type Event struct {
	// Spec is the event in the form in which a user passes it to perf ("cpu_core/cycles/Pu", "cycles:P"), or the name
	// of DTrace's probe ("profile-1001").
	Spec string
	// Name is the event without its PMU and its modifiers ("cycles"). It is the Sample.Event of the
	// event's samples.
	Name string
	// UserOnly is true if the modifiers leave the kernel out: u without k.
	UserOnly bool
}

// ParseEvent parses an event in the form that perf accepts, or in the form that perf script prints before a colon:
//
//	cycles:Pu                      cycles, user space only
//	cpu_core/cycles/u              cycles, user space only
//	cpu/event=0x3c,umask=0x1/      event=0x3c,umask=0x1
//	sched:sched_switch             sched:sched_switch, a tracepoint
//	r01c4                          r01c4, a raw event
//
// The Name is empty only if spec is empty. A Name is itself a valid spec, so ParseEvent also parses the events of a
// profile, which are Names.
func ParseEvent(spec string) Event {
	name, modifiers := spec, ""
	if last := strings.LastIndexByte(spec, '/'); last >= 0 {
		// PMU/terms/modifiers
		first := strings.IndexByte(spec, '/')
		if first+1 < last && (last+1 == len(spec) || isModifiers(spec[last+1:])) {
			name, modifiers = spec[first+1:last], spec[last+1:]
		}
	} else if colon := strings.LastIndexByte(spec, ':'); colon > 0 && isModifiers(spec[colon+1:]) {
		name, modifiers = spec[:colon], spec[colon+1:]
	}
	return Event{
		Spec:     spec,
		Name:     name,
		UserOnly: strings.Contains(modifiers, "u") && !strings.Contains(modifiers, "k"),
	}
}

// isModifiers reports whether a text consists of modifiers ("u", "Pu", "ppp", "uH"). perf accepts p up to three times,
// and every other modifier only once. Any other text, such as "sched_switch" or "hub_up", is the name of a tracepoint.
func isModifiers(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !strings.ContainsRune("ukhpPGHSDIWebRX", rune(c)) {
			return false
		}
		if c != 'p' && strings.IndexByte(text[i+1:], c) >= 0 {
			return false
		}
	}
	return text != "" && strings.Count(text, "p") <= 3
}

// ParseEvents parses the list of events of the flag --event, separated by commas. It refuses events that perf accepts,
// but that gasm would misunderstand. It returns no events for an empty list.
func ParseEvents(list string) ([]Event, error) {
	var events []Event
	byName := map[string]Event{}
	for _, spec := range splitEvents(list) {
		e := ParseEvent(spec)
		if err := e.check(); err != nil {
			return nil, err
		}
		if other, ok := byName[e.Name]; ok {
			return nil, fmt.Errorf("--event has %s and %s, whose samples both go by the name of %s; name one of them",
				other.Spec, e.Spec, e.Name)
		}
		byName[e.Name] = e
		events = append(events, e)
	}
	return events, nil
}

// splitEvents splits a list at its commas. A comma between the slashes of a PMU's event belongs to the
// event: "cpu/event=0x3c,umask=0x1/u,cycles" has two events.
func splitEvents(list string) (specs []string) {
	inPMU, start := false, 0
	for i, c := range list + "," {
		switch {
		case c == '/':
			inPMU = !inPMU
		case c == ',' && (!inPMU || i == len(list)):
			if spec := strings.TrimSpace(list[start:i]); spec != "" {
				specs = append(specs, spec)
			}
			start = i + 1
		}
	}
	return specs
}

// check returns an error for a group in braces ("{cycles,instructions}"), because splitEvents splits it at its commas.
// It also returns an error for terms that set an event's name, frequency or period, because gasm does not parse these.
func (e Event) check() error {
	if strings.ContainsAny(e.Spec, "{}") {
		return fmt.Errorf("--event has a group in braces (%s); name its events, separated by commas", e.Spec)
	}
	_, terms, _ := strings.Cut(e.Spec, "/")
	for term := range strings.SplitSeq(terms, ",") {
		switch name, _, _ := strings.Cut(term, "="); name {
		case "freq", "period":
			return fmt.Errorf("--event %s: gasm samples all events at one frequency; say it by --frequency", e.Spec)
		case "name":
			return fmt.Errorf("--event %s: name the event as perf list does, without name=", e.Spec)
		}
	}
	return nil
}

// Specs returns the Spec of each event.
func Specs(events []Event) []string {
	var specs []string
	for _, e := range events {
		specs = append(specs, e.Spec)
	}
	return specs
}

// ByClock reports whether the event is sampled by a CPU's clock: perf's cpu-clock and task-clock,
// Instruments' Time Profiler, and DTrace's profile probe with any frequency (profile-1001,
// profile-997hz).
func (e Event) ByClock() bool {
	return e.Name == CPUClock || e.Name == TaskClock || e.Name == TimeProfile || strings.HasPrefix(e.Name, probePrefix)
}

// Names of events that are sampled by a clock.
const (
	CPUClock    = "cpu-clock"    // perf's
	TaskClock   = "task-clock"   // perf's
	TimeProfile = "time-profile" // Instruments' Time Profiler: a timer that fires every ms on each CPU
)

// DTraceEvent returns the event of DTrace's profile probe with this frequency in Hz: profile-1001.
func DTraceEvent(hertz int) Event { return ParseEvent(probePrefix + strconv.Itoa(hertz)) }

// probePrefix begins the name of DTrace's profile probe. The frequency follows.
const probePrefix = "profile-"

// CountsCycles reports whether the event counts the cycles of the CPU. gasm samples cycles by default, and perf samples
// a clock instead if the machine has no counter for cycles.
func (e Event) CountsCycles() bool { return e.Name == "cycles" || e.Name == "cpu-cycles" }

// otherCycles are events that count the cycles of clocks other than the CPU's own.
var otherCycles = []string{"ref-cycles", "bus-cycles"}

// CPUNanos returns the CPU time between two samples, in ns, if the event is sampled at the given frequency in Hz. It
// returns 0 if the frequency is 0, which means unknown. It also returns 0 for an event that does not advance with CPU
// time, such as page-faults.
//
// A clock and a counter of cycles advance as long as the CPU works. So one sample of such an event is taken every
// 1/frequency seconds, whatever the program does.
func (e Event) CPUNanos(frequency int) float64 {
	if frequency <= 0 || !e.ByClock() && !e.CountsCycles() && !slices.Contains(otherCycles, e.Name) {
		return 0
	}
	return 1e9 / float64(frequency)
}

// NamedFrequency returns the frequency in the event's own name, in Hz: 1001 for DTrace's profile-1001
// and profile-1001hz. It returns 0 for a name without a frequency.
func (e Event) NamedFrequency() int {
	frequency, ok := strings.CutPrefix(e.Name, probePrefix)
	hertz, err := strconv.Atoi(strings.TrimSuffix(frequency, "hz"))
	if !ok || err != nil || hertz < 0 {
		return 0
	}
	return hertz
}
