// Package choice decides what is profiled. From a user's [Options] and a capture, it makes a [Config]: the JVMs, and
// what is measured in them.
package choice

import (
	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
)

// A Config is what a Builder of package profile has to know before its first sample. Only the field JVMs is required.
type Config struct {
	// JVMs are the JVMs whose samples are profiled. A JVM without a Log has no code.
	JVMs []capture.JVM
	// Trials are what was measured, and when. Without trials the whole run is one trial, of all JVMs that have a Log.
	Trials []capture.Trial
	// Counters are the names of the sampler's counters, in the order in which the profiles are to show them. Other
	// counters are added in the order in which their first samples come.
	Counters []string
	// Events are what happened in the JVMs, in the order of their start.
	Events []event.Event
	// Threads chooses the threads whose samples are in the profiles.
	Threads threads.Choice
	// Code says how the code was obtained, as [capture.Description] does. If HotSpot printed some of it, the samples of
	// the printing itself are kept out of the profiles.
	Code string
	// NativeCode has the code of native functions; nil if there is none.
	NativeCode *nativecode.Table
	// Sites says which frame of the stack names the place of a lock or an allocation. "" means event.SiteOwn.
	Sites event.SiteRule
	// Locations, Parts and History make the Builder keep what [Options.Locations], [Options.Parts] and
	// [Options.History] ask for, which takes more memory.
	Locations, Parts, History bool
	// Stacks are the capture's call stacks. If they are not nil, samples are counted by their stacks, too.
	Stacks *calltree.Stacks
	// Chains is true if some of the Stacks may be chains of return addresses, which have to be turned into stacks.
	Chains bool
	// Under, if it is not nil, leaves out all samples without a certain method among their frames.
	Under *calltree.Under
	// Inside is like Under, but the samples that it leaves out are counted as tally.Account.OutsideMethod, not as
	// NotUnder.
	Inside *calltree.Under

	Measured      []windows.Measurement // set by the function Choose, in place of Trials; otherwise nil
	Others        []capture.JVM         // all JVMs of the command; samples of those not in JVMs count as OtherJVM
	EventWindows  *windows.OfThreads    // nil if no event of a thread is a window
	ChosenEvents  *windows.Chosen       // nil if no event is a window
	MethodWindows windows.InsideMethod  // nil if no method is a window
}

// Tree returns the tree of all stacks, or nil if there are none.
func (c *Config) Tree() *callstack.Tree {
	if c.Stacks == nil {
		return nil
	}
	return c.Stacks.Tree
}
