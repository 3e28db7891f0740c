package classes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/javaname"
)

// A Class is a loaded class.
type Class struct {
	Name    string // "org/acme/Svc$Inner"
	Flags   Flags
	Methods []Method
}

// A Method is a method of a Class.
type Method struct {
	Name       string // "tiny", "<init>"
	Descriptor string // "(ILjava/lang/String;)V"
	Flags      Flags
}

// Flags are access flags, with the values that they have in class files.
type Flags uint32

// The flags that say what can be done with a class or a method.
const (
	Static    Flags = 0x8
	bridge    Flags = 0x40
	Native    Flags = 0x100
	Interface Flags = 0x200
	Abstract  Flags = 0x400
)

// Upper bounds that no program reaches. If a number is larger, the memory does not hold the
// expected structure, and the rest is skipped.
const (
	maxClasses    = 1 << 20
	maxMethods    = 1 << 16 // of one class: class files count methods in 16 bits
	maxAllMethods = 1 << 22 // of all wanted classes together
)

// Read returns the loaded classes and their methods, in HotSpot's order. It skips a class if
// wanted(name) returns false. Bridge methods are left out, because they only call the method of the
// same name. Methods that HotSpot has added to those of the class file are included. HotSpot adds
// one, for example, for an interface's method that the class does not implement.
func Read(vm *vmstructs.VM, wanted func(class string) bool) ([]Class, error) {
	l, err := newLayout(vm)
	if err != nil {
		return nil, err
	}
	r := reader{vm: vm, layout: l, wanted: wanted, seen: map[uint64]bool{}}
	if l.dictionary.At != 0 {
		err = r.readDictionary()
	} else {
		err = r.readLoaders()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of classes: %w", err)
	}
	return r.found, nil
}

// A reader reads classes.
type reader struct {
	vm     *vmstructs.VM
	layout *layout
	wanted func(string) bool
	seen   map[uint64]bool // the addresses read so far; in a damaged list, a pointer may lead back to one of them
	read   int             // number of methods read so far
	found  []Class
}

// first reports whether an address is read for the first time. After maxClasses addresses it always returns false,
// which ends the reading of a damaged list.
func (r *reader) first(at uint64) bool {
	if r.seen[at] || len(r.seen) >= maxClasses {
		return false
	}
	r.seen[at] = true
	return true
}

// readLoaders reads the classes of all class loaders.
func (r *reader) readLoaders() error {
	loader, err := r.vm.Uint64(r.layout.loaders)
	for err == nil && loader != 0 && r.first(loader) {
		var klass uint64
		if klass, err = r.vm.Uint64(loader + r.layout.loaderKlasses); err != nil {
			break
		}
		if err := r.readChain(klass); fatal(err) {
			return err
		}
		loader, err = r.vm.Uint64(loader + r.layout.loaderNext)
	}
	return err
}

// fatal reports whether an error means that nothing more can be read from the JVM. Other errors
// mean only that some structure in the JVM's memory is damaged.
func fatal(err error) bool { return errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) }

// readChain reads the classes of a loader. klass is the address of the first one.
func (r *reader) readChain(klass uint64) error {
	for klass != 0 && r.first(klass) {
		header, err := r.vm.Read(nil, klass, r.layout.klassSize)
		if err != nil {
			return err
		}
		if err := r.readClass(header); fatal(err) {
			return err
		}
		klass = r.layout.nextLink.In(header)
	}
	return nil
}

// readDictionary reads JDK 8's system dictionary, a hash table whose buckets are lists of entries.
func (r *reader) readDictionary() error {
	l := r.layout
	dictionary, err := r.vm.Uint64(l.dictionary.At)
	if err != nil || dictionary == 0 {
		return err
	}
	size, err := r.vm.Uint32(dictionary + l.tableSize)
	if err != nil {
		return err
	}
	buckets, err := r.vm.Uint64(dictionary + l.buckets)
	if err != nil {
		return err
	}
	if size > maxClasses {
		return fmt.Errorf("the system dictionary can't have %d lists", size)
	}
	table, err := r.vm.Read(nil, buckets, 8*uint64(size))
	if err != nil {
		return err
	}
	for i := range int(size) {
		if err := r.readBucket(binary.LittleEndian.Uint64(table[8*i:])); fatal(err) {
			return err
		}
	}
	return nil
}

// readBucket reads one list of the dictionary. The lowest bit of an entry's address is a flag, so it is cleared. If a
// program asked several class loaders for the same class, the dictionary has an entry for each loader. The class is
// read only from the entry of the loader that defined it.
func (r *reader) readBucket(entry uint64) error {
	l := r.layout
	for entry &^= 1; entry != 0 && r.first(entry); {
		klass, err := r.vm.Uint64(entry + l.entryKlass)
		if err != nil {
			return err
		}
		loader, err := r.vm.Uint64(entry + l.entryLoader)
		if err != nil {
			return err
		}
		header, err := r.vm.Read(nil, klass, l.klassSize)
		if err != nil {
			return err
		}
		if l.klassLoader.In(header) == loader {
			if err := r.readClass(header); fatal(err) {
				return err
			}
		}
		if entry, err = r.vm.Uint64(entry + l.entryNext); err != nil {
			return err
		}
		entry &^= 1
	}
	return nil
}

// readClass reads a class with its methods, and appends it to r.found. It skips classes that are
// not wanted, and the classes of arrays. header is a copy of the class's InstanceKlass.
func (r *reader) readClass(header []byte) error {
	l := r.layout
	if isArray := int32(l.layoutHelper.In(header)) <= 0; isArray {
		return nil
	}
	name, err := r.symbol(l.name.In(header))
	if err != nil || !r.wanted(name) {
		return err
	}
	c := Class{Name: name, Flags: Flags(l.classFlags.In(header)) & 0xffff}
	array := l.methods.In(header)
	if array == 0 {
		return nil
	}
	count, err := r.vm.Uint32(array + l.arrayLength)
	if err != nil {
		return err
	}
	if r.read += int(count); count > maxMethods || r.read > maxAllMethods {
		return fmt.Errorf("%s can't have %d methods", name, count)
	}
	methods, err := r.vm.Read(nil, array+l.arrayData, 8*uint64(count))
	if err != nil {
		return err
	}
	for i := range int(count) {
		m, err := r.readMethod(binary.LittleEndian.Uint64(methods[8*i:]))
		if err != nil {
			return err
		}
		if m.Flags&bridge == 0 {
			c.Methods = append(c.Methods, m)
		}
	}
	r.found = append(r.found, c)
	return nil
}

func (r *reader) readMethod(at uint64) (m Method, err error) {
	l := r.layout
	method, err := r.vm.Read(nil, at, l.methodSize)
	if err != nil {
		return m, err
	}
	m.Flags = Flags(l.methodFlags.In(method)) & 0xffff
	constMethod, err := r.vm.Read(nil, l.constMethod.In(method), l.constMethodSize)
	if err != nil {
		return m, err
	}
	entries := l.constants.In(constMethod) + l.poolSize
	if m.Name, err = r.entry(entries, l.nameIndex.In(constMethod)); err != nil {
		return m, err
	}
	m.Descriptor, err = r.entry(entries, l.signatureIndex.In(constMethod))
	return m, err
}

// entry reads the text that an entry of a constant pool points to.
func (r *reader) entry(entries, index uint64) (string, error) {
	symbol, err := r.vm.Uint64(entries + 8*index)
	if err != nil {
		return "", err
	}
	return r.symbol(symbol &^ 1)
}

// symbol reads the text of a Symbol, which is how HotSpot stores names. The first 64 bytes are read
// at once. They contain the length, and for most symbols the whole text.
func (r *reader) symbol(at uint64) (string, error) {
	l := r.layout
	buf := make([]byte, 64)
	symbol, err := r.vm.Read(buf, at, uint64(len(buf)))
	if err != nil { // the mapping may end within these 64 bytes
		if symbol, err = r.vm.Read(buf, at, l.symbolBody); err != nil {
			return "", err
		}
	}
	size := l.symbolBody + l.symbolLength.In(symbol)
	if size > uint64(len(symbol)) {
		if symbol, err = r.vm.Read(nil, at, size); err != nil {
			return "", err
		}
	}
	return javaname.Decode(string(symbol[l.symbolBody:size])), nil
}
