package jfr

import "strings"

// A Thread is one of the JVM.
type Thread struct {
	OSID    int64  // the kernel's id of it, in the JVM's own PID namespace; 0 for a virtual thread
	JavaID  int64  // 0 for a thread of the JVM's own
	Name    string // Java's name, or else that of the JVM's own thread
	Virtual bool
}

// A Stack is a stack trace, the innermost frame first.
type Stack struct {
	Frames    []Frame
	Truncated bool // there are outer frames that JFR has left out
}

// A Frame is one of a stack trace.
type Frame struct {
	Class      string // as Java has it: java.util.HashMap
	Method     string
	Descriptor string // (Ljava/lang/Object;)I
	Line       int    // 0 when unknown
	BCI        int    // where in the method's bytecode
	Type       string // "JIT compiled", "Inlined", "Interpreted", "Native"
}

// Limits of what is remembered of a chunk, because it is larger than what stands for it in the file. Most events have
// one of the last few threads and stacks.
const (
	maxKept       = 1 << 14 // threads, stacks, methods
	maxKeptFrames = 1 << 20 // of all stacks
)

// maxFrames is how many frames JFR keeps at most (stackdepth).
const maxFrames = 2048

// maxName is how much of a name is kept, in bytes. The class file format allows 65535, and a constant may have as
// many frames that refer to it as the file has room for.
const maxName = 4096

// known is what of a chunk has been asked for, by the keys of constants.
type known struct {
	threads map[int64]*Thread
	stacks  map[int64]*Stack
	methods map[int64]*Frame // with what frames of one method share
	types   map[int64]*string
	frames  int // of all stacks
}

// Thread is the thread that the event is of; nil when it has none. It is shared by all events of the chunk.
func (e *Event) Thread() *Thread { return e.Field("eventThread").Thread() }

// Thread is a thread; nil for any other value.
func (v Value) Thread() *Thread {
	if v.kind != Struct || v.typ.Name != "java.lang.Thread" {
		return nil
	}
	k := &v.chunk.known
	if t := k.threads[v.key]; t != nil {
		return t
	}
	t := &Thread{OSID: v.Field("osThreadId").Int(), JavaID: v.Field("javaThreadId").Int(), Virtual: v.Field("virtual").Bool()}
	if name := v.Field("javaName"); name.Kind() == String {
		t.Name = name.name()
	} else {
		t.Name = v.Field("osName").name()
	}
	keep(&k.threads, v.key, t)
	return t
}

// Stack is the stack trace of the event; nil when it has none. It is shared by all events of the chunk.
func (e *Event) Stack() *Stack { return e.Field("stackTrace").Stack() }

// Stack is a stack trace; nil for any other value.
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

// method is what frames of a method have in common.
func (v Value) method() Frame {
	if v.kind != Struct {
		return Frame{}
	}
	k := &v.chunk.known
	if f := k.methods[v.key]; f != nil {
		return *f
	}
	f := &Frame{Class: v.Field("type").class(), Method: v.Field("name").name(), Descriptor: v.Field("descriptor").name()}
	keep(&k.methods, v.key, f)
	return *f
}

// class is the name of a class as Java has it: java.util.HashMap, int[][].
func (v Value) class() string { return javaClass(v.Field("name").name()) }

// primitiveNames are those of descriptors of arrays: [I is int[].
var primitiveNames = map[string]string{"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float", "D": "double"}

// javaClass makes Java's name of HotSpot's: java/util/HashMap, [I, [Ljava/lang/String;.
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

// name is a text of which the beginning will do.
func (v Value) name() string {
	if v.kind != String {
		return ""
	}
	return textUpTo(v.raw, maxName)
}

// keep remembers what was found by a key.
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
