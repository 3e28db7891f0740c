package stack

import (
	"regexp"
	"strings"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/stack/exec"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A rule says how to find the caller of a frame that has called other code. Each piece of code has one rule. For the
// sampled code itself, whose frame may not be complete, symbolic execution is tried before the rule.
type rule uint8

const (
	byExecution   rule = iota // by symbolic execution, for stubs and adapters
	byFrameSize               // by CodeBlob::_frame_size, for nmethods and blobs with oop maps
	byFP                      // by the frame pointer if symbolic execution fails, for blobs that replace frames
	interpreter               // by the words that an interpreter frame has at fixed offsets from its frame pointer
	returnBarrier             // for stubs whose callers' frames are in the heap, or are being moved to the stack
)

// A code holds what is known about a piece of code in the code cache.
type code struct {
	*codecache.Blob
	rule      rule
	known     bool   // the header was read
	frameSize uint64 // in bytes
	complete  uint64 // at this address and after it the frame is complete; 0 if it never is
	verified  uint64 // entry points of an nmethod; 0 if there is none
	osr       uint64
	deopt     [2]uint64 // addresses of the deoptimization handlers
	origPC    uint64    // where the frame has its true pc if it was deoptimized: offset from sp
	pushes    bool      // its callers push arguments; see pushedTo

	calls     int // how often the walked stacks had a frame of this code that had called other code
	calledFor int // Walker.Caller returns the method again when calls reaches this number

	table    *exec.Table         // nil if execute was not called yet, or could not read the code
	executed bool                // execute was called
	frames   map[uint64][]*frame // by return address
}

// codeOf returns what is known about a blob. It reads the blob's header in the first call for this blob. It returns nil
// if that takes too long.
func (k *walk) codeOf(b *codecache.Blob) *code {
	j := k.jvm.openJVM
	if c := j.codes[b]; c != nil {
		return c
	}
	header := ask(k, func() []byte { return j.header(b) })
	if k.late {
		return nil
	}
	c := j.newCode(b, header)
	j.codes[b] = c
	return c
}

// header reads the header of a blob. It returns nil if the header can't be read, or if other code may be there by now.
func (j *openJVM) header(b *codecache.Blob) []byte {
	size := j.layout.blobSize
	if b.Method != nil {
		size = j.layout.nmethodSize
	}
	header, err := j.view.VM.Read(nil, b.Header, min(size, mostHeader))
	if err != nil || b.Header == 0 || j.gone(b) || b.Method != nil && int(j.layout.compileID.In(header)) != b.Method.ID {
		return nil
	}
	return header
}

// mostHeader limits how many bytes of a header are read.
const mostHeader = 1 << 12

func (j *openJVM) newCode(b *codecache.Blob, header []byte) *code {
	c := &code{Blob: b, frames: map[uint64][]*frame{}, known: header != nil}
	c.frameSize = 8 * uint64(uint32(j.layout.frameSize.In(header)))
	if c.frameSize > mostFrameBytes {
		c.frameSize = 0
	}
	c.rule = c.chooseRule()
	c.pushes = strings.Contains(c.Name, pushedTo)
	if b.Method != nil {
		j.readEntries(c, header)
	}
	return c
}

// mostFrameBytes is an upper bound for the size of a frame of compiled code. A larger size is treated as unknown.
const mostFrameBytes = 1 << 20

// readEntries reads the addresses in an nmethod's header.
func (j *openJVM) readEntries(c *code, header []byte) {
	if len(header) == 0 {
		return
	}
	l := j.layout
	inside := func(at uint64) uint64 {
		if at < c.Lo || at >= c.Hi {
			return 0
		}
		return at
	}
	complete := l.complete.In(header)
	if l.complete.Size == 2 {
		complete = uint64(int64(int16(complete)))
	} else {
		complete = uint64(int64(int32(complete)))
	}
	if int64(complete) >= 0 {
		c.complete = inside(c.Lo + complete)
	}
	verified := l.verified.In(header)
	if l.verifiedIsOffset {
		verified += c.Lo
	}
	c.verified = inside(verified)
	if c.Method.Kind == "osr" {
		c.osr = inside(l.osr.In(header))
	}
	c.origPC = uint64(uint32(l.origPC.In(header)))
	for i, f := range []uint64{l.deopt.In(header), l.deoptMH.In(header)} {
		if l.deoptIsOffset {
			f = uint64(uint32(f)) + c.Header
		}
		c.deopt[i] = inside(f)
	}
}

func (c *code) chooseRule() rule {
	switch {
	case c.Method != nil:
		return byFrameSize
	case c.Kind == printassembly.Interpreter:
		return interpreter
	case movesFrames.MatchString(c.Name):
		return returnBarrier
	case c.Kind != printassembly.RuntimeBlob:
		return byExecution
	case strings.Contains(c.Name, "DeoptimizationBlob"), strings.Contains(c.Name, "UncommonTrapBlob"):
		return byFP
	case c.frameSize > 0 && !strings.Contains(c.Name, "ExceptionBlob"):
		return byFrameSize
	}
	return byExecution
}

// movesFrames matches the names of the stubs that move a virtual thread's frames from the heap to the stack: the return
// barriers and cont_thaw. isReturnBarrier matches only the barrier to which methods return, and not the one for
// exceptions. The names differ between JDK 21 and newer JDKs.
var (
	movesFrames     = regexp.MustCompile(`\b(cont_returnBarrier|cont_thaw|Cont thaw)`)
	isReturnBarrier = regexp.MustCompile(`\b(cont_returnBarrier|Cont thaw return barrier)(_stub|$| \()`)
)
