package listing

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

// Line returns a frame's line of source. It returns the zero SourceLine if the line is not known.
func (o *Options) Line(f printassembly.Frame) SourceLine {
	if o.Source == nil || f.Line <= 0 {
		return SourceLine{}
	}
	if f.File != "" && o.NativeSource == nil {
		return SourceLine{}
	}
	if f.File != "" {
		return o.NativeSource(f.File, f.Line)
	}
	return o.Source(f.Method, f.Line)
}

// elsewhere returns the file and the number of the line if the number differs from the frame's: " (_Arrays.kt:13579)".
// The report writes it before the text of the line. The result is "" if the numbers are equal or the file is unknown.
func (l SourceLine) elsewhere(f printassembly.Frame) string {
	if l.File == "" || l.Number == f.Line {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", l.File, l.Number)
}

// Place returns the place of the line, for the end of a method's name. The place is ":30" if the file has the usual
// name for the method's class. Otherwise it is " (Range.scala:190)", as in a stack trace.
func (l SourceLine) Place(f printassembly.Frame) string {
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
