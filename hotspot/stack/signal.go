package stack

import (
	"bytes"

	"github.com/gasm-profiler/gasm/internal/cfi"
)

// sigreturn is the code to which a signal handler returns on aarch64: "mov x8, #139; svc #0". It is in the vDSO and has
// no call frame information, because Linux expects unwinders to recognize the code
// (arch/arm64/kernel/vdso/sigreturn.S).
var sigreturn = []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}

// Where the kernel stores the registers of the interrupted code, in bytes from the handler's stack pointer (struct
// rt_sigframe and struct sigcontext): x0 to x30, then sp and pc.
const signalRegisters, signalPC = 312, 312 + 32*8

// findSigreturn returns the address of sigreturn in the vDSO's code, or 0.
func findSigreturn(vdso []byte) uint64 {
	if at := bytes.Index(vdso, sigreturn); at > 0 && at%4 == 0 {
		return uint64(at)
	}
	return 0
}

// inSigreturn reports whether an address in a library belongs to sigreturn. The address right after sigreturn counts,
// too: a thread that has made the system call at the end of sigreturn has this address as its pc.
func (l *library) inSigreturn(address uint64) bool {
	return l.sigreturn != 0 && address >= l.sigreturn && address <= l.sigreturn+uint64(len(sigreturn))
}

// unwindSignal goes from the frame of a signal handler to the code that the signal has interrupted.
func (k *walk) unwindSignal() step {
	frame := k.at.Values[k.sp]
	next := cfi.Registers{}
	for n := range arm64.numbers {
		value, ok := k.dump.Word(frame + signalRegisters + 8*uint64(n))
		if !ok {
			return k.missing(frame + signalPC)
		}
		next.Set(n, value)
	}
	pc, ok := k.dump.Word(frame + signalPC)
	if !ok {
		return k.missing(frame + signalPC)
	}
	next.PC = pc
	k.at, k.exact = next, true
	return found
}
