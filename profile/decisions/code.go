package decisions

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/framechains"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
)

// A Code says which calls in a piece of code were inlined, and why the others were not.
type Code struct {
	Calls []*Call // the calls that the code contains, in the order of their addresses
	// At holds the Calls by their addresses.
	At map[uint64]*Call
	// Inlined is the number of calls whose callee is part of the code. If the code has several copies of a call, it
	// counts once.
	Inlined int
	// Complete is [Source.Complete].
	Complete bool
}

// CallAt returns the call at an address, or nil. A nil Code has no calls.
func (c *Code) CallAt(lo uint64) *Call {
	if c == nil {
		return nil
	}
	return c.At[lo]
}

// A Source has what is known about a piece of code.
type Source struct {
	// Decided are the decisions of the compilation. Complete is true if none can be missing. If it is false, the
	// compiler may have made decisions before the recording began.
	Decided  []event.Inlined
	Complete bool
	// Sizes returns the bytecode sizes, in bytes, of all methods with the given name.
	Sizes  func(method string) []int
	Limits Limits
	// Notes are what HotSpot's profile says, by instruction address.
	Notes map[uint64]*jitprofile.Note
}

const (
	// maxCalls limits the number of calls of a piece of code. Code of C2 has a few hundred.
	maxCalls = 1 << 16
	// maxDecided limits the number of decisions about a bytecode. More than ten different ones are rare.
	maxDecided = 100
)

// Of returns what is known about the calls in some code. insts are all instructions of the code.
func Of(insts []printassembly.Instruction, s *Source) *Code {
	c := &Code{At: map[uint64]*Call{}, Complete: s.Complete}
	f := finder{Source: s, decided: map[place][]*event.Inlined{}}
	for i := range s.Decided {
		d := &s.Decided[i]
		at := place{plain(d.Caller), d.BCI}
		if len(f.decided[at]) < maxDecided {
			f.decided[at] = append(f.decided[at], d)
		}
	}
	var calling []*printassembly.Instruction
	for i := range insts {
		in := &insts[i]
		if !in.OwnFrames || len(in.Frames) == 0 || in.Frames[0].Guess != printassembly.Certain {
			continue
		}
		f.shape.add(in)
		if dispatched, direct := jitprofile.JavaCall(in); (dispatched || direct) && len(calling) < maxCalls {
			calling = append(calling, in)
		}
	}
	for _, in := range calling {
		call := f.call(in)
		c.Calls = append(c.Calls, call)
		c.At[in.Lo] = call
	}
	c.Inlined = len(f.shape.inlined)
	return c
}

// A shape knows what is inlined in a piece of code. It identifies a chain of inlined frames by its number in the field
// chains.
type shape struct {
	chains  framechains.Chains
	inlined map[int]bool         // chains whose innermost frame has a call that was inlined
	callers map[int]map[int]bool // by a method's number: the chains that call its copies; 0 for a copy that is not inlined
}

// add adds the frames of an instruction.
func (s *shape) add(in *printassembly.Instruction) {
	if s.inlined == nil {
		s.inlined, s.callers = map[int]bool{}, map[int]map[int]bool{}
	}
	for n := s.chains.Number(in.Frames); n > 0; {
		method, at := s.chains.Innermost(n).Method, s.chains.Callers(n)
		if s.callers[method] == nil {
			s.callers[method] = map[int]bool{}
		}
		s.callers[method][at] = true
		if n = at; n > 0 {
			if s.inlined[n] {
				return
			}
			s.inlined[n] = true
		}
	}
}

// mayBeElsewhere reports whether the code has several copies of the method with this call, and this copy has no frame
// of the methods that were inlined at the call's bytecode. Then these methods may have been inlined only in another
// copy. But a small method may leave no trace in the code, so they may have been inlined in this one, too.
func (s *shape) mayBeElsewhere(in *printassembly.Instruction) bool {
	n := s.chains.Number(in.Frames)
	return !s.inlined[n] && len(s.callers[s.chains.Innermost(n).Method]) > 1
}

// A place is a bytecode. Overloaded methods have the same name, so bytecodes of several methods may have the same
// place.
type place struct {
	method string
	bci    int
}

// plain returns the name of a method without the addresses of hidden classes, which the sources write differently:
//
//	java.lang.invoke.LambdaForm$MH/0x00007f5a1c000000::invoke   in frames
//	java.lang.invoke.LambdaForm$MH+0x00007f5a1c000000::invoke   in events
func plain(method string) string {
	class, name, ok := strings.Cut(method, "::")
	if !ok {
		return method
	}
	if at := strings.Index(class, "0x"); at > 0 && strings.IndexByte("/+.", class[at-1]) >= 0 {
		class = class[:at-1]
	}
	return class + "::" + name
}

// A finder finds the decisions about calls.
type finder struct {
	*Source
	decided map[place][]*event.Inlined
	shape   shape
}

// call returns the Call of an instruction.
func (f *finder) call(in *printassembly.Instruction) *Call {
	dispatched, _ := jitprofile.JavaCall(in)
	bytecode, callee := called(in)
	c := &Call{Lo: in.Lo, Hi: in.Hi, Frames: in.Frames, Dispatched: dispatched, Interface: bytecode == "invokeinterface",
		Callee: callee,
		Note:   f.Notes[in.Lo], limits: f.Limits}
	for _, d := range about(f.decided[place{plain(in.Frames[0].Method), in.Frames[0].BCI}], c.Callee) {
		f.add(c, d)
	}
	switch {
	case c.Outcome == Refused:
		c.Size = f.size(c)
	case len(c.Inlined) > 0 && dispatched && f.shape.mayBeElsewhere(in):
		c.Outcome = Virtual
	case len(c.Inlined) > 0 && dispatched:
		c.Outcome = Rest
	case len(c.Inlined) > 0:
		c.Outcome = Reversed
	case linksHandle(c.Callee):
		c.Outcome = Refused
		c.addReason(notConstant)
	case dispatched && (f.Complete || c.Note != nil && len(c.Note.Types) > 0):
		c.Outcome = Virtual
	}
	return c
}

// add adds a decision to a call.
func (f *finder) add(c *Call, d *event.Inlined) {
	if d.Done {
		if !slices.Contains(c.Inlined, d.Callee) {
			c.Inlined = append(c.Inlined, d.Callee)
		}
		return
	}
	if c.Outcome != Refused || !strings.Contains(c.Callee, "::") {
		c.Callee = d.Callee
	}
	c.Outcome = Refused
	c.addReason(cmp.Or(d.Message, noReason))
}

// about returns the decisions that name the given method as the callee. If none does, it returns all decisions, because
// those about a method handle name the method that the handle refers to.
func about(all []*event.Inlined, callee string) []*event.Inlined {
	var named []*event.Inlined
	for _, d := range all {
		if _, name, _ := strings.Cut(d.Callee, "::"); name == callee {
			named = append(named, d)
		}
	}
	if len(named) > 0 {
		return named
	}
	return all
}

// called returns the bytecode of a call, and the name of the method in the bytecode, without its class. Both are "" if
// the instruction has no such comment.
func called(in *printassembly.Instruction) (bytecode, name string) {
	for _, comment := range in.Comments {
		if text := strings.TrimSpace(comment); strings.HasPrefix(text, "*invoke") {
			bytecode, name, _ = strings.Cut(text[1:], " ")
			name, _, _ = strings.Cut(name, " {")
			return bytecode, name
		}
	}
	return "", ""
}

// linksHandle reports whether HotSpot uses a method to call the target of a method handle.
func linksHandle(name string) bool {
	return name == "invokeBasic" || strings.HasPrefix(name, "linkTo") && name != "linkToTargetMethod" &&
		name != "linkToCallSite"
}

// size returns the size of the callee's bytecode in bytes, or 0 if it is unknown. If there are several methods with
// that name, it returns the only size that agrees with the compiler's reasons.
func (f *finder) size(c *Call) (found int) {
	for _, size := range f.Sizes(c.Callee) {
		if slices.ContainsFunc(c.Reasons, func(r string) bool { return !fits(r, size, f.Limits) }) {
			continue
		}
		if found != 0 && found != size {
			return 0
		}
		found = size
	}
	return found
}
