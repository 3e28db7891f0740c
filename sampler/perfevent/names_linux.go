package perfevent

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An Event describes an event that the kernel can sample, as perf_event_open expects it.
type Event struct {
	// Name is the event as the user spells it, for messages: "cpu/mem-loads/u".
	Name   string
	Type   uint32 // PERF_TYPE_HARDWARE, another such constant, or the number of a PMU
	Config [3]uint64
	// Flags are bits of perf_event_attr (unix.PerfBitExcludeKernel …).
	Flags uint64
	// Precise is the required precision of the PC: from 0, which allows any skid, to 3, which allows none (precise_ip
	// of perf_event_attr). If BestPrecise is true, lower levels are tried on a machine that does not have this level.
	Precise     int
	BestPrecise bool
	// CPUs are the CPUs that can count the event. nil means all CPUs.
	CPUs []int
}

// A NameError says that there is no event of that name.
type NameError struct {
	Name  string
	Cause string // what is wrong with the name; "" if the name is unknown
}

func (e *NameError) Error() string {
	if e.Cause == "" {
		return "there is no event " + e.Name
	}
	return fmt.Sprintf("there is no event %s: %s", e.Name, e.Cause)
}

// The kernel's generic events, by their names and aliases in perf.
var (
	hardwareEvents = map[string]uint64{
		"cycles": unix.PERF_COUNT_HW_CPU_CYCLES, "cpu-cycles": unix.PERF_COUNT_HW_CPU_CYCLES,
		"instructions":            unix.PERF_COUNT_HW_INSTRUCTIONS,
		"cache-references":        unix.PERF_COUNT_HW_CACHE_REFERENCES,
		"cache-misses":            unix.PERF_COUNT_HW_CACHE_MISSES,
		"branches":                unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		"branch-instructions":     unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		"branch-misses":           unix.PERF_COUNT_HW_BRANCH_MISSES,
		"bus-cycles":              unix.PERF_COUNT_HW_BUS_CYCLES,
		"stalled-cycles-frontend": unix.PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
		"idle-cycles-frontend":    unix.PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
		"stalled-cycles-backend":  unix.PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
		"idle-cycles-backend":     unix.PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
		"ref-cycles":              unix.PERF_COUNT_HW_REF_CPU_CYCLES,
	}
	softwareEvents = map[string]uint64{
		"cpu-clock":   unix.PERF_COUNT_SW_CPU_CLOCK,
		"task-clock":  unix.PERF_COUNT_SW_TASK_CLOCK,
		"page-faults": unix.PERF_COUNT_SW_PAGE_FAULTS, "faults": unix.PERF_COUNT_SW_PAGE_FAULTS,
		"context-switches": unix.PERF_COUNT_SW_CONTEXT_SWITCHES, "cs": unix.PERF_COUNT_SW_CONTEXT_SWITCHES,
		"cpu-migrations": unix.PERF_COUNT_SW_CPU_MIGRATIONS, "migrations": unix.PERF_COUNT_SW_CPU_MIGRATIONS,
		"minor-faults":     unix.PERF_COUNT_SW_PAGE_FAULTS_MIN,
		"major-faults":     unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		"alignment-faults": unix.PERF_COUNT_SW_ALIGNMENT_FAULTS,
		"emulation-faults": unix.PERF_COUNT_SW_EMULATION_FAULTS,
		"cgroup-switches":  11, // PERF_COUNT_SW_CGROUP_SWITCHES, since Linux 5.13
	}
	caches = map[string]uint64{
		"L1-dcache": 0, "l1-d": 0, "l1d": 0, "L1-data": 0,
		"L1-icache": 1, "l1-i": 1, "l1i": 1, "L1-instruction": 1,
		"LLC": 2, "L2": 2,
		"dTLB": 3, "d-tlb": 3, "Data-TLB": 3,
		"iTLB": 4, "i-tlb": 4, "Instruction-TLB": 4,
		"branch": 5, "branches": 5, "bpu": 5, "btb": 5, "bpc": 5,
		"node": 6,
	}
	cacheOps = map[string]uint64{
		"load": 0, "loads": 0, "read": 0,
		"store": 1, "stores": 1, "write": 1,
		"prefetch": 2, "prefetches": 2, "speculative-read": 2, "speculative-load": 2,
	}
	cacheResults = map[string]uint64{"refs": 0, "Reference": 0, "ops": 0, "access": 0, "misses": 1, "miss": 1}
)

// Lookup finds an event. The parameters are the parts of the event's name as perf spells them: for "cpu/event=0x3c/u",
// pmu is "cpu", name is "event=0x3c" and modifiers is "u". pmu and modifiers may be "". spec is the whole text, for
// messages. If there is no such event, the error is a [*NameError].
func Lookup(spec, pmu, name, modifiers string) (Event, error) {
	return theKernel.lookup(spec, pmu, name, modifiers)
}

// A kernel holds the folders in which the kernel describes its events. Tests use folders of their own.
type kernel struct {
	devices string   // the folder that has a folder for each PMU
	tracing []string // folders where the tracepoints may be; at most one of them exists
}

var theKernel = kernel{"/sys/bus/event_source/devices",
	[]string{"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"}}

func (k kernel) lookup(spec, pmu, name, modifiers string) (e Event, err error) {
	if pmu != "" {
		e, err = k.pmuEvent(pmu, name)
	} else {
		e, err = k.bareEvent(name)
	}
	if err == nil {
		err = e.modify(modifiers)
	}
	e.Name = spec
	if failure, ok := err.(*NameError); ok {
		failure.Name = spec
	}
	return e, err
}

// bareEvent finds an event that was named without a PMU.
func (k kernel) bareEvent(name string) (Event, error) {
	if config, ok := softwareEvents[name]; ok {
		return Event{Type: unix.PERF_TYPE_SOFTWARE, Config: [3]uint64{config}}, nil
	}
	if config, ok := hardwareEvents[name]; ok {
		return Event{Type: unix.PERF_TYPE_HARDWARE, Config: [3]uint64{config}}, nil
	}
	if config, ok := cacheEvent(name); ok {
		return Event{Type: unix.PERF_TYPE_HW_CACHE, Config: [3]uint64{config}}, nil
	}
	if config, ok := rawEvent(name); ok {
		return Event{Type: unix.PERF_TYPE_RAW, Config: [3]uint64{config}}, nil
	}
	if system, point, ok := strings.Cut(name, ":"); ok {
		return k.tracepoint(system, point)
	}
	for _, pmu := range k.pmusWith(name) {
		return k.pmuEvent(pmu, name)
	}
	return Event{}, &NameError{}
}

// cacheEvent returns the configuration for a name such as L1-dcache-load-misses, which consists of a cache, an
// operation and a result. A name without an operation means loads, and a name without a result means all accesses.
func cacheEvent(name string) (config uint64, ok bool) {
	rest := ""
	for start, number := range caches {
		after, is := strings.CutPrefix(name, start)
		if is && (after == "" || after[0] == '-') && (!ok || len(after) < len(rest)) {
			config, rest, ok = number, after, true
		}
	}
	if !ok {
		return 0, false
	}
	if rest == "" {
		return config, true
	}
	rest = rest[1:]
	if result, is := cacheResults[rest]; is {
		return config | result<<16, true
	}
	for word, op := range cacheOps {
		after, is := strings.CutPrefix(rest, word)
		if !is {
			continue
		}
		if after == "" {
			return config | op<<8, true
		}
		if result, known := cacheResults[strings.TrimPrefix(after, "-")]; known && after[0] == '-' {
			return config | op<<8 | result<<16, true
		}
	}
	return 0, false
}

// rawEvent returns the configuration for a name such as r01c4, which is the hexadecimal number after the r.
func rawEvent(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, "r")
	config, err := strconv.ParseUint(digits, 16, 64)
	return config, ok && err == nil
}

// tracepoint finds a tracepoint. The kernel has the tracepoint's number in a file that only root may read.
func (k kernel) tracepoint(system, point string) (Event, error) {
	if strings.ContainsAny(system+point, "/*?") {
		return Event{}, &NameError{}
	}
	var last error
	for _, dir := range k.tracing {
		text, err := os.ReadFile(filepath.Join(dir, system, point, "id"))
		if err != nil {
			if last == nil || !os.IsNotExist(err) {
				last = err
			}
			continue
		}
		id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return Event{}, fmt.Errorf("the number of tracepoint %s:%s: %w", system, point, err)
		}
		return Event{Type: unix.PERF_TYPE_TRACEPOINT, Config: [3]uint64{id}}, nil
	}
	if last != nil && !os.IsNotExist(last) {
		return Event{}, last
	}
	return Event{}, &NameError{}
}

// modify applies modifiers such as "u" and "Pk" (get_event_modifier() in the kernel's
// tools/perf/util/parse-events.c).
func (e *Event) modify(modifiers string) error {
	const levels = unix.PerfBitExcludeUser | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	const guests = unix.PerfBitExcludeHost | unix.PerfBitExcludeGuest
	level := map[rune]uint64{'u': unix.PerfBitExcludeUser, 'k': unix.PerfBitExcludeKernel, 'h': unix.PerfBitExcludeHv}
	guest := map[rune]uint64{'H': unix.PerfBitExcludeHost, 'G': unix.PerfBitExcludeGuest}
	other := map[rune]uint64{'D': unix.PerfBitPinned, 'I': unix.PerfBitExcludeIdle, 'e': unix.PerfBitExclusive}
	e.Flags = unix.PerfBitExcludeGuest
	if modifiers != "" {
		e.Flags = 0
	}
	anyLevel, anyGuest := false, false
	for _, m := range modifiers {
		switch {
		case level[m] != 0:
			if !anyLevel {
				e.Flags |= levels
				anyLevel = true
			}
			e.Flags &^= level[m]
		case guest[m] != 0:
			if !anyGuest {
				e.Flags |= guests
				anyGuest = true
			}
			e.Flags &^= guest[m]
		case other[m] != 0:
			e.Flags |= other[m]
		case m == 'p':
			e.Precise++
		case m == 'P':
			e.BestPrecise, e.Precise = true, 3
		default:
			return &NameError{Cause: fmt.Sprintf("its modifier %c is known to perf alone", m)}
		}
		if (m == 'u' || m == 'p') && !anyGuest {
			e.Flags |= unix.PerfBitExcludeGuest
		}
	}
	return nil
}
