package nmethod

import (
	"encoding/binary"
	"strings"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/javaname"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A sourceFileIndex says where HotSpot keeps the name of a class's source file: a field of two bytes has the index of
// the name in the class's constant pool. The index is 0 if the class file has no such name.
type sourceFileIndex struct {
	exists  bool
	ofClass bool // the field is in the InstanceKlass, as in JDK 11, and not in the ConstantPool
	offset  uint64
}

func newSourceFileIndex(vm *vmstructs.VM) (s sourceFileIndex) {
	if s.offset, s.exists = vm.Offset("ConstantPool::_source_file_name_index"); !s.exists {
		s.offset, s.exists = vm.Offset("InstanceKlass::_source_file_name_index")
		s.ofClass = true
	}
	return s
}

// A sourceFile says from which source file a class was compiled.
type sourceFile struct{ class, file string }

// learnSourceFile reads the name of the source file of a method's class.
func (c *Copier) learnSourceFile(m *method) {
	// An error is ignored: the method can be copied without the name of its source file.
	m.source, _ = c.sourceFile(m.pool)
	class, _, _ := strings.Cut(m.name, "::")
	if c.sourced[class] {
		return
	}
	c.sourced[class] = true
	if m.source != "" {
		c.untold = append(c.untold, sourceFile{class, m.source})
	}
}

// sourceFile returns the name of the source file of the class that a ConstantPool belongs to. It returns "" if the
// class file does not have the name.
func (c *Copier) sourceFile(pool uint64) (string, error) {
	field := c.layout.sourceFile
	if !field.exists {
		return "", nil
	}
	at := pool + field.offset
	if field.ofClass {
		klass, err := c.vm.Uint64(pool + c.layout.poolHolder)
		if err != nil {
			return "", err
		}
		at = klass + field.offset
	}
	var index [2]byte
	if _, err := c.vm.Read(index[:], at, 2); err != nil {
		return "", err
	}
	n := binary.LittleEndian.Uint16(index[:])
	if n == 0 {
		return "", nil
	}
	name, err := c.symbolAt(pool, uint64(n))
	return javaname.Decode(name), err
}

// AppendSourceFiles appends a line for each class that is new in the frames of the methods copied since the last call.
// The line has the name of the class's source file. In a log, such lines may stand between two methods.
func (c *Copier) AppendSourceFiles(text []byte) []byte {
	for _, s := range c.untold {
		text = printassembly.AppendSourceFile(text, s.class, s.file)
	}
	c.untold = c.untold[:0]
	return text
}
