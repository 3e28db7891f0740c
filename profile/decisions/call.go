package decisions

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
)

// An Outcome says why the compiler has not inlined a call, so that the compiled code contains it.
type Outcome uint8

// The outcomes.
const (
	Unknown  Outcome = iota // the reason for the call is not known
	Refused                 // the compiler refused to inline the callee, and gave a reason
	Virtual                 // the compiler found no likely receiver, or no method that it could inline
	Rest                    // the methods of likely receivers are inlined, and the call is for other receivers
	Reversed                // the compiler has decided to inline the callee, and yet the code has the call
)

// outcomes are the words for the outcomes.
var outcomes = [...]string{Unknown: "unknown", Refused: "refused", Virtual: "virtual", Rest: "rest",
	Reversed: "reversed"}

// String returns a word for the outcome.
func (o Outcome) String() string { return outcomes[o] }

// A Call is an instruction that calls a Java method.
type Call struct {
	Lo uint64 // the address of the instruction
	Hi uint64 // the address after the instruction, to which the callee returns
	// Frames are the frames at the call, innermost first: the first frame is that of the method whose bytecode makes
	// the call.
	Frames []printassembly.Frame
	// Callee is the method that is called. It includes the class if a decision names the method, but not if only the
	// bytecode does. It is "" if the method is unknown.
	Callee string
	// Dispatched is true if the call looks up the method of the receiver's class, and false if it always calls the same
	// method.
	Dispatched bool
	// Interface is true if the call's bytecode is invokeinterface. For such a call, HotSpot has to search for the
	// method.
	Interface bool
	Outcome
	// Reasons are the compiler's reasons for its decisions, without repetitions. Only a refused call has any. It has
	// several if the method was inlined at several places, with different decisions.
	Reasons []string
	// Size is the size of the callee's bytecode in bytes; 0 if it is unknown.
	Size int
	// Inlined are the methods that the compiler has decided to inline at the call's bytecode.
	Inlined []string
	// Note is what HotSpot's profile says about the receivers; nil if it says nothing.
	Note   *jitprofile.Note
	limits Limits
}

// Limits are the values of the JVM's flags that limit inlining, by name.
type Limits map[string]int64

// Reason says why the callee is not inlined. It returns "" if that is unknown. Examples:
//
//	hot method too big: 412 bytecodes, FreqInlineSize 325
//	virtual: receivers while profiled: Circle 50 %, Square 30 %, others 20 %
//	interface call: receivers while profiled: Circle 50 %, Square 30 %, others 20 %
func (c *Call) Reason() string {
	switch c.Outcome {
	case Refused:
		texts := make([]string, len(c.Reasons))
		for i, r := range c.Reasons {
			texts[i] = c.withLimit(r)
		}
		return strings.Join(texts, "; at another place: ")
	case Virtual:
		if len(c.Inlined) > 0 {
			return c.dispatch() + ", or for receivers other than those of " + shortNames(c.Inlined) +
				", inlined here or in another copy of the method" + c.andReceivers()
		}
		return c.dispatch() + ": " + c.receivers("which receivers it has is not known")
	case Rest:
		return "for receivers other than those of " + shortNames(c.Inlined) + c.andReceivers()
	case Reversed:
		return "the compiler has decided to inline " + shortNames(c.Inlined) + ", and yet there is a call"
	}
	return ""
}

// dispatch returns "virtual" or "interface call", depending on how the call finds the method of the receiver's class.
func (c *Call) dispatch() string {
	if c.Interface {
		return "interface call"
	}
	return "virtual"
}

// receivers returns a text about the receivers that the call has had. If they are not known, it returns its argument.
func (c *Call) receivers(unknown string) string {
	if c.Note == nil || len(c.Note.Types) == 0 {
		return unknown
	}
	return c.Note.Seen()
}

func (c *Call) andReceivers() string {
	if text := c.receivers(""); text != "" {
		return "; " + text
	}
	return ""
}

// String returns the comment about the call for a listing: "not inlined: too big: 60 bytecodes, MaxInlineSize 35". For
// a virtual call, it does not repeat the content of the comment about HotSpot's profile. It returns "" if there is
// nothing to say.
func (c *Call) String() string {
	switch c.Outcome {
	case Refused, Reversed:
		return "not inlined: " + c.Reason()
	case Virtual:
		if c.Note == nil || !c.Note.IsCall() {
			return "not inlined: " + c.dispatch()
		}
	}
	return ""
}

// At returns the place of the call: "pkg.Class::method:21", with the bci if the line is unknown.
func (c *Call) At() string {
	f := &c.Frames[0]
	if f.Line > 0 {
		return f.Method + ":" + f.LineText()
	}
	return f.String()
}

// shortNames lists methods without their packages, at most three of them.
func shortNames(methods []string) string {
	const most = 3
	names := make([]string, 0, most)
	for _, m := range methods[:min(len(methods), most)] {
		names = append(names, jitprofile.ShortMethod(m))
	}
	if len(methods) > most {
		names = append(names, "others")
	}
	return strings.Join(names, ", ")
}

// addReason adds a reason, unless the call has that reason already.
func (c *Call) addReason(reason string) {
	if !slices.Contains(c.Reasons, reason) && len(c.Reasons) < maxReasons {
		c.Reasons = append(c.Reasons, reason)
	}
}

// maxReasons is the maximum number of reasons of a call. Compilers have about fifty different ones, but a call rarely
// has more than two.
const maxReasons = 8
