package exec

import "strings"

// A Code is a piece of HotSpot's machine code. An Arch's methods NMethod, Stub, Adapter and Codelet make Codes.
type Code struct {
	Lo    uint64
	Bytes []byte
	Seeds []Seed

	arch *Arch
	// rest is the state that is assumed at the start of code that execution does not reach from the seeds. Such code is
	// looked for from the offset restFrom on.
	rest     start
	restFrom int
	// followsCalls is true if a call to an address within the code is executed as a jump. The interpreter's codelets
	// have such calls to get a return address. In a method, such a call is a recursion, and is not followed.
	followsCalls bool
}

// A Method has what HotSpot says about the code of an nmethod.
type Method struct {
	VerifiedEntry uint64 // nmethod::_verified_entry_point; 0 if unknown
	OSREntry      uint64 // nmethod::_osr_entry_point; 0 if there is none
	FrameSize     int    // CodeBlob::_frame_size, in bytes
	FrameComplete int    // CodeBlob::_frame_complete_offset; negative if there is none
	Native        bool   // it is the wrapper of a native method, whose frame pointer points into its frame
}

// NMethod returns the code of an nmethod.
func (a *Arch) NMethod(lo uint64, code []byte, m Method) Code {
	c := Code{Lo: lo, Bytes: code, arch: a, Seeds: []Seed{Called(lo)}}
	c.Seeds[0].start.java = true
	for _, entry := range []uint64{m.VerifiedEntry, m.OSREntry} {
		if entry == 0 {
			continue
		}
		s := a.notEntrant(entry, c.from(entry), m.FrameSize)
		s.start.java = true
		c.Seeds = append(c.Seeds, s)
	}
	c.rest = start{kind: completeFrame, frameSize: m.FrameSize, native: m.Native, java: true}
	c.restFrom = len(code)
	if m.FrameComplete >= 0 && m.FrameSize > 0 {
		c.restFrom = a.align(m.FrameComplete)
	}
	return c
}

// from returns the bytes from an address on. They are empty if the address is not in the code.
func (c *Code) from(addr uint64) []byte {
	if n := addr - c.Lo; addr >= c.Lo && n < uint64(len(c.Bytes)) {
		return c.Bytes[n:]
	}
	return nil
}

// Stub returns the code of a stub, or of any other blob for which Arch has no method. name is its name in package
// codecache. It matters because some stubs are not entered by a call.
func (a *Arch) Stub(lo uint64, code []byte, name string) Code {
	c := Code{Lo: lo, Bytes: code, arch: a, Seeds: []Seed{Called(lo)}, rest: start{kind: called}}
	switch {
	case name == "InlineCacheBuffer" || name == "vtable chunks":
		// Such a blob consists of many small pieces with unknown bounds: decoding might begin in the middle of an
		// instruction.
		c.Seeds, c.restFrom = nil, len(code)
	case strings.Contains(name, "ExceptionBlob"):
		c.Seeds = []Seed{Thrown(lo)}
	case strings.Contains(name, "handle_exception_from_callee"):
		c.Seeds[0].start.exceptionPC = true
	case strings.Contains(name, "forward_exception") && !strings.HasPrefix(name, "StubRoutines"):
		c.Seeds = []Seed{FramePointer(lo)} // C1's stubs jump to it
	case strings.Contains(name, "SafepointBlob") && a.polls(code):
		c.Seeds = []Seed{Polled(lo)}
	}
	return c
}

// Adapter returns the code of an i2c/c2i adapter. It begins with i2c, which the interpreter enters.
func (a *Arch) Adapter(lo uint64, code []byte) Code {
	s := Called(lo)
	s.start.senderSP = true
	return Code{Lo: lo, Bytes: code, arch: a, Seeds: []Seed{s}, rest: start{kind: called}}
}

// Codelet returns the code of a codelet of the interpreter. It recognizes the entries of methods by their names:
// "method entry point (kind = zerolocals)", "native method entry point (kind = native)".
func (a *Arch) Codelet(lo uint64, code []byte, name string) Code {
	c := Code{Lo: lo, Bytes: code, arch: a, Seeds: []Seed{Bytecode(lo)}, rest: start{kind: interpreted},
		followsCalls: a.followsCalls}
	if strings.Contains(name, "method entry point") {
		c.Seeds[0] = MethodEntry(lo)
	}
	return c
}
