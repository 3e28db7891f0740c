package nmethod

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/hotspot/unsigned5"
	"github.com/gasm-profiler/gasm/internal/javaname"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A method holds the parts of a Java method that are needed for debug info (HotSpot's Method and ConstMethod).
type method struct {
	name     string // class and name, "pkg.Class::method"
	native   bool
	source   string // the name of the class's source file; "" if it is unknown
	bytecode []byte // includes HotSpot's own bytecodes (see rewrittenNames)
	code     uint64 // the address of the bytecode
	lines    []lineNumber
	pool     uint64 // the address of its ConstantPool
	data     uint64 // address of its MethodData; 0 if it had none when it was read
}

// method returns the Method at an address. Each Method is read only once.
func (c *Copier) method(at uint64) (*method, error) {
	if m, ok := c.methods[at]; ok {
		return m, nil
	}
	m, err := c.readMethod(at)
	if err != nil {
		return nil, fmt.Errorf("a method of its debug info: %w", err)
	}
	c.learnSourceFile(m)
	c.methods[at] = m
	return m, nil
}

// maxConstMethod is an upper bound for the size of a ConstMethod in bytes. The bytecode has 64 KiB at most, and each of
// the tables after it a few times as much.
const maxConstMethod = 4 << 20

// readMethod reads the Method at an address. In the JVM's memory, the bytecode follows the ConstMethod, and the packed
// line numbers follow the bytecode (constMethod.hpp has a drawing).
func (c *Copier) readMethod(at uint64) (*method, error) {
	l := &c.layout
	fields, err := c.vm.Read(nil, at, l.methodHead)
	if err != nil {
		return nil, err
	}
	constMethod := binary.LittleEndian.Uint64(fields[l.constMethod:])
	head, err := c.vm.Read(nil, constMethod, l.constMethodEnd)
	if err != nil {
		return nil, err
	}
	m := &method{pool: binary.LittleEndian.Uint64(head[l.constants:])}
	bytecodeSize := uint64(binary.LittleEndian.Uint16(head[l.bytecodeSize:]))
	flags := uint32(binary.LittleEndian.Uint16(head[l.constMethodFlags:]))
	if l.constMethodWide {
		flags = binary.LittleEndian.Uint32(head[l.constMethodFlags:])
	}
	size := 8 * uint64(binary.LittleEndian.Uint32(head[l.constMethodWords:]))
	if size > maxConstMethod {
		return nil, fmt.Errorf("the %d bytes of the ConstMethod at %#x are more than any structure of HotSpot has", size,
			constMethod)
	}
	if size < l.constMethodEnd+bytecodeSize {
		return nil, fmt.Errorf("the ConstMethod at %#x has %d bytes of bytecode in %d bytes", constMethod,
			bytecodeSize, size)
	}
	rest, err := c.vm.Read(nil, constMethod+l.constMethodEnd, size-l.constMethodEnd)
	if err != nil {
		return nil, err
	}
	m.bytecode, m.code = slices.Clone(rest[:bytecodeSize]), constMethod+l.constMethodEnd
	if flags&l.hasLineNumbers != 0 {
		m.lines = readLineNumbers(rest[bytecodeSize:], l.release)
	}
	if l.accessFlags != 0 {
		m.native = binary.LittleEndian.Uint16(fields[l.accessFlags:])&accNative != 0
	}
	if l.methodData != 0 {
		m.data = binary.LittleEndian.Uint64(fields[l.methodData:])
	}
	m.name, err = c.nameOf(head)
	return m, err
}

// accNative is ACC_NATIVE of the class file format.
const accNative = 0x100

// readConstMethod reads the fixed part of the ConstMethod that belongs to the Method at an address.
func (c *Copier) readConstMethod(method uint64) (at uint64, head []byte, err error) {
	if at, err = c.vm.Uint64(method + c.layout.constMethod); err == nil {
		head, err = c.vm.Read(nil, at, c.layout.constMethodEnd)
	}
	return at, head, err
}

// MethodName returns the name of the Method at an address, in the form of Installed.Name, and the size of its bytecode.
// It works with every release, not only with those that are [Known].
func (c *Copier) MethodName(method uint64) (name string, bytecodeSize int, err error) {
	_, head, err := c.readConstMethod(method)
	if err != nil {
		return "", 0, fmt.Errorf("the method at %#x: %w", method, err)
	}
	if name, err = c.nameOf(head); err == nil {
		name, err = c.withBasicSignature(name, head)
	}
	if err != nil {
		return "", 0, fmt.Errorf("the name of the method at %#x: %w", method, err)
	}
	return name, int(binary.LittleEndian.Uint16(head[c.layout.bytecodeSize:])), nil
}

// nameOf returns the name of a method with its class, "pkg.Class::method". constMethod is the fixed part of the
// method's ConstMethod.
func (c *Copier) nameOf(constMethod []byte) (string, error) {
	pool := binary.LittleEndian.Uint64(constMethod[c.layout.constants:])
	name, err := c.symbolAt(pool, uint64(binary.LittleEndian.Uint16(constMethod[c.layout.nameIndex:])))
	if err != nil {
		return "", err
	}
	klass, err := c.vm.Uint64(pool + c.layout.poolHolder)
	if err != nil {
		return "", err
	}
	class, err := c.className(klass)
	if err == nil && (class == "" || name == "") {
		err = errors.New("it is empty: its class may have been unloaded")
	}
	return class + "::" + javaname.Decode(name), err
}

// withBasicSignature completes the names of HotSpot's own methods for method handles. Several of them may have the same
// name, so it appends their basic signature: "java.lang.invoke.MethodHandle::invokeBasic(LI)L". Other names stay as
// they are.
func (c *Copier) withBasicSignature(name string, constMethod []byte) (string, error) {
	class, method, _ := strings.Cut(name, "::")
	if !printassembly.HasBasicSignature(class, method) {
		return name, nil
	}
	pool := binary.LittleEndian.Uint64(constMethod[c.layout.constants:])
	descriptor, err := c.symbolAt(pool, uint64(binary.LittleEndian.Uint16(constMethod[c.layout.signatureIndex:])))
	return name + printassembly.BasicSignature(descriptor), err
}

// A lineNumber is the source line of the bytecodes from a bci on.
type lineNumber struct{ bci, line int }

// readLineNumbers unpacks a method's line numbers, which are in the order of the class file
// (CompressedLineNumberReadStream::read_pair). Each byte has the differences from the previous entry: five bits for the
// bci and three for the line. A byte of 0xff means that both differences follow as signed numbers, and 0 ends the list.
func readLineNumbers(data []byte, release int) []lineNumber {
	var lines []lineNumber
	u := unsigned5.New(data, 0, release)
	var at lineNumber
	for {
		switch b := u.Byte(); {
		case b == 0:
			return lines
		case b == 0xff:
			at.bci += u.Signed()
			at.line += u.Signed()
		default:
			at.bci += int(b >> 3)
			at.line += int(b & 7)
		}
		if u.Short() {
			return lines
		}
		lines = append(lines, at)
	}
}

// line returns the source line of a bci, or 0 if it is unknown. Like HotSpot (Method::line_number_from_bci), it uses
// the first entry with exactly this bci. If there is none, it uses the entry with the highest bci below. If several
// entries have that bci, it uses the last one.
func (m *method) line(bci int) int {
	if bci == syncEntryBCI {
		bci = 0
	}
	if bci < 0 || bci >= len(m.bytecode) {
		return 0
	}
	best := lineNumber{}
	for _, l := range m.lines {
		switch {
		case l.bci == bci:
			return l.line
		case l.bci < bci && l.bci >= best.bci:
			best = l
		}
	}
	return best.line
}
