package nmethod

import (
	"errors"
	"fmt"
)

// A Frame is a method on a call stack, and the bytecode that it executes.
type Frame struct {
	Method string // "pkg.Class::method"
	BCI    int    // -1 if it is unknown
	Line   int    // of the source; 0 if it is unknown
	Native bool   // the method is native
	Source string // the name of the source file, without its folder; "" if it is unknown
	// Monitors are the monitors that a compiled frame holds, in the order in which it has locked them. They are nil for
	// an interpreted frame, whose monitors are on the stack.
	Monitors []Monitor
}

// FramesAt returns the frames of a compiled method at a return address, innermost first: the methods that were
// inlined at the call before this address, and then the compiled method itself. HotSpot has a record of these frames
// (PcDesc) for the end of each call that can reach a safepoint. For other calls, FramesAt uses the record that
// follows, as HotSpot does for samples (vframeStream and pc_desc_near), and exact is false.
//
// If the copy has no debug info, the only frame is that of the compiled method, without a bci.
func (c *Code) FramesAt(pc uint64) (frames []Frame, exact bool, err error) {
	offset, scope := int(pc-c.Lo), 0
	err = eachPCDesc(c.scopesPCs, len(c.MachineCode), func(d pcDesc) bool {
		if d.end < offset || d.scope <= 0 {
			return true
		}
		scope, exact = d.scope, d.end == offset
		return false
	})
	if err != nil || scope == 0 {
		return []Frame{{Method: c.Name, BCI: -1}}, false, err
	}
	frames, err = c.chain(scope)
	return frames, exact, err
}

// chain returns the frame of the scope at an offset, and then those of its callers, which HotSpot calls senders.
func (c *Code) chain(offset int) (frames []Frame, err error) {
	for offset > 0 && len(frames) < maxFrames {
		s, m, err := c.scopeAt(offset)
		if err != nil {
			return nil, err
		}
		frames = append(frames, Frame{Method: m.name, BCI: s.bci, Line: m.line(s.bci), Source: m.source, Native: m.native,
			Monitors: c.monitors(s)})
		offset = s.sender
	}
	if offset > 0 {
		return nil, errLongChain
	}
	return frames, nil
}

var errLongChain = fmt.Errorf("its debug info has a chain of more than %d inlined methods", maxFrames)

// scopeAt returns the scope at an offset, and its method.
func (c *Code) scopeAt(offset int) (s scope, m *method, err error) {
	s, ok := readScope(c.scopesData, offset, c.copier.layout.release)
	if !ok {
		return s, nil, fmt.Errorf("its debug info refers to a scope at offset %d, where there is none", offset)
	}
	if s.method == 0 || s.method > len(c.methods) {
		return s, nil, fmt.Errorf("a scope is of method %d of %d", s.method, len(c.methods))
	}
	if m, err = c.copier.method(c.methods[s.method-1]); err != nil {
		return s, nil, err
	}
	if s.sender == 0 && m.name != c.Name {
		return s, nil, fmt.Errorf("its debug info is that of %s", m.name)
	}
	return s, m, nil
}

// Interpreted returns the frame of a Method that the interpreter executes. bcp is the address of the bytecode that is
// executed, or 0 if it is unknown. The frame has no bci if bcp is not in the method's bytecode.
func (c *Copier) Interpreted(at, bcp uint64) (Frame, error) {
	if at == 0 || at%8 != 0 {
		return Frame{}, errNoMethod
	}
	m, err := c.interpretedMethod(at)
	if err != nil {
		return Frame{}, err
	}
	f := Frame{Method: m.name, BCI: -1, Source: m.source, Native: m.native}
	if bci := bcp - m.code; bcp >= m.code && bci < uint64(len(m.bytecode)) {
		f.BCI, f.Line = int(bci), m.line(int(bci))
	}
	return f, nil
}

var errNoMethod = errors.New("no Method can be at this address")
