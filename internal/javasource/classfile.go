package javasource

import (
	"encoding/binary"
	"errors"
)

// A classFile has what a class file states about the source of its class. The JVM specification defines the format in
// chapter 4.
type classFile struct {
	source string // its SourceFile attribute: "Range.scala"; "" if it has none
	debug  string // its SourceDebugExtension attribute, see smap; "" if it has none
}

var errNoClass = errors.New("not a class file, or a damaged one")

// parseClass parses a class file. It goes through the whole file, because the attributes of the class are at the end.
func parseClass(data []byte) (classFile, error) {
	r := classReader{data: data}
	if r.u4() != 0xcafebabe {
		return classFile{}, errNoClass
	}
	r.skip(4) // the version
	texts := r.constants()
	r.skip(6) // access flags, the class, its superclass
	r.skip(2 * r.u2())
	for range 2 { // fields, then methods
		for n := r.u2(); n > 0 && !r.short; n-- {
			r.skip(6) // access flags, name, descriptor
			r.attributes(func(uint64, []byte) {})
		}
	}
	var c classFile
	r.attributes(func(name uint64, value []byte) {
		switch string(texts[name]) {
		case "SourceFile":
			if len(value) == 2 {
				c.source = string(texts[uint64(binary.BigEndian.Uint16(value))])
			}
		case "SourceDebugExtension":
			c.debug = string(value)
		}
	})
	if r.short {
		return classFile{}, errNoClass
	}
	return c, nil
}

// A classReader reads big-endian numbers from a class file. Beyond the end of the data, it returns 0 and sets short.
type classReader struct {
	data  []byte
	short bool // true after an attempt to read beyond the end, or at an unknown tag
}

// take returns the next n bytes, or nil if there are fewer.
func (r *classReader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.data, r.short = nil, true
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *classReader) skip(n uint64) { r.take(n) }

func (r *classReader) number(size uint64) (n uint64) {
	for _, b := range r.take(size) {
		n = n<<8 | uint64(b)
	}
	return n
}

func (r *classReader) u2() uint64 { return r.number(2) }
func (r *classReader) u4() uint64 { return r.number(4) }

// constants reads the constant pool and returns its strings (CONSTANT_Utf8) by index.
func (r *classReader) constants() map[uint64][]byte {
	const utf8, long, double = 1, 5, 6
	// Sizes in bytes of the other constants, by tag.
	sizes := map[uint64]uint64{3: 4, 4: 4, long: 8, double: 8, 7: 2, 8: 2, 16: 2, 19: 2, 20: 2, 9: 4, 10: 4, 11: 4,
		12: 4, 17: 4, 18: 4, 15: 3}
	texts := map[uint64][]byte{}
	count := r.u2()
	for i := uint64(1); i < count && !r.short; i++ {
		tag := r.number(1)
		if tag == utf8 {
			texts[i] = r.take(r.u2())
			continue
		}
		size, known := sizes[tag]
		if !known {
			r.data, r.short = nil, true
		}
		r.skip(size)
		if tag == long || tag == double {
			i++ // a long or double takes two indices
		}
	}
	return texts
}

// attributes reads a list of attributes. It calls take(name, value) for each attribute, where name is the index of the
// attribute's name in the constant pool.
func (r *classReader) attributes(take func(name uint64, value []byte)) {
	for n := r.u2(); n > 0 && !r.short; n-- {
		name := r.u2()
		if value := r.take(r.u4()); !r.short {
			take(name, value)
		}
	}
}
