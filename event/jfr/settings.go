package jfr

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
)

// A recorded names a type of JFR events, and says how Settings enables it.
type recorded struct {
	event     string
	threshold bool // true if the type has a threshold; Settings sets it to 0, to record even the shortest events
	stack     bool
	throttle  string // the highest rate at which events are recorded: "300/s"; "" for no limit
	since     int    // the first JDK that has the type
	until     int    // the first JDK that has a better type; 0 if there is no such JDK
}

// kinds maps each kind of events that a user can ask for to the JFR types that are recorded for it.
var kinds = map[event.Kind][]recorded{
	event.GC: {{event: "jdk.GarbageCollection", threshold: true},
		{event: "jdk.GCPhasePause", threshold: true}},
	event.Safepoint: {{event: "jdk.SafepointBegin", threshold: true}, {event: "jdk.SafepointEnd", threshold: true},
		{event: "jdk.ExecuteVMOperation", threshold: true}},
	event.Compilation: {{event: "jdk.Compilation", threshold: true},
		{event: "jdk.Deoptimization", stack: true, since: 14}},
	event.Inlining: {{event: inliningType}},
	event.Lock:     {{event: "jdk.JavaMonitorEnter", threshold: true, stack: true}},
	event.Park: {{event: "jdk.ThreadPark", threshold: true, stack: true},
		{event: "jdk.JavaMonitorWait", threshold: true, stack: true}},
	event.Sleep: {{event: "jdk.ThreadSleep", threshold: true, stack: true}},
	event.Alloc: {
		{event: "jdk.ObjectAllocationSample", stack: true, throttle: "300/s", since: sampledAllocations},
		{event: "jdk.ObjectAllocationInNewTLAB", stack: true, until: sampledAllocations},
		{event: "jdk.ObjectAllocationOutsideTLAB", stack: true, until: sampledAllocations},
	},
	event.ClassLoad: {{event: "jdk.ClassLoad", threshold: true, stack: true}},
	event.Thread:    {{event: "jdk.ThreadStart"}, {event: "jdk.ThreadEnd"}},
	event.Own:       nil, // recorded with the program's own settings
}

// Kinds returns the kinds that [Settings] accepts.
func Kinds() []event.Kind { return slices.Sorted(maps.Keys(kinds)) }

// Settings returns the text of a .jfc file for a feature release of the JDK. With that file, JFR records all events of
// the given kinds, however short they are. It records no other events of the JVM, unless they are needed to interpret
// the given kinds, or say that some are missing. The caller can also name event types of the program itself, and the
// file enables them. The file does not mention the program's other event types, so the program's own settings apply to
// them.
//
// The settings have to be in a file. If JDK 25 gets the same settings as options, after settings=none, it records
// nothing.
func Settings(feature int, of []event.Kind, named ...string) (string, error) {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<configuration version="2.0" label="gasm" description="What gasm shows beside samples" ` +
		`provider="gasm">` + "\n")
	for _, kind := range slices.Compact(slices.Sorted(slices.Values(of))) {
		events, ok := kinds[kind]
		if !ok {
			return "", fmt.Errorf("JFR has no events of the kind %q; it has %s", kind, strings.Join(kindNames(), ", "))
		}
		for _, e := range events {
			if feature >= e.since && (e.until == 0 || feature < e.until) {
				e.write(&b)
			}
		}
	}
	if feature >= sampledAllocations && slices.Contains(of, event.Alloc) && !slices.Contains(of, event.Thread) {
		recorded{event: "jdk.ThreadStart"}.write(&b)
	}
	if feature < exactClock && !slices.Contains(of, event.Safepoint) {
		recorded{event: "jdk.SafepointEnd", threshold: true}.write(&b)
	}
	recorded{event: lossType}.write(&b)
	for _, name := range named {
		b.WriteString(`  <event name="`)
		if err := xml.EscapeText(&b, []byte(name)); err != nil {
			return "", fmt.Errorf("writing the settings of JFR: %w", err)
		}
		b.WriteString("\">\n    <setting name=\"enabled\">true</setting>\n  </event>\n")
	}
	b.WriteString("</configuration>\n")
	return b.String(), nil
}

// sampledAllocations is the first JDK that samples allocations. To interpret these samples, one has to know which
// threads started during the recording (see [FirstSamples]). So Settings makes JFR record the starts of threads as
// well.
const sampledAllocations = 16

// exactClock is the first long-term release whose recordings have an exact start time. To align older recordings with
// the samples' clock, gasm needs the ends of safepoints (see [FindAnchor]). So Settings makes JFR record these as well.
const exactClock = 17

// lossType is the event with which Flight Recorder reports that it had no room for other events. Unless the settings
// enable it, nobody can know that events are missing.
const lossType = "jdk.DataLoss"

func kindNames() (names []string) {
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return names
}

func (e recorded) write(b *strings.Builder) {
	fmt.Fprintf(b, "  <event name=%q>\n    <setting name=\"enabled\">true</setting>\n", e.event)
	fmt.Fprintf(b, "    <setting name=\"stackTrace\">%t</setting>\n", e.stack)
	if e.threshold {
		b.WriteString("    <setting name=\"threshold\">0 ns</setting>\n")
	}
	if e.throttle != "" {
		fmt.Fprintf(b, "    <setting name=\"throttle\">%s</setting>\n", e.throttle)
	}
	b.WriteString("  </event>\n")
}
