package nmethod

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// An Excerpt is a copy of a method with the debug info of only some instructions. Reading all debug info of a method
// takes a hundred times longer than reading its machine code, because the names of methods are scattered over the JVM's
// memory.
type Excerpt struct {
	code     Code
	comments []excerptComment // in ascending order of their ends
}

// An excerptComment has the text of the frames of one PcDesc, without addresses.
type excerptComment struct {
	end    int // see pcDesc.end
	frames []byte
}

// Excerpt returns an Excerpt with the machine code and no debug info. Unlike c, it stays valid after the Copier's next
// Copy.
func (c *Code) Excerpt() *Excerpt {
	return &Excerpt{code: Code{Installed: c.Installed, MachineCode: slices.Clone(c.MachineCode),
		VerifiedEntry: c.VerifiedEntry, OSRBCI: c.OSRBCI}}
}

// Add adds the debug info of the instruction at an address. c must be a copy of the same method. If the instruction has
// no debug info, Add uses the next instruction that has some; see [printassembly.Instruction].
func (e *Excerpt) Add(c *Code, pc uint64) error {
	offset := int(pc - c.Lo)
	var failed error
	err := eachPCDesc(c.scopesPCs, len(c.MachineCode), func(d pcDesc) bool {
		if d.end <= offset {
			return true
		}
		i, found := slices.BinarySearchFunc(e.comments, d.end,
			func(c excerptComment, end int) int { return c.end - end })
		if found {
			return false
		}
		var frames []byte
		frames, failed = c.appendFrames(nil, d.scope)
		if failed == nil && len(frames) > 0 {
			e.comments = slices.Insert(e.comments, i, excerptComment{d.end, frames})
		}
		return failed == nil && len(frames) == 0
	})
	return cmp.Or(failed, err)
}

// AppendTo appends the method as text, as [Code.AppendTo] does. A comment at the method's first instruction says why
// few instructions have frames.
func (e *Excerpt) AppendTo(text []byte) []byte {
	w := codeWriter{code: &e.code, text: e.code.appendHead(text)}
	w.text = append(w.text, "[MachCode]\n"+printassembly.ExactMark+"\n"...)
	w.appendAddress(0)
	w.text = append(w.text, " ;   ("+excerptMark+")\n"...)
	for _, c := range e.comments {
		w.rowsTo(c.end - 1)
		w.appendAddress(c.end - 1)
		w.text = append(append(w.text, ' '), c.frames...)
	}
	w.rowsTo(len(e.code.MachineCode) + rowBytes)
	return append(w.text, "[/MachCode]\n"...)
}

const excerptMark = "only sampled instructions have lines: the method was gone before the others were read"
