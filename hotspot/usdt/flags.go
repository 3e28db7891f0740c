package usdt

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event/usdt"
)

// Flag returns the option that a JVM needs in order to reach the probe, such as
// "-XX:+DTraceMonitorProbes". It returns "" if the JVM needs none.
func (p *Probe) Flag() string {
	switch {
	case p.Provider != usdt.Provider:
		return ""
	case strings.HasPrefix(p.Name, "monitor__"):
		return monitorFlag
	case p.Name == objectAlloc:
		return allocFlag
	case p.Name == "method__entry" || p.Name == "method__return":
		return methodFlag
	}
	return ""
}

const (
	monitorFlag = "-XX:+DTraceMonitorProbes"
	allocFlag   = "-XX:+DTraceAllocProbes"
	methodFlag  = "-XX:+DTraceMethodProbes"
)

// Told returns what a JVM reports only if it runs with the option, such as "allocations" for -XX:+DTraceAllocProbes.
// The option must be one that [FlagsOf] returned.
func Told(option string) string {
	return map[string]string{monitorFlag: "locks or Object.wait", allocFlag: "allocations",
		methodFlag: "calls of methods"}[option]
}

// objectAlloc is the probe of an allocation.
const objectAlloc = "object__alloc"

// Flags returns the options with which a JVM must be started to reach all of these probes. They are
// sorted.
func Flags(probes []Probe) []string {
	var flags []string
	for i := range probes {
		if f := probes[i].Flag(); f != "" {
			flags = append(flags, f)
		}
	}
	slices.Sort(flags)
	return slices.Compact(flags)
}

// FlagsOf returns the options with which a JVM must be started to reach all known probes that match
// the patterns.
func FlagsOf(patterns []string) []string {
	var all []Probe
	for _, name := range usdt.Known() {
		provider, name, _ := strings.Cut(name, ":")
		all = append(all, Probe{Provider: provider, Name: name})
	}
	chosen, _ := Select(all, patterns)
	return Flags(chosen)
}
