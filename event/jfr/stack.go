package jfr

import "strings"

// A Thread is a thread of the JVM.
type Thread struct {
	OSID    int64  // the kernel's thread id in the JVM's own PID namespace; 0 for a virtual thread
	JavaID  int64  // Thread.threadId(); 0 for one of the JVM's internal threads
	Name    string // the name in Java, or that of an internal thread
	Virtual bool
}

// A Stack is a stack trace, the innermost frame first.
type Stack struct {
	Frames    []Frame
	Truncated bool // JFR has left out outer frames
}

// A Frame is a frame of a stack trace.
type Frame struct {
	Class      string // as Java has it: java.util.HashMap
	Method     string
	Descriptor string // (Ljava/lang/Object;)I
	Line       int    // 0 when unknown
	BCI        int    // index in the method's bytecode
	Type       string // "JIT compiled", "Inlined", "Interpreted", "Native"
}

// Limits for what is remembered of a chunk, because in memory it takes more than in the file. Most events have one of
// the last few threads and stacks.
const (
	maxKept       = 1 << 14 // threads, stacks, methods
	maxKeptFrames = 1 << 20 // of all stacks
)

// maxFrames is the largest number of frames that JFR can be told to record (stackdepth).
const maxFrames = 2048

// maxName is the number of bytes of a name that are kept. The class file format allows 65535, and a file can have as
// many frames that refer to one such name as there is room for.
const maxName = 4096

// known has the values of a chunk that were asked for so far, by the keys of their constants.
type known struct {
	threads map[int64]*Thread
	stacks  map[int64]*Stack
	methods map[int64]*Frame // with what the frames of a method have in common
	types   map[int64]*string
	frames  int // in all stacks
}

// Thread returns the thread of the event, or nil if it has none. All events of the chunk share it.
func (e *Event) Thread() *Thread { return e.Field("eventThread").Thread() }

// Thread returns the thread that v is, or nil for any other value.
func (v Value) Thread() *Thread {
	if v.kind != Struct || v.typ.Name != "java.lang.Thread" {
		return nil
	}
	k := &v.chunk.known
	if t := k.threads[v.key]; t != nil {
		return t
	}
	t := &Thread{OSID: v.Field("osThreadId").Int(), JavaID: v.Field("javaThreadId").Int(),
		Virtual: v.Field("virtual").Bool()}
	if name := v.Field("javaName"); name.Kind() == String {
		t.Name = name.name()
	} else {
		t.Name = v.Field("osName").name()
	}
	keep(&k.threads, v.key, t)
	return t
}

// Stack returns the stack trace of the event, or nil if it has none. All events of the chunk share it.
func (e *Event) Stack() *Stack { return e.Field("stackTrace").Stack() }

// Stack returns the stack trace that v is, or nil for any other value.
func (v Value) Stack() *Stack {
	if v.kind != Struct || v.typ.Name != "jdk.types.StackTrace" {
		return nil
	}
	k := &v.chunk.known
	if s := k.stacks[v.key]; s != nil {
		return s
	}
	frames := v.Field("frames")
	s := &Stack{Truncated: v.Field("truncated").Bool(), Frames: make([]Frame, 0, min(frames.Len(), maxFrames))}
	for f := range frames.Elements() {
		if len(s.Frames) == maxFrames {
			s.Truncated = true
			break
		}
		s.Frames = append(s.Frames, f.frame())
	}
	if k.frames += len(s.Frames); k.frames > maxKeptFrames {
		clear(k.stacks)
		k.frames = len(s.Frames)
	}
	keep(&k.stacks, v.key, s)
	return s
}

func (v Value) frame() Frame {
	f := v.Field("method").method()
	f.Line, f.BCI = int(v.Field("lineNumber").Int()), int(v.Field("bytecodeIndex").Int())
	t := v.Field("type")
	k := &v.chunk.known
	name := k.types[t.key]
	if name == nil {
		text := t.name()
		name = &text
		keep(&k.types, t.key, name)
	}
	f.Type = *name
	return f
}

// method returns a Frame with what all frames of the method have in common.
func (v Value) method() Frame {
	if v.kind != Struct {
		return Frame{}
	}
	k := &v.chunk.known
	if f := k.methods[v.key]; f != nil {
		return *f
	}
	f := &Frame{Class: v.Field("type").class(), Method: v.Field("name").name(),
		Descriptor: v.Field("descriptor").name()}
	keep(&k.methods, v.key, f)
	return *f
}

// class returns the name of a class in Java's form: java.util.HashMap, int[][].
func (v Value) class() string { return javaClass(v.Field("name").name()) }

// primitiveNames are the names of primitive types by their letter in descriptors of arrays: [I is int[].
var primitiveNames = map[string]string{"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long",
	"F": "float", "D": "double"}

// javaClass converts HotSpot's name of a class (java/util/HashMap, [I, [Ljava/lang/String;) to Java's.
func javaClass(name string) string {
	element := strings.TrimLeft(name, "[")
	dimensions := len(name) - len(element)
	if dimensions > 0 {
		if primitive, ok := primitiveNames[element]; ok {
			element = primitive
		} else if inner, ok := strings.CutPrefix(element, "L"); ok {
			element = strings.TrimSuffix(inner, ";")
		}
	}
	return strings.ReplaceAll(element, "/", ".") + strings.Repeat("[]", dimensions)
}

// name returns a string, cut off after maxName bytes.
func (v Value) name() string {
	if v.kind != String {
		return ""
	}
	return textUpTo(v.raw, maxName)
}

// keep remembers a value by its key.
func keep[T any](in *map[int64]*T, key int64, found *T) {
	switch {
	case key == 0:
		return
	case *in == nil:
		*in = make(map[int64]*T)
	case len(*in) >= maxKept:
		clear(*in)
	}
	(*in)[key] = found
}
