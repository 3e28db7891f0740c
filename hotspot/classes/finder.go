package classes

import (
	"fmt"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/javaname"
)

// A Finder finds the addresses of classes that the boot class loader has loaded. These are the classes of the module
// java.base and a few others. It needs JDK 9 or newer.
type Finder struct {
	vm     *vmstructs.VM
	layout *layout
	loader uint64 // the ClassLoaderData of the boot class loader; 0 until it was found
	newest uint64 // the newest class at the last Update
	wanted map[string]uint64
}

// NewFinder returns a Finder for classes with these names, such as "java/lang/VirtualThread".
func NewFinder(vm *vmstructs.VM, names ...string) (*Finder, error) {
	l, err := newLayout(vm)
	if err != nil {
		return nil, err
	}
	if l.loaders == 0 {
		return nil, fmt.Errorf("JDK %d has no list of class loaders", vm.Release)
	}
	if at := max(l.name.At, l.nextLink.At, l.symbolBody); at > maxOffset {
		return nil, fmt.Errorf("a class can't have a field at %d", at)
	}
	f := &Finder{vm: vm, layout: l, wanted: map[string]uint64{}}
	for _, name := range names {
		f.wanted[name] = 0
	}
	return f, nil
}

// maxOffset is an upper bound for the offsets of fields in a Klass and in a Symbol. The JVM may be hostile, and its
// tables may say anything.
const maxOffset = 1 << 10

// Class returns the address of the class (InstanceKlass) with this name, or 0 if it had not been loaded at the last
// Update.
func (f *Finder) Class(name string) uint64 { return f.wanted[name] }

// Update looks at the classes that were loaded since the last Update. If there are none, it reads only one word. The
// result found is true if any of them has a wanted name.
func (f *Finder) Update() (found bool, err error) {
	if f.loader == 0 {
		loader, err := f.bootLoader()
		if err != nil {
			return false, fmt.Errorf("reading the list of class loaders: %w", err)
		}
		f.loader = loader
	}
	newest, err := f.vm.Uint64(f.loader + f.layout.loaderKlasses)
	if err != nil {
		return false, fmt.Errorf("reading the list of classes: %w", err)
	}
	if newest == f.newest {
		return false, nil
	}
	if found, err = f.look(newest); err != nil {
		return false, fmt.Errorf("reading the list of classes: %w", err)
	}
	f.newest = newest
	return found, nil
}

// bootLoader returns the ClassLoaderData of the boot class loader. It was created first, so it is the last one in the
// list.
func (f *Finder) bootLoader() (loader uint64, err error) {
	next, err := f.vm.Uint64(f.layout.loaders)
	for n := 0; err == nil && next != 0 && n < maxClasses; n++ {
		loader = next
		next, err = f.vm.Uint64(loader + f.layout.loaderNext)
	}
	if err == nil && (loader == 0 || next != 0) {
		err = fmt.Errorf("it has no end, or no elements")
	}
	return loader, err
}

// look looks at the classes in the list from the given one to the one that was the newest at the last Update.
func (f *Finder) look(klass uint64) (found bool, err error) {
	l := f.layout
	size := max(l.name.At, l.nextLink.At) + 8
	buf := make([]byte, size)
	var klasses, symbols []uint64
	for klass != 0 && klass != f.newest && len(klasses) < maxClasses {
		header, err := f.vm.Read(buf, klass, size)
		if err != nil {
			return false, err
		}
		klasses, symbols = append(klasses, klass), append(symbols, l.name.In(header))
		klass = l.nextLink.In(header)
	}
	return f.match(klasses, symbols)
}

// match compares the names of classes with the wanted ones. symbols are the addresses of the names.
func (f *Finder) match(klasses, symbols []uint64) (found bool, err error) {
	longest := 0
	for name := range f.wanted {
		longest = max(longest, len(name))
	}
	each := int(f.layout.symbolBody) + longest
	for len(klasses) > 0 {
		n := min(len(klasses), 1024)
		data := make([]byte, n*each)
		pieces := make([]vmstructs.Piece, n)
		for i := range pieces {
			pieces[i] = vmstructs.Piece{Addr: symbols[i], Buf: data[i*each : (i+1)*each]}
		}
		read, err := f.vm.GatherSome(pieces)
		if err != nil {
			return false, err
		}
		for i := range pieces {
			if name := f.text(&pieces[i], read[i]); name != "" {
				if _, wanted := f.wanted[name]; wanted {
					f.wanted[name], found = klasses[i], true
				}
			}
		}
		klasses, symbols = klasses[n:], symbols[n:]
	}
	return found, nil
}

// text returns the text of a Symbol, or "" if the Symbol can't be read or is longer than p.Buf, and thus longer than
// all wanted names. The parameter read is true if the caller has read all of p. If it is false, the memory may end soon
// after the Symbol, so text reads the Symbol alone.
func (f *Finder) text(p *vmstructs.Piece, read bool) string {
	l := f.layout
	if !read {
		data, err := f.vm.Read(nil, p.Addr, l.symbolBody)
		if err != nil {
			return ""
		}
		size := l.symbolBody + l.symbolLength.In(data)
		if size > uint64(len(p.Buf)) {
			return ""
		}
		if p.Buf, err = f.vm.Read(p.Buf[:0], p.Addr, size); err != nil {
			return ""
		}
	}
	size := l.symbolBody + l.symbolLength.In(p.Buf)
	if size > uint64(len(p.Buf)) {
		return ""
	}
	return javaname.Decode(string(p.Buf[l.symbolBody:size]))
}
