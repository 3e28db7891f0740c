// Package profile joins samples to the code that HotSpot had at their addresses at their
// times, and sums them up: regions, methods, inlined frames, native functions, and an
// account in which every sample has one place.
//
// [Of] does all of it for a capture. Below it, the join is pure: a [Builder] has a
// [CodeMap] of each JVM, takes samples one by one in any order, and makes a [Profile] of
// each trial. It knows no text format and no process.
//
// A run without trials has a profile for each program: the JVMs of one main class and JDK
// (programs.go). [Options] may choose JVMs and threads (choose.go). Samples that are left
// out have rows of their own in the account.
package profile

import (
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Counts holds samples per event, in the order of [Profile.Events]. Values
// that belong to one profile all have the same length.
type Counts []int64

// Add adds other to c, element by element.
func (c Counts) Add(other Counts) {
	for i, n := range other {
		c[i] += n
	}
}

// An Account says where each sample of one event went.
//
//	Total    = OtherProcess + OtherJVM + OtherTrial + OutsideWindow + OtherThread + OutsideMethod + Printing + Lost + Profiled
//	Profiled = Compiled + Stub + Interpreter + Native + Kernel + Unresolved
type Account struct {
	Total         int64
	OtherProcess  int64 // of no JVM that the command started
	OtherJVM      int64 // of the command's JVMs: of other programs, of none that is measured, or not chosen
	OtherTrial    int64 // of the JVMs of other trials, in or out of their windows
	OutsideWindow int64 // of this trial's JVMs, before, between or after its windows
	OtherThread   int64 // in the windows, of threads that [Options.Threads] leaves out
	OutsideMethod int64 // in the windows, while the thread was not in [Options.WindowMethod]
	Printing      int64 // in the windows, of HotSpot printing code for gasm, see printing.go
	Lost          int64 // dropped by the sampler, by its own count
	Profiled      int64

	Compiled    int64 // compiled Java methods, and the wrappers of native methods
	Stub        int64 // stubs, adapters, runtime blobs
	Interpreter int64
	Native      int64 // libjvm, libc, the program's own libraries
	Kernel      int64
	Unresolved  int64 // addresses in the code cache or near it that are in no blob of the log
}

// Balanced tells whether both sums of the account hold.
func (a Account) Balanced() bool {
	return a.Total == a.Others()+a.OutsideWindow+a.OtherThread+a.OutsideMethod+a.Printing+a.Lost+a.Profiled &&
		a.Profiled == a.Compiled+a.Stub+a.Interpreter+a.Native+a.Kernel+a.Unresolved
}

// Others are the samples of processes that are no JVMs of this profile.
func (a Account) Others() int64 { return a.OtherProcess + a.OtherJVM + a.OtherTrial }

// A Profile is the result for one trial or, without trials, for one program.
type Profile struct {
	Trial string // JMH's benchmark and parameters; "" for a run without trials
	// Program and JDK are the main class or jar, as [Program] gives it, and the version of
	// the JDK of all JVMs of a profile without Trial; "" where they differ or are unknown.
	Program, JDK  string
	PIDs          []int // the JVMs whose samples are in it, ascending
	WindowSeconds float64
	Operations    float64 // that the program did in the window; 0 when unknown
	// Score is what JMH measured in the windows; nil where nobody knows.
	Score *capture.Score
	// StartWallNanos is when the trial's first window began, or its first JVM started
	// when it has no windows, in ns since 1970. It is 0 when no log tells.
	StartWallNanos int64
	Events         []string
	Accounts       []Account // one per event

	Shares []JVMShare // one per process, in the order of PIDs
	// Slices are the samples of a benchmark over time: [SlicesPerJVM] slices of each JVM
	// that has a window, in the order of PIDs. It is nil for other programs, and where
	// there are no windows.
	Slices []Counts

	// HotThreshold is the share of the profile from which on a region is hot.
	HotThreshold float64

	Regions []Region // of code-cache code, hottest first
	// TooFew is how many regions are not annotated because of [Options.MinSamples] alone.
	TooFew  int
	Methods []Method // per blob kind and name, hottest first
	Frames  []FrameTotal
	Native  []NativeFunction // hottest first, kernel included
	Sources []Source         // hottest first; they add up to Profiled
	Threads []ThreadKind     // hottest first; they add up to Profiled. Nil when the sampler names no threads
	// Happened are the events in the windows, such as pauses of the garbage collector.
	Happened []EventTotal
	// Probes are what probed methods have counted.
	Probes []Probe
	// Delays are what ran while threads waited for others to come to a safepoint, hottest first.
	Delays []Delay
	// Locks are where threads waited for locks, the longest first.
	Locks []LockSite
	// Allocations are where the program allocates, most first.
	Allocations []AllocSite
	// Compilations are those of the hottest methods, by method, and by the time they were
	// made.
	Compilations []Compilation
	// Hottest are the instructions with the most samples, and HotLoops the loops around them, in the
	// same order. They are only there when [Options.Hottest] asks for them.
	Hottest  []HotLine
	HotLoops []HotLoop
	// Locations are only there when [Options.Locations] asks for them, because no
	// table of a report has them. They add up to Profiled, whatever kinds of code the
	// options leave out of the lists above.
	Locations []Location // hottest first
	// Listings are only there when [Options.Listings] asks for them: all code of the hottest
	// methods, stubs and codelets, hottest first.
	Listings []Listing
	Unlisted Unlisted
	// Parts is only there when [Options.Parts] asks for it, and there is more than one.
	Parts    *Parts
	Warnings []string
}

// Share is the part of the profile that some samples are, 0 to 1, for the event of
// which they are the largest part.
func (p *Profile) Share(c Counts) float64 {
	var share float64
	for e, n := range c {
		if total := p.Accounts[e].Profiled; total > 0 {
			share = max(share, float64(n)/float64(total))
		}
	}
	return share
}

// IsHot tells whether samples are at least as large a part of the profile as
// HotThreshold says, in any event.
func (p *Profile) IsHot(c Counts) bool { return p.Share(c) >= p.HotThreshold }

// A Region is a run of sampled instructions within one blob, no two of them
// further apart than the merge margin. Regions of the same code in several
// JVMs are one.
type Region struct {
	Source    string // "c2, level 4"
	Method    string
	CompileID int
	OSR       bool
	PIDs      []int  // the JVMs it was seen in
	Lo, Hi    uint64 // from the first sampled instruction to the end of the last, in the first of PIDs
	Counts    Counts
	// Hot tells that the region is annotated: it is above the hot threshold, or was
	// chosen because few are, see [Options.Regions].
	Hot bool
	// Lines is the annotated code with its print margin. It is nil for a region that is
	// not hot, or whose code the log does not have. Of a region that is too big it has
	// only what is around the hottest instructions, and Gaps say what is left out.
	Lines  []Line
	Gaps   []Gap
	TooBig int // how many lines it would be, when that is more than the threshold; else 0
}

// A Line is one instruction of an annotated region.
type Line struct {
	printassembly.Instruction
	Counts Counts
	// TargetName is the name of the code that a call or jump leads to, when that is
	// another blob of the log.
	TargetName string
}

// Direct tells whether the line jumps or calls to an address in its text.
func (l *Line) Direct() bool { return l.Target != 0 && l.Kind != disasm.Plain }

// A Method sums up all code of one source and name.
type Method struct {
	Source    string
	Name      string
	CompileID int // of the hottest of its blobs
	Blobs     int // distinct compilations with samples, over all JVMs
	Counts    Counts
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []Counts
	Slices []Counts // over time, see Profile.Slices
}

// A JVMShare is what one process has of a profile.
type JVMShare struct {
	PID    int
	Counts Counts // all of its samples in the profile
	Native Counts // those outside the code cache, the kernel's included
	// JIT and GC are the samples of the JIT compilers' and the collector's threads, and Java
	// those of all other threads in code of the code cache. What is left is native code of
	// the other threads. Where the sampler names no threads, JIT and GC are 0.
	Java, JIT, GC Counts
}

// A FrameTotal sums up the instructions whose innermost Java frame is Method.
type FrameTotal struct {
	Method string
	Counts Counts
	// Total sums up the instructions that have Method anywhere in their inlining chain.
	// A method that is twice in a chain counts once.
	Total Counts
	Lines []LineTotal // hottest first
	// Slices are Counts over time, see Profile.Slices.
	Slices []Counts
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []Counts
}

// A LineTotal is the share of one source line; Line is 0 when it is unknown.
type LineTotal struct {
	Line   int
	Counts Counts
}

// UnknownModule is the Module of native code in no known file. It is far from the code
// cache, so it is not HotSpot's code.
const UnknownModule = "[unknown]"

// A NativeFunction sums up the samples in one function outside the code cache.
type NativeFunction struct {
	Module string // "libjvm.so", "kernel", UnknownModule
	Symbol string // "" when the sampler had none
	Counts Counts
	Slices []Counts // over time, see Profile.Slices
	// PerJVM are Counts by process, in the order of Profile.Shares.
	PerJVM []Counts
}

// UnresolvedSource is the Source of samples at addresses in no known code or file.
const UnresolvedSource = "unresolved"

// A Source sums up one value of the Source column: "c2, level 4", "stub",
// "libjvm.so", "kernel", UnresolvedSource.
type Source struct {
	Source string
	Counts Counts
}
