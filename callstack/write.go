package callstack

import (
	"bufio"
	"io"
	"strconv"
)

// head is the first line of the file. The number is the version of the format.
const head = "gasm stacks 1\n"

// MaxNodes is the maximum number of nodes in a file. A program with 100 000 different stacks a minute has several
// million nodes in an hour.
const MaxNodes = 8 << 20

// A Writer interns stacks, and writes each new frame and node to a file. It is not safe for use by several goroutines.
type Writer struct {
	out     *bufio.Writer
	err     error
	written interner
	line    []byte
}

// NewWriter returns a Writer, and writes the first line.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: bufio.NewWriterSize(out, 64<<10), written: newInterner()}
	_, w.err = w.out.WriteString(head)
	return w
}

// NewWriterAmong returns a Writer for a file that has other lines between those of stacks. Unlike NewWriter, it does
// not write the first line of stacks.txt. Tree.AddLine reads the lines; package wall has such files.
func NewWriterAmong(out io.Writer) *Writer {
	return &Writer{out: bufio.NewWriterSize(out, 4<<10), written: newInterner()}
}

// NoRoom is what Push returns for a new stack when there are MaxNodes nodes already. It is not the ID of a stack.
const NoRoom = ID(1<<32 - 1)

// Push returns the ID of the stack that consists of the frame f on top of another stack, whose ID is parent. It returns
// NoRoom if the stack is new and there is no room for it, or if parent is NoRoom.
func (w *Writer) Push(parent ID, f Frame) ID { return w.PushFrame(parent, w.Frame(&f)) }

// Frame returns the FrameID of a frame. A caller that keeps the FrameID for PushFrame saves the time that Push needs to
// look the frame up.
func (w *Writer) Frame(f *Frame) FrameID {
	id, isNew := w.written.frame(f, len(w.written.frames)+1)
	if isNew {
		w.writeFrame(id, f)
	}
	return id
}

// PushFrame is like Push, but the frame is given by the FrameID that Frame has returned for it.
func (w *Writer) PushFrame(parent ID, frame FrameID) ID {
	id, isNew := w.written.node(node{parent, frame}, len(w.written.nodes)+1)
	if isNew {
		w.line = append(w.line[:0], "s "...)
		for _, n := range []uint32{uint32(id), uint32(parent), uint32(frame)} {
			w.line = append(strconv.AppendUint(w.line, uint64(n), 10), ' ')
		}
		w.line[len(w.line)-1] = '\n'
		w.write()
	}
	return id
}

func (w *Writer) writeFrame(number FrameID, f *Frame) {
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
