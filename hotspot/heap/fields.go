package heap

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/hotspot/unsigned5"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/javaname"
)

// A fieldLayout says where an InstanceKlass describes the fields of its objects.
type fieldLayout struct {
	stream                  vmstructs.Field // Array<u1>*; JDK 21 and newer
	fields, count           vmstructs.Field // JDK 8 to 20: Array<u2>*, and the number of Java's fields in it
	constants               vmstructs.Field
	poolSize                uint64
	arrayLength             uint64
	symbolLength            vmstructs.Field
	symbolBody              uint64
	tagSize                 uint64 // JDK 8 to 20: the number of bits of a tag below a field's offset
	streamData, fieldsArray uint64 // where the arrays' elements begin
}

func newFieldLayout(q *vmstructs.Query) (l fieldLayout) {
	l.constants, l.poolSize = q.Field("InstanceKlass::_constants"), q.Size("ConstantPool")
	l.arrayLength = q.Field("Array<int>::_length").At
	l.symbolLength = q.Field("Symbol::_length")
	body, ok := q.VM.Offset("Symbol::_body")
	q.Must(ok, "Symbol::_body")
	l.symbolBody = body
	if l.stream, ok = q.VM.Field("InstanceKlass::_fieldinfo_stream"); ok {
		l.streamData, ok = q.VM.Offset("Array<u1>::_data")
		q.Must(ok, "Array<u1>::_data")
		return l
	}
	l.stream.Size = 0
	l.fields, l.count = q.Field("InstanceKlass::_fields"), q.Field("InstanceKlass::_java_fields_count")
	l.fieldsArray, ok = q.VM.Offset("Array<u2>::_data")
	q.Must(ok, "Array<u2>::_data")
	l.tagSize = 2
	if size, ok := q.VM.Int("FIELDINFO_TAG_SIZE"); ok {
		l.tagSize = uint64(size)
	}
	return l
}

// Offset returns the offset of a field in the objects of a class, in bytes. class is the address of the InstanceKlass
// that declares the field.
func (h *Heap) Offset(class uint64, field string) (uint64, error) {
	pool, err := h.vm.Uint64(class + h.fields.constants.At)
	if err != nil {
		return 0, err
	}
	named := func(index uint64) bool {
		symbol, err := h.vm.Uint64(pool + h.fields.poolSize + 8*index)
		return err == nil && h.isSymbol(symbol&^1, field)
	}
	var offset uint64
	var found bool
	if h.fields.stream.Size > 0 {
		offset, found, err = h.streamOffset(class, named)
	} else {
		offset, found, err = h.arrayOffset(class, named)
	}
	switch {
	case err != nil:
		return 0, err
	case !found || offset > maxObject:
		return 0, fmt.Errorf("the class has no field %s, or its offset can't be right", field)
	}
	return offset, nil
}

// Upper bounds for the classes whose fields gasm reads. If a number is larger, the memory does not hold the expected
// structure.
const (
	maxObject = 1 << 12 // bytes of the object
	maxFields = 1 << 10
	maxStream = 1 << 14 // bytes
)

// array reads the elements of the Array<> that the field f of a class points to. data is the offset of the first
// element from the start of the Array, and size is the size of an element, both in bytes. It returns an error if the
// number of elements is larger than the parameter most.
func (h *Heap) array(class uint64, f vmstructs.Field, data, size, most uint64) ([]byte, error) {
	at, err := h.vm.Uint64(class + f.At)
	if err != nil {
		return nil, err
	}
	length, err := h.vm.Uint32(at + h.fields.arrayLength)
	if err != nil {
		return nil, err
	}
	if uint64(length) > most {
		return nil, fmt.Errorf("its array of fields has %d elements, which can't be right", length)
	}
	return h.vm.Read(nil, at+data, size*uint64(length))
}

// arrayOffset finds a field in the array of JDK 8 to 20. Each field has six numbers. The second one is the index of its
// name, and the last two together are its offset, shifted left by the bits of a tag.
func (h *Heap) arrayOffset(class uint64, named func(uint64) bool) (offset uint64, found bool, err error) {
	const numbers = 6
	all, err := h.array(class, h.fields.fields, h.fields.fieldsArray, 2, numbers*maxFields)
	if err != nil {
		return 0, false, err
	}
	header, err := h.vm.Read(nil, class+h.fields.count.At, h.fields.count.Size)
	if err != nil {
		return 0, false, err
	}
	count := vmstructs.Field{Size: h.fields.count.Size}.In(header)
	for i := uint64(0); i < count && 2*numbers*(i+1) <= uint64(len(all)); i++ {
		f := all[2*numbers*i:]
		if named(uint64(binary.LittleEndian.Uint16(f[2:]))) {
			return uint64(binary.LittleEndian.Uint32(f[8:])) >> h.fields.tagSize, true, nil
		}
	}
	return 0, false, nil
}

// HotSpot's names of flags of a field. For each of these flags that is set, the description of the field in the stream
// has one more number (FieldInfoReader::read_field_info). The bits of the flags are looked up in HotSpot's tables,
// because they differ between releases: JDK 27 inserted flags below these.
const (
	initialized = "_ff_initialized"
	generic     = "_ff_generic"
	contended   = "_ff_contended"
	flat        = "_ff_flat"
	nullMarker  = "_ff_null_marker"
)

// streamOffset finds a field in the stream of JDK 21 and newer. The stream begins with two numbers: how many fields the
// class file declares, and how many HotSpot has added. A field then has the index of its name, the index of its type,
// its offset, its access flags, its other flags, and one number for each of the flags listed above that is set.
func (h *Heap) streamOffset(class uint64, named func(uint64) bool) (offset uint64, found bool, err error) {
	all, err := h.array(class, h.fields.stream, h.fields.streamData, 1, maxStream)
	if err != nil {
		return 0, false, err
	}
	var more []uint32 // the flags for which a field has one more number
	for _, flag := range []string{initialized, generic, contended, flat, nullMarker} {
		if bit, ok := h.vm.Int("FieldInfo::FieldFlags::" + flag); ok {
			more = append(more, 1<<bit)
		}
	}
	r := unsigned5.New(all, 0, h.vm.Release)
	count := r.Unsigned()
	r.Unsigned()
	for range min(count, maxFields) {
		name := r.Unsigned()
		r.Unsigned()
		offset = uint64(r.Unsigned())
		r.Unsigned()
		flags := r.Unsigned()
		for _, flag := range more {
			if flags&flag != 0 {
				r.Unsigned()
			}
		}
		if r.Short() {
			break
		}
		if named(uint64(name)) {
			return offset, true, nil
		}
	}
	return 0, false, nil
}

// isSymbol reports whether the Symbol at an address has this text.
func (h *Heap) isSymbol(at uint64, text string) bool {
	if h.fields.symbolBody > maxSymbolHeader {
		return false
	}
	symbol, err := h.vm.Read(nil, at, h.fields.symbolBody+uint64(len(text)))
	return err == nil && h.fields.symbolLength.In(symbol) == uint64(len(text)) &&
		string(symbol[h.fields.symbolBody:]) == text
}

// maxClassName is the maximum number of bytes that are read of a class's name. The class file format allows 64 KiB.
const maxClassName = 2 << 10

// ClassName returns the name of the class (Klass) at an address: "pkg.Class", or "[Ljava.lang.String;" for an array. It
// returns "" if there is no class at the address.
func (h *Heap) ClassName(class uint64) string {
	if class == 0 || class%8 != 0 || h.className.Size == 0 {
		return ""
	}
	symbol, err := h.vm.Uint64(class + h.className.At)
	if err != nil || symbol == 0 || symbol%8 != 0 || h.fields.symbolBody > maxSymbolHeader {
		return ""
	}
	header, err := h.vm.Read(nil, symbol, h.fields.symbolBody)
	if err != nil {
		return ""
	}
	text, err := h.vm.Read(nil, symbol+h.fields.symbolBody, min(h.fields.symbolLength.In(header), maxClassName))
	name := string(text)
	if err != nil || strings.ContainsAny(name, "\x00\n") {
		return ""
	}
	return strings.ReplaceAll(javaname.Decode(name), "/", ".")
}

// maxSymbolHeader is an upper bound for the bytes of a Symbol before its text. The JVM may be hostile, and its tables
// may say anything.
const maxSymbolHeader = 64
