package text

import (
	"fmt"
	"path"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/report/names"
)

// A SourceLine is a line of source that code was made from.
type SourceLine struct {
	File   string // the file's name without folders; "" if it is unknown
	Number int    // the line's number in the file; for Kotlin's inline functions not the number that the method has
	Text   string // "" if the line was not found
}

// elsewhere returns the file and the number of the line, as in (_Arrays.kt:13579), with a blank before them. It is for
// the text of the line, which follows. If the frame has the number already, or the file is unknown, it returns "".
func (l SourceLine) elsewhere(f printassembly.Frame) string {
	if l.File == "" || l.Number == f.Line {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", l.File, l.Number)
}

// place returns the line's place: ":30" if the file has the name that Java's convention asks for, and otherwise file
// and line as in a stack trace: " (Range.scala:190)".
func (l SourceLine) place(f printassembly.Frame) string {
	if l.File == "" || l.Number == f.Line && l.File == path.Base(names.SourcePath(f.Method, "")) {
		return lineNumber(f)
	}
	return fmt.Sprintf(" (%s:%d)", l.File, l.Number)
}

// lineNumber returns ":1792", ":~1792" for a guess, or "" if the line is unknown.
func lineNumber(f printassembly.Frame) string {
	if f.Line <= 0 {
		return ""
	}
	return ":" + f.LineText()
}
