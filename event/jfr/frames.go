package jfr

import "github.com/gasm-profiler/gasm/event"

// stacks converts stack traces to the frames of events. Events with the same stack share its frames, and frames of
// the same method share its name.
type stacks struct {
	byKey   map[int64]stack  // the stacks of the current chunk, by key
	methods map[int64]string // the names of methods of the current chunk, by key
	kept    int              // number of frames in all chunks
	text    int              // bytes of the names of methods in all chunks
}

// A stack is a stack trace. If it is truncated, its outermost frames are missing.
type stack struct {
	frames    []event.Frame
	truncated bool
}

// Limits for the stacks of one recording. After maxStackFrames frames, further events get no frames, and after
// maxMethodText bytes of names, further frames get no method name. For comparison, a recording of an hour has about ten
// thousand different stacks.
const (
	maxStackFrames = 1 << 21
	maxMethodText  = 32 << 20
	// maxDepth is the maximum number of frames of a stack that are kept. Frames further out are dropped. JFR records at
	// most 64 frames, unless the option stackdepth says otherwise.
	maxDepth = 256
)

// next is called before each chunk. It forgets the keys of the previous chunk, because the same key refers to a
// different constant in each chunk.
func (s *stacks) next() {
	s.byKey, s.methods = map[int64]stack{}, map[int64]string{}
}

// stack converts a stack trace. The result has no frames if v is not a stack trace, or if maxStackFrames is reached.
func (s *stacks) stack(v Value) stack {
	if v.kind != Struct || v.typ.Name != "jdk.types.StackTrace" || v.key == 0 {
		return stack{}
	}
	if known, ok := s.byKey[v.key]; ok {
		return known
	}
	list := v.Field("frames")
	n := min(list.Len(), maxDepth)
	if s.kept += n; s.kept > maxStackFrames {
		return stack{}
	}
	frames := make([]event.Frame, 0, n)
	for f := range list.Elements() {
		if len(frames) == n {
			break
		}
		frames = append(frames, event.Frame{Method: s.method(f.Field("method")),
			BCI: int(f.Field("bytecodeIndex").Int()), Line: max(int(f.Field("lineNumber").Int()), 0)})
	}
	s.byKey[v.key] = stack{frames, v.Field("truncated").Bool() || list.Len() > n}
	return s.byKey[v.key]
}

// method returns the name of a method in the same form as in samples: java.util.HashMap::get. It returns "" if the
// method is unknown, or if maxMethodText is reached.
func (s *stacks) method(v Value) string {
	name, ok := s.methods[v.key]
	if ok || v.kind != Struct || v.key == 0 {
		return name
	}
	if name = v.methodName(); s.text+len(name) > maxMethodText {
		return ""
	}
	s.text += len(name)
	s.methods[v.key] = name
	return name
}

// methodName returns a name like java.util.HashMap::get.
func (v Value) methodName() string {
	return v.Field("type").class() + "::" + v.Field("name").name()
}
