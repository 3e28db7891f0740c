package nmethod

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// A method is what debug info needs of a Java method.
type method struct {
	name  string // "pkg.Class::method"
	code  []byte // its bytecode, as HotSpot has rewritten it
	lines []line // in the order of the class file
	pool  uint64 // address of its ConstantPool
}

// A line starts at a bci.
type line struct{ bci, number int }

// readMethod reads a Method at an address.
func (j *JVM) readMethod(at uint64) (*method, error) {
	constMethod, err := j.mem.word(at + j.layout.constMethod)
	if err != nil {
		return nil, err
	}
	head, err := j.mem.read(nil, constMethod, j.layout.constMethodEnd)
	if err != nil {
		return nil, err
	}
	pool := binary.LittleEndian.Uint64(head[j.layout.constants:])
	size := 8 * uint64(binary.LittleEndian.Uint32(head[j.layout.words:]))
	codeSize := uint64(binary.LittleEndian.Uint16(head[j.layout.codeSize:]))
	name := uint64(binary.LittleEndian.Uint16(head[j.layout.name:]))
	flags := uint32(binary.LittleEndian.Uint16(head[j.layout.flags:]))
	if j.layout.wideFlags {
		flags = binary.LittleEndian.Uint32(head[j.layout.flags:])
	}
	if j.layout.constMethodEnd+codeSize > size {
		return nil, fmt.Errorf("the method at %#x has %d bytes of code in %d bytes", at, codeSize, size)
	}
	rest, err := j.mem.read(nil, constMethod+j.layout.constMethodEnd, size-j.layout.constMethodEnd)
	if err != nil {
		return nil, err
	}
	m := &method{code: rest[:codeSize], pool: pool}
	if flags&j.layout.lineTable != 0 {
		m.lines = readLines(rest[codeSize:], j.layout.release)
	}
	m.name, err = j.methodName(pool, name)
	return m, err
}

// methodName reads the name at an index of a ConstantPool, with its class's.
func (j *JVM) methodName(pool, index uint64) (string, error) {
	name, err := j.symbolAt(pool, index)
	if err != nil {
		return "", err
	}
	klass, err := j.mem.word(pool + j.layout.holder)
	if err != nil {
		return "", err
	}
	class, ok := j.classes[klass]
	if !ok {
		symbol, err := j.mem.word(klass + j.layout.klassName)
		if err != nil {
			return "", err
		}
		if class, err = j.symbol(symbol); err != nil {
			return "", err
		}
		class = externalName(class)
		if class, err = j.anonymous(klass, class); err != nil {
			return "", err
		}
		j.classes[klass] = class
	}
	return class + "::" + quote(name), nil
}

// quote writes the name of a method or a field as HotSpot prints it, with \u00fc
// for letters beyond ASCII (UTF8::as_quoted_ascii). It is in modified UTF-8: one to
// three bytes for each unit of UTF-16.
func quote(name string) string {
	plain := true
	for i := range len(name) {
		plain = plain && name[i] >= ' ' && name[i] < 127
	}
	if plain {
		return name
	}
	var s strings.Builder
	for i := 0; i < len(name); {
		c, size := uint16(name[i]), 1
		switch {
		case c >= 0xe0 && i+2 < len(name):
			c, size = c<<12|uint16(name[i+1]&63)<<6|uint16(name[i+2]&63), 3
		case c >= 0xc0 && i+1 < len(name):
			c, size = c&31<<6|uint16(name[i+1]&63), 2
		}
		if c >= ' ' && c < 127 {
			s.WriteByte(byte(c))
		} else {
			fmt.Fprintf(&s, `\u%04x`, c)
		}
		i += size
	}
	return s.String()
}

// externalName writes java/lang/String as java.lang.String, and the number of a
// hidden class behind a slash (HotSpot's Klass::external_name).
func externalName(internal string) string {
	class, number, hidden := strings.Cut(internal, "+0x")
	class = strings.ReplaceAll(class, "/", ".")
	if hidden {
		class += "/0x" + number
	}
	return class
}

// anonymous appends to the name of an anonymous class of JDK 14 and older the
// address of its InstanceKlass, as HotSpot does.
func (j *JVM) anonymous(klass uint64, class string) (string, error) {
	if j.layout.miscFlags == 0 {
		return class, nil
	}
	flags, err := j.mem.word(klass + j.layout.miscFlags)
	if err != nil || flags&isAnonymous == 0 {
		return class, err
	}
	return fmt.Sprintf("%s/%#016x", class, klass), nil
}

// isAnonymous is InstanceKlass's _misc_is_unsafe_anonymous.
const isAnonymous = 1 << 5

// slot reads an entry of a ConstantPool.
func (j *JVM) slot(pool, index uint64) (uint64, error) {
	return j.mem.word(pool + j.layout.poolEnd + 8*index)
}

// symbolAt reads the Symbol at an index of a ConstantPool.
func (j *JVM) symbolAt(pool, index uint64) (string, error) {
	at, err := j.slot(pool, index)
	if err != nil {
		return "", err
	}
	return j.symbol(at)
}

// symbol reads a Symbol, HotSpot's text. Its lowest bit may be a mark of the
// constant pool's.
func (j *JVM) symbol(at uint64) (string, error) {
	at &^= 1
	var buf [64]byte
	b, err := j.mem.read(buf[:], at, j.layout.symbolBody)
	if err != nil {
		return "", err
	}
	n := uint64(binary.LittleEndian.Uint16(b[j.layout.symbolLength:]))
	b, err = j.mem.read(buf[:], at+j.layout.symbolBody, n)
	if err != nil {
		return "", err
	}
	return string(b), nil
}

// readLines unpacks a method's line numbers (HotSpot's
// CompressedLineNumberReadStream::read_pair).
func readLines(data []byte, release int) []line {
	var lines []line
	u := newUnpacker(data, 0, release)
	var at line
	for {
		switch next := u.byte(); {
		case u.ended || next == 0:
			return lines
		case next == 0xff:
			at.bci += u.signed()
			at.number += u.signed()
		default:
			at.bci += int(next >> 3)
			at.number += int(next & 7)
		}
		if u.ended {
			return lines
		}
		lines = append(lines, at)
	}
}

// line gives the source line of a bci as HotSpot does, which takes the last of
// the nearest ones in front (Method::line_number_from_bci); 0 without one.
func (m *method) line(bci int) int {
	if bci == entryBCI {
		bci = 0
	}
	best := line{0, 0}
	if bci < 0 || bci >= len(m.code) {
		return 0
	}
	for _, l := range m.lines {
		switch {
		case l.bci == bci:
			return l.number
		case l.bci < bci && l.bci >= best.bci:
			best = l
		}
	}
	return best.number
}
