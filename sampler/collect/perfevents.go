package collect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// bestEvents are the events that gasm tries, in this order, if the user names no event.
var bestEvents = []sampler.Event{sampler.ParseEvent("cycles:P"), sampler.ParseEvent("cycles"),
	sampler.ParseEvent(sampler.CPUClock)}

// clockNames are perf's clocks, by their numbers in the kernel's perf_sw_ids. perf opens one of them instead of cycles
// on a machine without a counter of cycles.
var clockNames = []string{softwareCPUClock: sampler.CPUClock, softwareTaskClock: sampler.TaskClock}

// A request says which events gasm asks of perf or of the kernel.
type request struct {
	candidates [][]sampler.Event // lists of events; a list is tried if the lists before it were refused
	// clockForCycles is true if the candidates have cpu-clock instead of cycles.
	clockForCycles bool
}

// requestFor returns the request for the events that the user named, if any. noCounter is true if this machine can't
// count cycles. On such a machine perf silently opens a clock if it is asked for cycles: perf 6.1 opens cpu-clock, perf
// 6.12 and 7.2 open task-clock. So gasm asks for cpu-clock itself. Then all versions open cpu-clock.
func requestFor(named []sampler.Event, noCounter bool) request {
	if len(named) == 0 {
		if noCounter {
			return request{[][]sampler.Event{{sampler.ParseEvent(sampler.CPUClock)}}, true}
		}
		var r request
		for _, e := range bestEvents {
			r.candidates = append(r.candidates, []sampler.Event{e})
		}
		return r
	}
	if noCounter && slices.ContainsFunc(named, replaceable) {
		return request{[][]sampler.Event{withClock(named)}, true}
	}
	return request{candidates: [][]sampler.Event{named}}
}

// replaceable reports whether perf replaces an event with a clock if the machine can't count cycles. It does not
// replace an event with a PMU ("cpu/cycles/"). Such an event is simply refused if the machine has no such PMU.
func replaceable(e sampler.Event) bool { return e.CountsCycles() && !strings.Contains(e.Spec, "/") }

// withClock returns the events with one cpu-clock in place of all events that count cycles.
func withClock(named []sampler.Event) []sampler.Event {
	hasClock := slices.ContainsFunc(named, func(e sampler.Event) bool { return e.Name == sampler.CPUClock })
	var events []sampler.Event
	for _, e := range named {
		switch {
		case !replaceable(e):
			events = append(events, e)
		case !hasClock:
			events = append(events, sampler.ParseEvent(sampler.CPUClock+privileges(e)))
			hasClock = true
		}
	}
	return events
}

// privileges returns the modifiers of an event that say whose time is sampled (user, kernel, hypervisor, guest, host),
// with a colon: ":u" for "cycles:Pu" and for "cpu/cycles/Pu". It leaves out the other modifiers, such as P for precise,
// because they mean nothing to a clock.
func privileges(e sampler.Event) string {
	_, modifiers, _ := strings.Cut(e.Spec, e.Name)
	kept := strings.Map(func(c rune) rune {
		if strings.ContainsRune("ukhGH", c) {
			return c
		}
		return -1
	}, modifiers)
	if kept == "" {
		return ""
	}
	return ":" + kept
}

// readOpened reads from perf.data which events perf has opened. perf 7 leaves out events that it can't open and samples
// the rest, while an older perf samples nothing. If events were left out, readOpened returns errEventsMissing.
func (p *Perf) readOpened() error {
	opened, err := openedEvents(p.data)
	if err != nil {
		p.note("can't tell whether perf samples something else than %s: %v", strings.Join(sampler.Specs(p.events), ","), err)
		return nil
	}
	expected := 0
	for _, e := range p.events {
		if e.Name != "dummy" { // openedEvents leaves them out
			expected++
		}
	}
	if len(opened) < expected {
		return errEventsMissing
	}
	p.opened = opened
	return nil
}

// describe compares the events that perf has opened with the request, and notes the differences. refused says why perf
// could not sample the first candidate; it is nil if perf could.
func (p *Perf) describe(r request, refused *failure.RefusedError) {
	asked := strings.Join(sampler.Specs(p.events), ",")
	userOnly := slices.ContainsFunc(p.events, func(e sampler.Event) bool { return e.UserOnly })
	clock := "" // the clock that is sampled instead of cycles
	if r.clockForCycles || refused != nil && p.events[0].Name == sampler.CPUClock {
		clock = sampler.CPUClock
	}
	if other := unaskedClock(p.events, p.opened); other != "" {
		if p.replaceCycles(other) {
			clock = other
		} else {
			p.events = append(p.events, sampler.ParseEvent(other))
			p.note("perf samples %s, which it was not asked for, beside or in place of %s: name other events with --event",
				other, asked)
		}
	}
	switch {
	case clock != "":
		p.notes = append(p.notes, fix.Note{Text: noCounterNote(clock)})
	case refused != nil:
		p.note("PCs may be some instructions late: sampled %s, because %s", asked, refused.Cause)
	}

	p.kernel = !slices.ContainsFunc(p.opened, func(e openedEvent) bool { return e.userOnly })
	if !p.kernel && !userOnly {
		p.notes = append(p.notes, HiddenKernel)
	}
}

// These notes are the same for recordings by perf and for native recordings.
var (
	HiddenKernel   = fix.Note{Text: "kernel samples are not visible", Fix: "sudo sysctl kernel.perf_event_paranoid=1"}
	NamelessKernel = fix.Note{Text: "kernel functions have no names", Fix: "sudo sysctl kernel.kptr_restrict=0"}
)

// noCounterNote returns the note for a machine where a clock is sampled instead of cycles. The note is short, because a
// report has it on one line with the note about the frequency. gasm doctor explains more.
func noCounterNote(clock string) string {
	return fmt.Sprintf("no cycles counter (qemu: pmu=on), so %s", clock)
}

func (p *Perf) note(format string, args ...any) {
	p.notes = append(p.notes, fix.Note{Text: fmt.Sprintf(format, args...)})
}

// unaskedClock returns the name of a clock that perf has opened although gasm did not ask for it, or "" if there is no
// such clock.
func unaskedClock(asked []sampler.Event, opened []openedEvent) string {
	for _, clock := range clockNames {
		more := 0
		for _, e := range opened {
			if e.clock == clock {
				more++
			}
		}
		for _, e := range asked {
			if e.Name == clock {
				more--
			}
		}
		if more > 0 {
			return clock
		}
	}
	return ""
}

// replaceCycles replaces the events that count cycles with a clock. It returns false if there are no such events.
func (p *Perf) replaceCycles(clock string) bool {
	replaced := false
	for i, e := range p.events {
		if e.CountsCycles() {
			p.events[i] = sampler.ParseEvent(clock + privileges(e))
			replaced = true
		}
	}
	return replaced
}

// partlyOpened returns a note for each event that perf 7 has opened on one PMU, but not on another:
//
//	Failure to open event 'cpu_atom/cache-misses/' on PMU 'cpu_atom' which will be removed.
//
// There are no notes about events that perf could not open on any PMU: for those, readOpened returns errEventsMissing.
func partlyOpened(stderr string) (notes []fix.Note) {
	for line := range strings.Lines(stderr) {
		_, text, ok := strings.Cut(line, "Failure to open event '")
		event, text, ok1 := strings.Cut(text, "' on PMU '")
		pmu, _, ok2 := strings.Cut(text, "' which will be removed")
		if ok && ok1 && ok2 {
			notes = append(notes, fix.Note{
				Text: fmt.Sprintf("%s is not sampled on the cores of %s, which can't count it", sampler.ParseEvent(event).Name,
					pmu),
				Fix: "name an event that all cores have (perf list)"})
		}
	}
	return notes
}
