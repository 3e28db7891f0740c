package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/hotspot/usdt"
)

// DefaultKinds are the kinds of events that HotSpot logs in every profile. They cost nothing
// that can be measured: a line for each pause.
var DefaultKinds = []event.Kind{event.GC, event.Safepoint}

// EventSource is where events come from.
type EventSource string

// The sources. EventsAuto takes for each kind the one that has the most of it for the least:
// the log for pauses and safepoints, JFR for what else it has, USDT for the rest.
const (
	EventsAuto       EventSource = "auto"
	EventsFromLog    EventSource = "log"    // HotSpot's -Xlog
	EventsFromJFR    EventSource = "jfr"    // Java Flight Recorder
	EventsFromUSDT   EventSource = "usdt"   // HotSpot's probes
	EventsFromDTrace EventSource = "dtrace" // the same, told of by DTrace
)

// EventSources are all of them.
var EventSources = []string{string(EventsAuto), string(EventsFromLog), string(EventsFromJFR), string(EventsFromUSDT), string(EventsFromDTrace)}

// kindsOf are the kinds that can be had from a source.
func kindsOf(from EventSource) []event.Kind {
	switch from {
	case EventsFromLog:
		return hslog.Logged()
	case EventsFromJFR:
		return jfr.Kinds()
	case EventsFromUSDT, EventsFromDTrace:
		return usdt.Kinds()
	}
	return nil
}

// askableKinds are all kinds, in the order in which messages name them.
var askableKinds = []event.Kind{event.GC, event.Safepoint, event.Compilation, event.Lock, event.Alloc, event.Park, event.Sleep,
	event.ClassLoad, event.Thread, event.Own, event.JNI}

// An EventChoice says which events are recorded, and where from. The zero value is none.
type EventChoice struct {
	Log, JFR, USDT []event.Kind // by their source; each kind is in one of them
	// Probes are USDT probes by name, as "hotspot:thread__park__begin", with * for any text.
	Probes []string
	// Own are names of events of the program's own which JFR is to record even where the
	// program has them off.
	Own []string
	// ByDTrace has DTrace tell of USDT probes, where gasm would have the kernel do that; Sudo runs it by sudo -n.
	ByDTrace, Sudo bool
	// Asked tells that the user has asked for these. Without that only JVMs of a command that
	// is java itself record events: no JVM must fail to start because of a default.
	Asked bool
}

// None tells whether no events are recorded.
func (c *EventChoice) None() bool {
	return len(c.Log)+len(c.JFR)+len(c.USDT)+len(c.Probes) == 0
}

// Has tells whether events of a kind are recorded.
func (c *EventChoice) Has(kind event.Kind) bool {
	return slices.Contains(c.Log, kind) || slices.Contains(c.JFR, kind) || slices.Contains(c.USDT, kind)
}

// ParseEventChoice reads a list of kinds and probes, "gc,lock,usdt:hotspot:vm__init__end",
// "default", or "none"; and where they are to come from.
func ParseEventChoice(list string, from EventSource) (c EventChoice, err error) {
	if !slices.Contains(EventSources, string(from)) {
		return c, fmt.Errorf("--events-from is %q; it can be auto, log, jfr, usdt or dtrace", from)
	}
	if list == "none" || list == "" {
		return c, nil
	}
	c.ByDTrace = from == EventsFromDTrace
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		switch probe, isProbe := strings.CutPrefix(word, "usdt:"); {
		case isProbe:
			if strings.Count(probe, ":") != 1 {
				return c, fmt.Errorf("--events: %q is no USDT probe: it is usdt:PROVIDER:NAME, as usdt:hotspot:thread__park__begin", word)
			}
			c.Probes = append(c.Probes, probe)
		case word == "default":
			for _, kind := range DefaultKinds {
				if err := c.Add(kind, from); err != nil {
					return c, err
				}
			}
		default:
			if err := c.Add(event.Kind(word), from); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// Add adds a kind, which is to come from a source.
func (c *EventChoice) Add(kind event.Kind, from EventSource) error {
	if c.Has(kind) {
		return nil
	}
	if !slices.Contains(askableKinds, kind) {
		return fmt.Errorf("--events: %q is no kind of events that can be recorded: they are %s; usdt:PROVIDER:NAME for one of HotSpot's probes; "+
			"default (gc,safepoint); or none", kind, kindList(askableKinds))
	}
	if from == EventsAuto || from == "" {
		from = sourceOf(kind)
	}
	if has := kindsOf(from); !slices.Contains(has, kind) {
		return fmt.Errorf("--events-from %s has no events of the kind %s: it has %s; %s come from --events-from %s",
			from, kind, kindList(has), kind, sourceOf(kind))
	}
	switch from {
	case EventsFromLog:
		c.Log = append(c.Log, kind)
	case EventsFromJFR:
		c.JFR = append(c.JFR, kind)
	case EventsFromUSDT, EventsFromDTrace:
		c.USDT = append(c.USDT, kind)
	}
	return nil
}

// sourceOf is where a kind comes from without being told. The log has compilations, too, but
// only their start.
func sourceOf(kind event.Kind) EventSource {
	switch {
	case slices.Contains(DefaultKinds, kind):
		return EventsFromLog
	case slices.Contains(jfr.Kinds(), kind):
		return EventsFromJFR
	}
	return EventsFromUSDT
}

// kindList is "gc, safepoint and compile".
func kindList(kinds []event.Kind) string {
	var words []string
	for _, k := range kinds {
		words = append(words, string(k))
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// check finds out what can't be recorded.
func (c *EventChoice) check() error {
	for _, p := range c.Probes {
		if err := usdt.CheckPattern(p); err != nil {
			return fmt.Errorf("--events: %w", err)
		}
	}
	return nil
}
