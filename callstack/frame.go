package callstack

// A Kind says what kind of code a frame belongs to.
type Kind uint8

// The kinds of frames.
const (
	Compiled    Kind = iota + 1 // the method of an nmethod, which has a frame on the machine's stack
	Inlined                     // a method that was inlined into the frame that is its parent
	Interpreted                 // a method that the interpreter executes
	Stub                        // a stub, an adapter or a codelet
	Native                      // a function of a library
	Kernel                      // a function of the kernel
	Cut                         // a mark: the outer frames were beyond the part of the stack that was copied
	Frozen                      // a mark: here are frames of a virtual thread that were in the heap
	Unwalked                    // a mark: the caller could not be found
	NoCaller                    // a mark: the sampled code is the outermost frame itself, so nothing is missing
	Chain                       // a mark: the stack is a chain that was not checked yet, see the package comment
	Code                        // a place in memory without a file, for example in the code cache; only in chains
)

// kinds are the words of the kinds in stacks.txt.
var kinds = [...]string{Compiled: "compiled", Inlined: "inlined", Interpreted: "interpreted", Stub: "stub", Native: "native", Kernel: "kernel",
	Cut: "cut", Frozen: "frozen", Unwalked: "unwalked", NoCaller: "nocaller", Chain: "chain", Code: "code"}

func (k Kind) String() string { return kinds[k] }

// Java reports whether the frame is of a Java method.
func (k Kind) Java() bool { return k >= Compiled && k <= Interpreted }

// Mark reports whether the frame is a mark. A mark is not a frame: it says whether frames are missing in its place, and
// why.
func (k Kind) Mark() bool { return k >= Cut && k <= Chain }

// Unknown is the BCI or the Line of a frame that has none.
const Unknown = -1

// A Frame is what is known about a frame of a stack. Two frames that are equal are the same for a Writer.
type Frame struct {
	Kind Kind
	// PC is the address at which the execution continues when the callee returns. For an interpreted method it is 0,
	// and for a mark, too. Of an inlined method it is that of the compiled method around it. In a chain, the PC of a native
	// function may be the address in its file.
	PC        uint64
	CompileID int // of a compiled or inlined method; 0 for all others
	// BCI is the index of the bytecode that is executed, and Line its line in the source. Each may be Unknown.
	BCI, Line int
	// Module is the base name of a native function's library, "kernel" for a function of the kernel, and "" for all
	// others.
	Module string
	// Name is the method as "pkg.Class::method", or the name of the stub or the function. It is "" if it is unknown.
	Name string
}

// At returns a frame without a bci and a line. For a mark, pc is 0.
func At(kind Kind, pc uint64) Frame { return Frame{Kind: kind, PC: pc, BCI: Unknown, Line: Unknown} }

// An ID stands for a stack: a frame and all frames below it. 0 is the stack without frames.
type ID uint32
