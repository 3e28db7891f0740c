package callstack

// A Kind says what kind of code a frame belongs to.
type Kind uint8

// The kinds of frames.
const (
	Compiled    Kind = iota + 1 // the method of an nmethod, which has a frame on the machine's stack
	Inlined                     // a method that was inlined into the method of its parent
	Interpreted                 // a method that the interpreter executes
	Stub                        // a stub, an adapter or a codelet
	Native                      // a function of a library
	Kernel                      // a function of the kernel
	Cut                         // a mark: the copy of the thread's stack ended before the outer frames
	Frozen                      // a mark in place of frames of a virtual thread that were in the heap
	Unwalked                    // a mark: the caller could not be found
	NoCaller                    // a mark: the sampled function is the outermost one, so no frame is missing
	Chain                       // a mark: the addresses after it were not checked yet, see the package comment
	Code                        // an address outside of all files, as in the code cache; only in chains
)

// kinds are the words of the kinds in stacks.txt.
var kinds = [...]string{Compiled: "compiled", Inlined: "inlined", Interpreted: "interpreted", Stub: "stub",
	Native: "native", Kernel: "kernel",
	Cut: "cut", Frozen: "frozen", Unwalked: "unwalked", NoCaller: "nocaller", Chain: "chain", Code: "code"}

func (k Kind) String() string { return kinds[k] }

// Java reports whether the frame is of a Java method.
func (k Kind) Java() bool { return k >= Compiled && k <= Interpreted }

// Mark reports whether k is a mark and not the frame of a function. A mark says whether frames are missing in its
// place, and why.
func (k Kind) Mark() bool { return k >= Cut && k <= Chain }

// Unknown is the value of a frame's BCI or Line that is not known.
const Unknown = -1

// A Frame describes one frame of a stack. A Writer writes equal frames only once.
type Frame struct {
	Kind Kind
	// PC is the address at which execution continues when the callee returns. It is 0 for an interpreted method and for
	// a mark. An inlined method has the PC of the compiled method that contains it. In a stack with the mark Chain (see
	// the package comment), the PC of a native function may be an address in the library's file.
	PC        uint64
	CompileID int // the compile id of a compiled or inlined method; 0 for all other frames
	// BCI is the index of the bytecode that the frame executes, and Line is the line of that bytecode in the source.
	// Each may be Unknown.
	BCI, Line int
	// Module is the base name of a native function's library, "kernel" for a function of the kernel, and "" for all
	// others.
	Module string
	// Name is the method as "pkg.Class::method", or the name of the stub or the function. It is "" if it is unknown.
	Name string
}

// At returns a frame without a bci and a line. For a mark, pc is 0.
func At(kind Kind, pc uint64) Frame { return Frame{Kind: kind, PC: pc, BCI: Unknown, Line: Unknown} }

// An ID identifies a stack: a frame and all its callers. 0 is the stack without frames.
type ID uint32
