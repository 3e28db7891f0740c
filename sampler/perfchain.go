package sampler

import (
	"bytes"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/fields"
)

// A stackParser parses the stack of the last sample, line by line. The first line of a stack has the sample's own
// address and function. Each further line has one caller.
type stackParser struct {
	parser lineParser
	keep   bool // chains are kept
	chunk  *chunk

	// The fields below describe the stack that is being parsed.
	open  bool // a stack is being parsed
	first int  // index of the first caller in chunk.calls
	leaf  leafState
	cut   bool // callers are missing
	call  Call // the caller on the line that is being parsed
}

// A leafState says what a stackParser knows about the sampled code.
type leafState uint8

const (
	noLeaf     leafState = iota // there was no line yet
	inlinedIn                   // there were lines of functions that were inlined at the sampled address
	leafIsRead                  // the function was read, so the other lines are callers
	damaged                     // a line could not be read, so the callers after it are unknown
)

// begin begins the stack of the last sample.
func (s *stackParser) begin() {
	s.open, s.first, s.leaf, s.cut = true, len(s.chunk.calls), noLeaf, false
}

// line parses one non-empty line of a stack. cut is true if the sampler was stopped while it wrote the line. line
// returns what is wrong with the line, or "" if nothing is.
func (s *stackParser) line(line []byte, cut bool) (fault string) {
	if s.leaf == damaged || s.leaf == leafIsRead && !s.keep {
		return ""
	}
	s.call = Call{}
	fault = s.parser.parseCall(line, &s.call)
	c := &s.call
	if cut && fault == "" {
		fault = "the line is cut"
	}
	of := &s.chunk.samples[len(s.chunk.samples)-1]
	if s.leaf != leafIsRead {
		// The first lines of a stack are for the functions that were inlined at the sampled address. The line of the
		// function around them comes next. Each of these lines replaces what the previous one has set, so the sample
		// gets the outer function. perf prints this function in samples without stacks, too.
		of.PC, of.Symbol, of.Module = c.PC, c.Symbol, c.Module
	}
	switch {
	case fault != "":
		s.leaf, s.cut = damaged, true
		if !s.keep {
			fault = ""
		}
	case s.leaf != leafIsRead && c.Inlined:
		s.leaf = inlinedIn
	case s.leaf != leafIsRead:
		s.leaf = leafIsRead
	case len(s.chunk.calls)-s.first == MaxCalls:
		s.cut = true
	default:
		s.chunk.calls = append(s.chunk.calls, *c)
	}
	return fault
}

// end ends the stack, and stores the callers in the sample. It does nothing if no stack is being parsed.
func (s *stackParser) end() {
	if !s.open {
		return
	}
	if s.open = false; !s.keep {
		return
	}
	c := s.chunk
	calls := c.calls[s.first:len(c.calls):len(c.calls)]
	module := ""
	for i := len(calls) - 1; i >= 0; i-- { // perf prints no module for an inlined function
		if calls[i].Inlined {
			calls[i].Module = module
		}
		module = calls[i].Module
	}
	c.chains = append(c.chains, Chain{calls, s.cut})
	c.samples[len(c.samples)-1].Chain = &c.chains[len(c.chains)-1]
}

// inlinedMark is what perf prints in place of the module if a function was inlined. The function on the next line is
// the one that it was inlined into.
const inlinedMark = "(inlined)"

// parseCall parses "7fae0c8d3a42 [unknown] (/tmp/perf-77.map)". For code from a mapped file, perf prints the code's
// address in the file. For other code, it prints the address in memory. The function and the module are missing if perf
// was not asked for them.
func (p *perfParser) parseCall(line []byte, c *Call) (fault string) {
	pc, rest, ok := fields.CutHex(line)
	if !ok {
		if pc, ok = onlyHex(line); !ok {
			return "no address in a stack"
		}
		rest = nil
	}
	c.PC = pc
	if len(rest) == 0 {
		c.Module = module{}.at(pc)
		return ""
	}
	at, ok := p.function(rest)
	if !ok { // there is no module
		at = perfFunction{symbol: parseSymbol(string(rest))}
	}
	c.Symbol, c.Inlined = at.symbol, bytes.HasSuffix(rest, []byte(inlinedMark))
	if !c.Inlined {
		c.Module = at.module.at(pc)
	}
	return ""
}

// onlyHex parses a text that is nothing but a hexadecimal number.
func onlyHex(text []byte) (x uint64, ok bool) {
	var padded [17]byte
	if len(text) >= len(padded) {
		return 0, false
	}
	padded[copy(padded[:], text)] = ' '
	x, _, ok = fields.CutHex(padded[:len(text)+1])
	return x, ok
}

// PushChain adds the sample's Chain to a tree of stacks, in the form that package callstack describes. add is the
// tree's method Push. PushChain returns the ID of the stack, or 0 if the sample has no Chain or the tree has no room.
//
// A sample in the kernel has its own address as the last frame. A sample in user space has only its callers as frames.
func (s *Sample) PushChain(add func(caller callstack.ID, f callstack.Frame) callstack.ID) callstack.ID {
	if s.Chain == nil {
		return 0
	}
	id := add(0, callstack.At(callstack.Chain, 0))
	if s.Chain.Cut {
		id = add(id, callstack.At(callstack.Cut, 0))
	}
	for i := len(s.Chain.Calls) - 1; i >= 0; i-- {
		c := &s.Chain.Calls[i]
		id = add(id, chainFrame(c.PC, c.Module, c.Symbol))
	}
	if s.Kernel() {
		id = add(id, chainFrame(s.PC, s.Module, s.Symbol))
	}
	if id == callstack.NoRoom {
		return 0
	}
	return id
}

// chainFrame returns the frame in package callstack's form for an address in a sample's call chain.
func chainFrame(pc uint64, module, symbol string) callstack.Frame {
	kind := callstack.Native
	switch module {
	case KernelModule:
		kind = callstack.Kernel
	case "":
		kind = callstack.Code
	}
	f := callstack.At(kind, pc)
	f.Module, f.Name = module, symbol
	return f
}
