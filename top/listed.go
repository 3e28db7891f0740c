package top

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
)

// A listed keeps the lines of the code that was listed last, because the same code is usually listed again a second
// later.
type listed struct {
	code  *Code
	chunk *chunk
	lines []code.Line
	insts []printassembly.Instruction
}

func (l *listed) of(m *Model, c *Code) []code.Line {
	if l.code == c && l.chunk == c.chunk && l.lines != nil {
		return l.lines
	}
	*l = listed{code: c, chunk: c.chunk, lines: m.lines(c)}
	for i := range l.lines {
		l.insts = append(l.insts, l.lines[i].Instruction)
	}
	return l.lines
}

// SourceFiles returns the names of the source files of classes, as far as the logs have them, and the class paths of
// the JVMs for which trusted returns true. The result number changes when more becomes known.
func (m *Model) SourceFiles(trusted func(pid int) bool) (files map[string]string, classPaths []string, number int) {
	files = map[string]string{}
	for pid, j := range m.jvms {
		for class, file := range j.source {
			files[class] = file
		}
		number += len(j.source)
		if j.path != "" && trusted(pid) {
			number++
			classPaths = append(classPaths, j.path)
		}
	}
	return files, classPaths, number
}
