package native

import "math/bits"

// AddressMask returns a mask of the bits that an address of a process may use, given the highest address in use. On
// aarch64, the other bits of a return address may hold a signature (pointer authentication) or a tag that the processor
// ignores. How many bits an address uses depends on the kernel: 39, 42, 47, 48 or 52. Only the number of bits in
// highest matters, so the address of any library or of the vDSO will do, because these lie at the upper end of the
// address space. If highest is 0, the mask has all bits.
func AddressMask(highest uint64) uint64 {
	if highest == 0 {
		return ^uint64(0)
	}
	return 1<<bits.Len64(highest) - 1
}

// Highest returns the last address of the highest known mapping of a process. It returns 0 if no mapping is known.
func (r *Resolver) Highest(pid int) uint64 {
	p := r.processes[pid]
	if p == nil || len(p.parts) == 0 {
		return 0
	}
	return p.parts[len(p.parts)-1].Hi - 1
}
