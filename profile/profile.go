// Package profile joins samples to the code that HotSpot had at their addresses at their times, and sums them up: by
// region, method, inlined frame and native function, and in an [Account] in which every sample has one place.
//
// [Of] does all of it for a capture:
//
//  1. It chooses the JVMs and what is measured in them (choose.go, measurements.go). A run without trials has a profile
//     for each program, which is the JVMs of one main class and JDK (programs.go). Options may narrow the windows to
//     the times of events (windowevent.go) or to the calls of a method (windowmethod.go).
//  2. A [Builder], which has a [CodeMap] of each JVM, takes the samples one by one, in any order. The way of a sample
//     through the Builder is described and written in builder.go. What it counts is in trialcounts.go.
//  3. [Builder.Build] makes a [Profile] of each trial out of the counts (build.go). Only then is code read from the
//     logs, and only that of blobs with samples (codereader.go).
//
// A Builder knows no text format and no process. Samples that are left out have rows of their own in the account.
//
// Two words: a counter is what the sampler counts to decide when to take a sample, for example "cycles". The field
// Profile.Events has the names of the counters, because reports and captures call them events. Elsewhere in this
// package an event is something that happens in a JVM, for example a garbage collection: see package event, and
// events.go.
package profile

import (
	"strconv"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Counts holds the number of samples of each counter, in the order of [Profile.Events]. All Counts of one profile have
// the same length.
type Counts []int64

// Add adds other to c, element by element.
func (c Counts) Add(other Counts) {
	for i, n := range other {
		c[i] += n
	}
}

// A Profile is the result for one trial or, without trials, for one program.
type Profile struct {
	Trial string // JMH's benchmark and parameters; "" for a run without trials
	// Program and JDK are the main class or jar, as the function [Program] returns it, and the JDK version of all JVMs
	// of a profile without Trial. They are "" if the JVMs differ, or if they are unknown.
	Program, JDK  string
	PIDs          []int   // the JVMs whose samples are in it, ascending
	WindowSeconds float64 // time that the windows cover
	Operations    float64 // that the program did in the windows; 0 if unknown
	// Score is what JMH measured in the windows; nil if it is unknown.
	Score *capture.Score
	// StartWallNanos is when the trial's first window began or, if it has no windows, when its first JVM started, in ns
	// since 1970. It is 0 if no log has the time.
	StartWallNanos int64
	Events         []string  // the names of the sampler's counters
	Accounts       []Account // one per counter

	Shares []JVMShare // one per process, in the order of PIDs
	// Slices are the samples of a benchmark over time: [SlicesPerJVM] slices of each JVM that has a window, in the
	// order of PIDs. It is nil for other programs, and if there are no windows.
	Slices []Counts

	// HotThreshold is the share of the profile from which on a region is hot.
	HotThreshold float64

	Regions []Region // of code in the code cache, hottest first
	// TooFew is how many regions are not annotated only because of [Options.MinSamples].
	TooFew  int
	Methods []Method         // by source and name, hottest first
	Frames  []FrameTotal     // hottest first
	Native  []NativeFunction // hottest first, kernel included
	Sources []Source         // hottest first; they add up to Profiled
	Threads []ThreadKind     // hottest first; they add up to Profiled; nil if the sampler recorded no names of threads
	// Happened sums up the events in the windows, such as pauses of the garbage collector.
	Happened []EventTotal
	// Probes are what probed methods have counted.
	Probes []Probe
	// Delays are what ran while threads waited for others to come to a safepoint, hottest first.
	Delays []Delay
	// Locks are where threads waited for locks, those with the longest time first.
	Locks []LockSite
	// Allocations are where the program allocates, those that allocate most first.
	Allocations []AllocSite
	// Compilations are those of the hottest methods, by method, and then by the time at which they were made.
	Compilations []Compilation
	// Hottest are the instructions with the most samples, and HotLoops the loops around them, both hottest first. They
	// are only set if [Options.Hottest] asks for them.
	Hottest  []HotLine
	HotLoops []HotLoop
	// Locations are only set if [Options.Locations] asks for them, because no table of a report has them. They add up
	// to Profiled, whatever kinds of code the options leave out of the lists above.
	Locations []Location // hottest first
	// Listings have all code of the hottest methods, stubs and codelets, hottest first. They are only set if
	// [Options.Listings] asks for them.
	Listings []Listing
	Unlisted Unlisted
	// Parts is only set if [Options.Parts] asks for it, and if there are several parts.
	Parts    *Parts
	Warnings []string // what the reader of the profile should doubt
}

// Share returns which part of the profile some samples are, 0 to 1. If there are several counters, it is that of the
// counter with the largest part.
func (p *Profile) Share(c Counts) float64 {
	var share float64
	for e, n := range c {
		if total := p.Accounts[e].Profiled; total > 0 {
			share = max(share, float64(n)/float64(total))
		}
	}
	return share
}

// IsHot reports whether the Share of some samples is at least HotThreshold.
func (p *Profile) IsHot(c Counts) bool { return p.Share(c) >= p.HotThreshold }

// A Region is a run of sampled instructions within one blob. The distance from one to the next is at most the merge
// margin. Regions of the same code in several JVMs are one Region.
type Region struct {
	Source    string // "c2, level 4"
	Method    string
	CompileID int
	OSR       bool
	PIDs      []int  // the JVMs that have samples in it
	Lo, Hi    uint64 // from the first sampled instruction to the end of the last, in the first of PIDs
	Counts    Counts
	// Hot is true if the region is annotated: because it is above the hot threshold, or because few regions are, see
	// [Options.Regions].
	Hot bool
	// Lines is the annotated code with its print margin. It is nil for a region that is not hot, or whose code the log
	// does not have. For a region that is too big, it only has the code around the hottest instructions, and Gaps say
	// what is left out.
	Lines  []Line
	Gaps   []Gap
	TooBig int // number of lines of a region that is too big; else 0
}

// A Line is one instruction of an annotated region.
type Line struct {
	printassembly.Instruction
	Counts Counts
	// TargetName is the name of the code that a call or jump leads to, if that is another blob of the log.
	TargetName string
}

// Direct reports whether the line jumps to, or calls, an address that is in its text.
func (l *Line) Direct() bool { return l.Target != 0 && l.Kind != disasm.Plain }

// A Method sums up all code of one source and name.
type Method struct {
	Source    string
	Name      string
	CompileID int // of the hottest of its blobs
	Blobs     int // number of compilations with samples, in all JVMs
	Counts    Counts
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []Counts
	Slices []Counts // over time, see Profile.Slices
}

// A JVMShare is the part of a profile that one process has.
type JVMShare struct {
	PID    int
	Counts Counts // all its samples in the profile
	Native Counts // those outside the code cache, including those in the kernel
	// JIT and GC are the samples of the threads of the JIT compilers and of the garbage collector. Java are the samples
	// of all other threads in code of the code cache. The rest is native code of the other threads. If the sampler
	// recorded no names of threads, JIT and GC are 0.
	Java, JIT, GC Counts
}

// A FrameTotal sums up the instructions whose innermost Java frame is Method.
type FrameTotal struct {
	Method string
	Counts Counts
	// Total sums up the instructions that have Method anywhere in their inlining chain. An instruction counts once for
	// a method that is twice in its chain.
	Total Counts
	Lines []LineTotal // hottest first
	// Guessed is the part of Counts of instructions for which the method is a guess; nil if there are none.
	Guessed Counts
	// Slices are Counts over time, see Profile.Slices.
	Slices []Counts
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []Counts
}

// A LineTotal sums up one source line. Line is 0 if it is unknown.
type LineTotal struct {
	Line   int
	Counts Counts
	// Guessed is the part of Counts of instructions for which the line is a guess; nil if there are none.
	Guessed Counts
}

// Name returns the method, with [printassembly.GuessMark] if it is a guess for some samples.
func (f *FrameTotal) Name() string {
	if f.Guessed != nil {
		return printassembly.GuessMark + f.Method
	}
	return f.Method
}

// Number returns the number of the line as text, with [printassembly.GuessMark] if it is a guess for some samples. It is
// "?" if the line is unknown.
func (l *LineTotal) Number() string {
	switch {
	case l.Line <= 0:
		return "?"
	case l.Guessed != nil:
		return printassembly.GuessMark + strconv.Itoa(l.Line)
	}
	return strconv.Itoa(l.Line)
}

// UnknownModule is the Module of native code that is in no known file. Its addresses are far from the code cache, so it
// is not HotSpot's code.
const UnknownModule = "[unknown]"

// A NativeFunction sums up the samples in one function outside the code cache.
type NativeFunction struct {
	Module string // "libjvm.so", "kernel", UnknownModule
	Symbol string // "" if the sampler found none
	Counts Counts
	Slices []Counts // over time, see Profile.Slices
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []Counts
}

// UnresolvedSource is the Source of samples at addresses that are in no known code or file.
const UnresolvedSource = "unresolved"

// A Source sums up one value of the Source column: "c2, level 4", "stub",
// "libjvm.so", "kernel", UnresolvedSource.
type Source struct {
	Source string
	Counts Counts
}
