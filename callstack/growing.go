package callstack

import (
	"bytes"

	"github.com/gasm-profiler/gasm/internal/lines"
)

// A Growing reads the text of a [Writer] while it is written. It is not safe for use by several goroutines.
type Growing struct {
	Tree   Tree // the stacks so far
	number int  // number of lines read so far
	rest   []byte
	failed error
}

// Write reads more of the text, which may end within a line. After a malformed line it returns an error that names the
// line, and reads nothing more.
func (g *Growing) Write(text []byte) (int, error) {
	if g.failed != nil {
		return 0, g.failed
	}
	g.rest = append(g.rest, text...)
	from := g.rest
	for {
		line, after, whole := bytes.Cut(from, []byte("\n"))
		if !whole {
			break
		}
		from = after
		g.number++
		if msg := g.Tree.add(g.number, line); msg != "" {
			g.failed = &lines.SyntaxError{File: "stacks", Line: g.number, Msg: msg}
			return 0, g.failed
		}
	}
	g.rest = append(g.rest[:0], from...)
	return len(text), nil
}
