package jvmevents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/hotspot/usdt"
)

// DefaultKinds are the kinds of events that HotSpot logs in every profile. Their cost is too small to be measured,
// because HotSpot writes only one line for each pause.
var DefaultKinds = []event.Kind{event.GC, event.Safepoint}

// A Source says from where gasm gets events of a JVM. It is a value of --events-from.
type Source string

// The sources. Auto takes each kind of event from the source that has the most detail at the lowest cost: pauses and
// safepoints from the log, the kinds that JFR has from JFR, and the rest from USDT.
const (
	Auto       Source = "auto"
	FromLog    Source = "log"    // HotSpot's -Xlog
	FromJFR    Source = "jfr"    // Java Flight Recorder
	FromUSDT   Source = "usdt"   // HotSpot's probes
	FromDTrace Source = "dtrace" // HotSpot's probes, reported by DTrace
)

// Sources are the names of all sources.
var Sources = []string{string(Auto), string(FromLog), string(FromJFR), string(FromUSDT), string(FromDTrace)}

// kindsOf returns the kinds of events that a source can report, or nil for Auto.
func kindsOf(from Source) []event.Kind {
	switch from {
	case FromLog:
		return hslog.Logged()
	case FromJFR:
		return jfr.Kinds()
	case FromUSDT, FromDTrace:
		return usdt.Kinds()
	}
	return nil
}

// askableKinds are all kinds that a user can ask for, in the order in which messages name them.
var askableKinds = []event.Kind{event.GC, event.Safepoint, event.Compilation, event.Inlining, event.Lock, event.Alloc,
	event.Park, event.Sleep,
	event.ClassLoad, event.Thread, event.Own, event.JNI}

// A Choice says which events are recorded, and from which source they come. A Choice that is not set (the zero value)
// means no events.
type Choice struct {
	Log, JFR, USDT []event.Kind // the kinds from each source; only compilations may come from two
	// Probes are names of further USDT probes, such as "hotspot:thread__park__begin". A * in a name matches any text.
	Probes []string
	// Own are names of JFR events that the program itself defines ("com.acme.Request"). JFR records them even if the
	// program has switched them off.
	Own []string
	// ByDTrace is true if DTrace, and not the kernel, reports the USDT probes. Sudo is true if gasm runs DTrace under
	// sudo -n.
	ByDTrace, Sudo bool
	// Asked is true if the user has asked for these events, and false if they are the defaults. Recording events may
	// need an option with which a JVM of an old JDK does not start. So gasm records the defaults only if it knows the
	// JDK, that is, if the command is java itself or another tool of a JDK, such as javac.
	Asked bool
}

// None reports whether no events are recorded.
func (c *Choice) None() bool {
	return len(c.Log)+len(c.JFR)+len(c.USDT)+len(c.Probes) == 0
}

// NeedsLog reports whether some kind of event comes only from the log.
func (c *Choice) NeedsLog() bool {
	return slices.ContainsFunc(c.Log, func(k event.Kind) bool { return !slices.Contains(c.JFR, k) })
}

// Has reports whether events of a kind are recorded.
func (c *Choice) Has(kind event.Kind) bool {
	return slices.Contains(c.Log, kind) || slices.Contains(c.JFR, kind) || slices.Contains(c.USDT, kind)
}

// ParseChoice parses a list of kinds and probes, such as "gc,lock,usdt:hotspot:vm__init__end", "default" or "none". All
// events come from the given source.
func ParseChoice(list string, from Source) (c Choice, err error) {
	if !slices.Contains(Sources, string(from)) {
		return c, fmt.Errorf("--events-from is %q; it can be auto, log, jfr, usdt or dtrace", from)
	}
	if list == "none" || list == "" {
		return c, nil
	}
	c.ByDTrace = from == FromDTrace
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		switch probe, isProbe := strings.CutPrefix(word, "usdt:"); {
		case isProbe:
			if strings.Count(probe, ":") != 1 {
				return c, fmt.Errorf("--events: %q is not a USDT probe: write usdt:PROVIDER:NAME, for example usdt:hotspot:thread__park__begin", word)
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

// Add adds a kind of event from the given source. If the source is Auto or "", Add uses the best source for this kind.
// For compilations it uses both JFR and the log. Only the log has the compilations that began before the recording, and
// the times at which code was discarded. If the Choice already has the kind, Add does nothing.
func (c *Choice) Add(kind event.Kind, from Source) error {
	if c.Has(kind) {
		return nil
	}
	if !slices.Contains(askableKinds, kind) {
		return fmt.Errorf("--events: %q is not a kind of events that can be recorded: use %s; usdt:PROVIDER:NAME for one of HotSpot's probes; "+
			"default (gc,safepoint); or none", kind, kindList(askableKinds))
	}
	auto := from == Auto || from == ""
	if auto {
		from = sourceOf(kind)
	}
	if has := kindsOf(from); !slices.Contains(has, kind) {
		return fmt.Errorf("--events-from %s has no events of the kind %s: it has %s; %s come from --events-from %s",
			from, kind, kindList(has), kind, sourceOf(kind))
	}
	switch from {
	case FromLog:
		c.Log = append(c.Log, kind)
	case FromJFR:
		c.JFR = append(c.JFR, kind)
		if kind == event.Compilation && auto {
			c.Log = append(c.Log, kind)
		}
	case FromUSDT, FromDTrace:
		c.USDT = append(c.USDT, kind)
	}
	return nil
}

// sourceOf returns the best source for a kind of event, as Auto uses it. For compilations that is JFR, because the log
// has only the start of a compilation; see Add.
func sourceOf(kind event.Kind) Source {
	switch {
	case slices.Contains(DefaultKinds, kind):
		return FromLog
	case slices.Contains(jfr.Kinds(), kind):
		return FromJFR
	}
	return FromUSDT
}

// kindList lists kinds for a message: "gc, safepoint and compile".
func kindList(kinds []event.Kind) string {
	var words []string
	for _, k := range kinds {
		words = append(words, string(k))
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Check returns an error if the name of a probe is not valid.
func (c *Choice) Check() error {
	for _, p := range c.Probes {
		if err := usdt.CheckPattern(p); err != nil {
			return fmt.Errorf("--events: %w", err)
		}
	}
	return nil
}
