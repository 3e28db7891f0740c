package perfevent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The kernel describes each of its PMUs in a folder below /sys/bus/event_source/devices:
//
//	cpu/type                       4
//	cpu/format/event               config:0-7
//	cpu/format/ldlat               config1:0-15
//	cpu/events/mem-loads           event=0xcd,umask=0x1,ldlat=3
//	cpu_atom/cpus                  8-15        the CPUs that have this PMU
//	uncore_imc/cpumask             0           a PMU of the whole machine
//
// See tools/perf/util/pmu.c in the kernel's sources.

// pmuEvent finds an event by its PMU and its terms. The terms are the name of an event ("mem-loads") or its numbers
// ("event=0xcd,umask=0x1").
func (k kernel) pmuEvent(pmu, terms string) (Event, error) {
	if strings.ContainsAny(pmu, "/*?") {
		return Event{}, &NameError{}
	}
	number, err := strconv.ParseUint(k.read(pmu, "type"), 10, 32)
	if err != nil {
		return Event{}, &NameError{Cause: "the kernel has no PMU " + pmu}
	}
	e := Event{Type: uint32(number)}
	if k.read(pmu, "cpumask") != "" {
		return e, &NameError{Cause: "it is of the whole machine, not of a process"}
	}
	if cpus := k.read(pmu, "cpus"); cpus != "" {
		if e.CPUs, err = parseCPUs(cpus); err != nil {
			return e, fmt.Errorf("the CPUs of PMU %s: %w", pmu, err)
		}
	}
	return e, k.apply(&e, pmu, terms, true)
}

// apply applies terms to the event. A term without a value may be the name of one of the PMU's events. apply then
// replaces it with the terms in that event's file. mayName is false for the terms from such a file, which must not
// contain names again.
func (k kernel) apply(e *Event, pmu, terms string, mayName bool) error {
	for term := range strings.SplitSeq(terms, ",") {
		name, text, hasValue := strings.Cut(strings.TrimSpace(term), "=")
		if name == "" || strings.Contains(name, "/") {
			return &NameError{Cause: "an empty term"}
		}
		if named := k.read(pmu, filepath.Join("events", name)); mayName && !hasValue && named != "" {
			if err := k.apply(e, pmu, withoutParameters(named), false); err != nil {
				return err
			}
			if missing := missingParameter(named, terms); missing != "" {
				return &NameError{Cause: fmt.Sprintf("it needs a value for %s", missing)}
			}
			continue
		}
		value := uint64(1)
		if hasValue {
			var err error
			if value, err = strconv.ParseUint(text, 0, 64); err != nil {
				return &NameError{Cause: fmt.Sprintf("%q is no number", text)}
			}
		}
		if err := k.set(e, pmu, name, value); err != nil {
			return err
		}
	}
	return nil
}

// withoutParameters returns the terms except parameters. A parameter is a term like "event=?", whose value the user has
// to set.
func withoutParameters(terms string) string {
	kept := slices.DeleteFunc(strings.Split(terms, ","), func(term string) bool { return strings.HasSuffix(term, "=?") })
	return strings.Join(kept, ",")
}

// missingParameter returns the name of an event's parameter that has no value in the user's terms, or "" if all have
// one. For parameters, see withoutParameters.
func missingParameter(named, terms string) string {
	for term := range strings.SplitSeq(named, ",") {
		name, isParameter := strings.CutSuffix(term, "=?")
		if isParameter && !strings.Contains(","+terms, ","+name+"=") {
			return name
		}
	}
	return ""
}

// set writes a term's value into e.Config, into those bits that the format file of the PMU names for the term.
func (k kernel) set(e *Event, pmu, name string, value uint64) error {
	format := k.read(pmu, filepath.Join("format", name))
	if i := slices.Index(configs, name); format == "" && i >= 0 {
		e.Config[i] = value
		return nil
	}
	word, ranges, _ := strings.Cut(format, ":")
	i := slices.Index(configs, word)
	if format == "" || i < 0 {
		return &NameError{Cause: fmt.Sprintf("PMU %s has no %s", pmu, name)}
	}
	for bits := range strings.SplitSeq(ranges, ",") {
		lo, hi, err := parseRange(bits)
		if err != nil || hi > 63 {
			return fmt.Errorf("the format of %s in PMU %s: %q", name, pmu, format)
		}
		width := hi - lo + 1
		mask := ^uint64(0) >> (64 - width)
		e.Config[i] = e.Config[i]&^(mask<<lo) | value&mask<<lo
		value >>= width // for a width of 64, the result is 0
	}
	if value != 0 {
		return &NameError{Cause: fmt.Sprintf("the value of %s is too large", name)}
	}
	return nil
}

// configs are the names of the fields of perf_event_attr, as they occur in a PMU's format files ("config1:0-15"). They
// are in the order of Event.Config.
var configs = []string{"config", "config1", "config2"}

// pmusWith returns the sorted names of the PMUs that have an event with this name.
func (k kernel) pmusWith(event string) (pmus []string) {
	if strings.ContainsAny(event, "/*?[\\") {
		return nil
	}
	paths, _ := filepath.Glob(filepath.Join(k.devices, "*", "events", event))
	for _, path := range paths {
		pmus = append(pmus, filepath.Base(filepath.Dir(filepath.Dir(path))))
	}
	return pmus
}

// A corePMU is a PMU of some of the CPUs, on a machine with several kinds of cores.
type corePMU struct {
	number uint32
	cpus   []int
}

// corePMUs returns the PMU of each kind of core of an x86 processor. It returns none if all cores are of the same kind.
func (k kernel) corePMUs() (cores []corePMU) {
	for _, name := range []string{"cpu_core", "cpu_atom", "cpu_lowpower"} {
		number, err := strconv.ParseUint(k.read(name, "type"), 10, 32)
		cpus, err2 := parseCPUs(k.read(name, "cpus"))
		if err == nil && err2 == nil {
			cores = append(cores, corePMU{uint32(number), cpus})
		}
	}
	return cores
}

// on returns the event as it must be requested for a CPU. On a processor with several kinds of cores, a generic event
// such as cycles must contain the number of the CPU's PMU.
func (e Event) on(cpu int, cores []corePMU) Event {
	for _, core := range cores {
		if !slices.Contains(core.cpus, cpu) {
			continue
		}
		switch e.Type {
		case unix.PERF_TYPE_HARDWARE, unix.PERF_TYPE_HW_CACHE:
			e.Config[0] |= uint64(core.number) << 32 // PERF_PMU_TYPE_SHIFT
		case unix.PERF_TYPE_RAW:
			e.Type = core.number
		}
	}
	return e
}

// read returns the text of a file of a PMU, or "" if there is no such file.
func (k kernel) read(pmu, file string) string {
	text, err := os.ReadFile(filepath.Join(k.devices, pmu, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// OnlineCPUs returns the numbers of the CPUs that are switched on.
func OnlineCPUs() ([]int, error) {
	const path = "/sys/devices/system/cpu/online"
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cpus, err := parseCPUs(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cpus, nil
}

// parseCPUs parses a list of CPUs: "0-3,8".
func parseCPUs(list string) (cpus []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		lo, hi, err := parseRange(part)
		if err != nil || hi >= 1<<16 {
			return nil, fmt.Errorf("not a list of CPUs: %q", list)
		}
		for cpu := lo; cpu <= hi; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	return cpus, nil
}

// parseRange parses "0-7", or "7" as a range of one number.
func parseRange(text string) (lo, hi uint64, err error) {
	first, last, isRange := strings.Cut(text, "-")
	if lo, err = strconv.ParseUint(first, 10, 32); err != nil || !isRange {
		return lo, lo, err
	}
	hi, err = strconv.ParseUint(last, 10, 32)
	if err == nil && hi < lo {
		err = fmt.Errorf("%q is backwards", text)
	}
	return lo, hi, err
}
