package exec

// The frames below need no Table. They are those of code that is in a call, so that its frame is complete, and those to
// fall back on where a Table has no frame.

// Complete returns the complete frame of an nmethod, or of another blob with a frame size, in bytes. It is the frame at
// each call that has debug info or an oop map.
func Complete(frameSize int) Frame {
	return FullFrame(0, frameSize).start.frame()
}

// Interpreted returns the complete frame of an interpreted method, which rbp points to.
func Interpreted() Frame { return Bytecode(0).start.frame() }

// ByFramePointer returns the frame of code that keeps a frame pointer in rbp, as C code does. DeoptimizationBlob and
// UncommonTrapBlob do so while they replace frames, where a Table has none.
func ByFramePointer() Frame { return FramePointer(0).start.frame() }

// ReturnOnTop returns the frame of code that has none: the return address is on top of the stack. It is that of a blob
// with many small pieces whose bounds are not known, such as InlineCacheBuffer, and of vtable stubs.
func ReturnOnTop() Frame { return Called(0).start.frame() }

// frame returns the frame at the start of the execution.
func (st start) frame() Frame {
	s := st.state()
	f, _ := s.frame()
	return f
}
