package top

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
)

// An instruction is hot if it has at least hotShare of the samples of its JVM, and hotSamples samples. So there are at
// most 100 hot instructions, and the number of samples of each is right within a third (its standard deviation).
const (
	hotShare   = 0.01
	hotSamples = 10
)

// NameInstructions makes TakeSettled set the field Instruction in the Locations of hot instructions.
func (m *Model) NameInstructions() { m.naming = true }

// hotInstructions returns the names of the hot instructions of JIT code and stubs, by their addresses. It returns none
// for code that is not known.
func (m *Model) hotInstructions(counts map[key]int64) map[place]string {
	names := map[place]string{}
	if !m.naming {
		return names
	}
	total, at := map[int]int64{}, map[place]int64{}
	for k, n := range counts {
		total[m.threads[k.thread].PID] += n
		if k.code != nil && k.code.Kind != printassembly.Interpreter {
			at[place{k.code, k.pc}] += n
		}
	}
	for p, n := range at {
		if n < hotSamples || float64(n) < hotShare*float64(total[p.code.PID]) {
			continue
		}
		if name := m.instructionName(p); name != "" {
			names[p] = name
		}
	}
	return names
}

// instructionName returns the name of the instruction at an address, or "" if it is not known.
func (m *Model) instructionName(p place) string {
	reader, ref := m.decode(p.code)
	if reader == nil {
		return ""
	}
	insts := reader.Listing(ref)
	m.count(p.code, len(insts))
	i := jvmcode.Index(insts, p.pc)
	if i < 0 || insts[i].Lo != p.pc {
		return ""
	}
	return code.Name(insts, i)
}
