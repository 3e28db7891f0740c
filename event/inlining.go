package event

// An Inlined is a JIT compiler's decision about one call in a method that it compiled: whether it inlines the callee,
// and why. Flight Recorder has an event for each decision. There are tens of thousands of decisions, so no [Event] is
// made of them. capture.Capture.ReadInlining reads only those about code with samples.
//
// Names of methods have the form of Event.Name. If the caller is itself inlined at several places, there are several
// decisions about the same bci, and nothing says which of these places a decision is about.
type Inlined struct {
	CompileID int
	Caller    string // the method whose bytecode has the call
	BCI       int    // the index of the call in the caller's bytecode
	Callee    string
	Done      bool // the callee was inlined
	// Message is the compiler's reason: "hot method too big". It is "" if there is none.
	Message string
}
