package record

import (
	"context"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/usdt"
	"github.com/gasm-profiler/gasm/record/jvmevents"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
)

// An EventChoice says which events in the JVMs are recorded, and from which source they come.
type EventChoice = jvmevents.Choice

// EventSource is a source of events.
type EventSource = jvmevents.Source

// EventsAuto is the EventSource that takes each kind of event from its best source: the source with the most detail at
// the lowest cost.
const EventsAuto = jvmevents.Auto

// EventSources are the names of all sources.
var EventSources = jvmevents.Sources

// ParseEventChoice parses a list of kinds and probes, such as "gc,lock,usdt:hotspot:vm__init__end", "default" or
// "none". The events come from the given source.
func ParseEventChoice(list string, from EventSource) (EventChoice, error) {
	return jvmevents.ParseChoice(list, from)
}

// EndLeft switches off the events and probes that earlier runs of gasm have left switched on in JVMs of this machine.
// The texts in ended say what it has switched off. The texts in left say what it could not switch off, and why.
func EndLeft(ctx context.Context) (ended, left []string) { return jvmfolder.EndLeft(ctx) }

// addUSDTFlags adds the options that enable some of HotSpot's USDT probes. Every JVM knows these options and starts
// with them, even a JVM without USDT probes.
func (r *Recording) addUSDTFlags(flags javaFlags) javaFlags {
	flags.tool = append(slices.Clip(flags.tool), usdt.FlagsOf(r.o.Events.USDTPatterns())...)
	return flags
}
