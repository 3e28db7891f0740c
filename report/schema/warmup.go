package schema

// A Warmth says when a JVM became warm. Work counts the samples in the code cache and in the threads of the JIT
// compilers. Cold work counts those of them that were taken in the interpreter, in C1's code that collects counts for
// C2 (levels 2 and 3), or in the threads of the compilers. See docs/formats.md for the rule.
type Warmth struct {
	PID int `json:"pid"`
	// Known is false if there are too few samples, or if the compiler of the code is not known. Then Warm and all
	// fields after it have no meaning.
	Known bool `json:"known"`
	Warm  bool `json:"warm"` // false if the JVM was not warm by the end
	// AfterMillis is the time from the JVM's start until the JVM became warm. It is absent if the JVM was not warm by
	// the end, or if it was warm from the first sample on (AtOnce).
	AfterMillis *float64 `json:"after_ms,omitempty"`
	AtOnce      bool     `json:"at_once,omitempty"`
	// Work is the number of samples after the JVM became warm or, if it was not warm by the end, in the last fifth of its
	// work. The next fields count parts of these samples.
	Work        int64 `json:"work"`
	Interpreted int64 `json:"interpreted"`
	C1          int64 `json:"c1"`
	JIT         int64 `json:"jit"`
	// JITUnknown is true if the sampler recorded no names of threads, so that JIT is not known.
	JITUnknown bool `json:"jit_unknown,omitempty"`
	// MeasuredFromMillis is when the first window of the JVM began. It is absent if the JVM was measured from its first
	// sample on.
	MeasuredFromMillis float64 `json:"measured_from_ms,omitempty"`
	// Spans divide the JVM's time from its first to its last sample. They are absent if the profile has many JVMs.
	Spans []WarmthSpan `json:"spans,omitempty"`
}

// A WarmthSpan has all samples of a JVM in a part of its time, by what the JVM did. Times are since the JVM's start.
type WarmthSpan struct {
	FromMillis  float64 `json:"from_ms"`
	ToMillis    float64 `json:"to_ms"`
	Interpreted int64   `json:"interpreted"`
	C1Profiled  int64   `json:"c1_profiled"` // C1's code that collects counts for C2
	C1          int64   `json:"c1"`          // other code of C1
	C2          int64   `json:"c2"`          // code of C2, or of another compiler in its place
	Compiled    int64   `json:"compiled,omitempty"`
	Stubs       int64   `json:"stubs"`
	JIT         int64   `json:"jit"`               // threads of the JIT compilers
	GC          int64   `json:"gc"`                // threads of the garbage collector
	Service     int64   `json:"service"`           // other threads of the JVM
	Native      int64   `json:"native"`            // native code and the kernel, in the program's threads
	Unnamed     int64   `json:"unnamed,omitempty"` // native code and the kernel, in threads without names
}

// A JIT says what the JIT compilers did in the whole run of the profile's JVMs, inside and outside the windows. Times
// of moments are in milliseconds since the JVM's start. A number that is not known is absent.
type JIT struct {
	// Top names the compiler of level 4: "JVMCI", or "C2 or JVMCI" if the JVMs differ. It is absent if all JVMs use C2.
	Top    string     `json:"level_4,omitempty"`
	Levels []JITLevel `json:"levels"`
	// Longest are the compilations that took longest, of those whose times are known.
	Longest []JITCompilation `json:"longest,omitempty"`
	Methods []JITMethod      `json:"methods,omitempty"`
	Again   []JITRepetition  `json:"again,omitempty"`
	Deopts  []Deopt          `json:"deoptimizations,omitempty"`
	// AllMethods, AllAgain and AllDeopts are the lengths of the lists before they were cut to 100.
	AllMethods int `json:"all_methods"`
	AllAgain   int `json:"all_again"`
	AllDeopts  int `json:"all_deoptimizations"`
}

// A JITLevel sums up the compilations of one level: 0 for the wrappers of native methods, 1 to 3 for C1, 4 for C2, and
// -1 if the level is not known.
type JITLevel struct {
	Level     int     `json:"level"`
	Count     int     `json:"count"`
	OSR       int     `json:"osr,omitempty"`
	InWindow  int     `json:"in_window"`
	Failed    int     `json:"failed,omitempty"`
	Discarded int     `json:"discarded,omitempty"` // HotSpot stopped using the code, as far as its log says so
	Timed     int     `json:"timed"`               // compilations whose times are known
	TotalMS   float64 `json:"total_ms"`            // of those
	Bytes     int64   `json:"bytes,omitempty"`     // size of the code
}

// A JITCompilation is one run of a compiler on one method.
type JITCompilation struct {
	PID       int     `json:"pid"`
	Method    string  `json:"method,omitempty"` // absent in a JITRepetition
	CompileID int     `json:"compile_id,omitempty"`
	Level     int     `json:"level"`
	Compiler  string  `json:"compiler,omitempty"` // if the level is not known
	OSR       bool    `json:"osr,omitempty"`
	AtMillis  float64 `json:"at_ms"`
	MS        float64 `json:"ms,omitempty"`
	Bytes     int     `json:"bytes,omitempty"`
	Inlined   int     `json:"inlined,omitempty"` // bytes of bytecode
	Failed    bool    `json:"failed,omitempty"`
	InWindow  bool    `json:"in_window"`
	End       *JITEnd `json:"end,omitempty"`
}

// A JITEnd says when and why HotSpot stopped using the code.
type JITEnd struct {
	AtMillis float64 `json:"at_ms"`
	Reason   string  `json:"reason,omitempty"`
	Trap     string  `json:"trap,omitempty"` // the reason of the deoptimization that caused it
	Action   string  `json:"action,omitempty"`
}

// A JITMethod sums up the compilations of a method. The method that took most of the compilers' time comes first.
type JITMethod struct {
	Method    string  `json:"method"`
	C1        int     `json:"c1"` // numbers of compilations
	C2        int     `json:"c2"`
	Unknown   int     `json:"unknown,omitempty"` // by a compiler that is not known
	Failed    int     `json:"failed,omitempty"`
	Timed     int     `json:"timed"`
	TotalMS   float64 `json:"total_ms"`
	C1MS      float64 `json:"c1_ms"`
	C2MS      float64 `json:"c2_ms"`
	LongestMS float64 `json:"longest_ms"`
}

// A JITRepetition is a method that a JVM has compiled several times at the same level.
type JITRepetition struct {
	PID      int     `json:"pid"`
	Method   string  `json:"method"`
	Level    int     `json:"level"`
	Compiler string  `json:"compiler,omitempty"`
	OSR      bool    `json:"osr,omitempty"`
	Count    int     `json:"count"`
	TotalMS  float64 `json:"total_ms"`
	// Versions are the compilations, the earliest first; only the last ones if there are many.
	Versions []JITCompilation `json:"versions"`
}

// A Deopt is a place at which execution went from compiled code to the interpreter (a deoptimization).
type Deopt struct {
	At           *Frame   `json:"at"`
	Instruction  string   `json:"instruction,omitempty"`
	Reason       string   `json:"reason"`
	Action       string   `json:"action"`
	CompiledInto []string `json:"compiled_into,omitempty"` // the compiled methods that contained the place
	Levels       []int    `json:"levels,omitempty"`        // of the code that was left
	Count        int      `json:"count"`
	InWindow     int      `json:"in_window"`
	// After says at which levels the methods were compiled next. Never is the number of deoptimizations after which the
	// method was not compiled again at the level of the code that was left. Unknown is the number of deoptimizations in
	// code whose compilation is not known.
	After   []DeoptAfter `json:"after,omitempty"`
	Never   int          `json:"never,omitempty"`
	Unknown int          `json:"unknown,omitempty"`
}

// A DeoptAfter says how long after a deoptimization the method's next compilation at a level began.
type DeoptAfter struct {
	Level      int     `json:"level"`
	Count      int     `json:"count"`
	ShortestMS float64 `json:"shortest_ms"`
	MedianMS   float64 `json:"median_ms"`
	LongestMS  float64 `json:"longest_ms"`
}

// A LibraryWork has the samples of one kind of work of HotSpot's library: "JIT", "GC", "class loading" …
type LibraryWork struct {
	Work   string `json:"work"`
	Counts Counts `json:"counts"`
}

// An Interpreted has the samples in the interpreter while it executed a method.
type Interpreted struct {
	Method string      `json:"method"`
	File   string      `json:"file,omitempty"`
	Counts Counts      `json:"counts"`
	Lines  []LineTotal `json:"lines"`
}
