package nmethod

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Names names what runtime calls go to, where no field in the JVM's memory does. A nil
// function names nothing.
type Names struct {
	// Stub gives the name of the stub at an address of the code cache, as HotSpot's
	// StubCodeDesc has it ("jbyte_arraycopy"); "" where there is none. JDK 25 and newer
	// print it.
	Stub func(addr uint64) string
	// Function gives the name of the native function at an address, as HotSpot prints it:
	// "os::breakpoint()". [FunctionNames] makes one.
	Function func(addr uint64) string
}

// SetNames says who names the targets of runtime calls.
func (c *Copier) SetNames(names Names) { c.names = names }

// FunctionNames makes Names.Function for a process. It reads the mappings and the symbols
// of a library when the first address in it is asked for.
func FunctionNames(pid int) func(addr uint64) string {
	resolver := native.NewResolver()
	resolver.Parameters = true
	readMaps := sync.OnceFunc(func() {
		mappings, _ := native.ReadMaps(pid) // without them nothing has a name
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

// target gives the address that the instruction at an offset of the code calls or jumps
// to, or moves to a register for the call behind it (Relocation::pd_call_destination).
func (c *Code) target(offset int) (uint64, bool) {
	code, at := c.from(offset), c.Lo+uint64(offset)
	if c.copier.layout.arm64 {
		return targetARM64(code, at)
	}
	if len(code) >= 5 && (code[0] == 0xe8 || code[0] == 0xe9) {
		target := at + 5 + displacement(code[1:])
		// A jump to itself is one that has no target yet. Older JDKs take it for one to −1.
		return target, target != at || c.copier.layout.release >= 20
	}
	if len(code) >= 6 && code[0] == 0x0f && code[1]&0xf0 == 0x80 {
		return at + 6 + displacement(code[2:]), true
	}
	return movedConstant(code)
}

// displacement reads four bytes with a sign.
func displacement(code []byte) uint64 { return uint64(int64(int32(binary.LittleEndian.Uint32(code)))) }

// movedConstant gives the constant that x86-64's movabs moves to a register.
func movedConstant(code []byte) (uint64, bool) {
	if len(code) < 10 || code[0]&0xf8 != 0x48 || code[1]&0xf8 != 0xb8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(code[2:]), true
}

// targetName names an address as HotSpot names the target of a runtime call, escaped for a
// log; "" where it has no name.
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
