package usdt

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// Registers of the program that keep their values across calls.
const (
	registers = asm.R6 // the JVM's registers, in the kernel's order
	thread    = asm.R7 // the thread id; the upper half has the process id
	cookie    = asm.R8
	record    = asm.R9
)

// A target describes the process that is recorded, so that the BPF program can compare the current process with it.
type target struct {
	pid int32 // its id in the PID namespace that the next fields identify
	// The namespace of pid, by device and inode of /proc/PID/ns/pid. For the machine's first namespace,
	// device is 0.
	device, inode uint64
	// The addresses of the library's code.
	libjvmLo, libjvmHi uint64
	signature          uint64 // see library.signature
}

// program assembles the BPF program that runs when a thread reaches a probe. One program serves all
// probes. It finds out which thread runs, takes the number of the layout from the cookie, and
// writes a record.
func program(t target, layouts []layout, r *ring) asm.Instructions {
	p := append(asm.Instructions{asm.Mov.Reg(registers, asm.R1)}, whoRuns(t)...)
	p = append(p, asm.Mov.Reg(asm.R1, registers), asm.FnGetAttachCookie.Call(), asm.Mov.Reg(cookie, asm.R0))
	p = append(p, r.reserve()...)
	p = append(p, asm.FnKtimeGetNs.Call(),
		asm.StoreMem(record, 0, asm.R0, asm.DWord),
		asm.StoreMem(record, 8, thread, asm.DWord),
		asm.StoreMem(record, 16, cookie, asm.DWord),
		asm.Mov.Reg(asm.R0, cookie),
		asm.RSh.Imm(asm.R0, 32))
	p = append(p, dispatch(0, len(layouts))...)
	for i := range layouts {
		p = append(p, layouts[i].write(i, t)...)
	}
	whole := r.submit()
	whole[0] = whole[0].WithSymbol("whole")
	p = append(append(p, whole...), asm.Ja.Label("end"))
	p = append(p, r.count()...)
	return append(p, asm.Mov.Imm(asm.R0, 0).WithSymbol("end"), asm.Return())
}

// whoRuns returns code that gets the ids of the current thread and its process. If the process is
// not the target, the code ends the program.
func whoRuns(t target) asm.Instructions {
	if t.device == 0 {
		return asm.Instructions{
			asm.FnGetCurrentPidTgid.Call(),
			asm.Mov.Reg(thread, asm.R0),
			asm.RSh.Imm(asm.R0, 32),
			asm.JNE.Imm(asm.R0, t.pid, "end"),
		}
	}
	return asm.Instructions{
		asm.LoadImm(asm.R1, int64(t.device), asm.DWord),
		asm.LoadImm(asm.R2, int64(t.inode), asm.DWord),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, -8),
		asm.Mov.Imm(asm.R4, 8),
		asm.FnGetNsCurrentPidTgid.Call(), // writes thread and process, 4 bytes each; fails in other namespaces
		asm.JNE.Imm(asm.R0, 0, "end"),
		asm.LoadMem(thread, asm.RFP, -8, asm.DWord),
		asm.Mov.Reg(asm.R0, thread),
		asm.RSh.Imm(asm.R0, 32),
		asm.JNE.Imm(asm.R0, t.pid, "end"),
	}
}

// dispatch returns code that jumps to the code of a layout. The number of the layout is in R0 and
// in the range [lo, hi). The code finds it by binary search.
func dispatch(lo, hi int) asm.Instructions {
	if hi-lo == 1 {
		return asm.Instructions{asm.Ja.Label(layoutLabel(lo))}
	}
	mid := (lo + hi) / 2
	label := fmt.Sprintf("from %d to %d", mid, hi)
	upper := dispatch(mid, hi)
	upper[0] = upper[0].WithSymbol(label)
	lower := append(asm.Instructions{asm.JGE.Imm(asm.R0, int32(mid), label)}, dispatch(lo, mid)...)
	return append(lower, upper...)
}

func layoutLabel(i int) string { return fmt.Sprintf("layout %d", i) }

// write returns code that writes the fields after the head of a record. i is the number of the
// layout.
func (l *layout) write(i int, t target) asm.Instructions {
	p := asm.Instructions{asm.Mov.Imm(asm.R1, 0).WithSymbol(layoutLabel(i))} // no effect: a label needs an instruction
	for i := range l.args {
		p = append(p, l.args[i].write(int16(headSize+8*i))...)
	}
	if l.caller {
		p = append(p, findCaller(i, t, int16(l.callerAt()))...)
	}
	if l.words {
		p = append(p, asm.Mov.Reg(asm.R3, thread), asm.Add.Imm(asm.R3, 16)) // the stack above the library's last frame
		p = append(p, readUser(int32(l.callerAt()+16), 8*words)...)
	}
	if l.brief >= 0 {
		p = append(p, asm.LoadMem(asm.R3, record, int16(headSize+8*l.brief), asm.DWord))
		p = append(p, readUser(int32(l.briefAt()), briefSize)...)
	}
	return append(p, asm.Ja.Label("whole"))
}

// findCaller returns code that goes through the library's frames, and writes the address that the last of them returns
// to. It leaves the frame pointer of that last frame in R7 (thread).
//
// If the address is in a stub that keeps the frame pointer, the code also writes the address that the stub returns to.
// Otherwise the second address is 0 or meaningless.
//
// The helper bpf_get_stack would take four times as long: it does not stop at the frames of compiled code, which are
// not chained.
func findCaller(i int, t target, at int16) asm.Instructions {
	const next, back = -16, -8 // on the program's own stack: the frame pointer of the caller, and the return address
	fp := thread               // the thread and the cookie are in the record already, so their registers are free
	done, end := fmt.Sprintf("caller of layout %d", i), fmt.Sprintf("callers of layout %d", i)
	read := func(frame asm.Register) asm.Instructions {
		return asm.Instructions{asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, next), asm.Mov.Imm(asm.R2, 16),
			asm.Mov.Reg(asm.R3, frame),
			asm.FnProbeReadUser.Call()}
	}
	p := asm.Instructions{asm.LoadMem(cookie, registers, framePointer, asm.DWord)}
	for range mostFrames {
		p = append(p, asm.Mov.Reg(fp, cookie))
		p = append(p, read(fp)...)
		p = append(p,
			asm.LoadMem(cookie, asm.RFP, next, asm.DWord),
			asm.LoadMem(asm.R1, asm.RFP, back, asm.DWord)) // 0 if the memory can't be read
		p = append(p, t.withoutSignature(asm.R1)...)
		p = append(p,
			asm.StoreMem(record, at, asm.R1, asm.DWord),
			asm.LoadImm(asm.R2, int64(t.libjvmLo), asm.DWord),
			asm.Sub.Reg(asm.R1, asm.R2),
			asm.LoadImm(asm.R2, int64(t.libjvmHi-t.libjvmLo), asm.DWord),
			asm.JGE.Reg(asm.R1, asm.R2, done))
	}
	p = append(p,
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(record, at, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R1, 0).WithSymbol(done),
		asm.StoreMem(record, at+8, asm.R1, asm.DWord),
		asm.Mov.Reg(asm.R1, cookie),
		asm.Sub.Reg(asm.R1, fp),
		asm.JGE.Imm(asm.R1, deepest, end))
	p = append(p, read(cookie)...)
	p = append(p, asm.LoadMem(asm.R1, asm.RFP, back, asm.DWord))
	p = append(p, t.withoutSignature(asm.R1)...)
	return append(p,
		asm.StoreMem(record, at+8, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R1, 0).WithSymbol(end)) // has no effect; a label needs an instruction
}

// withoutSignature returns code that clears the signature of the return address in a register. The code overwrites R2.
func (t *target) withoutSignature(address asm.Register) asm.Instructions {
	if t.signature == 0 {
		return nil
	}
	return asm.Instructions{asm.LoadImm(asm.R2, int64(^t.signature), asm.DWord), asm.And.Reg(address, asm.R2)}
}

// write returns code that writes an argument into the record, at the given offset.
func (o *Operand) write(at int16) asm.Instructions {
	if o.Form == RegisterForm {
		return asm.Instructions{asm.LoadMem(asm.R1, registers, int16(o.Register), asm.DWord),
			asm.StoreMem(record, at, asm.R1, asm.DWord)}
	}
	return append(o.address(), readUser(int32(at), int32(o.Size))...)
}

// address returns code that computes the address of an argument in the JVM's memory. The result of
// the code is in R3.
func (o *Operand) address() asm.Instructions {
	p := asm.Instructions{asm.LoadMem(asm.R3, registers, int16(o.Register), asm.DWord)}
	if o.Index >= 0 {
		p = append(p, asm.LoadMem(asm.R1, registers, int16(o.Index), asm.DWord), asm.Mul.Imm(asm.R1, int32(o.Scale)),
			asm.Add.Reg(asm.R3, asm.R1))
	}
	return append(p, asm.Add.Imm(asm.R3, int32(o.Number)))
}

// readUser returns code that copies size bytes of the JVM's memory, from the address in R3, to the offset at in the
// record. If a page is not present, the kernel writes zeros.
func readUser(at, size int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, record),
		asm.Add.Imm(asm.R1, at),
		asm.Mov.Imm(asm.R2, size),
		asm.FnProbeReadUser.Call(),
	}
}
