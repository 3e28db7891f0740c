package native

import "io"

// signsAddresses reports whether code of this architecture (as in GOARCH) may sign its return addresses. AArch64 has
// pointer authentication for that since Armv8.3: a function signs x30 before it saves it (paciasp), and checks it
// before it returns (autiasp). The signature is in the upper bits of the address, which no address of the process
// needs.
func signsAddresses(arch string) bool { return arch == "arm64" }

// parseSignatureBits returns the upper bits that no address of a process uses. text is the process's /proc/PID/maps.
// How many bits an address uses (39, 42, 47, 48 or 52) depends on how the kernel was built, on its page size, and on
// the processor. The stack always lies at the upper end of the address space, so the highest mapping uses all of these
// bits.
func parseSignatureBits(text io.Reader, pid int) (uint64, error) {
	highest := uint64(0)
	err := scanMaps(text, nameOfMaps(pid), func(m Mapping, _ bool) { highest = max(highest, m.Hi-1) })
	return ^AddressMask(highest), err // 0 if the process has ended
}
