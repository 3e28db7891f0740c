package jfr

import "github.com/gasm-profiler/gasm/event"

// stacks makes the frames of events. Events of one stack share them, and frames of one method its name.
type stacks struct {
	byKey   map[int64][]event.Frame // of the chunk, by the key of the stack
	methods map[int64]string        // of the chunk
	kept    int                     // frames of all chunks
	text    int                     // bytes of the names of methods of all chunks
}

// Limits of what is kept of all stacks of a recording. A recording of an hour has some ten thousand stacks.
const (
	maxStackFrames = 1 << 21
	maxMethodText  = 32 << 20
	// maxDepth is how many frames of a stack are kept, the inner ones. JFR keeps 64, unless stackdepth says otherwise.
	maxDepth = 256
)

// next forgets what the keys of a chunk mean.
func (s *stacks) next() {
	s.byKey, s.methods = map[int64][]event.Frame{}, map[int64]string{}
}

// frames gives the frames of a stack trace; nil for any other value, and where there are more than can be.
func (s *stacks) frames(v Value) []event.Frame {
	if v.kind != Struct || v.typ.Name != "jdk.types.StackTrace" || v.key == 0 {
		return nil
	}
	if frames, ok := s.byKey[v.key]; ok {
		return frames
	}
	list := v.Field("frames")
	n := min(list.Len(), maxDepth)
	if s.kept += n; s.kept > maxStackFrames {
		return nil
	}
	frames := make([]event.Frame, 0, n)
	for f := range list.Elements() {
		if len(frames) == n {
			break
		}
		frames = append(frames, event.Frame{Method: s.method(f.Field("method")),
			BCI: int(f.Field("bytecodeIndex").Int()), Line: max(int(f.Field("lineNumber").Int()), 0)})
	}
	s.byKey[v.key] = frames
	return frames
}

// method is the name of a method, as that of a sample has it; "" when it is unknown.
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

// methodName is java.util.HashMap::get.
func (v Value) methodName() string {
	return v.Field("type").class() + "::" + v.Field("name").name()
}
