package native

import "math/bits"

// AddressMask returns the bits that an address of a process can have, given the highest one. On aarch64, the upper bits
// of a return address may be a signature (pointer authentication), or a tag that the processor ignores. How many bits an
// address has depends on the kernel: 39, 42, 48 or 52. highest need not be exact, because libraries and the vDSO are at
// the upper end. If it is 0, no bit is cleared.
func AddressMask(highest uint64) uint64 {
	if highest == 0 {
		return ^uint64(0)
	}
	return 1<<bits.Len64(highest) - 1
}

// Highest returns the last address of the highest mapping of a process that is known; 0 if none is.
func (r *Resolver) Highest(pid int) uint64 {
	p := r.processes[pid]
	if p == nil || len(p.parts) == 0 {
		return 0
	}
	return p.parts[len(p.parts)-1].Hi - 1
}
