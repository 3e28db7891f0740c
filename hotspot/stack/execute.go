package stack

import (
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/stack/exec"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/printassembly"
)

// arch returns the instruction set, with HotSpot's conventions in the JVM's release.
func (k *walk) arch() *exec.Arch {
	if k.jvm.layout.release < 20 {
		return k.before20
	}
	return k.exec
}

// frameAt returns the frame at the current instruction, as symbolic execution of its code has found it.
func (k *walk) frameAt(c *code) (frame exec.Frame, ok bool) {
	if c.Name == "vtable chunks" || c.Name == "InlineCacheBuffer" { // many pieces of code with unknown bounds
		return k.arch().NoFrame(), true
	}
	if !c.executed {
		j := k.jvm.openJVM
		table := ask(k, func() *exec.Table { return j.execute(k.arch(), c) })
		if k.late {
			return exec.Frame{}, false
		}
		c.executed, c.table = true, table
	}
	switch {
	case c.table == nil:
		return exec.Frame{}, false
	case k.exact:
		return c.table.At(k.at.PC)
	}
	return c.table.Return(k.at.PC)
}

// mostCode is the largest piece of code that is executed, in bytes. C2's largest methods have about 100 KiB.
const mostCode = 1 << 18

// execute reads a piece of code and executes it symbolically. It returns nil if the code can't be read.
func (j *openJVM) execute(a *exec.Arch, c *code) *exec.Table {
	if c.Hi-c.Lo > mostCode || j.gone(c.Blob) {
		return nil
	}
	bytes, err := j.view.VM.Read(nil, c.Lo, c.Hi-c.Lo)
	if err != nil {
		return nil
	}
	var code exec.Code
	switch {
	case c.Method != nil:
		m := exec.Method{VerifiedEntry: c.verified, OSREntry: c.osr, FrameSize: int(c.frameSize), FrameComplete: -1,
			Native: c.Kind == printassembly.Native}
		if c.complete != 0 {
			m.FrameComplete = int(c.complete - c.Lo)
		}
		code = a.NMethod(c.Lo, bytes, m)
	case c.Kind == printassembly.Interpreter:
		code = a.Codelet(c.Lo, bytes, c.Name)
	case c.Kind == printassembly.Adapter:
		code = a.Adapter(c.Lo, bytes)
	default:
		code = a.Stub(c.Lo, bytes, c.Name)
	}
	return exec.Analyze(code)
}

// unwindByExecution finds the caller with the result of symbolic execution.
func (k *walk) unwindByExecution(c *code) step {
	frame, ok := k.frameAt(c)
	if !ok {
		return failed
	}
	var r exec.Registers
	for dwarf, number := range k.numbers {
		if value, known := k.at.Get(dwarf); known {
			r.Set(number, value)
		}
	}
	beyond := false
	caller, ok := frame.Caller(&r, func(addr uint64) (uint64, bool) {
		word, ok := k.dump.Word(addr)
		beyond = beyond || !ok && k.missing(addr) == cut
		return word, ok
	})
	switch {
	case !ok && beyond:
		return cut
	case !ok:
		return failed
	}
	next := cfi.Registers{PC: caller.PC}
	for dwarf, number := range k.numbers {
		if caller.Has(number) {
			next.Set(dwarf, caller.R[number])
		}
	}
	if now := k.at.Values[k.sp]; k.low && c.rule == interpreter && next.Values[k.sp] < now {
		next.Set(k.sp, now) // see unwindByFP
	}
	return k.returnTo(&next)
}

// hasFrame reports whether the frame pointer points to the codelet's frame at the current instruction. If symbolic
// execution does not reach this instruction, hasFrame returns true, except in a method entry.
func (k *walk) hasFrame(c *code) bool {
	frame, ok := k.frameAt(c)
	if !ok {
		return !isMethodEntry(c.Name)
	}
	if frame.RA == k.arch().Interpreted().RA {
		return true
	}
	// While the codelet pushes registers, symbolic execution may have found the return address relative to the stack
	// pointer. Then the frame exists if the frame pointer points to the word below the return address.
	at, known := k.at.Get(slices.Index(k.numbers, int(frame.RA.Reg)))
	fp, ok := k.at.Get(k.fp)
	return known && ok && frame.RA.Where == exec.InMemory && at+uint64(int64(frame.RA.Offset)) == fp+8
}
