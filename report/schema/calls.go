package schema

// Calls has the calls of Java methods in compiled code with samples, if the compilers' decisions about them were
// recorded. It leaves out C1's code that collects counts for C2.
type Calls struct {
	// Pieces is the number of pieces of code that have calls. Early is the number of pieces for which some decisions
	// may be missing. They were compiled before the recording began or while it began, or the recording is incomplete.
	Pieces int `json:"pieces"`
	Early  int `json:"early"`
	// Inlined is the number of calls whose callee is part of the code. The next fields count the calls that are not
	// inlined, by their outcome; see Call.Outcome.
	Inlined  int `json:"inlined"`
	Refused  int `json:"refused"`
	Virtual  int `json:"virtual"`
	Rest     int `json:"rest"`
	Reversed int `json:"reversed"`
	Unknown  int `json:"unknown"`
	// NotInlined are the calls that were not inlined, except calls about which nothing is known, and calls in code
	// without samples. The hottest comes first. AllNotInlined is the length of the list before it was cut to 100.
	NotInlined    []Call `json:"not_inlined"`
	AllNotInlined int    `json:"all_not_inlined"`
}

// A Call is a call that was not inlined.
type Call struct {
	Source    string  `json:"source"` // of the compiled code that contains the call
	Method    string  `json:"method"`
	CompileID int     `json:"compile_id"`
	PID       int     `json:"pid"`
	Addr      Address `json:"addr"`
	Frames    []Frame `json:"frames"` // the inlining chain, innermost first; the first frame makes the call
	// Callee is the method that is called. If only the bytecode names it, the class is left out. Callee is absent if
	// the method is unknown.
	Callee string `json:"callee,omitempty"`
	// Outcome is "refused" if the compiler refused to inline the callee; "virtual" if it did not choose the method of any
	// receiver; "rest" if the call is for receivers other than those whose methods are inlined (Inlined); and "reversed"
	// if it decided to inline the callee, but the code contains the call nevertheless.
	Outcome string `json:"outcome"`
	// Reasons are the compiler's messages. There are several if the method was inlined at several places, with
	// different decisions about this call.
	Reasons []string `json:"reasons,omitempty"`
	Inlined []string `json:"inlined,omitempty"`
	// CalleeSize is the size of the callee's bytecode in bytes.
	CalleeSize int `json:"callee_size,omitempty"`
	// Reason is the explanation in the text report: the reasons with sizes and limits, or the receivers. Change says what
	// would change the decision.
	Reason string `json:"reason"`
	Change string `json:"change,omitempty"`
	// Receivers has the classes of the call's receivers, as HotSpot has counted them. It is absent if nothing is known
	// about them.
	Receivers *JITProfile `json:"receivers,omitempty"`
	// Here has the samples of the basic block with the call. CalleeCounts has the samples that were taken in the callee's
	// own code while it ran because of this call. It leaves out samples in the methods that the callee calls. It is
	// absent if the profile has no call stacks.
	Here         Counts `json:"here"`
	CalleeCounts Counts `json:"callee_counts,omitzero"`
}
