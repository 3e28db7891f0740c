package callstack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/fields"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A Tree has all stacks of a capture.
type Tree struct {
	frames []Frame
	nodes  []node   // nodes[i] has the ID i+1
	pushed interner // the frames and nodes that Push has added; its maps are nil before the first Push
}

// longestLine is the longest line that is read, in bytes. The names of a method and of its class have at most 64 kB
// each, and may be escaped.
const longestLine = 1 << 20

// Read reads a file that a Writer has written. The name is for messages. If the last line is cut, Read skips it. If
// another line is malformed, Read returns the stacks before that line, and an error that names the line.
func Read(in io.Reader, name string) (*Tree, error) {
	t := &Tree{}
	r := lines.NewReader(in, longestLine)
	for r.Scan() {
		msg := "the line is too long"
		if !r.TooLong() {
			msg = t.add(r.Number(), r.Line())
		}
		if msg != "" {
			return t, &lines.SyntaxError{File: name, Line: r.Number(), Msg: msg}
		}
	}
	if err := r.Err(); err != nil {
		return t, fmt.Errorf("reading %s: %w", name, err)
	}
	return t, nil
}

// add adds a line to the tree. It returns what is wrong with the line, or "".
func (t *Tree) add(number int, line []byte) string {
	if number == 1 {
		if string(line)+"\n" != head {
			return "not the first line of a file with stacks of this version of gasm"
		}
		return ""
	}
	return t.AddLine(line)
}

// AddLine adds a line that a Writer has written. It returns a message about what is wrong with the line, or "". It is
// for files that have other lines between those of stacks.
func (t *Tree) AddLine(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, []byte("s")); ok {
		return t.addNode(rest)
	}
	rest, ok := strings.CutPrefix(string(line), "f ")
	if !ok {
		return "neither a frame nor a node"
	}
	if len(t.frames) >= MaxNodes { // a Writer writes no more frames than nodes
		return fmt.Sprintf("there are more than %d frames", MaxNodes)
	}
	f, err := parseFrame(rest, len(t.frames)+1)
	if err != nil {
		return err.Error()
	}
	t.frames = append(t.frames, f)
	return ""
}

// addNode adds the node that a line describes. The parameter rest is the line without its first letter. The result says
// what is wrong with the line; it is "" if nothing is. Most lines are nodes, so it allocates nothing for a line.
func (t *Tree) addNode(rest []byte) string {
	var n [3]uint64
	for i := range n {
		ok := len(rest) >= 2 && rest[0] == ' '
		if ok {
			n[i], rest, ok = fields.CutUint(rest[1:], math.MaxUint32)
		}
		if !ok {
			return "not a node: it does not have three numbers"
		}
	}
	switch {
	case len(rest) > 0:
		return "not a node: it does not have three numbers"
	case n[0] != uint64(len(t.nodes)+1):
		return fmt.Sprintf("not the next node, %d", len(t.nodes)+1)
	case n[1] >= n[0] || n[2] == 0 || n[2] > uint64(len(t.frames)):
		return "it refers to a line that is not before it"
	case len(t.nodes) >= MaxNodes:
		return fmt.Sprintf("there are more than %d nodes", MaxNodes)
	}
	t.nodes = append(t.nodes, node{ID(n[1]), FrameID(n[2])})
	return ""
}

var errFrame = errors.New("not a frame")

// parseFrame parses the description of a frame. text is the line without its first letter, and number is the number
// that the frame must have.
func parseFrame(text string, number int) (f Frame, err error) {
	fields := strings.SplitN(text, " ", 7)
	if len(fields) != 7 || fields[0] != strconv.Itoa(number) {
		return f, errFrame
	}
	kind := slices.Index(kinds[:], fields[1])
	if kind <= 0 {
		return f, fmt.Errorf("%q is not a kind of frame", fields[1])
	}
	f = Frame{Kind: Kind(kind)}
	if fields[2] != "-" {
		if f.PC, err = strconv.ParseUint(fields[2], 16, 64); err != nil {
			return f, errFrame
		}
	}
	for i, to := range []*int{&f.CompileID, &f.BCI, &f.Line} {
		if fields[3+i] == "-" {
			*to = Unknown
			continue
		}
		n, err := strconv.ParseInt(fields[3+i], 10, 32)
		if err != nil || n < 0 {
			return f, errFrame
		}
		*to = int(n)
	}
	f.CompileID = max(f.CompileID, 0)
	rest := fields[6]
	for _, to := range []*string{&f.Module, &f.Name} {
		rest = strings.TrimPrefix(rest, " ")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return f, errFrame
		}
		if *to, err = strconv.Unquote(quoted); err != nil {
			return f, errFrame
		}
		rest = rest[len(quoted):]
	}
	if rest != "" {
		return f, errFrame
	}
	return f, nil
}

// Len returns the number of stacks. Their IDs are 1 to Len.
func (t *Tree) Len() int { return len(t.nodes) }

// Frame returns the innermost frame of a stack, and the stack of its caller. The caller is 0 if the frame has none. The
// frame must not be changed. If there is no such stack, the frame is nil.
func (t *Tree) Frame(id ID) (f *Frame, caller ID) {
	if id == 0 || int(id) > len(t.nodes) {
		return nil, 0
	}
	n := t.nodes[id-1]
	return &t.frames[n.frame-1], n.parent
}

// Frames calls yield for each frame of a stack, from the innermost to the outermost.
func (t *Tree) Frames(id ID) func(yield func(*Frame) bool) {
	return func(yield func(*Frame) bool) {
		for f, caller := t.Frame(id); f != nil; f, caller = t.Frame(caller) {
			if !yield(f) {
				return
			}
		}
	}
}
