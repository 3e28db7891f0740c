package jvmcode

import (
	"fmt"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/printassembly"
)

// OfNative is the JVM of a Ref that names a native function. Its Index is then a number that [Native.Find] has
// returned.
const OfNative = -1

// Native has the code of the native functions of a capture. It gives them the form that code in the code cache has. A
// nil Native has no code.
type Native struct {
	table *nativecode.Table
	blobs []printassembly.Blob // by function
}

// NewNative returns the native functions in a table, or nil if it has none. The table may be nil.
func NewNative(t *nativecode.Table) *Native {
	if t == nil || len(t.Functions) == 0 {
		return nil
	}
	n := &Native{table: t, blobs: make([]printassembly.Blob, len(t.Functions))}
	for i := range t.Functions {
		f := &t.Functions[i]
		name := f.Symbol
		if name == "" {
			name = fmt.Sprintf("%s+%#x (no symbol)", f.Module, f.Lo)
		}
		n.blobs[i] = printassembly.Blob{Kind: printassembly.Library, Module: f.Module, Name: name, Lo: f.Lo, Hi: f.Hi(),
			HasCode: disasm.Supported(f.Arch)}
	}
	return n
}

// Find returns the native function at an address of a process, or of the kernel, and the address in the function's
// blob. ok is false if its code is not known.
func (n *Native) Find(pid int, pc uint64, kernel bool) (function int, addr uint64, ok bool) {
	switch {
	case n == nil:
		return 0, 0, false
	case kernel:
		return n.table.FindKernel(pc)
	}
	return n.table.Find(pid, pc)
}

// Agrees reports whether a function may be the one in which a sampler saw a PC. It is another one if the process had
// several libraries at that address, one after the other, or if several processes had the same id.
func (n *Native) Agrees(function int, module, symbol string) bool {
	f := &n.table.Functions[function]
	return f.Module == module && (f.Symbol == symbol || f.Symbol == "" || symbol == "")
}

// instructions returns the instructions of a function.
func (n *Native) instructions(function int, syntax disasm.Syntax) ([]printassembly.Instruction, error) {
	f := &n.table.Functions[function]
	decoded, err := disasm.Decode(f.Arch, syntax, f.Code, f.Lo)
	if err != nil {
		return nil, err
	}
	insts := make([]printassembly.Instruction, len(decoded))
	var row *nativecode.Row
	var frames []printassembly.Frame // the frames of row
	for i, in := range decoded {
		insts[i] = printassembly.Instruction{Lo: in.Addr, Hi: in.Addr + uint64(in.Len), Text: in.Text, Kind: in.Kind,
			Target: in.Target, Bad: in.Bad}
		if at := f.Row(in.Addr); at != row {
			row, frames = at, framesOf(f, at)
		}
		insts[i].Frames, insts[i].OwnFrames = frames, len(frames) > 0
	}
	return insts, nil
}

// unnamed is the name of a function that was inlined, if the debug information does not have its name.
const unnamed = "(inlined)"

// framesOf returns the frames of a row, which may be nil. It returns no frames if the row has none.
func framesOf(f *nativecode.Function, row *nativecode.Row) []printassembly.Frame {
	if row == nil {
		return nil
	}
	frames := make([]printassembly.Frame, len(row.Frames))
	for i, in := range row.Frames {
		frames[i] = printassembly.Frame{Method: in.Function, BCI: -1, Line: in.Line, File: in.File}
		switch {
		case in.Function != "":
		case i < len(frames)-1:
			frames[i].Method = unnamed
		default:
			frames[i].Method = f.Symbol
		}
	}
	if len(frames) == 1 && frames[0].Line == 0 || frames[0].Method == "" {
		return nil
	}
	return frames
}
