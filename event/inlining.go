package event

// An Inlined is what a JIT compiler decided about one call while it compiled a method: whether it inlines the callee, and
// why. Flight Recorder has an event of each decision. There are tens of thousands of them, so they are not an [Event]:
// capture.Capture.ReadInlining reads those about code with samples.
//
// Names of methods have the form of Event.Name. A caller that is itself inlined at several places has several decisions
// about the same bci, and no source says which of them is about which place.
type Inlined struct {
	CompileID int
	Caller    string // whose bytecode has the call
	BCI       int    // of the call
	Callee    string
	Done      bool // the callee was inlined
	// Message is the compiler's reason: "hot method too big". It is "" if there is none.
	Message string
}
