package profile

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// line returns the line of a listing for an instruction. The line has no samples yet. If the instruction jumps to other
// code, the line has the name of that code.
func (m *mergedCode) line(in printassembly.Instruction, reader *jvmcode.Reader, counters int) code.Line {
	return code.Line{Instruction: in, Counts: make(tally.Counts, counters), TargetName: reader.TargetName(m.Ref, &in),
		Note: reader.Profiled(m.Ref).At[in.Lo], Call: reader.Decided(m.Ref).CallAt(in.Lo)}
}

// lines returns a line for each instruction of a listing, with the instruction's samples. It also returns the samples
// at addresses where there is no instruction.
func (m *mergedCode) lines(insts []printassembly.Instruction, reader *jvmcode.Reader, counters int) (lines []code.Line,
	beside tally.Counts) {
	lines, beside = make([]code.Line, len(insts)), make(tally.Counts, counters)
	for i, in := range insts {
		lines[i] = m.line(in, reader, counters)
	}
	for pc, counts := range m.mergedAtPC {
		if i := jvmcode.Index(insts, pc); i >= 0 {
			lines[i].Counts.Add(counts)
		} else {
			beside.Add(counts)
		}
	}
	return lines, beside
}
