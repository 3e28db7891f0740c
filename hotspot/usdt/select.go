package usdt

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
)

// patterns maps each kind of events to the patterns of the probes that report such events.
var patterns = map[event.Kind][]string{
	event.GC:          {"hotspot:gc__*", "hs_private:cms__*"},
	event.Safepoint:   {"hs_private:safepoint__*", "hotspot:vmops__begin", "hotspot:vmops__end"},
	event.Compilation: {"hotspot:method__compile__*"},
	event.Lock:        {"hotspot:monitor__contended__enter*"},
	event.Alloc:       {"hotspot:object__alloc"},
	event.Park:        {"hotspot:thread__park__*", "hotspot:monitor__wait*"},
	event.Sleep:       {"hotspot:thread__sleep__*"},
	event.ClassLoad:   {"hotspot:class__loaded", "hotspot:class__unloaded"},
	event.Thread:      {"hotspot:thread__start", "hotspot:thread__stop"},
	event.JNI:         {"hotspot_jni:*"},
}

// Kinds returns the kinds of events that probes can report, sorted.
func Kinds() []event.Kind {
	kinds := make([]event.Kind, 0, len(patterns))
	for k := range patterns {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}

// Patterns returns the patterns of the probes that report events of these kinds.
func Patterns(kinds []event.Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, patterns[k]...)
	}
	return names
}

// CheckPattern returns an error if a pattern of probes is not valid. A pattern is a provider and a
// name, such as hotspot:gc__*, where * stands for any characters. Instead of __ the name may have a
// -, because DTrace and perf write it that way.
func CheckPattern(pattern string) error {
	provider, name, ok := strings.Cut(pattern, ":")
	if _, err := path.Match(pattern, ""); err != nil || !ok || name == "" || provider == "" ||
		strings.Contains(pattern, "/") {
		return fmt.Errorf("%q names no USDT probe: a provider (hotspot, hotspot_jni, hs_private) and a name, as hotspot:gc__begin or hotspot:*", pattern)
	}
	return nil
}

// Select returns the probes that match one of the patterns, and the patterns that match no probe.
func Select(probes []Probe, patterns []string) (chosen []Probe, unknown []string) {
	taken := make([]bool, len(probes))
	for _, pattern := range patterns {
		found := false
		for i := range probes {
			// The error is nil, because CheckPattern has checked the pattern.
			if matches, _ := path.Match(spelled(pattern), spelled(probes[i].FullName())); matches {
				taken[i], found = true, true
			}
		}
		if !found {
			unknown = append(unknown, pattern)
		}
	}
	for i := range probes {
		if taken[i] {
			chosen = append(chosen, probes[i])
		}
	}
	return chosen, unknown
}

// spelled replaces each __ in a name with -, so that the spellings of perf, DTrace and the notes can be compared.
func spelled(name string) string { return strings.ReplaceAll(name, "__", "-") }

// byOffset returns the probes sorted by their offsets in the file.
func byOffset(probes []Probe) []Probe {
	return slices.SortedFunc(slices.Values(probes), func(a, b Probe) int { return cmp.Compare(a.Offset, b.Offset) })
}
