package chains

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
)

// A Place is what is known about an address in memory that no file is mapped to, such as the code cache.
type Place struct {
	// Frames are the frames of the code at the address, innermost first. They are empty if there is no code.
	Frames []callstack.Frame
	// Unknown is true if nothing is known about the code, so that it may be Java code.
	Unknown bool
	// Lasting is true if the address never holds other code, earlier or later.
	Lasting bool
	// Frameless is true if the code has not set up a frame of its own at a sampled address. Then its caller is missing
	// from the chain.
	Frameless bool
}

// Code knows the code of all processes.
type Code interface {
	// Sampled returns the place of a sampled address. It is also called for addresses in mapped files. The Place that
	// it returns for these has no Frames.
	Sampled(pid int, pc uint64, monoNanos int64) Place
	// Called returns the place of a call. pc is the address after the call.
	Called(pid int, pc uint64, monoNanos int64) Place
	// FramePointers reports whether a process keeps frame pointers in Java code.
	FramePointers(pid int) bool
}

// Stacks turns chains of return addresses into call stacks. It adds the stacks to the tree that has the chains.
type Stacks struct {
	tree  *callstack.Tree
	code  Code
	known map[key]made
	chain []callstack.Frame // the chain that is being turned into stack
	stack []callstack.Frame

	distrusted int64
}

// Distrusted returns the number of samples whose stacks had to be cut at their innermost Java frame, because their
// process keeps no frame pointers there.
func (s *Stacks) Distrusted() int64 { return s.distrusted }

// A key identifies a chain: its process, the PC of the sample, and the ID of the chain in the tree.
type key struct {
	pid   int
	pc    uint64
	chain callstack.ID
}

// maxKnown is the maximum number of chains whose stacks are remembered. When it is reached, all are forgotten.
const maxKnown = 1 << 20

// New returns Stacks that adds stacks to the tree.
func New(tree *callstack.Tree, code Code) *Stacks {
	return &Stacks{tree: tree, code: code, known: map[key]made{}}
}

// A Sample is what Stacks has to know about a sample.
type Sample struct {
	PID       int
	PC        uint64
	Kernel    bool
	MonoNanos int64
	Stack     callstack.ID
}

// Of returns the call stack of a sample. It makes the stack from the chain of return addresses that the sample has as
// its Stack. If the sample's Stack is not a chain, Of returns it unchanged.
func (s *Stacks) Of(x Sample) callstack.ID {
	if x.Stack == 0 || int64(x.Stack) > int64(s.tree.Len()) {
		return x.Stack
	}
	k := key{x.PID, x.PC, x.Stack}
	if m, ok := s.known[k]; ok {
		return s.count(m)
	}
	cut, isChain := s.read(x.Stack)
	if !isChain {
		return x.Stack
	}
	w := walk{Sample: x, Stacks: s, cut: cut}
	mark := w.frames()
	id := callstack.ID(0)
	if mark != 0 {
		id = s.tree.Push(0, callstack.At(mark, 0))
	}
	for _, f := range slices.Backward(s.stack) {
		id = s.tree.Push(id, f)
	}
	if id == callstack.NoRoom {
		return 0
	}
	m := made{id, w.distrusted}
	if !w.passing {
		if len(s.known) >= maxKnown {
			clear(s.known)
		}
		s.known[k] = m
	}
	return s.count(m)
}

// A made is a stack that was made from a chain of return addresses.
type made struct {
	stack      callstack.ID
	distrusted bool // the stack had to be cut at its innermost Java frame
}

// count returns the stack of a sample. If the stack had to be cut because it was not trusted, it counts the sample.
func (s *Stacks) count(m made) callstack.ID {
	if m.distrusted {
		s.distrusted++
	}
	return m.stack
}

// read sets s.chain to the frames of a chain, innermost first. isChain is false if the stack is not a chain, and cut is
// true if the chain has a mark that outer frames are missing.
func (s *Stacks) read(id callstack.ID) (cut, isChain bool) {
	s.chain = s.chain[:0]
	for f := range s.tree.Frames(id) {
		switch {
		case f.Kind == callstack.Chain:
			return cut, true
		case f.Kind == callstack.Cut:
			cut = true
		default:
			s.chain = append(s.chain, *f)
		}
	}
	return false, false
}

// A walk goes through one chain.
type walk struct {
	Sample
	*Stacks
	cut        bool // the chain says that addresses are missing
	java       bool // there was a Java frame, or code that may be Java
	passing    bool // one of the addresses may hold other code at another time
	distrusted bool
}

// perfDepth is the maximum length of a chain that perf records, in addresses. The sampled address counts. The sysctl
// kernel.perf_event_max_stack can change this maximum.
const perfDepth = 127

// frames sets w.stack to the frames of the stack, innermost first. It returns a mark that says why outer frames are
// missing, or 0 if the stack is whole.
func (w *walk) frames() (mark callstack.Kind) {
	w.stack = w.stack[:0]
	depth := len(w.chain)
	if !w.Kernel {
		depth++ // a sample's own address is in the chain only if it is in the kernel
		at := w.at(w.code.Sampled, w.PC)
		if len(at.Frames) > 0 && at.Frames[len(at.Frames)-1].Kind == callstack.Interpreted {
			w.stack = append(w.stack, at.Frames...)
		}
		if at.Frameless {
			return callstack.Unwalked
		}
	}
	for i := range w.chain {
		f := &w.chain[i]
		switch {
		case w.java && !w.code.FramePointers(w.PID):
			w.distrusted = true
			return callstack.Cut
		case f.Kind == callstack.Code:
			find := w.code.Called
			if w.Kernel && (i == 0 || w.chain[i-1].Kind == callstack.Kernel) {
				find = w.code.Sampled // a sample in the kernel: the kernel was entered at this address
			}
			at := w.at(find, f.PC)
			w.stack = append(w.stack, at.Frames...)
			if len(at.Frames) == 0 || at.Frameless {
				return callstack.Unwalked
			}
		default:
			w.stack = append(w.stack, *f)
			if isOutermost(f) || i > 0 && startsThread(&w.chain[i-1]) {
				return 0
			}
		}
	}
	switch {
	case w.java && !w.code.FramePointers(w.PID):
		w.distrusted = true
		return callstack.Cut
	case w.cut || depth >= perfDepth:
		return callstack.Cut
	}
	return callstack.Unwalked
}

// The method at calls the function find for an address, and returns the Place that find returns. It also notes in w
// whether other code may be at the address at another time, and whether there may be Java code.
func (w *walk) at(find func(int, uint64, int64) Place, pc uint64) Place {
	p := find(w.PID, pc, w.MonoNanos)
	w.passing = w.passing || !p.Lasting
	w.java = w.java || p.Unknown || slices.ContainsFunc(p.Frames, func(f callstack.Frame) bool { return f.Kind.Java() })
	return p
}

// outermost are the functions that threads and processes begin with, in the C libraries of Linux and macOS. perf may
// print a version after the name.
var outermost = []string{"start_thread", "clone", "clone3", "__clone", "__clone3", "_start", "__libc_start_main",
	"__libc_start_call_main",
	"thread_start", "_pthread_start", "start"}

func isOutermost(f *callstack.Frame) bool {
	name, _, _ := strings.Cut(f.Name, "@")
	return f.Kind == callstack.Native && slices.Contains(outermost, name)
}

// startsThread reports whether a function is the one with which HotSpot's threads begin. Only the C library calls it,
// so its caller is the outermost frame, even if that frame has no name.
func startsThread(f *callstack.Frame) bool {
	name, _, _ := strings.Cut(f.Name, "(")
	return f.Kind == callstack.Native && (name == "thread_native_entry" || name == "ThreadJavaMain" ||
		name == "java_start")
}
