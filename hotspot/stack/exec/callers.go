package exec

// The functions below return frames without a Table: the frames of code that is in a call, which are complete, and
// frames to fall back on where a Table has none.

// Complete returns the complete frame of an nmethod, or of another blob whose header has a frame size. frameSize is in
// bytes. The code has this frame at each call that has debug info or an oop map.
func (a *Arch) Complete(frameSize int) Frame {
	return a.frame(FullFrame(0, frameSize).start)
}

// Interpreted returns the complete frame of an interpreted method, which the frame pointer points to.
func (a *Arch) Interpreted() Frame { return a.frame(Bytecode(0).start) }

// ByFramePointer returns the frame of code that keeps a frame pointer, as C code does. DeoptimizationBlob and
// UncommonTrapBlob do so while they replace frames; a Table has no frames for that code.
func (a *Arch) ByFramePointer() Frame { return a.frame(FramePointer(0).start) }

// NoFrame returns the frame of code that makes none: the return address is where a call has left it. It is meant for
// vtable stubs, and for blobs of many small pieces with unknown bounds, such as InlineCacheBuffer.
func (a *Arch) NoFrame() Frame { return a.frame(Called(0).start) }

// frame returns the frame of code about which only st is known.
func (a *Arch) frame(st start) Frame {
	s := st.state(a)
	f, _ := s.frame()
	return f
}
