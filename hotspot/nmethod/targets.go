package nmethod

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Names has functions that return names for runtime calls. They are for targets that have no name in the JVM's
// structures. If a function is nil, its targets stay without a name.
type Names struct {
	// Stub returns the name of the stub at an address of the code cache, or "" if there is no stub. The name is that of
	// HotSpot's StubCodeDesc, for example "jbyte_arraycopy". Only JDK 25 and newer print such names, so Stub is not
	// used for older ones.
	Stub func(addr uint64) string
	// Function returns the name of the native function at an address, as HotSpot prints it: "os::breakpoint()".
	// [FunctionNames] returns such a function.
	Function func(addr uint64) string
}

// SetNames sets the functions that name the targets of runtime calls.
func (c *Copier) SetNames(names Names) { c.names = names }

// FunctionNames returns a Names.Function for a process. The first call of that function reads the mappings of the
// process. The first call with an address in a library reads the library's symbols.
func FunctionNames(pid int) func(addr uint64) string {
	resolver := native.NewResolver()
	resolver.Parameters = true
	readMaps := sync.OnceFunc(func() {
		mappings, _ := native.ReadMaps(pid) // without mappings, no function has a name
		resolver.Add(mappings...)
	})
	return func(addr uint64) string {
		readMaps()
		found, ok := resolver.Resolve(pid, addr, "")
		switch {
		case !ok || found.Symbol == "":
			return ""
		case addr > found.Lo:
			return fmt.Sprintf("%s+%d", found.Symbol, addr-found.Lo)
		}
		return found.Symbol
	}
}

// target returns the address that the instruction at an offset of the code refers to. The instruction calls the
// address, jumps to it, or moves it to a register for the call after it (Relocation::pd_call_destination).
func (c *Code) target(offset int) (uint64, bool) {
	code, at := c.from(offset), c.Lo+uint64(offset)
	if c.copier.layout.arm64 {
		return targetARM64(code, at)
	}
	if len(code) >= 5 && (code[0] == 0xe8 || code[0] == 0xe9) {
		target := at + 5 + displacement(code[1:])
		// A jump to itself has no target yet. JDK 19 and older treat its target as the address −1, which has no name.
		return target, target != at || c.copier.layout.release >= 20
	}
	if len(code) >= 6 && code[0] == 0x0f && code[1]&0xf0 == 0x80 {
		return at + 6 + displacement(code[2:]), true
	}
	return movedConstant(code)
}

// displacement reads a signed four-byte number.
func displacement(code []byte) uint64 { return uint64(int64(int32(binary.LittleEndian.Uint32(code)))) }

// movedConstant returns the constant that x86-64's movabs moves to a register. The instruction has one of the opcodes
// B8 to BF, after a REX prefix or a REX2 prefix (D5) with the bit W.
func movedConstant(code []byte) (uint64, bool) {
	const rex2, w, map0F = 0xd5, 8, 0x80
	if len(code) > 2 && code[0] == rex2 && code[1]&(map0F|w) == w {
		code = code[1:]
	} else if len(code) < 1 || code[0]&0xf8 != 0x48 {
		return 0, false
	}
	if len(code) < 10 || code[1]&0xf8 != 0xb8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(code[2:]), true
}

// targetName returns the name that HotSpot prints for the target of a runtime call, escaped for a log. It returns "" if
// the target has no name.
func (c *Copier) targetName(addr uint64) string {
	if name, ok := c.targets[addr]; ok {
		return name
	}
	name, err := c.blobName(addr)
	switch {
	case err != nil:
		name = ""
	case name == "":
		if c.names.Function != nil {
			name = c.names.Function(addr)
		}
	case c.layout.release >= 25 && c.names.Stub != nil:
		if stub := c.names.Stub(addr); stub != "" {
			name = "Stub::" + stub
		}
	}
	c.targets[addr] = printassembly.Escape(name)
	return c.targets[addr]
}
