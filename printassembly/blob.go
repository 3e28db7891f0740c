package printassembly

import (
	"strconv"

	"github.com/gasm-profiler/gasm/disasm"
)

// A Kind says what sort of code a blob is.
type Kind uint8

// The kinds of Java methods come first: package profile sorts by kind, see its gaps.
const (
	NMethod     Kind = iota // a method compiled by C1, C2 or a JVMCI compiler
	Native                  // the wrapper around a native method
	Stub                    // StubRoutines::…, code that the JVM assembled at start-up
	RuntimeBlob             // RuntimeStub, ExceptionBlob, SafepointBlob …
	Adapter                 // i2c/c2i adapters
	VtableStub              // vtable and itable stubs
	Interpreter             // a codelet of the template interpreter
	// Unprinted is code between two pieces of the JVM's own that no HotSpot
	// prints: i2c/c2i adapters and inline cache stubs. No log has it;
	// [profile.CodeMap] finds it.
	Unprinted
)

// IsStub tells the kinds that the reports count as stubs: code that is neither
// a Java method's nor the interpreter's.
func (k Kind) IsStub() bool {
	return k == Stub || k == RuntimeBlob || k == Adapter || k == VtableStub || k == Unprinted
}

// Java tells the kinds that belong to one Java method.
func (k Kind) Java() bool { return k == NMethod || k == Native }

// A Blob is one piece of code in the code cache, as the log's index pass finds
// it: enough to join samples to it, and where in the log [Log.Code] finds its
// instructions.
type Blob struct {
	Kind Kind
	OSR  bool
	// Stamped tells that UptimeMillis is the blob's own.
	Stamped bool
	// HasCode is false where the log names the blob and prints no code (JDK 11
	// without hsdis; methods that a [Selection] leaves out).
	HasCode bool
	named   bool // only an <nmethod …/> tag told of it, see namedTag

	// Code lies in [Lo, Hi): for nmethods their main code and stub code.
	Lo, Hi uint64
	// Name is "pkg.Class::method" for Java code, the stub's or codelet's name
	// for the rest.
	Name     string
	Compiler string // c1, c2, jvmci; "" for code that no compiler made, or when unknown
	ID       int    // compile id, 0 without one
	Level    int    // tier
	OSRBCI   int    // bci at which an OSR method is entered; 0 otherwise

	// UptimeMillis is when the blob was printed, in milliseconds since the
	// JVM's start ([Header.StartWallMillis]). HotSpot prints a method right
	// after it installed it. Blobs without a stamp of their own have the last
	// stamp in front of them in the log, an earliest possible time.
	UptimeMillis int64

	offset    int64  // where its first line starts in the log
	end       int64  // where another thread's lines follow, or the same thread's next blob
	turns     []turn // where its lines go on behind those of other threads
	installed int64  // blobs are in the order of these offsets, see addNamed
}

// A turn is a piece of the log that one thread wrote in a row. Its first line is the tag
// <writer …/> that begins it.
type turn struct{ from, to int64 }

// Source names the blob's kind as the reports' Source column does, in
// perfasm's words: "c2, level 4", "native wrapper", "stub", "interpreter".
func (b *Blob) Source() string {
	switch b.Kind {
	case NMethod:
		if b.Compiler == "" {
			return "compiled" // JDK 8 without PrintNMethods does not tell by what
		}
		s := b.Compiler + ", level " + strconv.Itoa(b.Level)
		if b.OSR {
			s += ", osr"
		}
		return s
	case Native:
		return "native wrapper"
	case Stub:
		return "stub"
	case RuntimeBlob:
		return "runtime stub"
	case Adapter:
		return "adapter"
	case VtableStub:
		return "vtable stub"
	case Unprinted:
		return "stub, not printed"
	default:
		return "interpreter"
	}
}

// A Frame is one level of an inlining chain.
type Frame struct {
	Method string // pkg.Class::method
	BCI    int
	Line   int // source line; 0 when unknown
}

// String is the frame as HotSpot writes it: "Workload::dot@13 (line 12)".
func (f Frame) String() string {
	text := f.Method + "@" + strconv.Itoa(f.BCI)
	if f.Line > 0 {
		text += " (line " + strconv.Itoa(f.Line) + ")"
	}
	return text
}

// An Instruction is one machine instruction with what the log says about it.
type Instruction struct {
	Lo, Hi   uint64
	Text     string
	Kind     disasm.Kind
	Target   uint64 // of a direct call or jump, else 0
	Section  string // set on the first instruction of a section: "Verified Entry Point"
	Comments []string
	// Frames is the inlining chain, innermost first. HotSpot's debug info
	// describes the code up to and including its instruction, so one without
	// its own has the next one's.
	Frames []Frame
	// OwnFrames tells that the debug info was printed at this instruction.
	OwnFrames bool
	Bad       bool // could not be decoded
}

// A Header is what the log's first lines say about the JVM.
type Header struct {
	PID             int
	StartWallMillis int64  // wall clock, ms since 1970; 0 when the log has none
	VMVersion       string // "17.0.15+6-Debian-1deb12u1"
	VMInfo          string // "OpenJDK 64-Bit Server VM (17.0.15+…) for linux-amd64 JRE …"
	Command         string // main class and arguments, as sun.java.command
	// ReservedCodeCache is the size of the range of addresses that code can be
	// in, in bytes: -XX:ReservedCodeCacheSize, or HotSpot's default.
	ReservedCodeCache uint64
	// ClassPath is the property java.class.path: folders and jars, in the form that the JVM's
	// system has for lists of paths; "" when the log does not tell.
	ClassPath string
	// SourceFiles are the names of the files that classes were made from, by the names of the
	// classes. Only logs that gasm writes have them, see [AppendSourceFile].
	SourceFiles map[string]string
}
