package nmethod

import (
	"encoding/binary"
	"fmt"

	"github.com/gasm-profiler/gasm/hotspot/methoddata"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// maxClassHead limits what learnClasses reads of a class, in bytes. The name is within the first 40.
const maxClassHead = 256

// maxLearnt limits how many classes learnClasses reads at once. The others are read one by one.
const maxLearnt = 4096

// symbolGuess is how much of a Symbol is read at first, in bytes. It is enough for most names.
const symbolGuess = 64

// learnClasses reads the classes of profiles that are not known yet, so that className and isClass need no further
// system call for most of them. It takes two calls for all classes together; one by one, each class would take three or
// four.
func (c *Copier) learnClasses(profiles []*methoddata.Profile) {
	classes := c.unknownClasses(profiles)
	if len(classes) < 2 || c.layout.hasAnonymous || c.layout.className >= maxClassHead {
		return
	}
	heads := make([]vmstructs.Piece, len(classes))
	for i, at := range classes {
		heads[i] = vmstructs.Piece{Addr: at, Buf: make([]byte, c.layout.className+8)}
	}
	read, err := c.vm.GatherSome(heads)
	if err != nil {
		return
	}
	var symbols []vmstructs.Piece
	var of []uint64 // for each of symbols, the class whose name it is
	for i, ok := range read {
		if !ok {
			continue
		}
		if kind, known := c.kinds[binary.LittleEndian.Uint64(heads[i].Buf)]; known && len(c.tables) > 0 {
			c.profiler.classes[classes[i]] = kind == klassMetadata
		}
		_, named := c.classes[classes[i]]
		if at := binary.LittleEndian.Uint64(heads[i].Buf[c.layout.className:]) &^ 1; at != 0 && !named {
			symbols, of = append(symbols, vmstructs.Piece{Addr: at, Buf: make([]byte, symbolGuess)}), append(of, classes[i])
		}
	}
	if read, err = c.vm.GatherSome(symbols); err != nil {
		return
	}
	for i, ok := range read {
		if name, whole := c.wholeSymbol(symbols[i].Buf); ok && whole {
			c.classes[of[i]] = externalName(name)
		}
	}
}

// unknownClasses returns the addresses of the classes of profiles that className or isClass does not know yet.
func (c *Copier) unknownClasses(profiles []*methoddata.Profile) (classes []uint64) {
	seen := map[uint64]bool{}
	for _, p := range profiles {
		if p == nil {
			continue
		}
		for i := range p.Sites {
			for _, t := range p.Sites[i].Types {
				_, named := c.classes[t.Class]
				_, checked := c.profiler.classes[t.Class]
				if (!named || !checked) && !seen[t.Class] && len(classes) < maxLearnt {
					seen[t.Class] = true
					classes = append(classes, t.Class)
				}
			}
		}
	}
	return classes
}

// wholeSymbol returns the text of a Symbol, if the bytes have all of it.
func (c *Copier) wholeSymbol(symbol []byte) (text string, ok bool) {
	l := &c.layout
	if l.symbolLength+2 > uint64(len(symbol)) {
		return "", false
	}
	size := l.symbolBody + uint64(binary.LittleEndian.Uint16(symbol[l.symbolLength:]))
	if size > uint64(len(symbol)) {
		return "", false
	}
	return string(symbol[l.symbolBody:size]), true
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
