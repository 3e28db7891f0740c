package sources

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
)

// TestNativeLinesOfSeveralFiles: functions of the same name may be from different files. A line number that occurs in
// several of the files is not shown as a line of one of them.
func TestNativeLinesOfSeveralFiles(t *testing.T) {
	s := New(func(string, int) (string, int) { return "", 0 }, func(string) []string { return nil },
		func(file string) []string { return []string{file + " 1", file + " 2"} })
	l := &profile.Listing{}
	for _, f := range []printassembly.Frame{{Method: "mix", File: "a.c", Line: 1}, {Method: "mix", File: "b.c", Line: 1},
		{Method: "mix", File: "a.c", Line: 1},
		{Method: "mix", File: "b.c", Line: 2}, {Method: "work", File: "a.c", Line: 2}} {
		l.Lines = append(l.Lines, code.Line{Instruction: printassembly.Instruction{Frames: []printassembly.Frame{f}}})
	}
	s.Add(l)
	assert.Len(t, s.Files(), 2)
	assert.Equal(t, map[string]map[int][2]int{"mix": {2: {1, 2}}, "work": {2: {0, 2}}}, s.Moved())
}
