// Package callstack has what a capture knows about call stacks: which frames there are, and which frame was called from
// which. It writes and reads the file stacks.txt of a capture.
//
// The stacks of a capture form a tree. A node is a frame together with all its callers, so its ID stands for a whole
// stack. Its parent is the node of its caller. A sample has the ID of the innermost frame of its stack; the parents of
// that node are the rest of the stack.
//
//	w := callstack.NewWriter(file)
//	main := w.Push(0, callstack.Frame{Kind: callstack.Compiled, Name: "Main::main", BCI: 7, Line: 12})
//	work := w.Push(main, callstack.Frame{Kind: callstack.Inlined, Name: "Main::work", BCI: 3, Line: 20})
//
// # What is on a sample's stack
//
// The stack of a sample has only callers. The sampled function is not on it, because the sample itself has the address
// of the instruction. The innermost frame is that of the function's caller. Methods that were inlined at the sampled
// instruction are not on the stack either: the debug info of the sampled method names them. There are two exceptions,
// in which the innermost frame of the stack was executing and not calling:
//
//   - If the sampled instruction is in a codelet of the interpreter, the innermost frame is the interpreted method.
//   - If it is in the kernel, the stack has the kernel's frames, followed by the function that entered the kernel.
//
// If the outermost frames of a stack are missing, its root is a mark: a frame of the kind Cut or Unwalked. The mark
// Frozen stands for frames of a virtual thread that were in the heap; the frames of its carrier thread follow. A stack
// without a mark is whole. If the sampled function has no caller, its stack is only the mark NoCaller, and is whole,
// too.
//
// # Chains
//
// perf follows the frame pointers of a thread. The result is a chain of return addresses. The chain alone does not show
// which of these addresses are right, because code without frame pointers uses the register for other values. So these
// stacks have the mark Chain as their root, and after it the mark Cut if perf has left out the outermost addresses. In
// place of methods, they have frames of the kind Code. Package profile/chains turns a chain into a stack when a report
// is made, because only then the code at each address is known.
//
// # The file
//
// Each line is a frame ("f") or a node ("s"). A frame has its number, its kind, its address, the compile id, the bci,
// the line, the module and the name. A node has its ID, the ID of its parent (0 for a root), and the number of its
// frame. Numbers and IDs count from 1, and a line refers only to lines before it. A "-" stands for an unknown number.
//
//	gasm stacks 1
//	f 1 native 7f3c5a09caa3 - - - "libc.so.6" "clone3"
//	s 1 0 1
//	f 2 compiled 7f3c44d0a1f4 138 17 42 "" "Foo::bar"
//	s 2 1 2
//
// If gasm was killed, the last line may be cut; the reader skips it.
package callstack
