package nmethod

import (
	"encoding/binary"
	"fmt"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A method is what debug info needs of a Java method (HotSpot's Method and
// ConstMethod).
type method struct {
	name     string // "pkg.Class::method"
	bytecode []byte // as HotSpot has rewritten it
	lines    []lineNumber
	pool     uint64 // the address of its ConstantPool
}

// method reads the Method at an address, once.
func (c *Copier) method(at uint64) (*method, error) {
	if m, ok := c.methods[at]; ok {
		return m, nil
	}
	m, err := c.readMethod(at)
	if err != nil {
		return nil, fmt.Errorf("a method of its debug info: %w", err)
	}
	c.methods[at] = m
	return m, nil
}

// readMethod reads the Method at an address. Behind its ConstMethod lie the bytecode
// and then the packed line numbers (constMethod.hpp has a drawing of it).
func (c *Copier) readMethod(at uint64) (*method, error) {
	l := &c.layout
	constMethod, err := c.vm.Uint64(at + l.constMethod)
	if err != nil {
		return nil, err
	}
	head, err := c.vm.Read(nil, constMethod, l.constMethodEnd)
	if err != nil {
		return nil, err
	}
	m := &method{pool: binary.LittleEndian.Uint64(head[l.constants:])}
	nameIndex := binary.LittleEndian.Uint16(head[l.nameIndex:])
	bytecodeSize := uint64(binary.LittleEndian.Uint16(head[l.bytecodeSize:]))
	flags := uint32(binary.LittleEndian.Uint16(head[l.constMethodFlags:]))
	if l.constMethodWide {
		flags = binary.LittleEndian.Uint32(head[l.constMethodFlags:])
	}
	size := 8 * uint64(binary.LittleEndian.Uint32(head[l.constMethodWords:]))
	if size < l.constMethodEnd+bytecodeSize {
		return nil, fmt.Errorf("the ConstMethod at %#x has %d bytes of bytecode in %d bytes", constMethod, bytecodeSize, size)
	}
	rest, err := c.vm.Read(nil, constMethod+l.constMethodEnd, size-l.constMethodEnd)
	if err != nil {
		return nil, err
	}
	m.bytecode = rest[:bytecodeSize]
	if flags&l.hasLineNumbers != 0 {
		m.lines = readLineNumbers(rest[bytecodeSize:], l.release)
	}
	m.name, err = c.methodName(m.pool, uint64(nameIndex))
	return m, err
}

// methodName reads the name at an index of a ConstantPool, and puts the name of the
// pool's class in front: "pkg.Class::method".
func (c *Copier) methodName(pool, index uint64) (string, error) {
	name, err := c.symbolAt(pool, index)
	if err != nil {
		return "", err
	}
	klass, err := c.vm.Uint64(pool + c.layout.poolHolder)
	if err != nil {
		return "", err
	}
	class, err := c.className(klass)
	return class + "::" + printassembly.JavaName(name), err
}

// className reads the name of a class as HotSpot prints it, once.
func (c *Copier) className(klass uint64) (string, error) {
	if name, ok := c.classes[klass]; ok {
		return name, nil
	}
	symbol, err := c.vm.Uint64(klass + c.layout.className)
	if err != nil {
		return "", err
	}
	internal, err := c.symbol(symbol)
	if err != nil {
		return "", err
	}
	name := externalName(internal)
	if c.layout.hasAnonymous {
		flags, err := c.vm.Uint64(klass + c.layout.classMiscFlags)
		if err != nil {
			return "", err
		}
		if flags&isAnonymous != 0 {
			name += fmt.Sprintf("/%#016x", klass) // InstanceKlass::external_name
		}
	}
	c.classes[klass] = name
	return name, nil
}

// isAnonymous is _misc_is_anonymous of JDK 11's instanceKlass.hpp: the class was made
// by Unsafe.defineAnonymousClass.
const isAnonymous = 1 << 5

// A lineNumber says that the code from a bci on is of a source line.
type lineNumber struct{ bci, line int }

// readLineNumbers unpacks a method's line numbers, which are in the class file's order
// (CompressedLineNumberReadStream::read_pair). Each byte has the differences to the
// entry before, five bits of the bci and three of the line. 0xff says that both come
// as signed numbers, and 0 ends the list.
func readLineNumbers(data []byte, release int) []lineNumber {
	var lines []lineNumber
	u := newUnpacker(data, 0, release)
	var at lineNumber
	for {
		switch b := u.next(); {
		case b == 0:
			return lines
		case b == 0xff:
			at.bci += u.signed()
			at.line += u.signed()
		default:
			at.bci += int(b >> 3)
			at.line += int(b & 7)
		}
		if u.short {
			return lines
		}
		lines = append(lines, at)
	}
}

// line gives the source line of a bci; 0 when the method does not tell. As HotSpot does
// (Method::line_number_from_bci), it takes the entry of the bci itself, else that of
// the highest bci below; of several for that one, the last.
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
