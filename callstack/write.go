package callstack

import (
	"bufio"
	"io"
	"strconv"
)

// head is the first line of the file. The number is the version of the format.
const head = "gasm stacks 1\n"

// MaxNodes is the maximum number of nodes in a file. A program with 100 000 different stacks a minute has some million
// nodes in an hour.
const MaxNodes = 8 << 20

// A Writer interns stacks, and writes each new frame and node to a file. It is not safe for use by several goroutines.
type Writer struct {
	out    *bufio.Writer
	err    error
	frames map[Frame]FrameID
	nodes  map[uint64]ID // by node.key
	line   []byte
}

// A node is a frame on top of another stack.
type node struct {
	parent ID
	frame  uint32
}

// key returns both parts of a node as one number, which is looked up faster.
func (n node) key() uint64 { return uint64(n.parent)<<32 | uint64(n.frame) }

// NewWriter returns a Writer, and writes the first line.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: bufio.NewWriterSize(out, 64<<10), frames: map[Frame]FrameID{}, nodes: map[uint64]ID{}}
	_, w.err = w.out.WriteString(head)
	return w
}

// NoRoom is what Push returns when there are MaxNodes already. It is not the ID of a stack.
const NoRoom = ID(1<<32 - 1)

// A FrameID stands for a frame in a Writer.
type FrameID uint32

// noFrame is the FrameID of a frame for which there is no room.
const noFrame = FrameID(1<<32 - 1)

// Push returns the ID of the stack that has the frame f on top of the stack parent. It returns NoRoom if the stack is
// new and there is no room for it, or if parent is NoRoom.
func (w *Writer) Push(parent ID, f Frame) ID { return w.PushFrame(parent, w.Frame(&f)) }

// Frame returns the FrameID of a frame. A caller that keeps the FrameID for PushFrame saves the time that Push needs to
// look the frame up.
func (w *Writer) Frame(f *Frame) FrameID {
	number, known := w.frames[*f]
	if !known {
		if len(w.nodes) >= MaxNodes || len(w.frames) >= MaxNodes {
			return noFrame
		}
		number = FrameID(len(w.frames) + 1)
		w.frames[*f] = number
		w.writeFrame(uint32(number), f)
	}
	return number
}

// PushFrame is like Push, but the frame is given by the FrameID that Frame has returned for it.
func (w *Writer) PushFrame(parent ID, frame FrameID) ID {
	if parent == NoRoom || frame == noFrame {
		return NoRoom
	}
	key := node{parent, uint32(frame)}.key()
	id, known := w.nodes[key]
	if !known {
		if len(w.nodes) >= MaxNodes {
			return NoRoom
		}
		id = ID(len(w.nodes) + 1)
		w.nodes[key] = id
		w.line = append(w.line[:0], "s "...)
		for _, n := range []uint32{uint32(id), uint32(parent), uint32(frame)} {
			w.line = append(strconv.AppendUint(w.line, uint64(n), 10), ' ')
		}
		w.line[len(w.line)-1] = '\n'
		w.write()
	}
	return id
}

func (w *Writer) writeFrame(number uint32, f *Frame) {
	w.line = append(w.line[:0], "f "...)
	w.line = append(strconv.AppendUint(w.line, uint64(number), 10), ' ')
	w.line = append(append(w.line, f.Kind.String()...), ' ')
	if f.PC == 0 {
		w.line = append(w.line, '-')
	} else {
		w.line = strconv.AppendUint(w.line, f.PC, 16)
	}
	w.number(f.CompileID, f.CompileID > 0)
	w.number(f.BCI, f.BCI >= 0)
	w.number(f.Line, f.Line >= 0)
	for _, text := range []string{f.Module, f.Name} {
		w.line = strconv.AppendQuote(append(w.line, ' '), text)
	}
	w.line = append(w.line, '\n')
	w.write()
}

// number appends a number, or a "-" if it is not known.
func (w *Writer) number(n int, known bool) {
	w.line = append(w.line, ' ')
	if !known {
		w.line = append(w.line, '-')
		return
	}
	w.line = strconv.AppendInt(w.line, int64(n), 10)
}

func (w *Writer) write() {
	if w.err == nil {
		_, w.err = w.out.Write(w.line)
	}
}

// Flush passes all buffered text to the file. It returns the first error of writing to it.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}
