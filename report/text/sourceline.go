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
	Number int    // the line's number in File; for Kotlin's inline functions it differs from the frame's number
	Text   string // "" if the line was not found
}

// elsewhere returns the file and the number of the line if the number differs from the frame's: " (_Arrays.kt:13579)".
// This is written before the text of the line. elsewhere returns "" if the numbers are equal or the file is unknown.
func (l SourceLine) elsewhere(f printassembly.Frame) string {
	if l.File == "" || l.Number == f.Line {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", l.File, l.Number)
}

// place returns the place of the line, for the end of a method's name. The place is ":30" if the file has the usual
// name for the method's class. Otherwise it is " (Range.scala:190)", as in a stack trace.
func (l SourceLine) place(f printassembly.Frame) string {
	if l.File == "" || l.Number == f.Line && l.File == path.Base(names.SourcePath(f.Method, "")) {
		return lineNumber(f)
	}
	return fmt.Sprintf(" (%s:%d)", l.File, l.Number)
}

// lineNumber returns a frame's line as ":1792", or as ":~1792" if it is a guess. It returns "" if the line is unknown.
func lineNumber(f printassembly.Frame) string {
	if f.Line <= 0 {
		return ""
	}
	return ":" + f.LineText()
}
