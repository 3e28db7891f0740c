package nmethod

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/methoddata"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// symbolGuess is how many bytes of each Symbol learnClasses reads at first. Most names are no longer than that.
const symbolGuess = 64

// maxLearnt is the maximum number of classes that learnClasses reads at once. Further classes are read one by one.
const maxLearnt = 1 << 10

// learnClasses reads the unknown classes in profiles, so that className and isClass need not read anything for most of
// them. It makes two system calls for all classes together, instead of three for each class.
func (c *Copier) learnClasses(profiles []*methoddata.Profile) {
	l := &c.layout
	if l.hasAnonymous || l.className >= maxMethodHead {
		return
	}
	classes := c.unknownClasses(profiles)
	size := l.className + 8 // the part of a Klass from its vtable pointer up to its name's address
	heads, read := c.gather(classes, size)
	var symbols, of []uint64 // of[i] is the class whose name is symbols[i]
	for i, at := range classes {
		if !read[i] {
			continue
		}
		head := heads[uint64(i)*size:]
		if kind, known := c.kinds[binary.LittleEndian.Uint64(head)]; known && len(c.tables) > 0 {
			c.profiler.classes[at] = kind == klassMetadata
		}
		if _, named := c.classes[at]; !named {
			symbols, of = append(symbols, binary.LittleEndian.Uint64(head[l.className:])&^1), append(of, at)
		}
	}
	texts, read := c.gather(symbols, symbolGuess)
	for i, at := range of {
		if !read[i] {
			continue
		}
		symbol := texts[i*symbolGuess : (i+1)*symbolGuess]
		if end := l.symbolBody + uint64(binary.LittleEndian.Uint16(symbol[l.symbolLength:])); end <= symbolGuess {
			c.classes[at] = externalName(string(symbol[l.symbolBody:end]))
		}
	}
}

// gather reads size bytes at each of the addresses. It returns all bytes, one piece after the other, and for each
// address whether its bytes could be read.
func (c *Copier) gather(addresses []uint64, size uint64) (data []byte, read []bool) {
	data = make([]byte, size*uint64(len(addresses)))
	pieces := make([]vmstructs.Piece, len(addresses))
	for i, at := range addresses {
		pieces[i] = vmstructs.Piece{Addr: at, Buf: data[uint64(i)*size : uint64(i+1)*size]}
	}
	read, _ = c.vm.GatherSome(pieces) // after an error, the rest is taken as unread
	return data, read
}

// unknownClasses returns the addresses of the classes in profiles that className and isClass do not know yet.
func (c *Copier) unknownClasses(profiles []*methoddata.Profile) (classes []uint64) {
	for _, p := range profiles {
		if p == nil {
			continue
		}
		for i := range p.Sites {
			for _, t := range p.Sites[i].Types {
				_, named := c.classes[t.Class]
				_, checked := c.profiler.classes[t.Class]
				if (!named || !checked) && len(classes) < maxLearnt && !slices.Contains(classes, t.Class) {
					classes = append(classes, t.Class)
				}
			}
		}
	}
	return classes
}

// className returns the name of a class as HotSpot prints it. Each name is read only once.
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

// isAnonymous is _misc_is_anonymous of JDK 11's instanceKlass.hpp: the class was made by Unsafe.defineAnonymousClass.
const isAnonymous = 1 << 5
