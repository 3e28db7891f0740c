package printassembly

import (
	"fmt"
	"path"
	"strconv"

	"github.com/gasm-profiler/gasm/disasm"
)

// A Kind says what sort of code a blob is.
type Kind uint8

// The kinds of Java methods come first. Package codemap relies on that: it sorts blobs by address and then by kind, see
// findUnprinted there.
const (
	NMethod     Kind = iota // a method compiled by C1, C2 or a JVMCI compiler
	Native                  // the wrapper around a native method
	Stub                    // StubRoutines::…, code that the JVM assembled at start-up
	RuntimeBlob             // RuntimeStub, ExceptionBlob, SafepointBlob …
	Adapter                 // i2c/c2i adapters
	VtableStub              // vtable and itable stubs
	Interpreter             // a codelet of the template interpreter
	// Unprinted is code that HotSpot does not print, between two pieces of the JVM's own code that it does print. It
	// consists of i2c/c2i adapters and inline cache stubs. It is never in a log; package codemap adds it.
	Unprinted
	// Library is a function of a library, of the vDSO or of the kernel. It is never in a log; package jvmcode adds it.
	Library
)

// IsStub reports whether code of this kind counts as a stub in gasm's reports: HotSpot has generated it, and it is
// neither a Java method, nor the wrapper of one, nor the interpreter.
func (k Kind) IsStub() bool {
	return k == Stub || k == RuntimeBlob || k == Adapter || k == VtableStub || k == Unprinted
}

// Java reports whether blobs of the kind belong to one Java method.
func (k Kind) Java() bool { return k == NMethod || k == Native }

// A Blob is one piece of code in the code cache, as the first pass over the log finds it. It has what is needed to find
// the samples in the code, and the position at which [Log.Code] finds the instructions in the log.
type Blob struct {
	Kind Kind
	OSR  bool
	// Stamped is true if UptimeMillis is the blob's own time.
	Stamped bool
	// HasCode is false if the log names the blob but does not have its code (JDK 11 without hsdis, and methods
	// outside the [Selection]).
	HasCode bool
	named   bool // only an <nmethod …/> tag names the blob, see namedTag

	// The code is in [Lo, Hi). For an nmethod, this range holds the main code and the stub code.
	Lo, Hi uint64
	// Name is "pkg.Class::method" for Java code, and the name of the stub or codelet for other code.
	Name     string
	Module   string // for Kind Library, the module that has the function: "libjvm.so", "kernel"
	Compiler string // c1, c2, jvmci; "" if no compiler made the code, or the compiler is unknown
	ID       int    // compile id; 0 if there is none
	Level    int    // tier
	OSRBCI   int    // bci at which an OSR method is entered; 0 for other methods
	// BytecodeSize is the size of a compiled method's bytecode, in bytes; 0 if it is unknown.
	BytecodeSize int

	// UptimeMillis is when the blob was printed, in milliseconds since the JVM's start ([Header.StartWallMillis]).
	// HotSpot prints a method right after installing it. A blob without a time of its own gets the last time that comes
	// before it in the log, which is a lower bound.
	UptimeMillis int64
	// SeenMillis is when gasm first saw the code in the JVM's memory. UptimeMillis is then the last time at which gasm
	// saw that the code was not there yet. SeenMillis is 0 if UptimeMillis is exact, or if nothing is known about this.
	SeenMillis int64

	offset    int64  // offset of its first line in the log
	end       int64  // offset at which another thread's lines or the same thread's next blob begin
	turns     []turn // the other pieces of the log with lines of the blob, each after lines of other threads
	installed int64  // the offset by which blobs are sorted, see addNamed
}

// A CodeKey identifies an nmethod of a JVM. JDK 8 numbers on-stack replacements separately, so an on-stack replacement
// may have the same compile id as another method.
type CodeKey struct {
	ID  int // compile id
	OSR bool
}

// Key returns the key of an nmethod.
func (b *Blob) Key() CodeKey { return CodeKey{b.ID, b.OSR} }

// A turn is a piece of the log that one thread wrote without interruption. Its first line is the tag <writer …/>.
type turn struct{ from, to int64 }

// Source returns the blob's kind as it is shown in the Source column of reports, in the words of JMH's perfasm:
// "c2, level 4", "native wrapper", "stub", "interpreter".
func (b *Blob) Source() string {
	switch b.Kind {
	case NMethod:
		if b.Compiler == "" {
			return "compiled" // JDK 8 without PrintNMethods does not name the compiler
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
	case Library:
		return b.Module
	default:
		return "interpreter"
	}
}

// A Frame is one level of an inlining chain.
type Frame struct {
	Method string // pkg.Class::method
	BCI    int    // index of the bytecode; -1 if there is none, as in native code
	Line   int    // source line; 0 when unknown
	// File is the path of the source file of native code. It is "" for Java code, whose file is that of its class.
	File string
	// Guess says which parts of the frame are guesses of package safepoints. Frames from debug info are never guessed.
	Guess Guess
}

// A Guess says how much of a frame is not certain.
type Guess uint8

const (
	Certain     Guess = iota // nothing is guessed
	GuessedLine              // the method is certain, but its bytecode and line are guessed
	GuessedAll               // the method is guessed, too
)

// GuessMark is put before a guessed method or line in all output formats, for example
// "~java.util.Arrays::mismatch".
const GuessMark = "~"

// LineText returns the number of the line, with [GuessMark] if it is a guess.
func (f Frame) LineText() string {
	if f.Guess != Certain {
		return GuessMark + strconv.Itoa(f.Line)
	}
	return strconv.Itoa(f.Line)
}

// Name returns the method, with [GuessMark] if it is a guess.
func (f Frame) Name() string {
	if f.Guess == GuessedAll {
		return GuessMark + f.Method
	}
	return f.Method
}

// String returns the frame in HotSpot's form: "Workload::dot@13 (line 12)". For native code, the text has the name of
// the file: "crc32_z (crc32.c:612)".
func (f Frame) String() string {
	if f.File != "" {
		return fmt.Sprintf("%s (%s:%d)", f.Name(), path.Base(f.File), f.Line)
	}
	text := f.Name() + "@" + strconv.Itoa(f.BCI)
	if f.Line > 0 {
		text += " (line " + f.LineText() + ")"
	}
	return text
}

// An Instruction is one machine instruction with what the log says about it.
type Instruction struct {
	Lo, Hi   uint64
	Text     string
	Kind     disasm.Kind
	Target   uint64 // address to which a direct call or jump leads; 0 for other instructions
	Section  string // the section that begins here: "Verified Entry Point"; "" for most
	Comments []string
	// Frames is the inlining chain, innermost frame first. Debug info at an instruction also describes the code
	// before that instruction. So an instruction without debug info has the Frames of the next one with debug info.
	Frames []Frame
	// OwnFrames is true if the log has debug info at this instruction.
	OwnFrames bool
	Bad       bool // the bytes are not a known instruction
}

// A Header is what a log says about the JVM as a whole. Most of this is in the log's first lines.
type Header struct {
	PID             int
	StartWallMillis int64  // wall clock, ms since 1970; 0 if the log does not have it
	VMVersion       string // "17.0.15+6-Debian-1deb12u1"
	VMInfo          string // "OpenJDK 64-Bit Server VM (17.0.15+…) for linux-amd64 JRE …"
	Command         string // main class and arguments, as in the property sun.java.command
	// ReservedCodeCache is the size in bytes of the address range that can hold code: the value of
	// -XX:ReservedCodeCacheSize, or else 240 MB, HotSpot's default with both compilers.
	ReservedCodeCache uint64
	// FramePointers is true if the JVM's arguments have -XX:+PreserveFramePointer.
	FramePointers bool
	// InliningLimits are the values of the flags that limit inlining, by name. Only gasm writes them into a log.
	InliningLimits map[string]int64
	// ClassPath is the property java.class.path: directories and jars, separated as on the JVM's system (":" or ";").
	// It is "" if the log does not have it.
	ClassPath string
	// SourceFiles maps the names of classes to the names of the source files they were compiled from. Only gasm
	// writes these names into a log, see [AppendSourceFile].
	SourceFiles map[string]string
	// ThreadNames has the whole names of Java threads by thread id, the latest name last. An id has several names if
	// the thread was renamed, or if another thread had the same id earlier. Only gasm writes these names into a log;
	// see [AppendThreadName].
	ThreadNames map[int][]string
}
