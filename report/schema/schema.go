// Package schema has the types of the JSON report. Package report writes the report with these types, and everything
// that reads a report uses them too.
//
// These types are schema 1. They are declared in the order in which they appear in a report.
// report/testdata/schema1.json is a JSON Schema of the same format. Fields may be added to schema 1. Changing or
// removing a field requires a schema 2.
//
// Counts are objects with a member for each event that was sampled ([PerEvent]). The members are in the order of the
// capture's events. Addresses are strings ([Address]).
package schema

// Version is the number of the schema that these types implement.
const Version = 1

// A Report is a whole JSON report.
type Report struct {
	Schema  int      `json:"schema"` // Version
	Gasm    string   `json:"gasm"`   // the version of gasm that wrote it
	Capture *Capture `json:"capture"`
	// Chosen has the flags that chose the samples of the report, e.g. "--thread app". It is "" if the report has all
	// samples.
	Chosen   string    `json:"chosen,omitempty"`
	Profiles []Profile `json:"profiles"` // one for each trial or, without trials, for each program
}

// A Capture says what was recorded.
type Capture struct {
	Command   []string  `json:"command"`
	Sampler   string    `json:"sampler"`
	Events    []string  `json:"events"`    // as sampled
	Frequency int       `json:"frequency"` // Hz; 0 if unknown
	JVMs      []Process `json:"jvms"`
	Attached  bool      `json:"attached,omitempty"`  // whether gasm attached to running JVMs, so that there is no command
	Code      string    `json:"code,omitempty"`      // "printed" by HotSpot, "copied" from its memory, or "mixed"
	Selection string    `json:"selection,omitempty"` // the flags that say which code HotSpot printed; "" for all code
	Notes     []string  `json:"notes"`
}

// A Process is one of the JVMs that the command started or that gasm attached to.
type Process struct {
	PID     int    `json:"pid"`
	Main    string `json:"main"`
	Version string `json:"version"`
	Fork    int    `json:"fork,omitempty"` // the number that JMH gave to the fork
	Host    string `json:"host,omitempty"` // the JVM's host, or the folder of its capture, if captures were merged
	// SafepointsOnly is true if HotSpot has recorded the frames and lines of its code only at safepoints, at least for
	// some methods. Between safepoints, frames and lines are guesses; see Frame.Certain.
	SafepointsOnly bool `json:"safepoints_only,omitempty"`
	// Taken are all samples of this process, inside and outside the windows.
	Taken Counts `json:"taken,omitzero"`
}

// A Profile is the profile of one trial or of one program. Without a trial, Program and JDK name the program and the
// JDK that all JVMs of the profile run.
type Profile struct {
	Trial string `json:"trial"`
	// Program is the main class or the name of the jar. If a tool added a number to that name at run time, Program
	// leaves the number out.
	Program       string            `json:"program,omitempty"`
	JDK           string            `json:"jdk,omitempty"`
	PIDs          []int             `json:"pids"`
	WindowSeconds float64           `json:"window_seconds"`
	Operations    float64           `json:"operations,omitempty"` // in the window, by JMH or --ops; 0 if unknown
	Score         *Score            `json:"score,omitempty"`      // what JMH measured; nil without JMH
	Account       PerEvent[Account] `json:"account"`
	JVMs          []Share           `json:"jvms"` // in the order of PIDs
	// Hosts are the hosts whose captures were merged, those that differ from the others first. It is nil if there is only
	// one.
	Hosts []Host `json:"hosts,omitempty"`
	// Slices are the samples of a benchmark over time. For each JVM, in the order of PIDs, there are
	// windows.SlicesPerJVM slices.
	Slices Slices `json:"slices,omitzero"`
	// SafepointsOnly are the samples in methods that were compiled without DebugNonSafepoints. It is nil if there are
	// none.
	SafepointsOnly *Counts      `json:"safepoints_only,omitempty"`
	Regions        []Region     `json:"regions"`
	Methods        []Method     `json:"methods"`
	Frames         []Frames     `json:"frames"`
	Native         []Native     `json:"native"`
	Sources        []Source     `json:"sources"`
	Threads        []ThreadKind `json:"threads"`
	// Stacks is the tree of calls. It is absent if the capture has no call stacks.
	Stacks *Stacks `json:"stacks,omitempty"`
	// By divides the samples between the methods of --by. A sample with several of these methods among its frames goes to
	// the one whose frame is innermost. The last element, whose method is "", has the samples without any of the methods.
	By []CallerTotal `json:"by,omitempty"`
	// Events are the events in the windows, summed up by kind and name.
	Events []Event `json:"events,omitempty"`
	// Probes are the counts of probed methods, inside and outside the windows.
	Probes []Probe `json:"probes,omitempty"`
	// Delays list the code that ran while threads waited for other threads to reach a safepoint.
	Delays []Delay `json:"time_to_safepoint,omitempty"`
	// Locks are the places where threads waited for locks that other threads held. The place where threads waited
	// longest in total comes first.
	Locks []Lock `json:"locks,omitempty"`
	// Parks are the places where threads waited for something other than a lock: in LockSupport.park, or in
	// Object.wait.
	Parks []Lock `json:"parks,omitempty"`
	// Allocations are the places where the program allocates. The place with the most bytes comes first.
	Allocations []Allocation `json:"allocations,omitempty"`
	// Waits says how threads spent wall-clock time. It is absent if that was not recorded (--wall).
	Waits *Waits `json:"waits,omitempty"`
	// UnrecordedSeconds is how long the windows had already lasted when Flight Recorder, or the USDT probes, began to
	// record. Locks, Parks and Allocations lack what happened in this time. If there are several JVMs, UnrecordedSeconds
	// is the longest of their times.
	UnrecordedSeconds float64 `json:"unrecorded_seconds,omitempty"`
	// Sites says which frame of a stack is the place of a lock, a park, an allocation or a wait: "own" for the
	// innermost frame outside the JDK, or "innermost". It is absent if the profile has no such places.
	Sites string `json:"sites,omitempty"`
	// Compilations are the versions of the hottest methods' code, ordered by method and then by the time at which they
	// were made. If there are several JVMs, the versions of a method are from the JVM with the most samples of that
	// method.
	Compilations []Compilation `json:"compilations,omitempty"`
	// WarmUp says when each JVM was warm, in the order of PIDs.
	WarmUp []Warmth `json:"warm_up,omitempty"`
	// JIT says what the JIT compilers did. It is absent if no events about them were recorded.
	JIT *JIT `json:"jit,omitempty"`
	// Calls says which calls in hot code were inlined and which were not. It is absent if the compilers' decisions were
	// not recorded.
	Calls *Calls `json:"calls,omitempty"`
	// Library divides the samples of HotSpot's library between the kinds of its work.
	Library []LibraryWork `json:"libjvm,omitempty"`
	// Interpreted has the samples in the interpreter, by method. Samples whose method is unknown are missing.
	Interpreted []Interpreted `json:"interpreted,omitempty"`
	// Hottest are the instructions with the most samples. They are listed even if their regions have no lines.
	Hottest []HotLine `json:"hottest,omitempty"`
	// Loops are the loops with samples in the code of Hottest, and in code with at least 1 % of the samples. The loop
	// with the most samples comes first.
	Loops    []Loop   `json:"loops,omitempty"`
	Warnings []string `json:"warnings"`
}

// A Score is the result that JMH measured for a trial.
type Score struct {
	Mode  string  `json:"mode"` // JMH's: "avgt", "thrpt", "sample", "ss"
	Unit  string  `json:"unit"` // "ns/op", "ops/us"
	Value float64 `json:"value"`
	// Error is half the width of the 99.9 % confidence interval. It is left out if it is unknown.
	Error float64 `json:"error,omitempty"`
	// Forks are the scores of each fork's iterations.
	Forks [][]float64 `json:"forks,omitempty"`
}

// An Account says where each sample of one event went:
//
//	total    = outside_window + other_process + other_thread + outside_method + not_under + printing + lost + profiled
//	profiled = compiled + stub + interpreter + native + kernel + unresolved
//	profiled = stack_whole + stack_cut + stack_frozen + stack_unwalked, if the profile has Stacks
type Account struct {
	Total         int64 `json:"total"`
	OutsideWindow int64 `json:"outside_window"`
	// OtherProcess counts the samples of all processes that are not a JVM of the profile. OtherJVM and OtherTrial are
	// parts of this number. OtherJVM counts the samples of the command's JVMs that are in no trial or run a different
	// program. OtherTrial counts the samples of JVMs of other trials.
	OtherProcess int64 `json:"other_process"`
	OtherJVM     int64 `json:"other_jvm,omitempty"`
	OtherTrial   int64 `json:"other_trial,omitempty"`
	OtherThread  int64 `json:"other_thread,omitempty"` // samples of threads that the user has not chosen
	// OutsideMethod counts the samples that were taken while their thread was not in the method of --window-method.
	OutsideMethod int64 `json:"outside_method,omitempty"`
	// NotUnder counts the samples that do not have the method of --under among their frames.
	NotUnder int64 `json:"not_under,omitempty"`
	// Printing counts the samples that were taken while HotSpot printed code for gasm. They are not in Profiled.
	Printing    int64 `json:"printing,omitempty"`
	Lost        int64 `json:"lost"`
	Profiled    int64 `json:"profiled"`
	Compiled    int64 `json:"compiled"`
	Stub        int64 `json:"stub"`
	Interpreter int64 `json:"interpreter"`
	Native      int64 `json:"native"`
	Kernel      int64 `json:"kernel"`
	Unresolved  int64 `json:"unresolved"`
	// StackWhole counts the samples with all frames. In the others, the outer frames are missing: they were beyond the
	// part of the stack that was copied (StackCut), they belong to a virtual thread and were in the heap (StackFrozen),
	// or they could not be found (StackUnwalked).
	StackWhole    int64 `json:"stack_whole,omitempty"`
	StackCut      int64 `json:"stack_cut,omitempty"`
	StackFrozen   int64 `json:"stack_frozen,omitempty"`
	StackUnwalked int64 `json:"stack_unwalked,omitempty"`
}

// A Share has the samples of one JVM in a profile.
type Share struct {
	PID    int    `json:"pid"`
	Counts Counts `json:"counts"`
	Native Counts `json:"native"` // samples outside the code cache, including the kernel
	// JIT has the samples of the JIT compilers' threads. GC has the samples of the garbage collector's threads. Java has
	// the samples of all other threads in the code cache.
	Java Counts `json:"java,omitzero"`
	JIT  Counts `json:"jit,omitzero"`
	GC   Counts `json:"gc,omitzero"`
}

// A Region is a run of sampled instructions within one piece of code.
type Region struct {
	Source    string  `json:"source"`
	Method    string  `json:"method"`
	CompileID int     `json:"compile_id"`
	OSR       bool    `json:"osr"`
	Native    bool    `json:"native,omitempty"` // it is in a native function, whose counts Profile.Native has too
	PIDs      []int   `json:"pids"`
	Lo        Address `json:"lo"`
	Hi        Address `json:"hi"`
	Counts    Counts  `json:"counts"`
	// SafepointsOnly is true if the method was compiled without DebugNonSafepoints. The frames of most of its
	// instructions are guesses.
	SafepointsOnly bool `json:"safepoints_only,omitempty"`
	// Moved is true if HotSpot has moved the code. Samples at all of its addresses are added up; the addresses are
	// those of the copy with the most samples.
	Moved bool `json:"moved,omitempty"`
	// Deoptimized lists the methods in the code that had been deoptimised before gasm copied the code, the one with the
	// most deoptimisations first.
	Deoptimized []Deoptimized `json:"deoptimized,omitempty"`
	Lines       []Line        `json:"lines,omitempty"` // only present for hot regions
	// TooBig is the number of lines if they are too many to be listed, and 0 otherwise.
	TooBig int `json:"too_big,omitempty"`
}

// A Line is one instruction of a region.
type Line struct {
	Addr     Address  `json:"addr"`
	Section  string   `json:"section,omitempty"`
	Text     string   `json:"text"`
	Target   string   `json:"target,omitempty"` // the name of the code that it calls or jumps to
	Counts   Counts   `json:"counts"`
	Frames   []Frame  `json:"frames"` // the inlining chain, innermost first
	Comments []string `json:"comments"`
	// JITProfile is what HotSpot counted at the instruction's bytecode; see the type JITProfile. Most instructions have
	// none.
	JITProfile *JITProfile `json:"jit_profile,omitempty"`
	// Call says why a call of a Java method was not inlined; see the field Reason of the type Call.
	Call string `json:"call,omitempty"`
}

// A JITProfile is what HotSpot counted at a bytecode, mostly before C2 compiled the method, so only the ratios of its
// counts mean something. The counts of a method include all of its callers: HotSpot does not count separately for each
// place at which the method is inlined.
type JITProfile struct {
	Method   string `json:"method"`
	BCI      int    `json:"bci"`
	Line     int    `json:"line"` // 0 if unknown
	Bytecode string `json:"bytecode"`
	// AllCallers is true if the method has several callers in the capture, so that the profile mixes them.
	AllCallers bool `json:"all_callers,omitempty"`
	// Taken and NotTaken are how often a conditional branch was taken or not. They are absent for other bytecodes.
	Taken    *int64 `json:"taken,omitempty"`
	NotTaken *int64 `json:"not_taken,omitempty"`
	// Types are the classes of a call's receivers, or of the objects that a checkcast, an instanceof or an aastore
	// checked, the most frequent class first. Others counts the objects of all other classes.
	Types  []JITType `json:"types,omitempty"`
	Others int64     `json:"others,omitempty"`
	// Incomplete is true if a type check may have seen classes that HotSpot did not count. Failed is the number of
	// checks that failed. Both occur at type checks of JDKs up to 24. If Failed is not 0, the counts of Types may lack
	// objects whose check failed.
	Incomplete bool  `json:"incomplete,omitempty"`
	Failed     int64 `json:"failed,omitempty"`
	NullSeen   bool  `json:"null_seen,omitempty"` // a type check has seen null
	// Inlined are the methods that were inlined at a call. Call is "dispatched" if the code calls the method of the
	// receiver's class, and "direct" if it always calls the same method. Call is absent if the code has no call there,
	// or if the kind of the call is unknown.
	Inlined []string `json:"inlined,omitempty"`
	Call    string   `json:"call,omitempty"`
}

// A JITType is a class in a JITProfile.
type JITType struct {
	Class string `json:"class"`
	Count int64  `json:"count"`
}

// A Deoptimized counts the deoptimisations at the bytecodes of a method, in all code that contains the method.
type Deoptimized struct {
	Method string `json:"method"`
	// Reasons says how often there was a deoptimisation, by HotSpot's reason, such as "class_check"; 255 means 255 or
	// more.
	Reasons map[string]int `json:"reasons"`
}

// A HotLine is one of the hottest instructions.
type HotLine struct {
	Source    string  `json:"source"`
	Method    string  `json:"method"`
	CompileID int     `json:"compile_id"`
	Addr      Address `json:"addr"`
	Text      string  `json:"text"`
	Counts    Counts  `json:"counts"`
	Frames    []Frame `json:"frames"` // the inlining chain, innermost first
	// FramesOfNext is true if HotSpot kept no debug info for the instruction. Frames are then those of the next
	// instruction with debug info or, if the JVM has SafepointsOnly, a guess.
	FramesOfNext bool `json:"frames_of_next,omitempty"`
	// Loop is the number of the innermost loop around the instruction in the code of its method (see the type Loop), or
	// 0 if there is none. Depth is the number of loops around the instruction.
	Loop  int `json:"loop,omitempty"`
	Depth int `json:"depth,omitempty"`
	// LoopUnknown is true if the code is too large to look for its loops.
	LoopUnknown bool `json:"loop_unknown,omitempty"`
}

// A Loop is a natural loop of compiled code.
type Loop struct {
	Source    string `json:"source"`
	Method    string `json:"method"`
	CompileID int    `json:"compile_id"`
	// Number counts the loops of the code from 1 on, in the order of the addresses at which they begin.
	Number       int     `json:"number"`
	Inside       int     `json:"inside,omitempty"` // the number of the loop around it; 0 for none
	Depth        int     `json:"depth"`            // 1 for a loop that is in no other loop
	Begins       Address `json:"begins"`
	Instructions int     `json:"instructions"`
	Counts       Counts  `json:"counts"` // including the loops in it
	// Facts is missing in reports of older versions, and for instruction sets other than x86-64 and aarch64.
	Facts *LoopFacts `json:"facts,omitempty"`
}

// LoopFacts has the facts about a loop.
type LoopFacts struct {
	// Innermost is true if no other loop is in the loop.
	Innermost bool `json:"innermost"`
	// Vector is the width in bits of the widest vector registers in which the loop computes with packed values, or
	// which it copies. It is 0 if the loop does neither, and -1 for vectors of SVE, whose width is not in the code.
	// Scalar is true if the loop computes with single floating-point numbers.
	Vector int  `json:"vector"`
	Scalar bool `json:"scalar_float"`
	// Unrolled is the number of copies of the loop's body in a round. It is 1 for a loop that is not unrolled, and
	// missing if it is not known. Copied is the mnemonic of an instruction that occurs that often.
	Unrolled int    `json:"unrolled,omitempty"`
	Copied   string `json:"copied,omitempty"`
	// The next fields are numbers of instructions, including the instructions of inner loops.
	RangeChecks int `json:"range_checks"`
	Polls       int `json:"polls"`
	Calls       int `json:"calls"`
	Spills      int `json:"spills"`  // that write to the stack's frame
	Reloads     int `json:"reloads"` // that read it
	// Bound is only known for innermost loops of x86-64. NoBound says why an innermost loop has none.
	Bound    *LoopBound `json:"bound,omitempty"`
	NoBound  string     `json:"no_bound,omitempty"`
	Modelled *Modelled  `json:"modelled,omitempty"` // with --mca
}

// A LoopBound says how many cycles a round of a loop takes at least: the larger of Chain and Ports or, on the
// processors of ChainNewest, the larger of ChainNewest and Ports. See docs/limits.md for the assumptions.
type LoopBound struct {
	// Chain is the number of cycles of the longest chain of instructions that wait for one another, from round to
	// round.
	Chain        float64 `json:"chain_cycles"`
	ChainNewest  float64 `json:"chain_cycles_newest"` // on Zen 5, Golden Cove and later ones
	Ports        float64 `json:"ports_cycles"`
	Busiest      string  `json:"busiest"`      // the operations that take ports_cycles: "16 loads"
	Instructions int     `json:"instructions"` // on the path through the loop that has most samples
	// UsualPath is true if parts of the loop with calls or hardly any samples were left out. The bound does not hold
	// for these parts.
	UsualPath bool        `json:"usual_path"`
	Links     []ChainLink `json:"chain"` // in the order of their addresses
}

// A ChainLink is an instruction of a chain.
type ChainLink struct {
	Addr Address `json:"addr"`
	Name string  `json:"name,omitempty"` // its mnemonic, or "load"; missing if it takes no time
}

// Modelled is what a program that models a processor says about a loop.
type Modelled struct {
	Tool    string `json:"tool"`
	Verdict string `json:"verdict"` // "40 cycles a round; 4.5 by ports alone", or why there is none
	Text    string `json:"text"`    // what it printed
}

// A Compilation is one version of a hot method's code. Times are in milliseconds since the JVM's start. The code was
// made between MadeMillis and MadeByMillis; both are the same if the time is known to the millisecond. Older reports
// have no MadeByMillis.
type Compilation struct {
	Method       string `json:"method"`
	Source       string `json:"source"`
	CompileID    int    `json:"compile_id"`
	Tier         int    `json:"tier"`
	OSR          bool   `json:"osr"`
	OSRBCI       *int   `json:"osr_bci,omitempty"` // the bytecode index at which an on-stack replacement is entered
	PID          int    `json:"pid"`
	MadeMillis   int64  `json:"made_ms"`
	MadeByMillis int64  `json:"made_by_ms,omitempty"`
	MadeInWindow bool   `json:"made_in_window"`
	// MadeBefore is true if the JVM already had the code when gasm attached. Then MadeMillis is 0, because the time is
	// unknown.
	MadeBefore bool `json:"made_before,omitempty"`
	Moved      int  `json:"moved,omitempty"` // how often HotSpot has moved the code to another address
	// Left says when and why the JVM stopped using the code. It is missing if the JVM still used the code in the end,
	// or if the log does not say when it stopped.
	Left   *CompilationEnd   `json:"left,omitempty"`
	Counts Counts            `json:"counts"`
	Share  PerEvent[float64] `json:"share"` // of the profile
}

// A CompilationEnd says when and why a JVM stopped using some code. HotSpot has then invalidated the code, and no
// thread enters it any more.
type CompilationEnd struct {
	Millis   int64  `json:"ms"`
	InWindow bool   `json:"in_window"`
	Reason   string `json:"reason,omitempty"` // "not used", "uncommon trap"
	Trap     string `json:"trap,omitempty"`   // "unstable_if"
}

// A Frame is one level of an inlining chain.
type Frame struct {
	Method string `json:"method"`
	BCI    int    `json:"bci"`
	Line   int    `json:"line"` // 0 if unknown
	// File is the name of the source file, from the SourceFile attribute of the class. It is "" if unknown.
	File string `json:"file,omitempty"`
	// Certain is false if this frame is a guess, because HotSpot has recorded frames only at safepoints. It is nil if
	// the frame is certain.
	Certain *bool `json:"certain,omitempty"`
	// LineCertain is false if the bytecode index and the line are a guess. Even then, the method can be certain.
	// LineCertain is nil if the index and the line are certain.
	LineCertain *bool `json:"line_certain,omitempty"`
}

// A Method sums up all code that has the same name and the same source, for example all of a method's compilations by
// C2.
type Method struct {
	Source    string `json:"source"`
	Name      string `json:"name"`
	CompileID int    `json:"compile_id"` // of the hottest compilation
	Blobs     int    `json:"blobs"`      // compilations with samples
	Counts    Counts `json:"counts"`
	PerJVM    PerJVM `json:"per_jvm,omitempty"`
	Slices    Slices `json:"slices,omitzero"`
}

// Frames sums up the instructions that were made from one Java method, in all compiled code.
type Frames struct {
	Method string `json:"method"`
	File   string `json:"file,omitempty"` // as in a Frame
	Counts Counts `json:"counts"`         // samples at instructions whose innermost method this is
	Total  Counts `json:"total"`          // samples at instructions with this method anywhere in their inlining chain
	// WithCallees are the samples with this method anywhere on their call stacks or in their inlining chains. It is
	// absent if the capture has no call stacks. If the capture has them, there are also Frames for methods without
	// samples of their own, provided that at least 1 % of all samples are in what they call.
	WithCallees Counts      `json:"with_callees,omitzero"`
	PerJVM      PerJVM      `json:"per_jvm,omitempty"`
	Slices      Slices      `json:"slices,omitzero"` // of Counts
	Lines       []LineTotal `json:"lines"`
	// Guessed counts a part of the samples in Counts: those whose method is a guess, because HotSpot has recorded frames
	// at safepoints only. It is nil if there are no such samples.
	Guessed *Counts `json:"guessed,omitempty"`
}

// Stacks are the call stacks of a profile as a tree: from the threads to the code in which samples were taken. All
// frames of a method on the same path are one node. For each node
//
//	counts = self + omitted + the counts of its children
type Stacks struct {
	Least float64     `json:"least"` // nodes with a smaller share of the samples are left out
	Nodes []StackNode `json:"nodes"` // each after its parent
}

// A StackNode is a method or a function, and the path of calls to it.
type StackNode struct {
	Parent int `json:"parent"` // index of its caller in Stacks.Nodes, or -1 for the root, which has all samples
	// Kinds are the kinds of its frames: "thread" for the children of the root, "compiled", "inlined", "interpreted",
	// "stub", "native" or "kernel". A Java method may have several. A node of the kind "cut", "frozen" or "unwalked" is in
	// place of frames that are missing. The root has none.
	Kinds  []string `json:"kinds"`
	Name   string   `json:"name"` // "" if unknown
	Module string   `json:"module,omitempty"`
	// Line is the line in the source if all frames are at the same one, else 0. For a caller, it is the line of the
	// call.
	Line    int    `json:"line,omitempty"`
	Guessed bool   `json:"guessed,omitempty"` // for some samples, the method is a guess
	Counts  Counts `json:"counts"`            // with everything that it called
	Self    Counts `json:"self,omitzero"`
	// Omitted are the samples of children that are left out, and Others is their number.
	Omitted Counts `json:"omitted,omitzero"`
	Others  int    `json:"others,omitempty"`
}

// A CallerTotal counts the samples that --by assigns to one of its methods, because the method is on their stacks.
type CallerTotal struct {
	Method string `json:"method"`
	Counts Counts `json:"counts"`
}

// A LineTotal has the samples of one source line in a Frames.
type LineTotal struct {
	Line   int    `json:"line"` // 0 if unknown
	Counts Counts `json:"counts"`
	// Guessed counts a part of the samples in Counts: those whose line is a guess; see Frames.Guessed.
	Guessed *Counts `json:"guessed,omitempty"`
}

// Native sums up the samples in one function outside the code cache.
type Native struct {
	Module string `json:"module"`
	Symbol string `json:"symbol"`
	Counts Counts `json:"counts"`
	PerJVM PerJVM `json:"per_jvm,omitempty"`
	Slices Slices `json:"slices,omitzero"`
}

// A Source sums up all code of one source: "c2, level 4", "kernel", "libjvm.so".
type Source struct {
	Source string `json:"source"`
	Counts Counts `json:"counts"`
}

// A ThreadKind sums up threads that do the same kind of work.
type ThreadKind struct {
	Kind    string   `json:"kind"`
	Counts  Counts   `json:"counts"`
	Threads []Thread `json:"threads"`
}

// A Thread sums up the samples of all threads with the same name.
type Thread struct {
	Name   string `json:"name"`
	Counts Counts `json:"counts"`
}

// An Event sums up the events of one kind and name, for example one kind of pause of the garbage collector.
type Event struct {
	Kind string `json:"kind"` // "gc", "gc-concurrent", "safepoint", "vm-operation", "compile", "lock", "jfr" …
	Name string `json:"name"`
	// Tool is true if Flight Recorder or an agent such as gasm's caused the events, and not the program.
	Tool      bool    `json:"tool,omitempty"`
	Count     int     `json:"count"`    // how many of these events began in the windows
	TotalMS   float64 `json:"total_ms"` // 0 if unknown, or if such events have no length
	LongestMS float64 `json:"longest_ms"`
	// WaitMS is the part of TotalMS until all threads had reached the safepoints. It is absent if that time is unknown.
	WaitMS        float64 `json:"wait_ms,omitempty"`
	LongestWaitMS float64 `json:"longest_wait_ms,omitempty"`
	Samples       Counts  `json:"samples"` // samples that were taken during these events
}

// A Delay is code that ran in application threads while other threads waited for them to reach a safepoint.
type Delay struct {
	Source    string      `json:"source"` // for a native function, its module
	Name      string      `json:"name"`
	CompileID int         `json:"compile_id,omitempty"`
	Counts    Counts      `json:"counts"`
	Lines     []DelayLine `json:"lines"` // the hottest instructions
}

// A DelayLine is an instruction of a Delay.
type DelayLine struct {
	Addr   Address `json:"addr"`
	Text   string  `json:"text"`
	Counts Counts  `json:"counts"`
	Frames []Frame `json:"frames"`
}

// A Probe has the counts of one probe. For a method, these are its calls. For locks, Entries counts how often a lock
// was taken, and Returns counts how often a lock was released. For allocations, Entries counts the objects.
type Probe struct {
	Kind       string  `json:"kind"` // "method", "lock", "alloc"
	Method     string  `json:"method"`
	Descriptor string  `json:"descriptor"`
	Entries    int64   `json:"entries"`
	Returns    int64   `json:"returns"`
	Exceptions int64   `json:"exceptions"`
	TotalMS    float64 `json:"total_ms"` // of outermost calls
	MaxNS      int64   `json:"max_ns,omitempty"`
	// Percentiles, in nanoseconds. Their relative error is at most 1/32.
	P50 int64 `json:"p50_ns,omitempty"`
	P90 int64 `json:"p90_ns,omitempty"`
	P99 int64 `json:"p99_ns,omitempty"`
	// Distribution counts the calls that have ended, by how long they took. Buckets without a call are left out.
	Distribution []ProbeBucket `json:"distribution,omitempty"`
	Threads      []ProbeThread `json:"threads"`
}

// A ProbeBucket counts calls that took [FromNS, ToNS).
type ProbeBucket struct {
	FromNS int64 `json:"from_ns"`
	ToNS   int64 `json:"to_ns"`
	Count  int64 `json:"count"`
}

// A ProbeThread has the counts of one thread in a Probe.
type ProbeThread struct {
	PID        int     `json:"pid"`
	TID        int     `json:"tid"` // 0 if several threads are counted together
	Name       string  `json:"name"`
	Entries    int64   `json:"entries"`
	Returns    int64   `json:"returns"`
	Exceptions int64   `json:"exceptions"`
	TotalMS    float64 `json:"total_ms"` // of outermost calls
	MaxNS      int64   `json:"max_ns,omitempty"`
}

// A Lock is a place in the program at which threads waited for a lock or, in Parks, for something else.
type Lock struct {
	At    *Frame `json:"at,omitempty"`
	Class string `json:"class"` // the class of what they waited for
	// Owner is the name of the thread that held the lock most often. It lacks the number at the end of the name.
	Owner     string  `json:"owner,omitempty"`
	Count     int     `json:"count"`
	TotalMS   float64 `json:"total_ms"`
	LongestMS float64 `json:"longest_ms"`
	// Callers are the callers of the place. Only the first places of a list have them, see SiteCaller.
	Callers []SiteCaller `json:"callers,omitempty"`
}

// An Allocation is a place in the program that allocates.
type Allocation struct {
	At     *Frame `json:"at,omitempty"`
	Class  string `json:"class"`
	Events int    `json:"events"` // the number of recorded allocations: a sample of them, or all
	Bytes  int64  `json:"bytes"`  // how much the program allocated, according to the events
	// Code is the instruction that allocates; nil if it is unknown.
	Code *AllocationCode `json:"code,omitempty"`
	// Callers are the callers of the place. Only the first places of the list have them, see SiteCaller.
	Callers []SiteCaller `json:"callers,omitempty"`
}

// A SiteCaller is a node in the tree of callers of a place: one line of a method, on one path of calls. The first node
// of a tree is the place itself, and each node comes after its Parent, which it has called. Callers with less than 1 %
// of the place's time or bytes are left out. Only the first 100 places of a list have callers.
type SiteCaller struct {
	Parent int    `json:"parent"`           // index of the node that it has called, or -1 for the place
	Method string `json:"method,omitempty"` // absent if the frames from here on are unknown
	Line   int    `json:"line,omitempty"`
	File   string `json:"file,omitempty"`
	// Count is the number of events that came from here. Omitted is the number of these events whose callers are left out.
	Count   int64 `json:"count"`
	Omitted int64 `json:"omitted,omitempty"`
	// TotalMS is the total time of the waits. Bytes is the number of bytes that were allocated.
	TotalMS float64 `json:"total_ms,omitempty"`
	Bytes   int64   `json:"bytes,omitempty"`
}

// An AllocationCode is an instruction that allocates.
type AllocationCode struct {
	Source    string  `json:"source"`
	Name      string  `json:"name"`
	CompileID int     `json:"compile_id,omitempty"`
	Addr      Address `json:"addr"`
	Text      string  `json:"text,omitempty"`
}
