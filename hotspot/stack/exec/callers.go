package exec

// The frames below need no Table. They are those of code that is in a call, so that its frame is complete, and those to
// fall back on where a Table has no frame.

// Complete returns the complete frame of an nmethod, or of another blob with a frame size, in bytes. It is the frame at
// each call that has debug info or an oop map.
func (a *Arch) Complete(frameSize int) Frame {
	return a.frame(FullFrame(0, frameSize).start)
}

// Interpreted returns the complete frame of an interpreted method, which the frame pointer points to.
func (a *Arch) Interpreted() Frame { return a.frame(Bytecode(0).start) }

// ByFramePointer returns the frame of code that keeps a frame pointer, as C code does. DeoptimizationBlob and
// UncommonTrapBlob do so while they replace frames, where a Table has none.
func (a *Arch) ByFramePointer() Frame { return a.frame(FramePointer(0).start) }

// NoFrame returns the frame of code that has none: the return address is where a call has left it. It is that of a blob
// with many small pieces whose bounds are not known, such as InlineCacheBuffer, and of vtable stubs.
func (a *Arch) NoFrame() Frame { return a.frame(Called(0).start) }

// frame returns the frame at the start of the execution.
func (a *Arch) frame(st start) Frame {
	s := st.state(a)
	f, _ := s.frame()
	return f
}
