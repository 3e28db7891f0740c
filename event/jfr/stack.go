package jfr

import "strings"

// A Thread is a thread of the JVM.
type Thread struct {
	OSID    int64  // the kernel's thread id in the JVM's own PID namespace; 0 for a virtual thread
	JavaID  int64  // Thread.threadId(); 0 for an internal thread of the JVM
	Name    string // the name of the Java thread, or the JVM's name for an internal thread
	Virtual bool
}

// A Stack is a stack trace, the innermost frame first.
type Stack struct {
	Frames    []Frame
	Truncated bool // true if outer frames are missing
}

// A Frame is a frame of a stack trace.
type Frame struct {
	Class      string // "java.util.HashMap"
	Method     string
	Descriptor string // (Ljava/lang/Object;)I
	Line       int    // the line in the source file; 0 if unknown
	BCI        int    // index in the method's bytecode
	Type       string // "JIT compiled", "Inlined", "Interpreted", "Native"
}

// Limits for the cache of decoded values (type known). When the cache reaches a limit, it is emptied. It need not be
// large, because most events refer to a thread and a stack to which recent events have referred too. Without limits,
// the decoded values of a chunk could take much more memory than the file.
const (
	maxKept       = 1 << 14 // threads, stacks, methods
	maxKeptFrames = 1 << 20 // in all stacks together
)

// maxFrames is the maximum number of frames that JFR can be told to record (stackdepth).
const maxFrames = 2048

// maxName limits the length of names, in bytes. Longer names are cut off. The class file format allows names of 65535
// bytes, and even a small file can have very many frames that refer to the same long name.
const maxName = 4096

// known caches decoded values of a chunk, by the keys of their constants.
type known struct {
	threads map[int64]*Thread
	stacks  map[int64]*Stack
	methods map[int64]*Frame // frames with only the fields that depend on the method alone
	types   map[int64]*string
	frames  int // number of frames in all stacks
}

// Thread returns the thread of the event, or nil if the event has none. The caller must not change it, because other
// events share it.
func (e *Event) Thread() *Thread { return e.Field("eventThread").Thread() }

// Thread returns v as a Thread, or nil if v is not a thread.
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

// Stack returns the stack trace of the event, or nil if the event has none. The caller must not change it, because
// other events share it.
func (e *Event) Stack() *Stack { return e.Field("stackTrace").Stack() }

// Stack returns v as a Stack, or nil if v is not a stack trace.
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

// method returns a Frame for the method v. It sets the class, the name and the descriptor, and leaves the other fields
// to the caller.
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

// primitiveNames maps the letters of primitive types in descriptors to the types' names. For example, [I is int[].
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

// name returns the text of a string, cut off after maxName bytes. It returns "" if v is not a string.
func (v Value) name() string {
	if v.kind != String {
		return ""
	}
	return textUpTo(v.raw, maxName)
}

// keep adds a value to a map of the cache. If the map is full, it is emptied first. A value with the key 0 is not a
// constant, and is not stored.
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
