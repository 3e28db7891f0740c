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
	Class      string // with points: java.util.HashMap
	Method     string
	Descriptor string // (Ljava/lang/Object;)I
	Line       int    // 0 when unknown
	BCI        int    // where in the method's bytecode
	Type       string // "JIT compiled", "Inlined", "Interpreted", "Native"
}

// maxKept limits how many threads and stacks of a chunk are remembered, because they are larger than what
// stands for them in the file. Most events have one of the last few.
const maxKept = 1 << 14

// maxFrames is how many frames JFR keeps at most (stackdepth).
const maxFrames = 2048

// Thread is the thread that the event is of; nil when it has none. It is shared by all events of the chunk.
func (e *Event) Thread() *Thread { return e.Field("eventThread").Thread() }

// Thread is a thread; nil for any other value.
func (v Value) Thread() *Thread {
	if v.kind != Struct || v.typ.Name != "java.lang.Thread" {
		return nil
	}
	c := v.chunk
	if t := c.threads[v.key]; t != nil {
		return t
	}
	t := &Thread{OSID: v.Field("osThreadId").Int(), JavaID: v.Field("javaThreadId").Int(), Virtual: v.Field("virtual").Bool()}
	if name := v.Field("javaName"); name.Kind() == String {
		t.Name = name.Text()
	} else {
		t.Name = v.Field("osName").Text()
	}
	keep(&c.threads, v.key, t)
	return t
}

// Stack is the stack trace of the event; nil when it has none. It is shared by all events of the chunk.
func (e *Event) Stack() *Stack { return e.Field("stackTrace").Stack() }

// Stack is a stack trace; nil for any other value.
func (v Value) Stack() *Stack {
	if v.kind != Struct || v.typ.Name != "jdk.types.StackTrace" {
		return nil
	}
	c := v.chunk
	if s := c.stacks[v.key]; s != nil {
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
	keep(&c.stacks, v.key, s)
	return s
}

func (v Value) frame() Frame {
	m := v.Field("method")
	return Frame{
		Class:      strings.ReplaceAll(m.Field("type").Field("name").Text(), "/", "."),
		Method:     m.Field("name").Text(),
		Descriptor: m.Field("descriptor").Text(),
		Line:       int(v.Field("lineNumber").Int()),
		BCI:        int(v.Field("bytecodeIndex").Int()),
		Type:       v.Field("type").Text(),
	}
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
