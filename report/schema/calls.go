package schema

// Calls are the calls of Java methods in the compiled code that has samples, as far as the compilers' decisions about
// them were recorded. C1's code that counts for C2 is left out.
type Calls struct {
	// Pieces is the number of pieces of code that have calls. Early is the number of those of which some decisions may
	// be missing, because they were compiled before, or while, the recording began, or because the recording is not
	// complete.
	Pieces int `json:"pieces"`
	Early  int `json:"early"`
	// Inlined is the number of calls whose callee is part of the code. The next numbers are of calls that the code has,
	// by what became of them, see Call.Outcome.
	Inlined  int `json:"inlined"`
	Refused  int `json:"refused"`
	Virtual  int `json:"virtual"`
	Rest     int `json:"rest"`
	Reversed int `json:"reversed"`
	Unknown  int `json:"unknown"`
	// NotInlined are the calls that were not inlined, except those of which nothing is known, and those in code without
	// samples. The hottest comes first. AllNotInlined is the length of the list before it was cut to 100.
	NotInlined    []Call `json:"not_inlined"`
	AllNotInlined int    `json:"all_not_inlined"`
}

// A Call is a call that was not inlined.
type Call struct {
	Source    string  `json:"source"` // of the compiled code that has the call
	Method    string  `json:"method"`
	CompileID int     `json:"compile_id"`
	PID       int     `json:"pid"`
	Addr      Address `json:"addr"`
	Frames    []Frame `json:"frames"` // the inlining chain, innermost first; the first one calls
	// Callee is the method that is called; without its class if only the bytecode names it, and absent if it is
	// unknown.
	Callee string `json:"callee,omitempty"`
	// Outcome is "refused" if the compiler has refused to inline the callee, "virtual" if it has chosen no receiver's
	// method, "rest" if the call is for receivers other than those whose methods are inlined (Inlined), and "reversed"
	// if the compiler has decided to inline the callee, and yet the code has the call.
	Outcome string `json:"outcome"`
	// Reasons are the compiler's words. There are several if the method was inlined at several places, with different
	// decisions about this call.
	Reasons []string `json:"reasons,omitempty"`
	Inlined []string `json:"inlined,omitempty"`
	// CalleeSize is the size of the callee's bytecode in bytes.
	CalleeSize int `json:"callee_size,omitempty"`
	// Reason has the reasons with sizes and limits, or the receivers, as the text report has them. Change says what
	// would change the decision.
	Reason string `json:"reason"`
	Change string `json:"change,omitempty"`
	// Receivers are those that HotSpot has counted. They are absent if nothing is known about them.
	Receivers *JITProfile `json:"receivers,omitempty"`
	// Here has the samples of the basic block with the call. CalleeCounts has those in the code of the callee that this
	// call has called, without what that calls in turn; CalleeCounts is absent if the profile has no call stacks.
	Here         Counts `json:"here"`
	CalleeCounts Counts `json:"callee_counts,omitzero"`
}
