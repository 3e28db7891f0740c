package top

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Code is one version of the code of a method, or a stub, an adapter or a codelet.
type Code struct {
	PID       int
	Name      string // pkg.Class::method
	Source    string // "c2, level 4", "stub"
	CompileID int
	OSR       bool
	Lo, Hi    uint64
	Kind      printassembly.Kind

	chunk *chunk // nil if its instructions are not known
	index int    // its index in the chunk's log
	// counted is the round of the chunk in which the instructions were counted, plus one; 0 if they were not counted.
	counted int
}

func newCode(pid int, b *printassembly.Blob) *Code {
	return &Code{PID: pid, Name: b.Name, Source: b.Source(), CompileID: b.ID, OSR: b.OSR, Lo: b.Lo, Hi: b.Hi, Kind: b.Kind}
}

// A place is an address in code.
type place struct {
	code *Code
	pc   uint64
}

// copied records that the code was copied, and where the copy is.
func (c *Code) copied(from *chunk, index int) {
	c.chunk, c.index, c.counted = from, index, 0
}

// decode returns the reader that decodes the instructions of c, and the reference of c for that reader. It returns nil
// if the instructions are not known.
func (m *Model) decode(c *Code) (*jvmcode.Reader, jvmcode.Ref) {
	if c.chunk == nil || c.chunk.gone {
		return nil, jvmcode.Ref{}
	}
	c.chunk.used = m.lastTick
	if c.chunk.reader == nil {
		// Code that can't be decoded is shown without its instructions, so warnings are ignored.
		c.chunk.reader = jvmcode.NewReader(&c.chunk.jvms, m.syntax, func(string, ...any) {})
	}
	return c.chunk.reader, jvmcode.Ref{Index: c.index}
}

// chain returns the methods that are inlined into one another at an address, innermost first. It has at least one frame
// for the code of a Java method, and none for other code.
func (m *Model) chain(c *Code, pc uint64) []printassembly.Frame {
	if !c.Kind.Java() {
		return nil
	}
	at := place{c, pc}
	if frames, ok := m.frames[at]; ok {
		return frames
	}
	reader, ref := m.decode(c)
	if reader == nil {
		return []printassembly.Frame{{Method: c.Name}} // not cached, because gasm may still copy the code
	}
	m.count(c, len(reader.Listing(ref)))
	frames := reader.Chain(ref, pc)
	if len(m.frames) >= maxFrames {
		clear(m.frames)
	}
	m.frames[at] = frames
	return frames
}

// count notes that the reader of c's chunk keeps the decoded instructions of c. A further call for the same code does
// nothing, unless the reader has dropped its instructions since then.
func (m *Model) count(c *Code, instructions int) {
	if c.counted == c.chunk.round+1 {
		return
	}
	c.counted = c.chunk.round + 1
	c.chunk.decoded += instructions
	m.decoded += instructions
}

// evict drops the chunks that were used least recently, until the rest is within the limits.
func (m *Model) evict() {
	for _, j := range m.jvms {
		j.settle()
	}
	for m.decoded > maxDecoded || m.textBytes > maxText {
		var oldest *chunk
		at := 0
		for i, c := range m.chunks {
			if oldest == nil || c.used < oldest.used {
				oldest, at = c, i
			}
		}
		if oldest == nil || oldest.used == m.lastTick {
			break
		}
		m.decoded -= oldest.decoded
		oldest.reader, oldest.decoded, oldest.round = nil, 0, oldest.round+1
		if m.textBytes > maxText {
			m.textBytes -= oldest.size
			m.chunks = append(m.chunks[:at], m.chunks[at+1:]...)
			m.forget(oldest)
		} else if m.decoded > maxDecoded {
			oldest.used = m.lastTick
		}
	}
}

// forget drops the code that is in a chunk.
func (m *Model) forget(c *chunk) {
	c.gone, c.jvms = true, jvmcode.JVMs{}
	for _, j := range m.jvms {
		for i := range j.copy {
			if j.copy[i] == c {
				j.copy[i] = nil
				if j.code[i] != nil {
					j.code[i].chunk = nil
				}
			}
		}
	}
}

// lines returns the instructions of code, without samples. It returns nil if they are not known.
func (m *Model) lines(c *Code) []code.Line {
	reader, ref := m.decode(c)
	if reader == nil {
		return nil
	}
	insts := reader.Listing(ref)
	m.count(c, len(insts))
	profiled := reader.Profiled(ref)
	j := m.jvms[c.PID]
	lines := make([]code.Line, len(insts))
	for i, in := range insts {
		lines[i] = code.Line{Instruction: in, Counts: make(tally.Counts, 1), Note: profiled.At[in.Lo]}
		if j != nil && in.Target != 0 && (in.Target < c.Lo || in.Target >= c.Hi) {
			lines[i].TargetName = j.nameAt(in.Target)
		}
	}
	return lines
}
