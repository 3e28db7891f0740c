package nmethod

import (
	"encoding/binary"
	"strings"

	"github.com/gasm-profiler/gasm/hotspot/methoddata"
	"github.com/gasm-profiler/gasm/printassembly"
)

// bodies remembers which method bodies the log has. A body is what the bytecodes of a method refer to: fields, arrays
// and other methods.
type bodies struct {
	java    *[256]byte      // see javaBytecodes; nil until the first body
	numbers map[bodyKey]int // by method: the number of its body; 0 for a method without a body
	written numbered        // the bodies in the log
}

// A bodyKey identifies a method as long as the JVM runs. After HotSpot has unloaded a class, it may reuse the address
// of a Method, but hardly together with the addresses of that method's bytecode and constant pool.
type bodyKey struct{ method, code, pool uint64 }

const (
	// maxCallee is the maximum size, in bytes of bytecode, of a called method whose body is written although no frame
	// mentions the method. HotSpot inlines methods of up to 35 bytes (MaxInlineSize), and larger ones if they are hot.
	// But nearly all methods above maxCallee have a call or a loop, and so are mentioned by a frame.
	maxCallee = 48
	// maxCallDepth is the maximum length of a chain of calls whose methods no frame mentions.
	maxCallDepth = 6
	// maxRefs is the maximum number of references in a body. Further ones are left out.
	maxRefs = 1 << 10
)

// AppendBodies appends the bodies of the methods in the frames that AppendTo has written, and of the small methods that
// these methods call. A body is what a method's bytecodes refer to. Each body is appended only once per log.
// AppendBodies reads the JVM's memory, and leaves out bodies that can't be read.
func (c *Code) AppendBodies(text []byte) []byte {
	copier := c.copier
	if copier.layout.noFrames != nil {
		return text
	}
	b := &copier.bodies
	if b.java == nil {
		java := copier.javaBytecodes()
		*b = bodies{java: &java, numbers: map[bodyKey]int{}, written: newNumbered()}
	}
	for _, at := range c.usedMethods() {
		text, _ = copier.appendBody(text, at, 0)
	}
	return text
}

// appendBody appends the body of the Method at an address, after the bodies of the small methods that it calls. It
// returns the number of the body, or 0 if the method has none.
func (c *Copier) appendBody(text []byte, at uint64, depth int) ([]byte, int) {
	b := &c.bodies
	m, err := c.method(at)
	if err != nil || len(b.numbers) >= maxWritten {
		return text, 0
	}
	key := bodyKey{at, m.code, m.pool}
	if n, ok := b.numbers[key]; ok {
		return text, n
	}
	if depth > 0 && len(m.bytecode) > maxCallee {
		return text, 0
	}
	codes, ok := methoddata.Bytecodes(m.bytecode, b.java)
	if !ok {
		return text, 0
	}
	b.numbers[key] = 0 // 0 until the method has a number, because it may call itself
	body := printassembly.MethodBody{Method: m.name}
	for bci, code := range codes {
		if int(code) >= len(bytecodeNames) || len(body.Refs) == maxRefs {
			continue
		}
		var r printassembly.BodyRef
		if text, r = c.appendRef(text, m, bci, bytecodeNames[code], depth); r.Kind != 0 {
			body.Refs = append(body.Refs, r)
		}
	}
	text, b.numbers[key] = b.append(text, &body)
	return text, b.numbers[key]
}

// appendRef returns what the bytecode at a bci refers to. name is the bytecode's name. If the bytecode calls a
// method, appendRef appends that method's body first. The reference's Kind is 0 if the bytecode refers to nothing, or
// to something unknown.
func (c *Copier) appendRef(text []byte, m *method, bci int, name string, depth int) ([]byte, printassembly.BodyRef) {
	r := printassembly.BodyRef{BCI: bci}
	switch {
	case name == "arraylength", len(name) == len("iaload") &&
		strings.HasSuffix(name, "aload"), len(name) == len("iastore") && strings.HasSuffix(name, "astore"):
		r.Kind = printassembly.ArrayRef
		return text, r
	case strings.HasPrefix(name, "get"):
		r.Kind, r.Offset = printassembly.FieldRead, c.fieldOffset(m, bci)
	case strings.HasPrefix(name, "put"):
		r.Kind, r.Offset = printassembly.FieldWrite, c.fieldOffset(m, bci)
	case strings.HasPrefix(name, "invoke") && name != "invokedynamic" && depth < maxCallDepth:
		r.Kind = printassembly.CallRef
		if callee := c.callee(m, bci, name); callee != 0 {
			text, r.Offset = c.appendBody(text, callee, depth+1)
		}
	}
	if r.Offset <= 0 {
		r.Kind = 0
	}
	return text, r
}

// append appends a body, unless the log already has the same body. It returns the body's number.
func (b *bodies) append(text []byte, body *printassembly.MethodBody) ([]byte, int) {
	start := len(text)
	return b.written.keep(printassembly.AppendMethodBody(text, b.written.next(), body), start)
}

// resolved returns the address of an index into the constant pool (cacheArray.index). The index is in the entry of the
// ConstantPoolCache to which the bytecode at a bci refers. The bytecode's operand, two bytes, is the number of that
// entry.
func (c *Copier) resolved(m *method, bci int, array *cacheArray) (uint64, bool) {
	if len(m.bytecode) < bci+3 {
		return 0, false
	}
	at, err := c.vm.Uint64(m.pool + c.layout.poolCache)
	if err == nil && !array.inline {
		at, err = c.vm.Uint64(at + array.pointer)
	}
	index := uint64(binary.LittleEndian.Uint16(m.bytecode[bci+1:]))
	return at + array.first + index*array.stride + array.index, err == nil
}

// In JDK 11 to 21, an entry of the ConstantPoolCache has four words: the indices, f1, f2 and flags. For a field, f2 is
// its offset. For a call, f1 is the Method. For a virtual call, f2 is the index in the table of virtual methods, or the
// Method if no class overrides it.
//
// JDK 22 and newer have two kinds of entries. A ResolvedFieldEntry has the class (8 bytes), the offset (4), the number
// of the field (2), and then its index into the constant pool. A ResolvedMethodEntry has the Method (8), for a virtual
// call the index in the table (2, with 6 unused), and then its index into the constant pool. beforeOffset, beforeMethod
// and beforeVirtualIndex are how many bytes these fields lie before that index.
const (
	entryF1, entryF2   = 8, 16
	beforeOffset       = 6
	beforeMethod       = 16
	beforeVirtualIndex = 8
)

// maxOffset is an upper bound for the offset of a field in its object. A value of maxOffset or more is not an offset.
const maxOffset = 1 << 16

// fieldOffset returns the offset in bytes of the field that the bytecode at a bci refers to. It returns 0 if the field
// has not been resolved, or if the offset can't be read.
func (c *Copier) fieldOffset(m *method, bci int) int {
	array := &c.layout.fieldEntries
	at, ok := c.resolved(m, bci, array)
	if !ok {
		return 0
	}
	var offset uint64
	if array.inline {
		offset, _ = c.vm.Uint64(at + entryF2)
	} else {
		small, _ := c.vm.Uint32(at - beforeOffset)
		offset = uint64(small)
	}
	if offset >= maxOffset {
		return 0
	}
	return int(offset)
}

// callee returns the address of the Method that the bytecode at a bci calls, or 0 if it is not known. For a virtual
// call, callee returns the method of the class that the bytecode names. The receiver's class may override that method.
func (c *Copier) callee(m *method, bci int, name string) uint64 {
	array := &c.layout.methodEntries
	at, ok := c.resolved(m, bci, array)
	if !ok || name == "invokeinterface" {
		return 0
	}
	var method, virtual uint64
	if array.inline {
		method, _ = c.vm.Uint64(at + entryF1)
		virtual, _ = c.vm.Uint64(at + entryF2)
		if name == "invokevirtual" && virtual >= maxOffset {
			method = virtual
		}
	} else {
		method, _ = c.vm.Uint64(at - beforeMethod)
		virtual, _ = c.vm.Uint64(at - beforeVirtualIndex)
		virtual &= maxOffset - 1
	}
	if method == 0 && name == "invokevirtual" && virtual < maxOffset {
		method = c.virtualMethod(m, at, virtual)
	}
	if method == 0 || len(c.tables) > 0 && c.kindOf(method) != methodMetadata {
		return 0
	}
	return method
}

// virtualMethod returns the Method at an index of a class's table of virtual methods. The class is the one that the
// calling bytecode names. The parameter at is what resolved returned for the bytecode.
func (c *Copier) virtualMethod(m *method, at, index uint64) uint64 {
	if c.layout.resolvedKlasses == 0 || c.layout.vtable == 0 {
		return 0
	}
	word, err := c.vm.Uint32(at)
	if err != nil {
		return 0
	}
	ref, err := c.poolEntry(m.pool, uint64(word&0xffff))
	if err != nil {
		return 0
	}
	class, err := c.poolEntry(m.pool, ref&0xffff) // the lower half of class is an index in the array of classes
	if err != nil {
		return 0
	}
	classes, err := c.vm.Uint64(m.pool + c.layout.resolvedKlasses)
	if err != nil {
		return 0
	}
	klass, err := c.vm.Uint64(classes + 8 + 8*(class&0xffff)) // the array's elements follow its length (8 bytes)
	if err != nil || klass == 0 {
		return 0
	}
	method, _ := c.vm.Uint64(klass + c.layout.vtable + 8*index)
	return method
}
