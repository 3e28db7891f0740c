// Package profile finds the code in which each sample was taken, and sums up the samples: by region, method, inlined
// frame and native function. It also makes an [Account], in which every sample counts in exactly one row.
//
// [Of] does all of this for a capture:
//
//  1. It chooses the JVMs and what is measured in them (packages choice and windows). A run without trials has
//     a profile for each program, which is the JVMs of one main class and JDK. Options may narrow the windows to the
//     times of events or to the calls of a method.
//  2. A [Builder], which has a [jvmcode.JVM] for each JVM, takes the samples one by one, in any order. All steps of
//     a sample through the Builder are in builder.go. What it counts is in trialcounts.go.
//  3. [Builder.Build] makes a [Profile] of each trial out of the counts (build.go). Only then is code read from the
//     logs, and only that of blobs with samples (package jvmcode).
//
// A Builder opens no file and starts no process. Samples that are left out have rows of their own in the account.
//
// This package joins and sums up. What can be found out without joining samples and code is in packages of its own,
// which do not import this one:
//
//   - tally: counts of samples, by counter
//   - windows, threads: what was measured, and which threads count
//   - codemap: the map of a JVM's code, by address and time
//   - jvmcode: which code was at an address at a time, and what is in it
//   - events: which events were going on at a time
//   - sites: the places of locks, parks and allocations
//   - waits: the wall-clock time of threads, by what they did
//   - decisions, callsites: what became of calls, and the table of those that were not inlined
//   - jitprofile: what HotSpot's own profile says about instructions
//   - calltree: samples by call stack, and the trees of callers and callees
//   - code: lines of code, their basic blocks and loops
//   - history, parts: the samples over time, of a run and of a profile
//   - printing: samples of HotSpot printing code for gasm
//   - probes: what probed methods have counted
//   - warmup: what the JIT compilers did
//   - vmwork: what HotSpot's library did
//   - numbers: the numbers of native functions and contexts, for small keys
//
// Some words have a special meaning here. A trial is what was measured, for example a JMH benchmark, and its windows
// are the times of the measurement. A counter is what the sampler counts to decide when to take a sample, for example
// "cycles"; reports and captures call it an event, too. In this package an event is something that happens in a JVM,
// for example a garbage collection: see package event, and package events below this one.
package profile

import (
	"fmt"
	"strconv"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/callsites"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/delays"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/profile/hosts"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
	"github.com/gasm-profiler/gasm/profile/numbers"
	"github.com/gasm-profiler/gasm/profile/probes"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/vmwork"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/profile/warmup"
)

// A Profile is the result for one trial or, without trials, for one program.
type Profile struct {
	Trial string // JMH's benchmark and parameters; "" for a run without trials
	// Program is the main class or jar of the JVMs, see [windows.Program]. JDK is the version of their JDK. Both are
	// only set in a profile without Trial. They are "" if they are unknown, or if they are not the same for all JVMs.
	Program, JDK  string
	top           string  // see TopCompiler; "" for "C2"
	PIDs          []int   // the JVMs whose samples are in the profile, ascending
	WindowSeconds float64 // time that the windows cover
	Operations    float64 // number of operations that the program did in the windows; 0 if unknown
	// Score is what JMH measured in the windows; nil if it is unknown.
	Score *capture.Score
	// StartWallNanos is the time at which the trial's first window began or, if it has no windows, at which its first
	// JVM started, in ns since 1970. It is 0 if no log has the time.
	StartWallNanos int64
	// Counters are the names of the sampler's counters. All Counts in the profile have the same length and order.
	Counters []string
	Accounts []Account // one Account for each counter

	Shares []JVMShare // one JVMShare for each process, in the order of PIDs
	// Hosts compares the hosts of captures that were merged, those that differ from the others first. Their samples add
	// up to Profiled. It is nil if there is only one host.
	Hosts []hosts.Host
	// HostRegions are the regions that [hosts.Host.Hottest] counts, as indexes in Regions.
	HostRegions []int
	// Compared has the code by which the hosts were compared: each piece of it may have another share of the samples on
	// each host. [hosts.Difference.Code] is an index in Compared.
	Compared []hosts.Code
	// Slices are the samples of a benchmark over time: [windows.SlicesPerJVM] slices of each JVM that has a window, in
	// the order of PIDs. It is nil for other programs, and if there are no windows.
	Slices []tally.Counts

	// HotThreshold is the share of the profile that makes a region hot.
	HotThreshold float64
	// MinSamples is [Options.MinSamples]: with fewer samples, chance decides whether something is among the hottest.
	MinSamples int

	// SafepointsOnly are the samples in methods that were compiled without DebugNonSafepoints (see
	// [jvmcode.Reader.SafepointsOnly]), in JVMs that were started without it. It is nil if there are no such samples.
	SafepointsOnly tally.Counts

	Regions []Region // regions of the code cache, and of native functions whose code is known; hottest first
	// TooFew is the number of regions that would be annotated if they had MinSamples samples or more.
	TooFew  int
	Methods []Method         // code summed up by source and name, hottest first
	Frames  []FrameTotal     // hottest first
	Native  []NativeFunction // hottest first, kernel included
	Sources []Source         // hottest first; they add up to Profiled
	// VM divides the samples of HotSpot's library between the kinds of its work.
	VM []vmwork.Share
	// Interpreted are the samples in the interpreter by the interpreted method, hottest first. The samples whose method
	// is not known are missing. It is nil if the profile has no call stacks.
	Interpreted []warmup.InterpretedMethod
	// Threads are the samples by kind of thread, hottest first. They add up to Profiled. Threads is nil if the sampler
	// recorded no names of threads.
	Threads []threads.KindTotal
	// Events sums up the events in the windows, such as pauses of the garbage collector.
	Events []events.Total
	// Probes are what probed methods have counted.
	Probes []probes.Probe
	// Delays are what ran while threads waited for others to come to a safepoint, hottest first.
	Delays []delays.Delay
	// Locks are the places where threads waited for locks. Parks are the places where they waited for something other
	// than a lock. The places with the longest time come first.
	Locks, Parks []sites.Wait
	// Allocations are the places where the program allocates. The places that allocate most come first.
	Allocations []sites.Alloc
	// Waits divides the wall-clock time of the threads by what they did. It is nil if this was not recorded. Only Of
	// sets it.
	Waits *waits.Table
	// UnrecordedNanos is how long the windows were already open when Flight Recorder, or the USDT probes, began to
	// record. If there are several JVMs, it is the longest of these times. Locks, Parks and Allocations lack the events
	// of that time.
	UnrecordedNanos int64
	// Sites is the rule that named the places of Locks, Parks and Allocations.
	Sites event.SiteRule
	// Compilations lists the compilations of the hottest methods, sorted by method and then by time.
	Compilations []warmup.Version
	// JIT is what the JIT compilers did in the whole run; nil if no source of events has it. Only Of sets it.
	JIT *warmup.JIT
	// Calls says which calls in hot code were inlined and which were not; nil if the compilers' decisions were not
	// recorded.
	Calls *callsites.Table
	// Hottest are the instructions with the most samples, and HotLoops are the loops around them. Both are sorted,
	// hottest first. They are only set if [Options.Hottest] asks for them.
	Hottest  []HotLine
	HotLoops []HotLoop
	// Locations are only set if [Options.Locations] asks for them, because no table of a report has them. They add up
	// to Profiled even if the options leave kinds of code out of the lists above.
	Locations []Location // hottest first
	// Stacks has the samples by their call stacks. It is nil if the capture has none, or if [Options.Stacks] does not
	// ask for them.
	Stacks *calltree.Set
	// By divides the samples between the methods of [Options.By], in the same order. The last element, without a
	// method, has the samples of none of them. A sample with several of these methods is attributed to the one that was
	// called last.
	By []CallerTotal
	// Listings have all code of the hottest methods, stubs and codelets, hottest first, and then that of methods
	// without samples that have called them. They are only set if [Options.Listings] asks for them.
	Listings []Listing
	Unlisted Unlisted
	// Parts is only set if [Options.Parts] asks for it, and if there are several parts.
	Parts    *Parts
	Warnings []string // why some numbers of the profile may be wrong
}

// Share returns the share of the profile's samples that c makes up, from 0 to 1. If there are several counters, it
// returns the largest of their shares.
func (p *Profile) Share(c tally.Counts) float64 {
	var share float64
	for e, n := range c {
		if total := p.Accounts[e].Profiled; total > 0 {
			share = max(share, float64(n)/float64(total))
		}
	}
	return share
}

// noteworthy is the shortest UnrecordedNanos that reports mention.
const noteworthy = 100 * time.Millisecond

// Unrecorded returns UnrecordedNanos in a form for a heading: "without the first 13.7 s". It returns "" if the time is
// too short to matter.
func (p *Profile) Unrecorded() string {
	if late := time.Duration(p.UnrecordedNanos); late >= noteworthy {
		return fmt.Sprintf("without the first %.1f s", late.Seconds())
	}
	return ""
}

// IsHot reports whether the Share of some samples is at least HotThreshold.
func (p *Profile) IsHot(c tally.Counts) bool { return p.Share(c) >= p.HotThreshold }

// A Region is a run of sampled instructions within one blob. The distance from one such instruction to the next is at
// most the merge margin. Regions of the same code in several JVMs are one Region.
type Region struct {
	Source    string // "c2, level 4"
	Method    string
	CompileID int
	OSR       bool
	// Native is true for a region of a native function. Profile.Native has its samples, too.
	Native bool
	PIDs   []int  // the JVMs that have samples in the region
	Lo, Hi uint64 // from the first sampled instruction to the end of the last, as addresses in the JVM PIDs[0]
	Counts tally.Counts
	// SafepointsOnly is true if HotSpot has recorded the method's frames at safepoints only, because it was compiled
	// without DebugNonSafepoints. The frames of most of its instructions are guesses.
	SafepointsOnly bool
	// Moved is true if HotSpot has moved the code, and samples at several of its addresses are added up. The addresses
	// are those of the copy with the most samples.
	Moved bool
	// Hot is true if the region is annotated. Either it is above the hot threshold, or it was chosen because few
	// regions are (see [Options.Regions]).
	Hot bool
	// Lines is the annotated code with its print margin. It is nil for a region that is not hot, or whose code the log
	// does not have. If the region is too big, Lines only has the code around the hottest instructions, and Gaps say
	// what is left out.
	Lines  []code.Line
	Gaps   []Gap
	TooBig int // number of instructions of a region that is too big; 0 for all other regions
	// Profiled is what HotSpot's own profile says about the method's code. It is nil if Lines is nil.
	Profiled *jitprofile.Code
}

// A Method sums up all code with the same source and name. Source is as in [Region], for example "c2, level 4".
type Method struct {
	Source    string
	Name      string
	CompileID int // compile id of the hottest of its blobs
	Blobs     int // number of compilations with samples, in all JVMs; one that was moved counts once
	Counts    tally.Counts
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []tally.Counts
	Slices []tally.Counts // over time, see Profile.Slices
}

// A JVMShare is the part of a profile that one process has.
type JVMShare struct {
	PID    int
	Counts tally.Counts // all samples of the process in the profile
	Native tally.Counts // its samples outside the code cache, including samples in the kernel
	// JIT and GC are the samples of the threads of the JIT compilers and of the garbage collector. Java are the samples
	// of all other threads in code of the code cache. The rest is native code of the other threads. If the sampler
	// recorded no names of threads, JIT and GC are 0.
	Java, JIT, GC tally.Counts
}

// A FrameTotal sums up the instructions whose innermost Java frame is Method.
type FrameTotal struct {
	Method string
	Counts tally.Counts
	// Total sums up the instructions that have Method anywhere in their inlining chain. An instruction counts only once
	// even if Method is in its chain twice.
	Total tally.Counts
	// WithCallees sums up the samples that have Method anywhere on their call stacks, or in their inlining chains. Each
	// sample counts once. It is nil if the profile has no call stacks.
	WithCallees tally.Counts
	Lines       []LineTotal // hottest first
	// Guessed is the part of Counts that was taken at instructions whose method is a guess. It is nil if there are no
	// such instructions.
	Guessed tally.Counts
	// Slices are Counts over time, see Profile.Slices.
	Slices []tally.Counts
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []tally.Counts
}

// A CallerTotal counts the samples that have a certain caller on their stacks. Method is the text by which the user
// named the caller.
type CallerTotal struct {
	Method string
	Counts tally.Counts
}

// A LineTotal sums up one source line. Line is 0 if it is unknown.
type LineTotal struct {
	Line   int
	Counts tally.Counts
	// Guessed is the part of Counts that was taken at instructions whose line is a guess. It is nil if there are no
	// such instructions.
	Guessed tally.Counts
}

// Name returns the method's name. It begins with [printassembly.GuessMark] if the method is a guess for at least 1 % of
// the samples in the method and in what it called.
func (f *FrameTotal) Name() string {
	all := f.WithCallees
	if all == nil {
		all = f.Total
	}
	for e, n := range f.Guessed {
		if n > 0 && 100*n >= all[e] {
			return printassembly.GuessMark + f.Method
		}
	}
	return f.Method
}

// Number returns the number of the line as text, with [printassembly.GuessMark] if it is a guess for some samples. It
// is "?" if the line is unknown.
func (l *LineTotal) Number() string {
	switch {
	case l.Line <= 0:
		return "?"
	case l.Guessed != nil:
		return printassembly.GuessMark + strconv.Itoa(l.Line)
	}
	return strconv.Itoa(l.Line)
}

// UnknownModule is the Module of native code that belongs to no known file.
const UnknownModule = numbers.UnknownModule

// A NativeFunction sums up the samples in one function outside the code cache.
type NativeFunction struct {
	Module string // "libjvm.so", "kernel", UnknownModule
	Symbol string // the function's name; "" if the sampler found none
	Counts tally.Counts
	Slices []tally.Counts // over time, see Profile.Slices
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []tally.Counts
}

// UnresolvedSource is the Source of samples whose addresses belong to no known code or file.
const UnresolvedSource = "unresolved"

// A Source sums up the samples of one source: "c2, level 4", "stub", "libjvm.so", "kernel" or UnresolvedSource.
type Source struct {
	Source string
	Counts tally.Counts
}
