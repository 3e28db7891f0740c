package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"unicode/utf16"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A Heap is the Java heap of a running JVM.
type Heap struct {
	vm     *vmstructs.VM
	fields fieldLayout
	// className is the field of a Klass that holds the name of the class. The field's size is 0 if it is not known.
	className vmstructs.Field

	narrow      bool // references have 32 bits
	narrowBase  uint64
	narrowShift uint64
	coloured    bool // references have ZGC's colours below the address

	headers    headers
	klassBase  uint64
	klassShift uint64
	klassAt    uint64 // offset of an object's class
	lengthAt   uint64 // offset of an array's length, which has 32 bits
	arrayData  uint64 // offset of the elements of an array of bytes or chars

	stringClass uint64
	stringValue uint64 // offsets of String's fields
	stringCoder uint64 // 0 in JDK 8, whose strings are arrays of chars
}

// headers says how the header of an object stores its class.
type headers uint8

const (
	wholeClass   headers = iota // as an address
	narrowClass                 // in 32 bits
	compactClass                // in the upper bits of the first word (-XX:+UseCompactObjectHeaders)
)

// compactShift is the number of bits below the class in a compact header (markWord::klass_shift).
const compactShift = 42

// ErrMoved is returned if a reference does not point to an object of the expected class, for example because the
// collector has moved the object.
var ErrMoved = errors.New("the reference does not point to an object of this class; the collector may have moved it")

// New returns the heap of a JVM. If HotSpot's tables lack something, the error names it.
func New(vm *vmstructs.VM) (*Heap, error) {
	q := &vmstructs.Query{VM: vm, Of: "the Java heap of "}
	h := &Heap{vm: vm, fields: newFieldLayout(q)}
	h.className, _ = vm.Field("Klass::_name")
	flags, err := vm.Flags("UseCompressedOops", "UseCompressedClassPointers", "UseCompactObjectHeaders", "UseZGC",
		"ZGenerational")
	if err != nil {
		return nil, err
	}
	h.narrow = flags["UseCompressedOops"].Value != 0
	h.narrowBase = h.static(q, 8, "CompressedOops::_base", "CompressedOops::_narrow_oop._base",
		"Universe::_narrow_oop._base")
	h.narrowShift = h.static(q, 4, "CompressedOops::_shift", "CompressedOops::_narrow_oop._shift",
		"Universe::_narrow_oop._shift")
	// In a JDK without this flag, ZGC has no generations (JDK 20 and older) or always has them (JDK 24 and newer).
	generational, ok := flags["ZGenerational"]
	h.coloured = flags["UseZGC"].Value != 0 && (ok && generational.Value != 0 || !ok && vm.Release >= 24)
	h.findHeaders(q, flags)
	h.findStrings(q)
	return h, q.Missing
}

// static returns the value of the first of the named static fields that exists. size is the size of the value in bytes.
func (h *Heap) static(q *vmstructs.Query, size uint64, names ...string) uint64 {
	for _, name := range names {
		at, ok := h.vm.Static(name)
		if !ok {
			continue
		}
		value, err := h.vm.Read(nil, at, size)
		if err != nil && q.Missing == nil {
			q.Missing = fmt.Errorf("reading %s: %w", name, err)
		}
		return vmstructs.Field{Size: size}.In(value)
	}
	q.Must(false, names[0])
	return 0
}

func (h *Heap) findHeaders(q *vmstructs.Query, flags map[string]vmstructs.Flag) {
	narrow, ok := flags["UseCompressedClassPointers"] // JDK 27 and newer always compress them
	switch {
	case flags["UseCompactObjectHeaders"].Value != 0:
		h.headers, h.lengthAt = compactClass, 8
	case !ok || narrow.Value != 0:
		h.headers, h.klassAt, h.lengthAt = narrowClass, 8, 12
	default:
		h.headers, h.klassAt, h.lengthAt = wholeClass, 8, 16
	}
	if h.headers != wholeClass {
		h.klassBase = h.static(q, 8, "CompressedKlassPointers::_base", "CompressedKlassPointers::_narrow_klass._base",
			"Universe::_narrow_klass._base")
		h.klassShift = h.static(q, 4, "CompressedKlassPointers::_shift", "CompressedKlassPointers::_narrow_klass._shift",
			"Universe::_narrow_klass._shift")
	}
	h.arrayData = h.lengthAt + 4
	if h.vm.Release < 23 { // arrayOopDesc::base_offset_in_bytes
		h.arrayData = (h.arrayData + 7) &^ 7
	}
}

func (h *Heap) findStrings(q *vmstructs.Query) {
	h.stringClass = h.Class("String")
	q.Must(h.stringClass != 0, "class String")
	if q.Missing != nil {
		return
	}
	var err error
	if h.stringValue, err = h.Offset(h.stringClass, "value"); err == nil && h.vm.Release > 8 {
		h.stringCoder, err = h.Offset(h.stringClass, "coder")
	}
	q.Missing = err
}

// Class returns the address of a class that HotSpot itself knows by name (vmClasses.hpp), such as "String" or
// "Thread". It returns 0 if HotSpot knows no such class.
func (h *Heap) Class(name string) uint64 {
	for _, form := range []string{"vmClasses::_klasses[static_cast<int>(vmClassID::%s_klass_knum)]",
		"SystemDictionary::_well_known_klasses[SystemDictionary::%s_klass_knum]"} {
		if at, ok := h.vm.Static(fmt.Sprintf(form, name)); ok {
			class, _ := h.vm.Uint64(at) // 0 after an error
			return class
		}
	}
	return 0
}

// Handle reads an uncompressed reference at an address outside of the heap, for example one of HotSpot's OopHandles. It
// returns the address of the object, or 0 for null.
func (h *Heap) Handle(at uint64) (object uint64, err error) {
	ref, err := h.vm.Uint64(at)
	return h.address(ref), err
}

// Ref returns the address of the object that a field points to, or 0 for null.
func (h *Heap) Ref(object, offset uint64) (uint64, error) {
	if !h.narrow {
		return h.Handle(object + offset)
	}
	ref, err := h.vm.Uint32(object + offset)
	return h.wide(ref), err
}

// wide converts a compressed reference to an address.
func (h *Heap) wide(ref uint32) uint64 {
	if ref == 0 {
		return 0
	}
	return h.narrowBase + uint64(ref)<<h.narrowShift
}

// address returns the address in a reference that is not compressed, or 0 if the reference has no valid colour.
func (h *Heap) address(ref uint64) uint64 {
	switch {
	case !h.coloured:
		return ref
	case runtime.GOARCH == "arm64":
		return ref >> 16 // ZPointerLoadShift is constant there
	}
	const remapped = 12 // the lowest of the four bits of the colour "remapped" (ZPointerRemappedShift)
	colour := ref >> remapped & 15
	if bits.OnesCount64(colour) != 1 {
		return 0
	}
	return ref >> (remapped + 1 + bits.TrailingZeros64(colour))
}

// Is reports whether there is an object of exactly this class at an address.
func (h *Heap) Is(object, class uint64) bool {
	header, err := h.vm.Read(nil, object, 16)
	return err == nil && object != 0 && h.classOf(header) == class
}

func (h *Heap) classOf(header []byte) uint64 {
	switch h.headers {
	case compactClass:
		return h.klassBase + binary.LittleEndian.Uint64(header)>>compactShift<<h.klassShift
	case narrowClass:
		return h.klassBase + uint64(binary.LittleEndian.Uint32(header[h.klassAt:]))<<h.klassShift
	}
	return binary.LittleEndian.Uint64(header[h.klassAt:])
}

// ClassOf returns the address of the class of an object, or 0 if the object can't be read.
func (h *Heap) ClassOf(object uint64) uint64 {
	if object == 0 || object%8 != 0 {
		return 0
	}
	header, err := h.vm.Read(nil, object, 16)
	if err != nil {
		return 0
	}
	return h.classOf(header)
}

// ClassIn returns the address of the class of an object, from a copy of the object's first 16 bytes or more. It returns
// 0 if the copy is shorter.
func (h *Heap) ClassIn(object []byte) uint64 {
	if len(object) < 16 {
		return 0
	}
	return h.classOf(object)
}

// RefIn returns the address of the object that a field points to, or 0 for null. object is a copy of the object that
// has the field. If the copy is too short for the field, RefIn returns 0.
func (h *Heap) RefIn(object []byte, offset uint64) uint64 {
	if n := uint64(len(object)); n < h.RefSize() || offset > n-h.RefSize() {
		return 0
	}
	if h.narrow {
		return h.wide(binary.LittleEndian.Uint32(object[offset:]))
	}
	return h.address(binary.LittleEndian.Uint64(object[offset:]))
}

// RefSize returns the size of a reference in an object, in bytes.
func (h *Heap) RefSize() uint64 {
	if h.narrow {
		return 4
	}
	return 8
}

// Refs returns the number of elements of an array of references, and the address of the first one. The array's class is
// not checked.
func (h *Heap) Refs(array uint64) (length, first uint64, err error) {
	n, err := h.vm.Uint32(array + h.lengthAt)
	data := h.arrayData
	if !h.narrow {
		data = (data + 7) &^ 7
	}
	return uint64(n), array + data, err
}

// Narrow returns the address of the object that a compressed reference refers to, or 0 for null.
func (h *Heap) Narrow(ref uint32) uint64 { return h.wide(ref) }

// Wide returns the address of the object that an uncompressed reference refers to, or 0 for null. It also returns 0 for
// a reference of ZGC that has no valid colour.
func (h *Heap) Wide(ref uint64) uint64 { return h.address(ref) }

// String returns the text of a java.lang.String. The parameter most is the maximum number of chars; the rest of a
// longer String is left out. The error is ErrMoved if the object is not a String.
func (h *Heap) String(object uint64, most int) (string, error) {
	if !h.Is(object, h.stringClass) {
		return "", ErrMoved
	}
	array, err := h.Ref(object, h.stringValue)
	if err != nil {
		return "", err
	}
	wide := true
	if h.stringCoder != 0 {
		coder, err := h.vm.Read(nil, object+h.stringCoder, 1)
		if err != nil {
			return "", err
		}
		wide = coder[0] != 0
	}
	length, err := h.vm.Uint32(array + h.lengthAt)
	if err != nil {
		return "", err
	}
	size := uint64(length)
	switch {
	case h.vm.Release == 8:
		size = 2 * min(size, uint64(most))
	case wide:
		size = min(size, 2*uint64(most)) &^ 1
	default:
		size = min(size, uint64(most))
	}
	data, err := h.vm.Read(nil, array+h.arrayData, size)
	if err != nil {
		return "", err
	}
	return text(data, wide), nil
}

// text decodes the bytes of a string, which are UTF-16 if wide is true, and Latin-1 otherwise.
func text(data []byte, wide bool) string {
	if !wide {
		chars := make([]rune, len(data))
		for i, b := range data {
			chars[i] = rune(b)
		}
		return string(chars)
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}
